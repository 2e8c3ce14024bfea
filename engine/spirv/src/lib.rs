//! SPIR-V reflection, stage merge, baking and code generation. No Vulkan, no GPU.
#![forbid(unsafe_code)]

pub mod interface;

pub use interface::*;
