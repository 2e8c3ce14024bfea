#version 460
struct Pair { uint left; uint right; };
layout(set = 0, binding = 0) readonly buffer B { uint count; Pair pairs[]; };
layout(set = 0, binding = 1) writeonly buffer R { uint r; };
void main() { r = pairs[gl_GlobalInvocationID.x].right; }
