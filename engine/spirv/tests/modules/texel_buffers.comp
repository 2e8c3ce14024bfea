#version 460
layout(set = 0, binding = 0) uniform textureBuffer a;
layout(set = 0, binding = 1, rgba32f) uniform imageBuffer b;
layout(set = 0, binding = 2) uniform samplerBuffer c;
layout(set = 0, binding = 3) uniform utextureBuffer d;
void main() { imageStore(b, 0, texelFetch(a, 0) + texelFetch(c, 1) + vec4(texelFetch(d, 2))); }
