// Sizes that shaders and engine share. `engine/impel/src/config.rs` holds the same; a test compares the two.
#ifndef CONFIG_GLSL
#define CONFIG_GLSL

// Threads of a culling group: one instance each. 64 is a multiple of every subgroup size in use.
#define CULL_GROUP_SIZE 64
// Meshlets in one chunk, threads of the group that expands it.
#define CHUNK_MESHLETS 64
// Limits of a meshlet, as impel-geometry makes them: 64 fits vendors' preferred output, 124 keeps a triangle's number in 7 bits.
#define MESHLET_MAX_VERTICES 64
#define MESHLET_MAX_TRIANGLES 124
// Levels of detail of a mesh.
#define MAX_LODS 8
// Mesh groups in one draw. lavapipe draws nothing, without a word, when a draw has several hundred thousand groups.
#define MESH_GROUPS_PER_DRAW 32768
// Draws in one list: enough for 2^24 clusters.
#define MAX_MESH_DRAWS 512
// What Vulkan guarantees for each dimension of a dispatch.
#define MAX_GROUPS_PER_DIMENSION 65535

#endif
