#version 460
layout(push_constant) uniform P { float a[33]; } p;
layout(set = 0, binding = 0) writeonly buffer R { float r; };
void main() { r = p.a[32]; }
