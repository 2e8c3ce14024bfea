//! Meshes in; quantised vertices, meshlets and levels of detail out. No Vulkan.
//!
//! ```
//! use impel_geometry::{MeshSource, Settings, builtin, load};
//!
//! let source = MeshSource::BuiltIn(builtin::CLOUD[0]);
//! let mesh = load(&source, &Settings::default(), None, &|_| {})?;
//! assert_eq!(mesh.lods[0].triangle_count, 4952);
//! # Ok::<(), impel_geometry::Error>(())
//! ```
//!
//! [`load`] goes the whole way: import or generate ([`import_file`], [`BuiltIn`]), [`process()`], and [`Cache`].
//! [`mesh`] describes the result, byte by byte.
#![forbid(unsafe_code)]

pub mod builtin;
pub mod cache;
mod error;
mod import;
mod load;
pub mod mesh;
mod normals;
mod process;
mod progress;
pub mod quantise;
mod settings;
pub mod source;
mod validate;

pub use builtin::{BuiltIn, Shape};
pub use cache::{Cache, CacheKey};
pub use error::Error;
pub use import::{import_file, obj};
pub use load::{MeshSource, load, load_all};
pub use mesh::{Lod, Mesh, Meshlet, PositionGrid, Sphere, Vertex};
pub use process::process;
pub use progress::{OnProgress, Progress, Stage};
pub use settings::Settings;
pub use source::{SourceMesh, SourceVertex, normalise};
pub use validate::Misfit;
