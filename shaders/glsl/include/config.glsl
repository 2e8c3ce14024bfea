// Constants shared with Rust. Made from config.toml by `impel bake`, which overwrites changes.

#ifndef CONFIG_GLSL
#define CONFIG_GLSL

// Threads of a culling group, one instance each: a multiple of every subgroup size in use.
const uint CULL_GROUP_SIZE = 64u;

// Meshlets in one chunk: coarse levels of detail have about ten, and what a chunk lacks is idle threads.
const uint CHUNK_MESHLETS = 16u;

// Threads of a group that expands chunks, one meshlet each: four chunks.
const uint CLUSTER_GROUP_SIZE = 64u;

// Vertices of a meshlet: what vendors prefer as a mesh group's output.
const uint MESHLET_MAX_VERTICES = 64u;

// Triangles of a meshlet: a multiple of 4 whose numbers fit 7 bits.
const uint MESHLET_MAX_TRIANGLES = 124u;

// Levels of detail of a mesh, as impel-geometry makes them: with three fifths of the triangles each, the last has 3 %.
const uint MAX_LODS = 8u;

// Mesh groups of one draw: lavapipe draws nothing, without a word, when a draw has several hundred thousand.
const uint MESH_GROUPS_PER_DRAW = 32768u;

// Draws in one list: with MESH_GROUPS_PER_DRAW groups each enough for 2^24 clusters.
const uint MAX_MESH_DRAWS = 512u;

// Groups of a dispatch in one dimension: what Vulkan guarantees.
const uint MAX_GROUPS_PER_DIMENSION = 65535u;

// Pixels: the largest raster threshold. Edge functions of triangles up to 90 pixels each way fit 32 bits.
const uint RASTER_MAX_EXTENT = 64u;

// Pixels from the picture's middle: within it a 32-bit float resolves half of 1/256 pixel.
const float RASTER_REACH = 16384.0;

// Levels of the hierarchical depth buffer of a picture of 16,384 pixels.
const uint MAX_HZB_LEVELS = 15u;

// Pixels that the culling auditor names; it counts them all.
const uint AUDIT_EXAMPLES = 16u;

// Levels finer at which the occlusion test looks a second time: in the city it leaves 1.2 times what an exact test does.
const uint HZB_REFINEMENT = 3u;

#endif
