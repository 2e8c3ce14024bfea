#version 460
layout(location = 0) in vec3 normal;
layout(location = 1) flat in uint id;
layout(location = 0) out vec4 color;
void main() { color = vec4(normal, float(id)); }
