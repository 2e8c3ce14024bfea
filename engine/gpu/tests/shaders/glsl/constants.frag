#version 460
layout(constant_id = 0) const float SCALE = 1.0;
layout(constant_id = 1) const uint SHADE = 4;
layout(location = 0) out vec4 color;

void main() {
    color = vec4(SCALE / float(SHADE));
}
