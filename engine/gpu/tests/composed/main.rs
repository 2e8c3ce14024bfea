//! Composed shaders on the device.

mod device;
mod overrides;
mod permutations;
mod random;
