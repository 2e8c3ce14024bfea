//! Presenters: where finished pictures go.

mod offscreen;

pub use offscreen::{Offscreen, OffscreenDesc};
