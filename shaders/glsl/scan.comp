// Counts to offsets, in place: each becomes the sum of those before it. One workgroup, for as many counts as a dispatch had
// workgroups. Not fast; for runs that repeat byte by byte.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "arguments.glsl"
#include "counters.glsl"
#include "frame.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer ArgumentBlock { Arguments data; } arguments;
layout(set = 0, binding = 2, scalar) buffer OffsetBlock { uint data[]; } offsets;
layout(set = 0, binding = 3, scalar) writeonly buffer CounterBlock { Counters data; } counters;

layout(push_constant, scalar) uniform Push {
    uint phase;
    uint pass;       // whose counts: PASS_GROUPS, PASS_CULL, PASS_CLUSTERS
    uint workgroups; // of PASS_GROUPS; the others' are in the arguments
} push;

const uint PASS_GROUPS = 0u;
const uint PASS_CULL = 1u;
const uint PASS_CLUSTERS = 2u;
const uint CLUSTER_LISTS = 3u; // rejects, compute, hardware

shared uint sums[256];

// All of a list; gives the sum.
uint scan_list(uint list, uint count) {
    uint lane = gl_LocalInvocationIndex;
    uint before = 0u;
    for (uint first = 0u; first < count; first += 256u) {
        uint at = list * frame.data.offset_stride + first + lane;
        uint mine = first + lane < count ? offsets.data[at] : 0u;
        sums[lane] = mine;
        barrier();
        for (uint step = 1u; step < 256u; step *= 2u) {
            uint other = lane >= step ? sums[lane - step] : 0u;
            barrier();
            sums[lane] += other;
            barrier();
        }
        if (first + lane < count) {
            offsets.data[at] = before + sums[lane] - mine;
        }
        before += sums[255];
        barrier();
    }
    return before;
}

void main() {
    uint phase = push.phase;
    uint lane = gl_LocalInvocationIndex;
    if (push.pass == PASS_GROUPS) {
        uint sum = scan_list(0u, push.workgroups);
        if (lane == 0u) {
            counters.data.group_count[phase] = sum;
        }
    } else if (push.pass == PASS_CULL) {
        uvec3 groups = arguments.data.cull[phase];
        uint sum = scan_list(0u, groups.x * groups.y);
        if (lane == 0u) {
            counters.data.chunk_count[phase] = sum;
        }
    } else {
        uvec3 groups = arguments.data.dispatch[phase];
        for (uint list = 0u; list < CLUSTER_LISTS; ++list) {
            uint sum = scan_list(list, groups.x * groups.y);
            if (list == 0u && phase == 0u && lane == 0u) {
                counters.data.reject_count = sum;
            }
        }
    }
}
