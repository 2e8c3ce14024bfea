#version 460
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430) buffer Counter { uint value; };
layout(push_constant) uniform Push { Counter counter; };
void main() { counter.value = 1; }
