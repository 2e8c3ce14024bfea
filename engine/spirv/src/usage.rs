//! What code does with variables: which ones an entry point uses, what it reads and writes, and which bytes.
//!
//! Pointers and handles are followed from variables through access chains, calls, selections, phis and local variables.
//! The result is exact for code that valid Vulkan modules contain; where it cannot know (unknown instructions), it says more
//! rather than less.

mod instruction;
mod places;
mod ranges;
mod sampling;
mod walk;

pub(crate) use places::Places;
pub(crate) use ranges::{RangeContext, RangeScratch, UsedMembers, active_ranges};
pub(crate) use walk::{Budget, READ, Usage, WRITE, Walk, WalkTables, variable_type};
