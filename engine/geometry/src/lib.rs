//! Meshes in; quantised vertices, meshlets and levels of detail out. No Vulkan.
#![forbid(unsafe_code)]

pub mod mesh;

pub use mesh::{Lod, Mesh, Meshlet, PositionGrid, Sphere, Vertex};
