// The visibility buffer: 64 bits a pixel, the greatest of its samples. Depth is reversed and not negative, so that its
// bits, which come first, are ordered as it is; 0 is a pixel that nothing covers.
#ifndef VISIBILITY_GLSL
#define VISIBILITY_GLSL

// depth << 32 | cluster << 7 | triangle. `slot` is the cluster's place in the list of clusters, below 2^25.
uint64_t pack_sample(float depth, uint slot, uint triangle) {
    return packUint2x32(uvec2(slot << 7 | triangle, floatBitsToUint(depth)));
}

#endif
