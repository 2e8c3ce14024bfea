#version 460
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#include "shared.glsl"
layout(local_size_x = GROUP_SIZE) in;

struct Odd {
    vec3 position;
    uint8_t kind; // the struct ends at 13
};

struct Wide {
    uint64_t address;
    uint count; // ends at 12, but arrays of it have stride 16
};

layout(set = 0, binding = 0, scalar) buffer Tight {
    vec3 positions[3];    // 0, stride 12
    uint8_t bytes[5];     // 36
    uint16_t short_one;   // 42
    float16_t half_one;   // 44
    f16vec3 halves;       // 46
    mat3 matrix;          // 52, columns of 12
    int64_t big;          // 88
    double real;          // 96
    int8_t signed_byte;   // 104
    Odd odd;              // 108
    uint16_t behind_odd;  // where the front end puts it
    Wide wides[2];
    i16vec2 shorts;
} tight;

layout(set = 0, binding = 1, scalar) buffer Odds { Odd odds[]; } odds;
layout(set = 0, binding = 2, scalar) buffer Bytes { uint8_t bytes[]; } bytes;
// The same buffer, read as words: an alias.
layout(set = 0, binding = 2, scalar) buffer Words { uvec2 words[]; } words;
layout(set = 0, binding = 3, scalar) buffer Shared { Outer data[]; } shared_structs;

void main() {
    uint i = gl_GlobalInvocationID.x;
    tight.positions[2] += tight.matrix * vec3(tight.halves);
    tight.big += int64_t(tight.real) + int64_t(tight.wides[1].count);
    odds.odds[i].kind = bytes.bytes[i] + uint8_t(words.words[i].y);
    shared_structs.data[i].count += uint(tight.behind_odd);
}
