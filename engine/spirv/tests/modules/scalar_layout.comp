#version 460
#extension GL_EXT_scalar_block_layout : require
struct Vertex { vec3 position; vec3 normal; vec2 uv; };
layout(set = 0, binding = 0, scalar) readonly buffer Vertices { Vertex vertices[]; };
layout(set = 0, binding = 1, scalar) writeonly buffer Result { float sum; vec3 direction; };
void main() {
    sum = vertices[gl_GlobalInvocationID.x].uv.x;
    direction = vertices[7].normal;
}
