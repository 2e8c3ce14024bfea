//! Passes: the unit of work of a frame. A pass has a name, a pipeline, bindings, push constants, for graphics
//! attachments, and one command. The executor derives the barrier in front of it.

mod attachments;
mod builder;
mod compute;
mod execute;
mod graphics;
mod hazard;
mod name;
mod order;
mod scope;
mod transfer;

pub(crate) use attachments::Attachments;
pub use attachments::{Color, Depth, Load};
pub use builder::PassBuilder;
pub use compute::{Compute, ComputePass};
pub use execute::{PassDesc, RawPass, ResourceRef};
pub use graphics::{Graphics, GraphicsPass};
pub use hazard::ResourceId;
pub(crate) use hazard::{Access, Tracker};
pub use name::PassName;
pub(crate) use order::Number;
pub use scope::{Scopes, ShaderAccess, Stage};
