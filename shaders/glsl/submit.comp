// Turns counts into arguments of indirect dispatches and draws, each cut to what the lists hold and the device takes.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "arguments.glsl"
#include "counters.glsl"
#include "frame.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 2, scalar) writeonly buffer ArgumentBlock { Arguments data; } arguments;

layout(push_constant, scalar) uniform Push {
    uint phase; // 0 early, 1 late
    uint step;  // 0 the dispatch over groups, 1 that over chunks, 2 the draws and the compute raster of clusters
} push;

// So many groups as a dispatch within what each dimension takes.
uvec3 rows_of(uint groups) {
    uint rows = (groups + MAX_GROUPS_PER_DIMENSION - 1u) / MAX_GROUPS_PER_DIMENSION;
    return uvec3(min(groups, MAX_GROUPS_PER_DIMENSION), rows, 1u);
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    if (push.step == 0u) {
        if (lane == 0u) {
            arguments.data.cull[push.phase] = rows_of(counters.data.group_count[push.phase]);
        }
        return;
    }
    if (push.step == 1u) {
        uint chunks = min(counters.data.chunk_count[push.phase], frame.data.chunk_capacity);
        uint groups = cluster_groups(chunks);
        if (push.phase == 1u) {
            uint rejects = min(counters.data.reject_count, frame.data.reject_capacity);
            groups += (rejects + CLUSTER_GROUP_SIZE - 1u) / CLUSTER_GROUP_SIZE;
        }
        if (lane == 0u) {
            arguments.data.dispatch[push.phase] = rows_of(groups);
        }
        return;
    }

    uint first = counters.data.hardware_first[push.phase];
    uint clusters = counters.data.hardware_count - first;
    uint draws = min((clusters + MESH_GROUPS_PER_DRAW - 1u) / MESH_GROUPS_PER_DRAW, MAX_MESH_DRAWS);
    for (uint i = lane; i < draws; i += 64u) {
        uint left = clusters - i * MESH_GROUPS_PER_DRAW;
        arguments.data.mesh_draws[push.phase][i] = uvec3(min(left, MESH_GROUPS_PER_DRAW), 1u, 1u);
    }
    if (lane == 0u) {
        arguments.data.mesh_draw_count[push.phase] = draws;
        arguments.data.vertex_draw[push.phase] = uvec4(MESHLET_MAX_TRIANGLES * 3u, clusters, 0u, first);
        uint small = counters.data.compute_count - counters.data.compute_first[push.phase];
        arguments.data.raster[push.phase] = rows_of(small);
        if (push.phase == 0u) {
            // The late phase goes on where the early one ended.
            counters.data.cluster_count = counters.data.compute_count + counters.data.hardware_count;
            counters.data.compute_first[1] = counters.data.compute_count;
            counters.data.hardware_first[1] = counters.data.hardware_count;
        }
    }
}
