#version 460
layout(location = 0, component = 0) in vec2 a;
layout(location = 0, component = 2) in float b;
layout(location = 0, component = 3) in float c;
layout(location = 1, component = 1) in vec3 d;
layout(location = 0, component = 0) out vec3 xyz;
layout(location = 0, component = 3) out float w;
void main() { xyz = vec3(a, b) + d; w = c; gl_Position = vec4(0); }
