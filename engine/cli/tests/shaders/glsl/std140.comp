#version 460
#include "shared.glsl"
layout(local_size_x = GROUP_SIZE) in;

struct Light {
    vec3 colour; // 12 bytes in a stride of 16
};

layout(set = 0, binding = 0, std140) uniform Block {
    float first;
    vec3 after_scalar;    // 16
    float in_its_padding; // 28
    float scalars[3];     // 32, stride 16
    vec2 pairs[2];        // 80, stride 16
    mat3 matrix;          // 112, three columns of 16
    layout(row_major) mat4x3 rows; // 160: three rows of four
    mat2 small;           // 208, two columns of 16
    Light lights[2];      // 240, stride 16
    Light one;            // 272
    bool flag;            // 288
    ivec2 tail;           // 296
    mat2 matrices[2];     // 304, stride 32
    float last;           // 368
} block;

layout(set = 0, binding = 1, std140) buffer Result { vec4 values[]; } result;

void main() {
    result.values[gl_GlobalInvocationID.x] = vec4(block.after_scalar * block.matrix, block.first + block.last);
}
