//! SPIR-V reflection, stage merge, baking and code generation. No Vulkan, no GPU.
#![forbid(unsafe_code)]

#[cfg(feature = "compile")]
pub mod compile;
pub mod interface;

pub use interface::*;
