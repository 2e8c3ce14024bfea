#version 460
// The front end turns an unsized array that only constants index into one of fixed size: highest index + 1.
layout(set = 0, binding = 0) uniform sampler2D textures[];
layout(location = 0) out vec4 color;
void main() {
    color = texture(textures[0], vec2(0)) + texture(textures[2], vec2(0));
}
