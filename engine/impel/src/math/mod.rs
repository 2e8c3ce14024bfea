//! What decides what is drawn, in plain Rust.
//!
//! Each rule here has a twin in `shaders/glsl/include/culling.glsl` with the same operations in the same order. Where a
//! decision must be equal on both sides (frustum, LOD) only additions, subtractions and multiplications are used: Vulkan
//! asks for correct rounding of these, as IEEE 754 does, so that CPU and GPU agree bit for bit. Where division, square
//! roots or logarithms are needed (projected boxes) the rule is conservative with room for their errors.

mod affine;
mod camera;
mod cone;
mod frustum;
mod hzb;
mod lod;
mod pcg;
mod raster;
mod sphere;

pub use affine::Affine;
pub use camera::{Camera, Lens};
pub use cone::{cone_culled, unpack_cone};
pub use frustum::Frustum;
pub use hzb::{Hzb, covered_range, hzb_size, mip_count, mip_for_box, mip_size};
pub use lod::{LodMode, LodSelector, distance_law};
pub use pcg::Pcg32;
pub use raster::compute_raster_takes;
pub use sphere::{ScreenBox, project_sphere};
