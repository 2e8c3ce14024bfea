//! What a wrong call gives: one error that names the thing, what was expected and what was given; never a panic, never a
//! wrong Vulkan call. All on the no-op device, which complains of wrong calls and of objects left behind.

#[path = "../common/mod.rs"]
mod common;
#[path = "../shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

mod attachments;
mod bindings;
mod draws;
mod failures;
mod loss;
mod opening;
mod pipelines;
mod resources;
mod transfers;
