//! A window to live in (feature `window`): camera, panels, profiles, pictures.
//!
//! [`Display`] connects to the window system and runs [`App`], which knows nothing of it: the two speak in [`Event`]s, so that
//! whatever a window system may do can be done by a test as well. What is drawn is a [`Content`]: [`RendererContent`], or one of
//! your own around it that records more passes.
//!
//! ```no_run
//! use impel::app::{AppDesc, CameraControl, Display, RendererContent};
//! use impel::gpu::{Gpu, GpuDesc};
//! use impel::renderer::{Capacities, Renderer, Settings};
//! use impel::scene::{CameraPath, Scene};
//!
//! fn show(scene: &Scene, path: CameraPath) -> Result<(), impel::Error> {
//!     let display = Display::connect()?;
//!     let gpu = Gpu::new(&GpuDesc {
//!         surface_extensions: display.surface_extensions()?,
//!         ..GpuDesc::default()
//!     })?;
//!     let settings = Settings::for_device(gpu.info());
//!     let renderer = Renderer::new(&gpu, scene, [1280, 720], settings, Capacities::default())?;
//!     let content = Box::new(RendererContent::new(renderer, scene.triangle_count()));
//!     let camera = CameraControl::new(path, 2.0, None);
//!     display.run(&gpu, content, camera, AppDesc::default())
//! }
//! ```

mod application;
mod calibration;
mod camera;
mod capture;
mod content;
mod controls;
mod display;
mod event;
mod input;
mod panels;
mod preferences;
#[cfg(feature = "hot-reload")]
mod reload;
mod script;
mod shots;

pub use application::{App, AppDesc, Outcome, Reload};
pub use camera::{CameraControl, OrbitView};
pub use content::{Content, CullingAudit, Reloadable, RendererContent};
pub use controls::{Control, Entry, entries};
pub use display::{Display, Injector};
pub use egui;
pub use event::{Command, Event, Key, MouseButton};
pub use panels::{PANELS, ShaderState};
pub use preferences::Preferences;
#[cfg(feature = "hot-reload")]
pub use reload::HotReload;
pub use script::Script;
pub use shots::WritePicture;
