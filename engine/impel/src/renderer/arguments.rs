//! Where indirect arguments lie: `Arguments` of `arguments.glsl`.

use crate::config::MAX_MESH_DRAWS;

/// Size of one `VkDrawMeshTasksIndirectCommandEXT`.
pub(crate) const MESH_DRAW_STRIDE: u32 = 12;
/// Size of one `VkDrawIndirectCommand`.
pub(crate) const VERTEX_DRAW_STRIDE: u32 = 16;

const DISPATCHES: u64 = 2 * 12;
const RASTERS: u64 = DISPATCHES + 2 * 12;
const MESH_DRAW_COUNTS: u64 = RASTERS + 2 * 12;
const VERTEX_DRAWS: u64 = MESH_DRAW_COUNTS + 2 * 4;
const MESH_DRAWS: u64 = VERTEX_DRAWS + 2 * VERTEX_DRAW_STRIDE as u64;

/// Size of the whole buffer.
pub(crate) const SIZE: u64 = MESH_DRAWS + 2 * MAX_MESH_DRAWS as u64 * MESH_DRAW_STRIDE as u64;

/// Arguments of the dispatch over groups of instances.
pub(crate) fn cull(phase: u32) -> u64 {
    u64::from(phase) * 12
}

/// Arguments of the dispatch over chunks.
pub(crate) fn dispatch(phase: u32) -> u64 {
    DISPATCHES + u64::from(phase) * 12
}

/// Arguments of the compute rasteriser's dispatch over clusters.
pub(crate) fn raster(phase: u32) -> u64 {
    RASTERS + u64::from(phase) * 12
}

/// Number of mesh draws.
pub(crate) fn mesh_draw_count(phase: u32) -> u64 {
    MESH_DRAW_COUNTS + u64::from(phase) * 4
}

/// The vertex path's one draw.
pub(crate) fn vertex_draw(phase: u32) -> u64 {
    VERTEX_DRAWS + u64::from(phase) * u64::from(VERTEX_DRAW_STRIDE)
}

/// The mesh path's draws.
pub(crate) fn mesh_draws(phase: u32) -> u64 {
    MESH_DRAWS + u64::from(phase) * u64::from(MAX_MESH_DRAWS) * u64::from(MESH_DRAW_STRIDE)
}
