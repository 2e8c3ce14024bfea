//! SPIR-V reflection, stage merge, baking and code generation. No Vulkan, no GPU.
#![forbid(unsafe_code)]

#[cfg(feature = "compile")]
pub mod compile;
mod error;
mod evaluate;
pub mod interface;
mod json;
mod layout;
mod merge;
mod module;
pub mod operands;
mod reflect;
mod stages;
mod usage;
pub mod words;

pub use error::Error;
pub use interface::*;
pub use json::{JSON_SCHEMA, to_json};
pub use merge::{MergeLimits, ProgramLayout, PushRange, Slot, StageInput, merge};
pub use reflect::{MissingBindings, Options, reflect, reflect_with};
pub use stages::match_stages;
