#version 460

void main() {
    // One triangle over the whole viewport, nearer than the reversed-Z background.
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0;
    gl_Position = vec4(corner, 0.5, 1.0);
}
