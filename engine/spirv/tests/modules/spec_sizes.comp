#version 460
layout(constant_id = 1) const int N = 2;
const int TWICE = N * 2;
layout(set = 0, binding = 0, std430) buffer B { uint first; float items[TWICE + 1]; uint last; };
layout(set = 0, binding = 1, std140) uniform U { vec4 rows[N]; };
void main() { last = uint(items[0] + rows[0].x); }
