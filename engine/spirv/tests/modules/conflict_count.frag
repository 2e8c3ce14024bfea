#version 460
layout(set = 0, binding = 2) readonly buffer B { vec4 b[]; } many[3];
layout(location = 0) out vec4 color;
void main() { color = many[1].b[0]; }
