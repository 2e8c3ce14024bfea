//! SPIR-V reflection, stage merge, baking, code generation and composing of shaders from classes. No Vulkan, no GPU.
//!
//! [`reflect`] says what a module asks of whoever runs it, [`merge`] joins the stages of a pipeline into one list of slots and
//! one push-constant range, [`bake`] and [`load`] keep interfaces beside their modules, [`to_json`] and [`to_table`] print them.
//!
//! ```
//! use impel_spirv::{Interface, MergeLimits, StageInput, merge, reflect};
//!
//! fn layout(vertex: &[u8], fragment: &[u8]) -> Result<(), impel_spirv::Error> {
//!     let (vertex, fragment) = (reflect(vertex)?, reflect(fragment)?);
//!     let stages = [StageInput::new("a.vert", &vertex), StageInput::new("a.frag", &fragment)];
//!     let layout = merge(&stages, &MergeLimits::default())?;
//!     for slot in &layout.slots {
//!         println!("{}.{} {} x{} for {}", slot.set, slot.binding, slot.descriptor_type, slot.count, slot.stages);
//!     }
//!     Ok(())
//! }
//! # let nothing = Interface::default();
//! # assert!(merge(&[StageInput::new("nothing", &nothing)], &MergeLimits::default()).is_err());
//! ```
//!
//! Every byte sequence gives a description or one clear error. Memory stays within 64 times the file and 16 MB; modules that
//! would need more (which no compiler writes) are refused.
#![forbid(unsafe_code)]

mod bake;
pub mod codegen;
#[cfg(feature = "compile")]
pub mod compile;
pub mod compose;
mod disassemble;
mod error;
mod evaluate;
mod features;
mod file;
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
pub use disassemble::{ListingStyle, disassemble};
pub use error::Error;
pub use features::{RequiredFeature, check_features, required_features};
pub use file::read_file;
pub use interface::*;
pub use json::{JSON_SCHEMA, to_json};
pub use many::{NamedModule, Progress, reflect_many};
pub use merge::{MergeLimits, ProgramLayout, PushRange, Slot, StageInput, merge};
pub use reflect::{MissingBindings, Options, reflect, reflect_with};
pub use stages::match_stages;
pub use table::to_table;
