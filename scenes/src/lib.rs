//! Demo scenes and the runner that people start.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod calibrate;
pub mod compare;
pub mod data;
mod error;
mod generator;
pub mod logger;
pub mod mixins;
pub mod picture;
pub mod progress;
pub mod report;
pub mod run;

pub use error::Error;
