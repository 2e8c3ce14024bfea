#version 460
layout(triangles, invocations = 5) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec2 uv[];
layout(location = 0) out vec2 passed;
void main() { passed = uv[0]; gl_Position = gl_in[0].gl_Position; EmitVertex(); EndPrimitive(); }
