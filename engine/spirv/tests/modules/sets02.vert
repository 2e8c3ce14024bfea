#version 460
layout(set = 0, binding = 0) uniform U { vec4 a; };
layout(set = 0, binding = 2) readonly buffer B { vec4 b[]; };
void main() { gl_Position = a + b[gl_VertexIndex]; }
