#version 460
layout(set = 0, binding = 0) readonly buffer B { uint items[]; };
layout(set = 0, binding = 1) writeonly buffer R { uint r; };
void main() { r = items.length(); }
