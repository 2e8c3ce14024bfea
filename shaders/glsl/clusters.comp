// Expands chunks into the list of clusters that are drawn: a few chunks a group, one thread a meshlet, culled as
// `cluster_culling.glsl` says. What is drawn goes to the compute rasteriser where all of its triangles are small, else to the
// hardware.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "counters.glsl"
#include "frame.glsl"
#include "scene.glsl"

layout(local_size_x = CLUSTER_GROUP_SIZE) in;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 3, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 7, scalar) writeonly buffer ClusterBlock { Cluster data[]; } clusters;
layout(set = 0, binding = 8, scalar) buffer CounterBlock { Counters data; } counters;

#define OFFSETS_BINDING 14
#include "compaction.glsl"
#include "statistics.glsl"
#include "cluster_culling.glsl"

const uint LIST_COMPUTE = 1u;
const uint LIST_HARDWARE = 2u;

shared uint compute_bits[2];
shared uint hardware_bits[2];
shared uint first_compute;
shared uint first_hardware;

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
    }
    barrier();

    uint group = gl_WorkGroupID.y * MAX_GROUPS_PER_DIMENSION + gl_WorkGroupID.x;
    Cluster cluster;
    uint fate = decide(group, cluster);
    if (!LATE) {
        fate = put_off(group, cluster, fate);
    }

    uint bit = 1u << (lane & 31u);
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
