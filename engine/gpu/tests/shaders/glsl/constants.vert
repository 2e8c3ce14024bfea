#version 460
layout(constant_id = 0) const uint COUNT = 3;
layout(constant_id = 1) const float SCALE = 1.0;

void main() {
    gl_Position = vec4(SCALE * float(gl_VertexIndex % COUNT), 0.0, 0.5, 1.0);
}
