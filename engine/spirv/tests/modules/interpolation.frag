#version 460
layout(location = 0) flat in int a;
layout(location = 1) noperspective in vec2 b;
layout(location = 2) centroid in vec3 c;
layout(location = 3) sample in vec4 d;
layout(location = 4) noperspective centroid in float e;
layout(location = 5) in float f;
layout(location = 0, index = 0) out vec4 first;
layout(location = 0, index = 1) out vec4 second;
void main() { first = vec4(a) + vec4(b, 0, 0) + vec4(c, 0) + d; second = vec4(e + f); }
