//! Impel, the engine: standard passes, scene, camera, renderer.
//!
//! Three layers, each usable without the one above:
//!
//! - [`math`]: what decides what is drawn (projection, frustum, cone, level of detail, hierarchical depth), in plain Rust.
//!   The shaders compute the same in the same order; tests compare the two.
//! - [`scene`]: instances, generators of the standard workloads, cameras.
//! - the renderer: the standard passes and the frame made of them.
//!
//! Coordinates: right-handed, +Y up; a camera looks along its own -Z. Lengths are world units unless said otherwise.
#![forbid(unsafe_code)]

#[cfg(feature = "window")]
pub mod app;
pub mod effects;
mod error;
pub mod math;
pub mod passes;
pub mod renderer;
pub mod scene;

pub use error::Error;
pub use glam;
pub use impel_geometry as geometry;
pub use impel_gpu as gpu;
pub use impel_shaders as shaders;
pub use impel_shaders::{config, mixins};
pub use impel_spirv as spirv;
