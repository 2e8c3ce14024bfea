#version 460
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(set = 0, binding = 0, std430) buffer Small {
    int8_t a;       // 0
    u8vec3 b;       // 4
    int16_t c;      // 8
    f16vec3 d;      // 16
    uint64_t e;     // 24
    double f;       // 32
    i64vec3 g;      // 64
    uint8_t h[5];   // 88, stride 1
};
void main() {
    a = int8_t(1);
    h[3] = uint8_t(2);
    e = 5ul;
}
