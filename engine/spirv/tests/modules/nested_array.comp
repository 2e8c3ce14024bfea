#version 460
layout(set = 0, binding = 3) buffer Cell { uint head; vec4 tail[2]; } cells[2][3];
void main() {
    cells[1][2].head = 1;
    cells[0][0].tail[1] = vec4(0);
}
