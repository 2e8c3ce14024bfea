// One step of the hierarchical depth buffer: each texel takes the minimum (the farthest, depth being reversed) of every
// texel of the finer level that its area touches.
//
// From the depth buffer to level 0 (the largest power of two) that is up to 3x3 texels, from there on 2x2. Whole numbers
// only, so that no texel is missed. Twin: `covered_range` and `Hzb::build`.
#version 460

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, r32f) writeonly uniform image2D target;

layout(push_constant) uniform Push {
    uvec2 source_size;
    uvec2 target_size;
} push;

void main() {
    uvec2 texel = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(texel, push.target_size))) {
        return;
    }
    uvec2 first = texel * push.source_size / push.target_size;
    uvec2 end = ((texel + 1u) * push.source_size + push.target_size - 1u) / push.target_size;
    float farthest = 1.0;
    for (uint y = first.y; y < end.y; ++y) {
        for (uint x = first.x; x < end.x; ++x) {
            farthest = min(farthest, texelFetch(source, ivec2(x, y), 0).x);
        }
    }
    imageStore(target, ivec2(texel), vec4(farthest));
}
