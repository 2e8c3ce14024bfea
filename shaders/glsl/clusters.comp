// Expands chunks into the list of clusters that are drawn: a few chunks a group, one thread a meshlet, each tested by normal
// cone, frustum and occlusion.
//
// Early, occlusion is last frame's: its HZB, its camera. What fails is not culled but goes to a list of rejects, which
// the late phase tests once more, after the chunks of its own, against the new HZB.
//
// What is drawn goes to the compute rasteriser where all of its triangles are small, else to the hardware.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "counters.glsl"
#include "culling.glsl"

layout(local_size_x = CLUSTER_GROUP_SIZE) in;

layout(constant_id = 0) const bool LATE = false;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 3, scalar) readonly buffer ChunkBlock { Chunk data[]; } chunks;
layout(set = 0, binding = 4, scalar) buffer RejectBlock { Cluster data[]; } rejects;
layout(set = 0, binding = 5, scalar) writeonly buffer ClusterBlock { Cluster data[]; } clusters;
layout(set = 0, binding = 6, scalar) buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 7) uniform sampler2D hzb;
layout(set = 0, binding = 8, scalar) readonly buffer PreviousBlock { Rows data[]; } previous; // of moving instances

#define OFFSETS_BINDING 9
#include "compaction.glsl"
#include "statistics.glsl"

// Lists of `offsets`.
const uint LIST_REJECTS = 0u;
const uint LIST_COMPUTE = 1u;
const uint LIST_HARDWARE = 2u;

const uint CULLED = 0u;
const uint DRAWN = 1u;
const uint REJECTED = 2u;

// One bit a thread, so that places in a list follow from the thread's number, whatever the subgroup size.
shared uint compute_bits[2];
shared uint hardware_bits[2];
shared uint rejected_bits[2];
shared uint first_compute;
shared uint first_hardware;
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

// Whether the compute rasteriser may have a cluster: it lies wholly in front of the near plane, near enough to the
// picture for whole numbers, and no triangle is wider or higher than the threshold. Twin: `compute_raster_takes`.
bool all_small(Cluster cluster) {
    if (frame.data.raster_threshold <= 0.0) {
        return false;
    }
    if (has(FLAG_RASTER_SHUFFLE) && ((cluster.meshlet * 0x9e3779b1u + cluster.instance * 0x85ebca6bu) >> 31) != 0u) {
        return false;
    }
    Instance instance = instances.data[cluster.instance];
    Meshlet meshlet = meshlets.data[cluster.meshlet];
    View view = frame.data.draw;
    float radius = meshlet.radius * instance.scale;
    vec3 centre = transform_point(view.rows, transform_point(instance.rows, meshlet.centre));
    float nearest = -centre.z - radius;
    // A part in a thousand more than the near plane, for the rounding of positions.
    if (!(nearest > view.near * 1.001)) {
        return false;
    }
    // Slopes x/z and y/z of its points. For two points of depth z1 and z2 at most L apart, slopes differ by
    // (x1 - x2) / z1 + (x2 / z2) (z2 - z1) / z1, which is at most L sqrt(1 + slope^2) / nearest.
    vec2 slope = (abs(centre.xy) + radius) / nearest;
    vec2 pixels = view.scale * 0.5 * vec2(frame.data.size);
    float edge = meshlet_edge_of(meshlet) * instance.scale / nearest;
    vec2 extent = edge * sqrt(1.0 + slope * slope) * pixels;
    vec2 reach = slope * pixels;
    return max(extent.x, extent.y) <= frame.data.raster_threshold && max(reach.x, reach.y) <= RASTER_REACH;
}

// How many threads before this one have their bit set.
uint rank(uint low, uint high) {
    uint lane = gl_LocalInvocationIndex;
    uint below = (1u << (lane & 31u)) - 1u;
    return lane < 32u ? bitCount(low & below) : bitCount(low) + bitCount(high & below);
}

