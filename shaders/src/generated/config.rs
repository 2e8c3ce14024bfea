//! Constants shared with the shaders.
//!
//! Made from `config.toml` by `impel bake`, which overwrites changes.

/// Threads of a culling group, one instance each: a multiple of every subgroup size in use.
pub const CULL_GROUP_SIZE: u32 = 64;

/// Meshlets in one chunk: coarse levels of detail have about ten, and what a chunk lacks is idle threads.
pub const CHUNK_MESHLETS: u32 = 16;

/// Threads of a group that expands chunks, one meshlet each: four chunks.
pub const CLUSTER_GROUP_SIZE: u32 = 64;

/// Vertices of a meshlet: what vendors prefer as a mesh group's output.
pub const MESHLET_MAX_VERTICES: u32 = 64;

/// Triangles of a meshlet: a multiple of 4 whose numbers fit 7 bits.
pub const MESHLET_MAX_TRIANGLES: u32 = 124;

/// Levels of detail of a mesh, as impel-geometry makes them: with three fifths of the triangles each, the last has 3 %.
pub const MAX_LODS: u32 = 8;

/// Mesh groups of one draw: lavapipe draws nothing, without a word, when a draw has several hundred thousand.
pub const MESH_GROUPS_PER_DRAW: u32 = 32_768;

/// Draws in one list: with MESH_GROUPS_PER_DRAW groups each enough for 2^24 clusters.
pub const MAX_MESH_DRAWS: u32 = 512;

/// Groups of a dispatch in one dimension: what Vulkan guarantees.
pub const MAX_GROUPS_PER_DIMENSION: u32 = 65_535;

/// Pixels: the largest raster threshold. Edge functions of triangles up to 90 pixels each way fit 32 bits.
pub const RASTER_MAX_EXTENT: u32 = 64;

/// Pixels from the picture's middle: within it a 32-bit float resolves half of 1/256 pixel.
pub const RASTER_REACH: f32 = 16384.0;

/// Levels of the hierarchical depth buffer of a picture of 16,384 pixels.
pub const MAX_HZB_LEVELS: u32 = 15;

/// Pixels that the culling auditor names; it counts them all.
pub const AUDIT_EXAMPLES: u32 = 16;

/// Levels finer at which the occlusion test looks a second time: in the city it leaves 1.2 times what an exact test does.
pub const HZB_REFINEMENT: u32 = 3;
