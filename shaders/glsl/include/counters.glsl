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
const uint STATISTIC_TRIANGLES_COMPUTE = 13u; // those of STATISTIC_TRIANGLES_DRAWN that the compute rasteriser takes
const uint STATISTIC_LOD_0 = 16u; // one per LOD
const uint STATISTICS = 24u;

struct Counters {
    uint chunk_count[2]; // early, late; may exceed the capacity: what is in the list is the smaller
    uint reject_count;   // may exceed the capacity too
    uint cluster_count;  // admitted or not, early and late; cut to the capacity between them
    // Clusters lie in one list: those for the compute rasteriser from its beginning on, those for the hardware from its
    // end backwards, early ones first. Here only admitted ones are counted.
    uint compute_count;
    uint hardware_count;
    uint compute_first[2]; // by phase
    uint hardware_first[2];
    uint hzb_groups;     // workgroups of the HZB pass that are done
    uint group_count[2]; // groups of instances in the lists, early and late
    uint reserved[3];
    uvec2 statistics[STATISTICS]; // 64 bits each: low, high
};

#endif
