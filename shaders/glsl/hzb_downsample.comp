// One step of the hierarchical depth buffer, for devices that cannot make all of it in one dispatch (`hzb.comp`): each texel takes the minimum (the farthest, depth being reversed) of every
// texel of the finer level that its area touches.
//
// From the depth buffer to level 0 (the largest power of two) that is up to 3x3 texels, from there on 2x2. Whole numbers
// only, so that no texel is missed. Twin: `covered_range` and `Hzb::build`.
#version 460
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 8, local_size_y = 8) in;

#ifdef VISIBILITY
layout(set = 0, binding = 0, scalar) readonly buffer PixelBlock { uvec2 data[]; } pixels; // the high word is depth
#else
layout(set = 0, binding = 0) uniform sampler2D source;
#endif
layout(set = 0, binding = 1, r32f) writeonly uniform image2D target;

layout(push_constant) uniform Push {
    uvec2 source_size;
    uvec2 target_size;
} push;

float source_depth(uvec2 texel) {
#ifdef VISIBILITY
    return uintBitsToFloat(pixels.data[texel.y * push.source_size.x + texel.x].y);
#else
    return texelFetch(source, ivec2(texel), 0).x;
#endif
}

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
            farthest = min(farthest, source_depth(uvec2(x, y)));
        }
    }
    imageStore(target, ivec2(texel), vec4(farthest));
}
