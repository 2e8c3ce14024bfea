#version 460
layout(push_constant) uniform P { layout(offset = 8) vec2 tint; } p;
layout(location = 0) out vec4 color;
void main() { color = vec4(p.tint, 0, 1); }
