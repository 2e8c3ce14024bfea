#version 460
layout(set = 0, binding = 2) uniform sampler2D picture;
layout(location = 0) out vec4 color;
void main() { color = texture(picture, vec2(0)); }
