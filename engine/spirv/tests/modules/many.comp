#version 460
layout(set = 0, binding = 0, r32ui) uniform uimage2D images[32];
layout(set = 0, binding = 9) writeonly buffer R { uint r; };
void main() { r = imageLoad(images[3], ivec2(0)).x; }
