#version 460
layout(vertices = 3) out;
layout(location = 0) in vec3 position[];
layout(location = 0) out vec3 control[];
layout(location = 1) patch out vec4 bounds[2];
void main() {
    control[gl_InvocationID] = position[gl_InvocationID];
    bounds[0] = vec4(0);
    gl_TessLevelOuter[0] = 1;
    gl_TessLevelInner[0] = 1;
}
