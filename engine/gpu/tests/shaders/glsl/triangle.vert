#version 460
layout(set = 0, binding = 0) readonly buffer Corners { vec4 corners[]; };
layout(location = 0) out vec4 color;

void main() {
    gl_Position = vec4(corners[gl_VertexIndex].xy, 0.5, 1.0);
    color = vec4(gl_VertexIndex == 0, gl_VertexIndex == 1, gl_VertexIndex == 2, 1.0);
}
