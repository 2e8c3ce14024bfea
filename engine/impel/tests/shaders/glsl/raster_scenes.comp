// Small scenes through the triangle rasteriser of the engine, one a group, each with a picture of its own. Writes down the
// snapped positions, and how often each pixel was hit.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#include "../../../../../shaders/glsl/include/visibility.glsl"

layout(local_size_x = 64) in;

const uint VERTICES = 64u;
const uint TRIANGLES = 124u;

layout(set = 0, binding = 0, scalar) readonly buffer PositionBlock { vec4 data[]; } positions; // clip space
layout(set = 0, binding = 1, scalar) readonly buffer TriangleBlock { uvec3 data[]; } triangles; // equal corners: none
layout(set = 0, binding = 2, scalar) writeonly buffer SnappedBlock { ivec2 data[]; } snapped_out;
layout(set = 0, binding = 3, scalar) buffer PixelBlock { uint64_t data[]; } pixels;
layout(set = 0, binding = 4, scalar) buffer HitBlock { uint data[]; } hits;
layout(set = 0, binding = 5, scalar) writeonly buffer PlaceBlock { vec3 data[]; } places_out; // pixels, depth

layout(push_constant, scalar) uniform Push {
    uvec2 size; // of each picture
} push;

shared ivec2 snapped[VERTICES];
shared vec3 places[VERTICES];

void plot(ivec2 pixel, float depth, uint triangle) {
    uint index = (gl_WorkGroupID.x * push.size.y + uint(pixel.y)) * push.size.x + uint(pixel.x);
    atomicMax(pixels.data[index], pack_sample(depth, gl_WorkGroupID.x, triangle));
    atomicAdd(hits.data[index], 1u);
}

#include "../../../../../shaders/glsl/include/raster.glsl"

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint vertex = gl_WorkGroupID.x * VERTICES + lane;
    vec4 clip = positions.data[vertex];
    places[lane] = place_of(clip, vec2(push.size) * 0.5);
    snapped[lane] = snap(places[lane]);
    snapped_out.data[vertex] = snapped[lane];
    places_out.data[vertex] = places[lane];
    barrier();
    for (uint triangle = lane; triangle < TRIANGLES; triangle += VERTICES) {
        uvec3 corner = triangles.data[gl_WorkGroupID.x * TRIANGLES + triangle];
        rasterise(snapped[corner.x], snapped[corner.y], snapped[corner.z],
                  places[corner.x], places[corner.y], places[corner.z], ivec2(push.size), triangle);
    }
}
