// Puts what the hardware rasterises into the visibility buffer. There are no attachments: to clear a depth buffer costs more
// than the fragments that it would save.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#ifdef MESH
#extension GL_EXT_mesh_shader : require
#define PER_TRIANGLE perprimitiveEXT flat
#else
#define PER_TRIANGLE flat
#endif

#include "frame.glsl"
#include "visibility.glsl"

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 9, scalar) buffer PixelBlock { uint64_t data[]; } pixels;
layout(set = 0, binding = 10, scalar) buffer OverdrawBlock { uint data[]; } overdraw; // samples of each pixel

layout(constant_id = 0) const bool COUNT_OVERDRAW = false;

layout(location = 0) PER_TRIANGLE in uvec2 in_triangle; // slot of the cluster, number of the triangle

void main() {
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    uint index = pixel.y * frame.data.size.x + pixel.x;
    atomicMax(pixels.data[index], pack_sample(gl_FragCoord.z, in_triangle.x, in_triangle.y));
    if (COUNT_OVERDRAW) {
        atomicAdd(overdraw.data[index], 1u);
    }
}
