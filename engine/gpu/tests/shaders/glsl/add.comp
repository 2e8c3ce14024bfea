#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
layout(push_constant) uniform Push { uint count; uint factor; uint offset; uint reserved; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) c[i] = a[i] + b[i] * factor + offset;
}
