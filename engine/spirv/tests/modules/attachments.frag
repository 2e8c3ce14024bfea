#version 460
layout(input_attachment_index = 3, set = 0, binding = 0) uniform subpassInput a;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform usubpassInputMS b;
layout(location = 0) out vec4 color;
void main() { color = subpassLoad(a) + vec4(subpassLoad(b, 2)); }
