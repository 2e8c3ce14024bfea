#version 460
layout(push_constant) uniform P { mat4 transform; } p;
void main() { gl_Position = p.transform * vec4(1); }
