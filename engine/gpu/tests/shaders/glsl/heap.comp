#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Target { vec4 target[]; };
layout(set = 1, binding = 0) uniform sampler2D heap[16];

void main() {
    target[gl_GlobalInvocationID.x] = textureLod(heap[3], vec2(0.5), 0.0);
}
