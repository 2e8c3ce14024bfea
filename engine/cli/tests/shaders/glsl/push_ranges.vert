#version 460
layout(push_constant) uniform Placement {
    layout(offset = 16) vec2 scale;
    layout(offset = 24) vec2 offset;
} placement;

layout(location = 0) out vec2 out_uv;

void main() {
    out_uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(out_uv * placement.scale + placement.offset, 0.0, 1.0);
}
