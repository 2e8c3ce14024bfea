#version 460
layout(location = 0, component = 0) flat in ivec2 xy;
layout(location = 0) out vec4 color;
void main() { color = vec4(xy, 0, 1); }
