//! Constants shared with the shaders.
//!
//! Made from `config.toml` by `impel bake`, which overwrites changes.

/// Threads of a group.
pub const GROUP_SIZE: u32 = 32;

/// A number with thousands.
pub const MANY: u32 = 1_048_576;

/// A number with a fraction.
pub const SCALE: f32 = 0.125;

/// A number below zero.
pub const OFFSET: i32 = -3;

/// Something to switch.
pub const ENABLED: bool = true;
