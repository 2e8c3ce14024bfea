//! Demo scenes and the runner that people start.
#![forbid(unsafe_code)]

pub mod applicable;
pub mod arguments;
pub mod calibrate;
pub mod chain;
pub mod compare;
pub mod data;
mod error;
mod generator;
pub mod logger;
pub mod mixins;
mod orbit;
pub mod outputs;
pub mod picture;
pub mod progress;
pub mod report;
pub mod run;
mod setup;
mod times;
pub mod window;

pub use error::Error;
