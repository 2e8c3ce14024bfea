// The hierarchical depth buffer in one dispatch: each texel takes the minimum (the farthest, depth being reversed) of every
// texel of the finer level that its area touches.
//
// A group makes levels 0 to 6 of a tile of 64x64 texels of level 0; whichever group is done last makes the rest from
// level 6. Nobody waits. From the depth buffer to level 0 (the largest power of two) a texel takes up to 3x3 texels, from
// there on 2x2; whole numbers only, so that none is missed. Texels outside count as 1, the nearest there is.
// Twin: `covered_range` and `Hzb::build`.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#include "counters.glsl"

layout(local_size_x = 256) in;

#ifdef VISIBILITY
layout(set = 0, binding = 0, scalar) readonly buffer PixelBlock { uvec2 data[]; } pixels; // the high word is depth
#else
layout(set = 0, binding = 0) uniform sampler2D source;
#endif
layout(set = 0, binding = 1, r32f) uniform devicecoherent image2D levels[MAX_HZB_LEVELS];
layout(set = 0, binding = 2, scalar) buffer CounterBlock { Counters data; } counters;

layout(push_constant, scalar) uniform Push {
    uvec2 source_size;
    uvec2 size;  // of level 0
    uint levels; // how many there are
} push;

const uint TILE_LEVEL = 6u;

shared float tile[16][16];
shared uint groups_before;

float source_depth(uvec2 texel) {
#ifdef VISIBILITY
    return uintBitsToFloat(pixels.data[texel.y * push.source_size.x + texel.x].y);
#else
    return texelFetch(source, ivec2(texel), 0).x;
#endif
}

uvec2 size_of(uint level) { return max(push.size >> level, uvec2(1u)); }

bool is_inside(uvec2 texel, uint level) { return all(lessThan(texel, size_of(level))); }

// The index of an image has to be the same for all threads of a group, or a constant: it is.
void store(uint level, uvec2 texel, float depth) {
    if (level < push.levels && is_inside(texel, level)) {
        imageStore(levels[level], ivec2(texel), vec4(depth));
    }
}

float level_0(uvec2 texel) {
    if (!is_inside(texel, 0u)) {
        return 1.0;
    }
    uvec2 first = texel * push.source_size / push.size;
    uvec2 end = ((texel + 1u) * push.source_size + push.size - 1u) / push.size;
    float farthest = 1.0;
    for (uint y = first.y; y < end.y; ++y) {
        for (uint x = first.x; x < end.x; ++x) {
            farthest = min(farthest, source_depth(uvec2(x, y)));
        }
    }
    return farthest;
}

float level_6(uvec2 texel) {
    return is_inside(texel, TILE_LEVEL) ? imageLoad(levels[TILE_LEVEL], ivec2(texel)).x : 1.0;
}

// Reduces the tile in shared memory, which holds level `level - 1` from `origin` on, level by level down to one texel.
void reduce_tile(uint level, uvec2 origin) {
    uvec2 at = uvec2(gl_LocalInvocationIndex & 15u, gl_LocalInvocationIndex >> 4);
    for (uint side = 8u; side >= 1u; side >>= 1u) {
        bool mine = at.x < side && at.y < side;
        float farthest = 1.0;
        barrier();
        if (mine) {
            uvec2 finer = at * 2u;
            farthest = min(min(tile[finer.y][finer.x], tile[finer.y][finer.x + 1u]),
                           min(tile[finer.y + 1u][finer.x], tile[finer.y + 1u][finer.x + 1u]));
        }
        barrier();
        if (mine) {
            tile[at.y][at.x] = farthest;
            store(level, origin * side + at, farthest);
        }
        level += 1u;
    }
}

// Makes the two levels after 4x4 texels of one level, and puts the last one into the tile.
void reduce_16(float texels[16], uint level, uvec2 block) {
    float farthest = 1.0;
    for (uint i = 0u; i < 4u; ++i) {
        uvec2 quad = uvec2(i & 1u, i >> 1);
        uint first = quad.y * 8u + quad.x * 2u;
        float quarter = min(min(texels[first], texels[first + 1u]), min(texels[first + 4u], texels[first + 5u]));
        store(level, block * 2u + quad, quarter);
        farthest = min(farthest, quarter);
    }
    store(level + 1u, block, farthest);
    tile[gl_LocalInvocationIndex >> 4][gl_LocalInvocationIndex & 15u] = farthest;
}

void main() {
    uvec2 at = uvec2(gl_LocalInvocationIndex & 15u, gl_LocalInvocationIndex >> 4);
    uvec2 block = gl_WorkGroupID.xy * 16u + at;
    float texels[16];
    for (uint i = 0u; i < 16u; ++i) {
        uvec2 texel = block * 4u + uvec2(i & 3u, i >> 2);
        texels[i] = level_0(texel);
        store(0u, texel, texels[i]);
    }
    reduce_16(texels, 1u, block);
    reduce_tile(3u, gl_WorkGroupID.xy);
    if (push.levels <= TILE_LEVEL + 1u) {
        return;
    }

    // What this group has written comes before its count, for whoever counts after it.
    if (gl_LocalInvocationIndex == 0u) {
        groups_before = atomicAdd(counters.data.hzb_groups, 1u, gl_ScopeDevice,
            gl_StorageSemanticsBuffer | gl_StorageSemanticsImage, gl_SemanticsAcquireRelease);
    }
    barrier();
    if (groups_before != gl_NumWorkGroups.x * gl_NumWorkGroups.y - 1u) {
        return;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsAcquireRelease);

    // Levels 7 to 12 in tiles of 64x64 texels of level 6, of which there are up to 4x4.
    uvec2 tiles = (size_of(TILE_LEVEL) + 63u) / 64u;
    for (uint t = 0u; t < tiles.x * tiles.y; ++t) {
        uvec2 tile_at = uvec2(t % tiles.x, t / tiles.x);
        block = tile_at * 16u + at;
        for (uint i = 0u; i < 16u; ++i) {
            texels[i] = level_6(block * 4u + uvec2(i & 3u, i >> 2));
        }
        barrier();
        reduce_16(texels, TILE_LEVEL + 1u, block);
        reduce_tile(TILE_LEVEL + 3u, tile_at);
    }
    // Levels 13 and 14, of at most 2x2 and 1 texels.
    if (push.levels <= 2u * TILE_LEVEL + 1u) {
        return;
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsAcquireRelease);
    if (gl_LocalInvocationIndex == 0u) {
        for (uint level = 2u * TILE_LEVEL + 1u; level < push.levels; ++level) {
            uvec2 size = size_of(level);
            uvec2 finer_size = size_of(level - 1u);
            for (uint i = 0u; i < size.x * size.y; ++i) {
                uvec2 texel = uvec2(i % size.x, i / size.x);
                float farthest = 1.0;
                for (uint k = 0u; k < 4u; ++k) {
                    uvec2 finer = min(texel * 2u + uvec2(k & 1u, k >> 1), finer_size - 1u);
                    farthest = min(farthest, imageLoad(levels[level - 1u], ivec2(finer)).x);
                }
                store(level, texel, farthest);
            }
        }
    }
}
