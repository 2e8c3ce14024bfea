#version 460
layout(triangles) in;
layout(location = 0) in vec3 control[];
layout(location = 1) patch in vec4 bounds[2];
layout(location = 0) out vec3 position;
void main() { position = control[0] * gl_TessCoord.x + bounds[1].xyz; gl_Position = vec4(0); }
