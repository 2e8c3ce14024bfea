// Rasterises clusters of small triangles into the visibility buffer: one group a cluster, one thread a vertex, then one
// or two triangles. The nearest sample of a pixel stays, by a 64-bit maximum.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#include "counters.glsl"
#include "vertex.glsl"
#include "visibility.glsl"

layout(local_size_x = MESHLET_MAX_VERTICES) in;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer MeshBlock { Mesh data[]; } meshes;
layout(set = 0, binding = 3, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 4, scalar) readonly buffer MeshletVertexBlock { uint data[]; } meshlet_vertices;
layout(set = 0, binding = 5, scalar) readonly buffer MeshletTriangleBlock { uint data[]; } meshlet_triangles;
layout(set = 0, binding = 6, scalar) readonly buffer VertexBlock { uvec4 data[]; } vertices;
layout(set = 0, binding = 7, scalar) readonly buffer ClusterBlock { Cluster data[]; } clusters;
layout(set = 0, binding = 8, scalar) readonly buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 9, scalar) buffer PixelBlock { uint64_t data[]; } pixels;
layout(set = 0, binding = 10, scalar) buffer OverdrawBlock { uint data[]; } overdraw; // samples of each pixel

layout(constant_id = 0) const bool COUNT_OVERDRAW = false;

layout(push_constant, scalar) uniform Push {
    uint phase; // 0 early, 1 late
} push;

shared ivec2 snapped[MESHLET_MAX_VERTICES];
shared vec3 places[MESHLET_MAX_VERTICES];

uint cluster_slot;

void plot(ivec2 pixel, float depth, uint triangle) {
    uint index = uint(pixel.y) * frame.data.size.x + uint(pixel.x);
    atomicMax(pixels.data[index], pack_sample(depth, cluster_slot, triangle));
    if (COUNT_OVERDRAW) {
        atomicAdd(overdraw.data[index], 1u);
    }
}

#include "raster.glsl"

void main() {
    uint group = gl_WorkGroupID.y * MAX_GROUPS_PER_DIMENSION + gl_WorkGroupID.x;
    cluster_slot = counters.data.compute_first[push.phase] + group;
    if (cluster_slot >= counters.data.compute_count) {
        return;
    }
    uint lane = gl_LocalInvocationIndex;
    Cluster cluster = clusters.data[cluster_slot];
    Instance instance = instances.data[cluster.instance];
    Meshlet meshlet = meshlets.data[cluster.meshlet];
    if (lane < meshlet_vertices_of(meshlet)) {
        uvec4 vertex = vertices.data[meshlet_vertices.data[meshlet.vertex_offset + lane]];
        vec3 position = decode_position(vertex, meshes.data[instance.mesh].grid);
        vec4 clip = clip_position(frame.data.draw, instance, position);
        places[lane] = place_of(clip, vec2(frame.data.size) * 0.5);
        snapped[lane] = snap(places[lane]);
    }
    barrier();
    uint triangles = meshlet_triangles_of(meshlet);
    for (uint triangle = lane; triangle < triangles; triangle += MESHLET_MAX_VERTICES) {
        uvec3 corner = triangle_corners(meshlet_triangles.data[meshlet.triangle_offset + triangle], instance);
        rasterise(snapped[corner.x], snapped[corner.y], snapped[corner.z],
                  places[corner.x], places[corner.y], places[corner.z], ivec2(frame.data.size), triangle);
    }
}
