#version 460
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STRIDE = 1;
layout(set = 0, binding = 0) writeonly buffer Target { uint target[]; };
layout(push_constant) uniform Push { uint first; uint count; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) target[i] = first + i * STRIDE;
}
