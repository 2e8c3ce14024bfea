#version 460
layout(set = 0, binding = 1) readonly buffer B1 { uint b1; };
layout(set = 0, binding = 0) readonly buffer B0 { uint b0; };
layout(set = 0, binding = 4) uniform sampler2D b4;
layout(set = 0, binding = 5, r32ui) writeonly uniform uimage2D b5;
layout(set = 0, binding = 3) uniform U { uint b3; };
layout(set = 0, binding = 2) buffer B2 { uint b2; };
void main() { b2 = b1 + b0 + b3; imageStore(b5, ivec2(0), uvec4(texture(b4, vec2(0)))); }
