#version 460
#extension GL_EXT_mesh_shader : require
layout(location = 0) in vec3 normal;
layout(location = 1) perprimitiveEXT flat in uint id;
layout(location = 0) out vec4 color;
void main() { color = vec4(normal, float(id)); }
