//! Passes: the unit of work of a frame. A pass has a name, a pipeline, bindings, push constants, for graphics
//! attachments, and one command. The executor derives the barrier in front of it.

mod attachments;
mod compute;
mod execute;
mod graphics;
mod hazard;
mod name;
mod scope;
mod transfer;

pub use attachments::{Color, Depth, Load};
pub use compute::ComputePass;
pub use execute::{PassDesc, RawPass, ResourceRef};
pub use graphics::GraphicsPass;
pub use hazard::ResourceId;
pub(crate) use hazard::Tracker;
pub use name::PassName;
pub use scope::{Scopes, ShaderAccess, Stage};
