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

#include "statistics.glsl"

// Bits of `visibility`. VISIBLE lives from the late phase to the next frame's early phase, the rest within a frame.
const uint VISIBLE = 1u;
const uint IN_FRUSTUM = 2u;
const uint DRAWN = 4u;
const uint LOD_SHIFT = 8u;

// Appends all meshlets of a LOD; false when the list is full.
bool append(uint instance, Lod lod) {
    uint phase = LATE ? 1u : 0u;
    uint needed = (lod.meshlet_count + CHUNK_MESHLETS - 1u) / CHUNK_MESHLETS;
    uint first = atomicAdd(counters.data.chunk_count[phase], needed);
    uint capacity = frame.data.chunk_capacity;
    bool fits = needed <= capacity && first <= capacity - needed;
    for (uint i = 0u; i < needed && first + i < capacity; ++i) {
        // Whoever reaches over the end leaves empty chunks up to it: the list has no holes.
        uint left = fits ? lod.meshlet_count - i * CHUNK_MESHLETS : 0u;
        chunks.data[first + i] = Chunk(instance, lod.first_meshlet + i * CHUNK_MESHLETS, min(left, CHUNK_MESHLETS));
    }
    return fits;
}

void draw(uint index, Mesh mesh, uint lod, inout uint state) {
    if (append(index, mesh.lods[lod])) {
        state |= DRAWN;
        count(LATE ? STATISTIC_LATE : STATISTIC_EARLY, 1u);
        count(STATISTIC_LOD_0 + lod, 1u);
    } else if (LATE) {
        count(STATISTIC_DRAW_OVERFLOW, 1u);
    }
}

// Whether it may be in the frustum, and its LOD, as a state.
uint classify(uint index, out Mesh mesh) {
    Instance instance = instances.data[index];
    mesh = meshes.data[instance.mesh];
    precise float radius = mesh.bounds.w * instance.scale;
    vec3 centre = transform_point(instance.rows, mesh.bounds.xyz);
    vec3 view_centre = transform_point(frame.data.cull.rows, centre);
    bool tested = (frame.data.flags & FLAG_CULL_FRUSTUM) != 0u;
    if (tested && !frustum_visible(frame.data.cull, view_centre, radius)) {
        return 0u;
    }
    precise vec3 offset = centre - frame.data.cull.position;
    return IN_FRUSTUM | (select_lod(frame.data, mesh, offset, radius, instance.scale) << LOD_SHIFT);
}

void cull_early(uint index) {
    Mesh mesh;
    bool seen_last_frame = (visibility.data[index] & VISIBLE) != 0u;
    uint state = classify(index, mesh);
    if (seen_last_frame && (state & IN_FRUSTUM) != 0u) {
        draw(index, mesh, state >> LOD_SHIFT, state);
    }
    visibility.data[index] = state;
}

// Whether the instance is visible.
bool cull_late(uint index, bool was_early) {
    Mesh mesh;
    uint state = was_early ? visibility.data[index] : classify(index, mesh);
    if ((state & IN_FRUSTUM) == 0u) {
        count(STATISTIC_FRUSTUM_CULLED, 1u);
    } else {
        Instance instance = instances.data[index];
        mesh = meshes.data[instance.mesh];
        float radius = mesh.bounds.w * instance.scale;
        vec3 centre = transform_point(instance.rows, mesh.bounds.xyz);
        vec3 view_centre = transform_point(frame.data.cull.rows, centre);
        bool tested = (frame.data.flags & FLAG_CULL_OCCLUSION) != 0u;
        if (!tested || !hzb_occluded(hzb, frame.data, frame.data.cull, view_centre, radius)) {
            state |= VISIBLE;
        }
        if ((state & DRAWN) == 0u) {
            if ((state & VISIBLE) != 0u) {
                draw(index, mesh, state >> LOD_SHIFT, state);
            } else {
                count(STATISTIC_OCCLUSION_CULLED, 1u);
            }
        }
    }
    visibility.data[index] = state;
    return (state & VISIBLE) != 0u;
}

void main() {
    clear_statistics();
    barrier();
    uint listed = gl_WorkGroupID.y * MAX_GROUPS_PER_DIMENSION + gl_WorkGroupID.x;
    if (listed < counters.data.group_count[LATE ? 1 : 0]) {
        uint group_count = (frame.data.instance_count + CULL_GROUP_SIZE - 1u) / CULL_GROUP_SIZE;
        uint group = groups.data[(LATE ? group_count : 0u) + listed];
        uint index = group * CULL_GROUP_SIZE + gl_LocalInvocationIndex;
        if (index < frame.data.instance_count) {
            if (!LATE) {
                cull_early(index);
            } else if (cull_late(index, (states.data[group] & GROUP_EARLY) != 0u)) {
                atomicOr(states.data[group], GROUP_VISIBLE);
            }
        }
    }
    barrier();
    flush_statistics();
}
