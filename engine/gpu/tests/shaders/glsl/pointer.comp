#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint words[]; };
layout(push_constant) uniform Push { Words source; Words target; uint count; uint reserved; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) target.words[i] = source.words[i] * 2;
}
