//! A window to live in (feature `window`): camera, panels, profiles, pictures.
//!
//! [`Display`] connects to the window system and runs [`App`], which knows nothing of it: the two speak in [`Event`]s, so that
//! whatever a window system may do can be done by a test as well. What is drawn is a [`Content`].

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
