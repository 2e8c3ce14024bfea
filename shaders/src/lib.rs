//! The engine's shaders: one module for each program, with its typed bindings, push constants and blocks, and the baked
//! SPIR-V. [`config`] has the constants that shaders and engine share.
//!
//! GLSL lies in `glsl/`; `impel bake shaders` makes everything else from it.
#![forbid(unsafe_code)]

mod generated;

pub use generated::*;
