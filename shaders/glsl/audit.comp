// Compares a frame with the same frame drawn without culling: a pixel where the latter has something nearer shows what was
// culled and should not have been.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "frame.glsl"
#include "scene.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

struct FalseCull {
    uvec2 pixel;
    Cluster cluster;
};

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer PixelBlock { uvec2 data[]; } pixels;      // of the frame
layout(set = 0, binding = 2, scalar) readonly buffer AllPixelBlock { uvec2 data[]; } all_pixels; // without culling
layout(set = 0, binding = 3, scalar) readonly buffer ClusterBlock { Cluster data[]; } all_clusters;
layout(set = 0, binding = 4, scalar) buffer ResultBlock {
    uint count;
    uint reserved;
    FalseCull first[AUDIT_EXAMPLES];
} result;

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(pixel, frame.data.size))) {
        return;
    }
    uint index = pixel.y * frame.data.size.x + pixel.x;
    uvec2 expected = all_pixels.data[index];
    if (expected.y == pixels.data[index].y) {
        return;
    }
    uint place = atomicAdd(result.count, 1u);
    if (place < AUDIT_EXAMPLES) {
        result.first[place] = FalseCull(pixel, all_clusters.data[expected.x >> 7]);
    }
}
