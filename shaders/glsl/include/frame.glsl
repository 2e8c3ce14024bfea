// What is the same for all passes of a frame. Twin: `impel::renderer::FrameData`.
#ifndef FRAME_GLSL
#define FRAME_GLSL

#include "config.glsl"

// A camera, 96 bytes. Twin: `impel::renderer::View`.
struct View {
    vec4 rows[3];  // world space to view space (looking along -Z, +Y up)
    vec4 frustum;  // inward normals of the right and upper planes: |x| and depth, |y| and depth
    vec3 position; // world space
    float near;
    vec2 scale; // p00, p11
    float draw_distance;
    uint reserved;
};

struct FrameData {
    View draw; // projects what is drawn
    View cull; // decides what is drawn: frustum, LOD, cones, occlusion; differs from `draw` while frozen
    View last; // the camera that last frame's depth was seen with
    uvec2 size;     // of the picture, pixels
    uvec2 hzb_size; // of level 0
    uint instance_count;
    uint flags;
    uint lod_mode;
    uint lod_forced;
    float error_distance;              // LOD_MODE_ERROR: an error e is small enough from distance e * error_distance on
    float begins_squared[MAX_LODS - 1]; // LOD_MODE_DISTANCE
    uint chunk_capacity;
    uint cluster_capacity;
    uint reject_capacity;
    uint debug_view;
    float fog_distance; // 0 for none
    float raster_threshold; // pixels: clusters with no larger triangle go to the compute rasteriser; 0 for none
    uint moving_count; // so many instances, the first ones, may have moved since last frame
    uint offset_stride; // of a list in `offsets`
    uint hzb_level;     // shown by DEBUG_VIEW_HZB
    uint reserved[3];
};

// Workgroups that expand so many chunks.
uint cluster_groups(uint chunks) {
    const uint chunks_per_group = CLUSTER_GROUP_SIZE / CHUNK_MESHLETS;
    return (chunks + chunks_per_group - 1u) / chunks_per_group;
}

// Where the k-th cluster for the hardware lies in the list of clusters.
uint hardware_slot(FrameData frame, uint k) { return frame.cluster_capacity - 1u - k; }

const uint FLAG_CULL_FRUSTUM = 1u;
const uint FLAG_CULL_OCCLUSION = 2u;
const uint FLAG_MESHLET_CONE = 4u;
const uint FLAG_MESHLET_FRUSTUM = 8u;
const uint FLAG_MESHLET_OCCLUSION = 16u;
// The HZB holds last frame's depth, seen with `last`.
const uint FLAG_HISTORY = 32u;
// Half of the clusters that the compute rasteriser could have go to the hardware.
const uint FLAG_RASTER_SHUFFLE = 64u;

const uint LOD_MODE_ERROR = 0u;
const uint LOD_MODE_FORCED = 1u;
const uint LOD_MODE_DISTANCE = 2u;

const uint DEBUG_VIEW_NONE = 0u;
const uint DEBUG_VIEW_MESHLETS = 1u;
const uint DEBUG_VIEW_LODS = 2u;
const uint DEBUG_VIEW_NORMALS = 3u;
const uint DEBUG_VIEW_DEPTH = 4u;
const uint DEBUG_VIEW_INSTANCES = 5u;
const uint DEBUG_VIEW_RASTER = 6u;
const uint DEBUG_VIEW_OVERDRAW = 7u;
const uint DEBUG_VIEW_CULLED_BY = 8u;
const uint DEBUG_VIEW_HZB = 9u;

#endif
