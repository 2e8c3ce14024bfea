#version 460
layout(constant_id = 0) const uint WIDTH = 32;
layout(local_size_x_id = 0, local_size_y = 1) in;
layout(set = 0, binding = 0) buffer Target { uint target[]; };

void main() {
    target[gl_GlobalInvocationID.x] = WIDTH;
}
