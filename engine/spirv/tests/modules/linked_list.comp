#version 460
#extension GL_EXT_buffer_reference : require
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { uint value; Node next; uint never; };
layout(push_constant) uniform Push { Node first; uint count; uvec2 address; } push;
layout(set = 0, binding = 0) writeonly buffer Result { uint result; };
void main() { result = push.first.next.value; }
