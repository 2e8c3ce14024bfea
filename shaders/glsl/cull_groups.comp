// Culls groups of instances, so that the cost of culling instances follows what is in view, not what is in the scene: one
// thread a group of CULL_GROUP_SIZE instances next to each other in the list and, if the scene is sorted, in space.
//
// Early: the frustum; groups with an instance that was visible last frame go to the early list.
// Late: groups of the early list, and those that the new HZB does not hide, go to the late list.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "counters.glsl"
#include "culling.glsl"
#include "groups.glsl"

layout(local_size_x = CULL_GROUP_SIZE) in;

layout(constant_id = 0) const bool LATE = false;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer BoundsBlock { vec4 data[]; } bounds; // spheres, world space
layout(set = 0, binding = 2, scalar) buffer StateBlock { uint data[]; } states;
layout(set = 0, binding = 3, scalar) writeonly buffer GroupBlock { uint data[]; } groups; // early, then late list
layout(set = 0, binding = 4, scalar) buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 5) uniform sampler2D hzb;

#define OFFSETS_BINDING 6
#include "compaction.glsl"
#include "statistics.glsl"

shared uint listed_bits[2];
shared uint first_listed;

// Whether a group goes to this phase's list, and its new state.
bool list_early(uint group, uint size, inout uint state) {
    vec4 sphere = bounds.data[group];
    vec3 view_centre = transform_point(frame.data.cull.rows, sphere.xyz);
    bool tested = (frame.data.flags & FLAG_CULL_FRUSTUM) != 0u;
    if (!near_enough(frame.data.cull, view_centre, sphere.w) ||
        (tested && !frustum_visible(frame.data.cull, view_centre, sphere.w))) {
        state = 0u;
        count(STATISTIC_FRUSTUM_CULLED, size);
        return false;
    }
    bool seen_last_frame = (state & GROUP_VISIBLE) != 0u;
    state = GROUP_IN_FRUSTUM | (seen_last_frame ? GROUP_EARLY : 0u);
    return seen_last_frame;
}

bool list_late(uint group, uint size, inout uint state) {
    if ((state & GROUP_IN_FRUSTUM) == 0u) {
        return false;
    }
    vec4 sphere = bounds.data[group];
    vec3 view_centre = transform_point(frame.data.cull.rows, sphere.xyz);
    bool tested = (frame.data.flags & FLAG_CULL_OCCLUSION) != 0u && (state & GROUP_EARLY) == 0u;
    if (tested && hzb_occluded(hzb, frame.data, frame.data.cull, view_centre, sphere.w)) {
        count(STATISTIC_OCCLUSION_CULLED, size);
        return false;
    }
    state |= GROUP_LATE;
    return true;
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    clear_statistics();
    if (lane < 2u) {
        listed_bits[lane] = 0u;
    }
    barrier();
    uint workgroup = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint group = workgroup * CULL_GROUP_SIZE + lane;
    uint group_count = (frame.data.instance_count + CULL_GROUP_SIZE - 1u) / CULL_GROUP_SIZE;
    bool listed = false;
    uint state = 0u;
    if (group < group_count) {
        uint size = min(frame.data.instance_count - group * CULL_GROUP_SIZE, CULL_GROUP_SIZE);
        state = states.data[group];
        listed = LATE ? list_late(group, size, state) : list_early(group, size, state);
        if (!LATE) {
            count(STATISTIC_INSTANCES, size);
        }
    }
    if (listed) {
        atomicOr(listed_bits[lane >> 5], 1u << (lane & 31u));
    }
    barrier();
    if (lane == 0u) {
        uint wanted = bitCount(listed_bits[0]) + bitCount(listed_bits[1]);
        first_listed = ALLOCATE(counters.data.group_count[LATE ? 1 : 0], 0u, workgroup, wanted);
    }
    barrier();
    if (STEP == COUNT) {
        return;
    }
    if (group < group_count) {
        states.data[group] = state;
    }
    if (listed) {
        uint below = (1u << (lane & 31u)) - 1u;
        uint rank = bitCount(listed_bits[lane >> 5] & below) + (lane < 32u ? 0u : bitCount(listed_bits[0]));
        groups.data[(LATE ? group_count : 0u) + first_listed + rank] = group;
    }
    flush_statistics();
}
