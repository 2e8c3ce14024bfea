#version 460
// 64-bit vectors of three or four take two locations, matrices one (or two) per column, arrays multiply.
layout(location = 0) in dvec2 a;
layout(location = 1) in dvec3 b;
layout(location = 3) in dmat2x4 c;
layout(location = 7) in mat3 d;
layout(location = 10) in vec2 e[3];
layout(location = 0) out vec4 color;
void main() { color = vec4(a.x + b.x + c[0].x + d[0].x + e[0].x); gl_Position = vec4(0); }
