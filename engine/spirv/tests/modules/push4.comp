#version 460
layout(push_constant) uniform P { uint count; };
layout(set = 0, binding = 0) writeonly buffer R { uint r; };
void main() { r = count; }
