#version 460
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 4) uniform sampler2D pictures[];
layout(location = 0) flat in uint i;
layout(location = 0) out vec4 color;
void main() { color = texture(pictures[nonuniformEXT(i)], vec2(0)); }
