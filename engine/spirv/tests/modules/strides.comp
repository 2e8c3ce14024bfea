#version 460
struct S { float v; };
layout(set = 0, binding = 0, std140) buffer B { S s0; S s1[2][3]; S s2; };
layout(set = 0, binding = 1, std140) uniform U { mat3 m; float after; mat2x3 n[2]; };
void main() { s2 = s1[1][2]; s0.v = after + n[1][0][0]; }
