// Culls instances, chooses their LOD, and appends what is drawn to a list of chunks of meshlets.
//
// One workgroup takes a group of instances that `cull_groups.comp` has listed.
//
// Early: frustum and LOD; instances visible last frame are appended.
// Late: what was not drawn early is tested against the new HZB and appended; visibility is written for the next frame.
// LOD, frustum result and drawn flag are read from the early phase where the group was in it: what could differ would be
// drawn twice or never.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "counters.glsl"
#include "culling.glsl"
#include "groups.glsl"

layout(local_size_x = CULL_GROUP_SIZE) in;

layout(constant_id = 0) const bool LATE = false;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer MeshBlock { Mesh data[]; } meshes;
layout(set = 0, binding = 3, scalar) buffer VisibilityBlock { uint data[]; } visibility;
layout(set = 0, binding = 4, scalar) writeonly buffer ChunkBlock { Chunk data[]; } chunks;
layout(set = 0, binding = 5, scalar) buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 6) uniform sampler2D hzb;
layout(set = 0, binding = 7, scalar) readonly buffer GroupBlock { uint data[]; } groups;
layout(set = 0, binding = 8, scalar) buffer StateBlock { uint data[]; } states;

#define OFFSETS_BINDING 9
#include "compaction.glsl"
#include "statistics.glsl"

// Bits of `visibility`. VISIBLE lives from the late phase to the next frame's early phase, the rest within a frame.
const uint VISIBLE = 1u;
const uint IN_FRUSTUM = 2u;
const uint DRAWN = 4u;
const uint LOD_SHIFT = 8u;

// What each thread appends: its meshlets, and the chunks up to and with its own.
shared uint first_meshlet[CULL_GROUP_SIZE];
shared uint meshlet_count[CULL_GROUP_SIZE];
shared uint chunks_end[CULL_GROUP_SIZE];
shared uint first_chunk;

// Whether it may be in the frustum, and its LOD, as a state.
uint classify(uint index, out Mesh mesh) {
    Instance instance = instances.data[index];
    mesh = meshes.data[instance.mesh];
    precise float radius = mesh.bounds.w * instance.scale;
    vec3 centre = transform_point(instance.rows, mesh.bounds.xyz);
    vec3 view_centre = transform_point(frame.data.cull.rows, centre);
    bool tested = (frame.data.flags & FLAG_CULL_FRUSTUM) != 0u;
    if (!near_enough(frame.data.cull, view_centre, radius) ||
        (tested && !frustum_visible(frame.data.cull, view_centre, radius))) {
        return 0u;
    }
    precise vec3 offset = centre - frame.data.cull.position;
    return IN_FRUSTUM | (select_lod(frame.data, mesh, offset, radius, instance.scale) << LOD_SHIFT);
}

// The state of an instance and whether it is drawn in this phase.
bool cull_early(uint index, out uint state, out Mesh mesh) {
    bool seen_last_frame = (visibility.data[index] & VISIBLE) != 0u;
    state = classify(index, mesh);
    return seen_last_frame && (state & IN_FRUSTUM) != 0u;
}

bool cull_late(uint index, bool was_early, out uint state, out Mesh mesh) {
    state = was_early ? visibility.data[index] : classify(index, mesh);
    if ((state & IN_FRUSTUM) == 0u) {
        count(STATISTIC_FRUSTUM_CULLED, 1u);
        return false;
    }
    Instance instance = instances.data[index];
    mesh = meshes.data[instance.mesh];
    float radius = mesh.bounds.w * instance.scale;
    vec3 centre = transform_point(instance.rows, mesh.bounds.xyz);
    vec3 view_centre = transform_point(frame.data.cull.rows, centre);
    bool tested = (frame.data.flags & FLAG_CULL_OCCLUSION) != 0u;
    if (!tested || !hzb_occluded(hzb, frame.data, frame.data.cull, view_centre, radius)) {
        state |= VISIBLE;
    }
    if ((state & DRAWN) != 0u) {
        return false;
    }
    if ((state & VISIBLE) == 0u) {
        count(STATISTIC_OCCLUSION_CULLED, 1u);
    }
    return (state & VISIBLE) != 0u;
}

