#version 460
layout(location = 0, component = 0) in vec2 xy;
layout(location = 0, component = 3) in float w;
layout(location = 0) out vec4 color;
void main() { color = vec4(xy, w, 1); }
