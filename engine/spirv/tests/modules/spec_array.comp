#version 460
// Descriptor arrays sized by spec constants, also in two dimensions and by an expression.
layout(constant_id = 7) const int N = 4;
layout(constant_id = 2) const int M = 3;
layout(set = 0, binding = 0, r32ui) uniform uimage2D images[N];
layout(set = 0, binding = 1, r32ui) uniform uimage2D grid[M][2];
layout(set = 0, binding = 2, r32ui) uniform uimage2D more[N * 2 + M];
void main() {
    imageStore(images[0], ivec2(0), uvec4(1));
    imageStore(grid[1][0], ivec2(0), uvec4(1));
    imageStore(more[0], ivec2(0), uvec4(1));
}
