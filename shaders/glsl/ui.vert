// The user interface's triangles. Vertices are in points from the upper left corner, colours are sRGB values with
// premultiplied alpha.
#version 460
#extension GL_EXT_scalar_block_layout : require

struct UiVertex {
    vec2 position;
    vec2 uv;
    uint colour;
};

layout(set = 0, binding = 0, scalar) readonly buffer VertexBlock { UiVertex data[]; } vertices;
layout(set = 0, binding = 1, scalar) readonly buffer IndexBlock { uint data[]; } indices;

layout(push_constant) uniform Push {
    // Size of the picture, points.
    vec2 size;
} push;

layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_colour;

void main() {
    UiVertex vertex = vertices.data[indices.data[gl_VertexIndex]];
    vec2 position = vertex.position / push.size * 2.0 - 1.0;
    gl_Position = vec4(position.x, -position.y, 0.0, 1.0);
    out_uv = vertex.uv;
    out_colour = unpackUnorm4x8(vertex.colour);
}
