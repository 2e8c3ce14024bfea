//! Impel, the engine: standard passes, scene, camera, renderer.
//!
//! Three layers, each usable without the one above:
//!
//! - [`math`]: what decides what is drawn (projection, frustum, cone, level of detail, hierarchical depth), in plain Rust.
//!   The shaders compute the same in the same order; tests compare the two.
//! - [`scene`]: instances, generators of the standard workloads, cameras.
//! - [`renderer`]: the standard [`passes`] and the frame made of them.
//!
//! Beside them [`effects`] makes pipelines of composed shader classes, and `app` (feature `window`) is a window to show it all
//! in. The crates below are here as [`gpu`], [`geometry`], [`spirv`] and [`shaders`]. A picture, without a window:
//!
//! ```no_run
//! use impel::geometry::{self, BuiltIn, Cache, MeshSource};
//! use impel::gpu::{Gpu, GpuDesc};
//! use impel::math::{Affine, Camera, Lens};
//! use impel::renderer::{Capacities, Renderer, Settings};
//! use impel::scene::{Instance, Scene};
//!
//! fn picture() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
//!     let gpu = Gpu::new(&GpuDesc::default())?;
//!     let source = MeshSource::BuiltIn("torus-knot:28944".parse::<BuiltIn>()?);
//!     let meshes = geometry::load_all(&[source], &Default::default(), Cache::of_user().as_ref(), &|_| {})?;
//!     let place = Affine::from_mat3_translation(glam::Mat3::IDENTITY, glam::vec3(0.0, 0.0, -5.0));
//!     let scene = Scene {
//!         meshes: meshes.into_iter().map(Into::into).collect(),
//!         instances: vec![Instance::new(place, 0, 0xff80_c0ff)],
//!         ..Scene::default()
//!     };
//!     let size = [640, 360];
//!     let settings = Settings::for_device(gpu.info());
//!     let mut renderer = Renderer::new(&gpu, &scene, size, settings, Capacities::default())?;
//!     let lens = Lens { aspect: 16.0 / 9.0, ..Lens::default() };
//!     let camera = Camera::by_angles(glam::Vec3::ZERO, 0.0, 0.0, lens);
//!     let mut frame = gpu.begin_frame()?;
//!     renderer.record(&mut frame, &camera)?;
//!     // Passes of one's own go here: they may read `renderer.colour()` and `renderer.depth()`.
//!     let texels = frame.read_back_texture(renderer.colour(), 0)?;
//!     frame.submit()?;
//!     Ok(texels.wait()?)
//! }
//! # use impel::glam;
//! ```
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
