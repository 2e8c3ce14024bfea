#version 460
#include "shared.glsl"
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;

struct Particle {
    vec3 position;
    float age;
    vec2 uv;
};

// Head and elements.
layout(set = 0, binding = 0, std430) buffer List {
    uint count;
    float scales[3];
    mat3 frames[2];
    Particle particles[];
} list;

// Elements alone, of a struct that another program has too.
layout(set = 0, binding = 1, std430) readonly buffer Outers { Outer data[]; } outers;

// A block around one struct.
layout(set = 0, binding = 2, std430) readonly buffer OnlyOne { Outer data; } only_one;

// No instance name: the block's name serves.
layout(set = 0, binding = 3, std430) writeonly buffer HeapOfVectors { vec3 vectors[]; };

// Two dimensions, and structs nested twice.
layout(set = 0, binding = 4, std430) buffer Grid {
    float cells[2][3];
    Outer outers[2];
    dvec2 precise_pair;
} grid;

// An array of arrays without end.
layout(set = 0, binding = 5, std430) buffer Rows { vec4 row[][2]; } rows;

void main() {
    uint i = gl_GlobalInvocationID.x;
    list.particles[i].age += list.scales[1] * float(list.count) + list.frames[1][0].x;
    vectors[i] = outers.data[i].inner[1].direction + only_one.data.inner[0].direction;
    grid.cells[1][2] += float(grid.precise_pair.x) + grid.outers[1].inner[0].weight;
    rows.row[i][1] += vec4(1);
}
