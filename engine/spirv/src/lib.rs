//! SPIR-V reflection, stage merge, baking and code generation. No Vulkan, no GPU.
#![forbid(unsafe_code)]

mod bake;
pub mod codegen;
#[cfg(feature = "compile")]
pub mod compile;
mod error;
mod evaluate;
mod features;
pub mod interface;
mod json;
mod layout;
mod many;
mod merge;
mod module;
pub mod operands;
mod reflect;
mod stages;
mod table;
mod usage;
pub mod words;

pub use bake::{BAKED_SCHEMA, LoadedFrom, bake, baked_path, load, spirv_hash, unbake};
pub use error::Error;
pub use features::{RequiredFeature, check_features, required_features};
pub use interface::*;
pub use json::{JSON_SCHEMA, to_json};
pub use many::{NamedModule, Progress, reflect_many};
pub use merge::{MergeLimits, ProgramLayout, PushRange, Slot, StageInput, merge};
pub use reflect::{MissingBindings, Options, reflect, reflect_with};
pub use stages::match_stages;
pub use table::to_table;
