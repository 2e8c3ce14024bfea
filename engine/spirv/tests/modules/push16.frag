#version 460
layout(push_constant) uniform P { vec4 tint; } p;
layout(location = 0) out vec4 color;
void main() { color = p.tint; }
