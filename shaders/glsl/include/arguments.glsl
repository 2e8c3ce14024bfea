// Arguments of indirect commands. Twin: the offsets in `impel::renderer::arguments`.
#ifndef ARGUMENTS_GLSL
#define ARGUMENTS_GLSL

#include "config.glsl"

struct Arguments {
    uvec3 cull[2];           // VkDispatchIndirectCommand: over groups of instances
    uvec3 dispatch[2];       // VkDispatchIndirectCommand: over chunks
    uvec3 raster[2];         // VkDispatchIndirectCommand: over clusters of the compute rasteriser
    uint mesh_draw_count[2]; // count of VkDrawMeshTasksIndirectCommandEXT below
    uvec4 vertex_draw[2];    // VkDrawIndirectCommand
    uvec3 mesh_draws[2][MAX_MESH_DRAWS];
};

#endif
