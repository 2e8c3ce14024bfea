//! Meshes in; quantised vertices, meshlets and levels of detail out. No Vulkan.
#![forbid(unsafe_code)]

mod error;
mod import;
pub mod mesh;
mod normals;
mod process;
mod progress;
pub mod quantise;
mod settings;
pub mod source;

pub use error::Error;
pub use import::{import_file, obj};
pub use mesh::{Lod, Mesh, Meshlet, PositionGrid, Sphere, Vertex};
pub use process::process;
pub use progress::{OnProgress, Progress, Stage};
pub use settings::Settings;
pub use source::{SourceMesh, SourceVertex, normalise};
