#version 460
layout(set = 0, binding = 0) buffer B { uint counter; };
void main() { atomicAdd(counter, 1); gl_Position = vec4(0); }
