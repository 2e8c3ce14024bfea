#version 460
layout(set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(set = 0, binding = 1) writeonly buffer Target { uint target[]; };
layout(location = 0) out vec4 color;

void main() {
    uint i = uint(gl_FragCoord.x) & 1;
    target[i] = source[i] + 1;
    color = vec4(1.0);
}
