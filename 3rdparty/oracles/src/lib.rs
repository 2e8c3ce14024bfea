//! Other people's SPIR-V reflection as oracles for that of `impel-spirv`: the same module described by each, the
//! descriptions compared fact by fact.
//!
//! The oracles have bugs of their own, some end the process; each therefore runs in a process of its own ([`process`]).
#![forbid(unsafe_code)]

pub mod compare;
mod error;
pub mod facts;
pub mod oracle;
pub mod process;
pub mod report;

pub use error::Error;
