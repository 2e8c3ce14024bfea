// Expands chunks into the list of clusters that are drawn: one group a chunk, one thread a meshlet, each tested by normal
// cone, frustum and occlusion.
//
// Early, occlusion is last frame's: its HZB, its camera. What fails is not culled but goes to a list of rejects, which
// the late phase tests once more, after the chunks of its own, against the new HZB.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "counters.glsl"
#include "culling.glsl"

layout(local_size_x = CHUNK_MESHLETS) in;

layout(constant_id = 0) const bool LATE = false;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 3, scalar) readonly buffer ChunkBlock { Chunk data[]; } chunks;
layout(set = 0, binding = 4, scalar) buffer RejectBlock { Cluster data[]; } rejects;
layout(set = 0, binding = 5, scalar) writeonly buffer ClusterBlock { Cluster data[]; } clusters;
layout(set = 0, binding = 6, scalar) buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 7) uniform sampler2D hzb;

#include "statistics.glsl"

const uint CULLED = 0u;
const uint DRAWN = 1u;
const uint REJECTED = 2u;

// One bit a thread, so that places in a list follow from the thread's number, whatever the subgroup size.
shared uint drawn_bits[2];
shared uint rejected_bits[2];
shared uint first_drawn;
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
        vec3 last_centre = transform_point(frame.data.last.rows, centre);
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

void main() {
    uint lane = gl_LocalInvocationIndex;
    clear_statistics();
    if (lane < 2u) {
        drawn_bits[lane] = 0u;
        rejected_bits[lane] = 0u;
    }
    barrier();

    uint group = gl_WorkGroupID.y * MAX_GROUPS_PER_DIMENSION + gl_WorkGroupID.x;
    uint chunk_count = min(counters.data.chunk_count[LATE ? 1 : 0], frame.data.chunk_capacity);
    uint reject_capacity = frame.data.reject_capacity;
    Cluster cluster = Cluster(0u, 0u);
    uint fate = CULLED;
    if (group < chunk_count) {
        Chunk chunk = chunks.data[group];
        if (lane < chunk.meshlet_count) {
            cluster = Cluster(chunk.instance, chunk.first_meshlet + lane);
            fate = test(cluster, false);
        }
    } else if (LATE) {
        uint index = (group - chunk_count) * CHUNK_MESHLETS + lane;
        if (index < min(counters.data.reject_count, reject_capacity)) {
            cluster = rejects.data[index];
            fate = test(cluster, true);
        }
    }

    uint bit = 1u << (lane & 31u);
    if (!LATE) {
        if (fate == REJECTED) {
            atomicOr(rejected_bits[lane >> 5], bit);
        }
        barrier();
        uint rejected = bitCount(rejected_bits[0]) + bitCount(rejected_bits[1]);
        if (lane == 0u && rejected > 0u) {
            first_rejected = atomicAdd(counters.data.reject_count, rejected);
        }
        barrier();
        if (fate == REJECTED) {
            uint index = first_rejected + rank(rejected_bits[0], rejected_bits[1]);
            if (index < reject_capacity) {
                rejects.data[index] = cluster;
            } else {
                fate = DRAWN; // No room to ask again: drawing it is always right.
            }
        }
    }

    if (fate == DRAWN) {
        atomicOr(drawn_bits[lane >> 5], bit);
    }
    barrier();
    uint drawn = bitCount(drawn_bits[0]) + bitCount(drawn_bits[1]);
    if (lane == 0u && drawn > 0u) {
        first_drawn = atomicAdd(counters.data.cluster_count, drawn);
    }
    barrier();
    if (fate == DRAWN) {
        uint index = first_drawn + rank(drawn_bits[0], drawn_bits[1]);
        if (index < frame.data.cluster_capacity) {
            clusters.data[index] = cluster;
            count(STATISTIC_MESHLETS_DRAWN, 1u);
            count(STATISTIC_TRIANGLES_DRAWN, meshlet_triangles_of(meshlets.data[cluster.meshlet]));
        } else {
            count(STATISTIC_CLUSTER_OVERFLOW, 1u);
        }
    }
    barrier();
    flush_statistics();
}