// Sums of `chunks_end` up to and with each thread's.
void scan_chunks() {
    uint lane = gl_LocalInvocationIndex;
    for (uint step = 1u; step < CULL_GROUP_SIZE; step *= 2u) {
        barrier();
        uint other = lane >= step ? chunks_end[lane - step] : 0u;
        barrier();
        chunks_end[lane] += other;
    }
    barrier();
}

// The thread that a chunk of the group belongs to: the first whose end lies behind it.
uint owner_of(uint chunk) {
    uint low = 0u;
    for (uint half_size = CULL_GROUP_SIZE / 2u; half_size > 0u; half_size /= 2u) {
        low += chunks_end[low + half_size - 1u] <= chunk ? half_size : 0u;
    }
    return low;
}

void main() {
    uint phase = LATE ? 1u : 0u;
    uint lane = gl_LocalInvocationIndex;
    clear_statistics();
    barrier();
    uint listed = gl_WorkGroupID.y * MAX_GROUPS_PER_DIMENSION + gl_WorkGroupID.x;
    uint group_count = (frame.data.instance_count + CULL_GROUP_SIZE - 1u) / CULL_GROUP_SIZE;
    bool has_group = listed < counters.data.group_count[phase];
    uint group = has_group ? groups.data[(LATE ? group_count : 0u) + listed] : 0u;
    uint index = group * CULL_GROUP_SIZE + lane;
    bool is_instance = has_group && index < frame.data.instance_count;

    uint state = 0u;
    bool drawn = false;
    Mesh mesh;
    if (is_instance) {
        bool was_early = LATE && (states.data[group] & GROUP_EARLY) != 0u;
        drawn = LATE ? cull_late(index, was_early, state, mesh) : cull_early(index, state, mesh);
    }
    uint lod = state >> LOD_SHIFT;
    first_meshlet[lane] = drawn ? mesh.lods[lod].first_meshlet : 0u;
    meshlet_count[lane] = drawn ? mesh.lods[lod].meshlet_count : 0u;
    chunks_end[lane] = (meshlet_count[lane] + CHUNK_MESHLETS - 1u) / CHUNK_MESHLETS;
    scan_chunks();
    uint wanted = chunks_end[CULL_GROUP_SIZE - 1u];
    if (lane == 0u) {
        first_chunk = ALLOCATE(counters.data.chunk_count[phase], 0u, listed, wanted);
    }
    barrier();
    if (STEP == COUNT) {
        return;
    }

    // An instance whose last chunk has no room is not drawn. It leaves empty chunks: the list has no holes.
    uint room = frame.data.chunk_capacity - min(first_chunk, frame.data.chunk_capacity);
    for (uint i = lane; i < min(wanted, room); i += CULL_GROUP_SIZE) {
        uint owner = owner_of(i);
        uint before = owner > 0u ? chunks_end[owner - 1u] : 0u;
        uint done = (i - before) * CHUNK_MESHLETS;
        uint left = chunks_end[owner] <= room ? meshlet_count[owner] - done : 0u;
        chunks.data[first_chunk + i] =
            Chunk(group * CULL_GROUP_SIZE + owner, first_meshlet[owner] + done, min(left, CHUNK_MESHLETS));
    }
    if (drawn) {
        if (chunks_end[lane] <= room) {
            state |= DRAWN;
            count(LATE ? STATISTIC_LATE : STATISTIC_EARLY, 1u);
            count(STATISTIC_LOD_0 + lod, 1u);
        } else if (LATE) {
            count(STATISTIC_DRAW_OVERFLOW, 1u);
        }
    }
    if (is_instance) {
        visibility.data[index] = state;
        if (LATE && (state & VISIBLE) != 0u) {
            atomicOr(states.data[group], GROUP_VISIBLE);
        }
    }
    barrier();
    flush_statistics();
}
