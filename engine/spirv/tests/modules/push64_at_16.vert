#version 460
layout(push_constant) uniform P { layout(offset = 16) mat4 transform; } p;
void main() { gl_Position = p.transform[1]; }
