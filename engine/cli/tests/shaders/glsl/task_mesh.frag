#version 460
#extension GL_EXT_mesh_shader : require
layout(location = 0) perprimitiveEXT flat in uint in_index;
layout(location = 0) out vec4 out_colour;

layout(set = 0, binding = 1) uniform sampler2D colours;

void main() {
    out_colour = texelFetch(colours, ivec2(in_index & 255, in_index >> 8), 0);
}
