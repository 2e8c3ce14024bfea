#version 460
layout(push_constant) uniform P { vec2 offset; } p;
void main() { gl_Position = vec4(p.offset, 0, 1); }
