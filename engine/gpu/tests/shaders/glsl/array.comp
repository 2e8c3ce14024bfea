#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D textures[3];
layout(set = 0, binding = 2) buffer Target { vec4 target[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    target[i] = textureLod(textures[0], vec2(0.5), 0.0) + textureLod(textures[1], vec2(0.5), 0.0) + textureLod(textures[2], vec2(0.5), 0.0);
}
