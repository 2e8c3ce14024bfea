// Counts that passes hand to each other, and statistics for people. Twin: `impel::renderer::Counters`.
#ifndef COUNTERS_GLSL
#define COUNTERS_GLSL

#include "config.glsl"

const uint STATISTIC_FRUSTUM_CULLED = 0u;
const uint STATISTIC_OCCLUSION_CULLED = 1u;
const uint STATISTIC_EARLY = 2u;
const uint STATISTIC_LATE = 3u;
const uint STATISTIC_DRAW_OVERFLOW = 4u;
const uint STATISTIC_MESHLETS_TESTED = 5u;
const uint STATISTIC_MESHLETS_CONE = 6u;
const uint STATISTIC_MESHLETS_FRUSTUM = 7u;
const uint STATISTIC_MESHLETS_OCCLUSION = 8u;
const uint STATISTIC_MESHLETS_DRAWN = 9u;
const uint STATISTIC_CLUSTER_OVERFLOW = 10u;
const uint STATISTIC_TRIANGLES_DRAWN = 11u;
const uint STATISTIC_INSTANCES = 12u;
const uint STATISTIC_LOD_0 = 16u; // one per LOD
const uint STATISTICS = 24u;

struct Counters {
    uint chunk_count[2]; // early, late; may exceed the capacity: what is in the list is the smaller
    uint reject_count;   // may exceed the capacity too
    uint cluster_count;  // early and late in one list; cut to the capacity between them
    uint cluster_first[2];
    uint reserved[10];
    uvec2 statistics[STATISTICS]; // 64 bits each: low, high
};

#endif
