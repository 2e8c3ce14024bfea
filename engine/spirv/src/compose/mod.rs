//! Shader mixins: permutations of shaders composed from classes at the level of SPIR-V.
//!
//! A class is plain GLSL with a pragma header, compiled once for each stage that it is used in. A recipe lists classes; what
//! they override, what fills their slots and what their parameters are decides which functions call which. Composing copies
//! what is used into one module. See `shaders/MIXINS.md` for how to write classes.
//!
//! ```
//! use impel_spirv::compose::{Library, Mix, Recipe};
//! use impel_spirv::Stage;
//!
//! let mut library = Library::new();
//! library.add_source("Flat.glsl", "#version 460
//! #pragma mixin class Flat
//! #pragma mixin stage fragment
//! #pragma mixin virtual void mx_main();
//! #include <mixin>
//! layout(location = 0) out vec4 colour;
//! void mx_main() { colour = vec4(1); }
//! ")?;
//! let recipe = Recipe::new("flat", Mix::of(&["Flat"]), &[Stage::Fragment]);
//! # let _ = recipe;
//! # Ok::<(), impel_spirv::Error>(())
//! ```
//!
//! `Composer::new(library, ComposeOptions::default()).compose(&recipe)` then gives the modules with their interfaces.

mod blocks;
mod builder;
mod chains;
mod class_module;
#[cfg(feature = "compile")]
mod compile_class;
mod composer;
mod constant;
mod difference;
mod digest;
mod emit;
mod error;
mod fold;
#[cfg(feature = "compile")]
mod generate;
mod graph;
mod hash;
mod header;
mod home;
mod import;
mod initialisers;
mod layout;
mod library;
mod link;
mod merge;
mod modes;
mod output;
mod prepare;
mod prototype;
mod recipe;
mod recursion;
mod report;
mod resolve;
mod roles;
mod scan;
mod specs;
mod stages;
mod tokens;
mod trace;
mod validate;
mod variables;

pub use builder::{Fate, ModuleBuilder};
pub use composer::{ComposeOptions, ComposedStage, Composer, Effect};
pub use error::{Code, MixinError};
pub use library::{ClassCode, Library};
pub use recipe::{Filling, Mix, ParamValue, Recipe, Recipes};
pub use validate::{ValidationRules, Verdict, validate_effect, validate_module};
