#version 460
layout(location = 0) out vec4 target;

void main() {
    target = vec4(1.0);
}
