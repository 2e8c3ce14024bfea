#version 460
layout(set = 0, binding = 0, std430) readonly buffer B {
    layout(row_major) mat2x3 a;      // 2 columns, 3 rows: 3 * 8
    mat2x3 b;                        // 2 * 16
    layout(row_major) mat4x3 c[2];   // 3 * 16 each
    mat3 d;
};
layout(set = 0, binding = 1) buffer R { vec4 r; };
void main() { r = vec4(a[1], 0) + vec4(b[1], 0) + vec4(c[1][2], 0); }
