// Culling of clusters, the same in `clusters.comp` and `draw.task`: one thread a meshlet, each tested by normal cone, frustum
// and occlusion.
//
// Early, occlusion is last frame's: its HZB, its camera, its transforms. What fails is not culled but goes to a list of
// rejects, which the late phase tests once more, after the chunks of its own, against the new HZB.
// Include after defining ALLOCATE (see `compaction.glsl`).
#ifndef CLUSTER_CULLING_GLSL
#define CLUSTER_CULLING_GLSL

#include "culling.glsl"

layout(constant_id = 0) const bool LATE = false;

layout(set = 0, binding = 10, scalar) readonly buffer ChunkBlock { Chunk data[]; } chunks;
layout(set = 0, binding = 11, scalar) buffer RejectBlock { Cluster data[]; } rejects;
layout(set = 0, binding = 12) uniform sampler2D hzb;
layout(set = 0, binding = 13, scalar) readonly buffer PreviousBlock { Rows data[]; } previous; // of moving instances

const uint LIST_REJECTS = 0u;

const uint CULLED = 0u;
const uint DRAWN = 1u;
const uint REJECTED = 2u;

// One bit a thread, so that places in a list follow from the thread's number, whatever the subgroup size.
shared uint rejected_bits[2];
shared uint first_rejected;

bool has(uint flag) { return (frame.data.flags & flag) != 0u; }

uint test(Cluster cluster, bool was_rejected) {
    Instance instance = instances.data[cluster.instance];
    Meshlet meshlet = meshlets.data[cluster.meshlet];
    vec3 centre = transform_point(instance.rows, meshlet.centre);
    float radius = meshlet.radius * instance.scale;
    vec3 view_centre = transform_point(frame.data.cull.rows, centre);

    if (!was_rejected) {
        count(STATISTIC_MESHLETS_TESTED, 1u);
        if (has(FLAG_MESHLET_CONE) && cone_culled(instance, meshlet, frame.data.cull.position)) {
            count(STATISTIC_MESHLETS_CONE, 1u);
            return CULLED;
        }
        if (has(FLAG_MESHLET_FRUSTUM) && !frustum_visible(frame.data.cull, view_centre, radius)) {
            count(STATISTIC_MESHLETS_FRUSTUM, 1u);
            return CULLED;
        }
    }
    if (!has(FLAG_MESHLET_OCCLUSION)) {
        return DRAWN;
    }
    if (LATE) {
        if (hzb_occluded(hzb, frame.data, frame.data.cull, view_centre, radius)) {
            count(STATISTIC_MESHLETS_OCCLUSION, 1u);
            return CULLED;
        }
    } else if (has(FLAG_HISTORY)) {
        vec3 old_centre = cluster.instance < frame.data.moving_count
            ? transform_point(previous.data[cluster.instance].rows, meshlet.centre) : centre;
        vec3 last_centre = transform_point(frame.data.last.rows, old_centre);
        if (hzb_occluded(hzb, frame.data, frame.data.last, last_centre, radius)) {
            return REJECTED;
        }
    }
    return DRAWN;
}

// How many threads before this one have their bit set.
uint rank(uint low, uint high) {
    uint lane = gl_LocalInvocationIndex;
    uint below = (1u << (lane & 31u)) - 1u;
    return lane < 32u ? bitCount(low & below) : bitCount(low) + bitCount(high & below);
}

// The workgroup's meshlets, one a thread, and what becomes of them.
uint decide(uint group, out Cluster cluster) {
    uint lane = gl_LocalInvocationIndex;
    uint chunk_count = min(counters.data.chunk_count[LATE ? 1 : 0], frame.data.chunk_capacity);
    uint chunk_groups = cluster_groups(chunk_count);
    cluster = Cluster(0u, 0u);
    if (group < chunk_groups) {
        uint index = group * (CLUSTER_GROUP_SIZE / CHUNK_MESHLETS) + lane / CHUNK_MESHLETS;
        uint place = lane % CHUNK_MESHLETS;
        Chunk chunk = index < chunk_count ? chunks.data[index] : Chunk(0u, 0u, 0u);
        if (place < chunk.meshlet_count) {
            cluster = Cluster(chunk.instance, chunk.first_meshlet + place);
            return test(cluster, false);
        }
    } else if (LATE) {
        uint index = (group - chunk_groups) * CLUSTER_GROUP_SIZE + lane;
        if (index < min(counters.data.reject_count, frame.data.reject_capacity)) {
            cluster = rejects.data[index];
            return test(cluster, true);
        }
    }
    return CULLED;
}

// Puts rejected clusters off to the late phase, where there is room; gives what becomes of them.
uint put_off(uint group, Cluster cluster, uint fate) {
    uint lane = gl_LocalInvocationIndex;
    if (lane < 2u) {
        rejected_bits[lane] = 0u;
    }
    barrier();
    if (fate == REJECTED) {
        atomicOr(rejected_bits[lane >> 5], 1u << (lane & 31u));
    }
    barrier();
    if (lane == 0u) {
        uint wanted = bitCount(rejected_bits[0]) + bitCount(rejected_bits[1]);
        first_rejected = ALLOCATE(counters.data.reject_count, LIST_REJECTS, group, wanted);
    }
    barrier();
    if (fate == REJECTED) {
        uint index = first_rejected + rank(rejected_bits[0], rejected_bits[1]);
        if (index >= frame.data.reject_capacity) {
            return DRAWN; // No room to ask again: drawing it is always right.
        }
        rejects.data[index] = cluster;
    }
    return fate;
}

#endif