// By one thread: asks for room for what the group draws, drops what gets none, and takes places at both ends of the list.
void admit(uint workgroup) {
    uint compute = (bitCount(compute_bits[0]) + bitCount(compute_bits[1]));
    uint hardware = (bitCount(hardware_bits[0]) + bitCount(hardware_bits[1]));
    uint wanted = compute + hardware;
    uint first = 0u;
    if (STEP != AT_ONCE) {
        first_compute = in_order(LIST_COMPUTE, workgroup, compute);
        first_hardware = in_order(LIST_HARDWARE, workgroup, hardware);
        // Offsets are within a phase.
        first_compute += counters.data.compute_first[LATE ? 1 : 0];
        first_hardware += counters.data.hardware_first[LATE ? 1 : 0];
        first = first_compute + first_hardware;
    } else if (wanted > 0u) {
        first = atomicAdd(counters.data.cluster_count, wanted);
    }
    uint capacity = frame.data.cluster_capacity;
    uint room = first < capacity ? min(capacity - first, wanted) : 0u;
    for (int thread = int(CLUSTER_GROUP_SIZE) - 1; wanted > room && thread >= 0; --thread) {
        uint word = uint(thread) >> 5;
        uint bit = 1u << (uint(thread) & 31u);
        if (((compute_bits[word] | hardware_bits[word]) & bit) != 0u) {
            compute_bits[word] &= ~bit;
            hardware_bits[word] &= ~bit;
            wanted -= 1u;
        }
    }
    compute = (bitCount(compute_bits[0]) + bitCount(compute_bits[1]));
    hardware = (bitCount(hardware_bits[0]) + bitCount(hardware_bits[1]));
    if (STEP == COUNT) {
        return;
    }
    // What is admitted is the beginning of the order, so that places taken in order have no holes.
    if (compute > 0u) {
        uint place = atomicAdd(counters.data.compute_count, compute);
        first_compute = STEP == PLACE ? first_compute : place;
    }
    if (hardware > 0u) {
        uint place = atomicAdd(counters.data.hardware_count, hardware);
        first_hardware = STEP == PLACE ? first_hardware : place;
    }
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    clear_statistics();
    if (lane < 2u) {
        compute_bits[lane] = 0u;
        hardware_bits[lane] = 0u;
        rejected_bits[lane] = 0u;
    }
    barrier();

    uint group = gl_WorkGroupID.y * MAX_GROUPS_PER_DIMENSION + gl_WorkGroupID.x;
    uint chunk_count = min(counters.data.chunk_count[LATE ? 1 : 0], frame.data.chunk_capacity);
    uint reject_capacity = frame.data.reject_capacity;
    Cluster cluster = Cluster(0u, 0u);
    uint fate = CULLED;
    uint chunk_groups = cluster_groups(chunk_count);
    if (group < chunk_groups) {
        uint index = group * (CLUSTER_GROUP_SIZE / CHUNK_MESHLETS) + lane / CHUNK_MESHLETS;
        uint place = lane % CHUNK_MESHLETS;
        Chunk chunk = index < chunk_count ? chunks.data[index] : Chunk(0u, 0u, 0u);
        if (place < chunk.meshlet_count) {
            cluster = Cluster(chunk.instance, chunk.first_meshlet + place);
            fate = test(cluster, false);
        }
    } else if (LATE) {
        uint index = (group - chunk_groups) * CLUSTER_GROUP_SIZE + lane;
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
        if (lane == 0u) {
            first_rejected = ALLOCATE(counters.data.reject_count, LIST_REJECTS, group, (bitCount(rejected_bits[0]) + bitCount(rejected_bits[1])));
        }
        barrier();
        if (fate == REJECTED && STEP != COUNT) {
            uint index = first_rejected + rank(rejected_bits[0], rejected_bits[1]);
            if (index < reject_capacity) {
                rejects.data[index] = cluster;
            } else {
                fate = DRAWN; // No room to ask again: drawing it is always right.
            }
        }
    }

    bool small = fate == DRAWN && all_small(cluster);
    if (small) {
        atomicOr(compute_bits[lane >> 5], bit);
    } else if (fate == DRAWN) {
        atomicOr(hardware_bits[lane >> 5], bit);
    }
    barrier();
    if (lane == 0u) {
        admit(group);
    }
    barrier();
    if (STEP == COUNT) {
        return;
    }
    if (fate == DRAWN) {
        // Places are counted from lower threads, and those that were not admitted are the highest.
        bool admitted = (((small ? compute_bits[lane >> 5] : hardware_bits[lane >> 5]) & bit) != 0u);
        if (admitted) {
            uint slot = small ? first_compute + rank(compute_bits[0], compute_bits[1])
                              : hardware_slot(frame.data, first_hardware + rank(hardware_bits[0], hardware_bits[1]));
            clusters.data[slot] = cluster;
            uint triangles = meshlet_triangles_of(meshlets.data[cluster.meshlet]);
            count(STATISTIC_MESHLETS_DRAWN, 1u);
            count(STATISTIC_TRIANGLES_DRAWN, triangles);
            if (small) {
                count(STATISTIC_TRIANGLES_COMPUTE, triangles);
            }
        } else {
            count(STATISTIC_CLUSTER_OVERFLOW, 1u);
        }
    }
    barrier();
    flush_statistics();
}
