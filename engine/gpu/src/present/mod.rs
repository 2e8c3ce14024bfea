//! Presenters: where finished pictures go.

mod offscreen;
mod surface;
mod swapchain;
mod window;

pub use offscreen::{Offscreen, OffscreenDesc};
pub use window::{Window, WindowDesc, surface_extensions};
