#version 460
#pragma mixin class Wireframe
#pragma mixin stage fragment
#pragma mixin inherit ForwardBase
#pragma mixin param float WIDTH = 1.0
#pragma mixin override vec3 mx_finish(Surface s, vec3 colour);
#include <mixin>
vec3 mx_finish(Surface s, vec3 colour) {
    vec3 d = fwidth(in_corner);
    vec3 inside = smoothstep(vec3(0), d * WIDTH * 1.5, in_corner);
    float line = 1 - min(inside.x, min(inside.y, inside.z));
    return mix(base_mx_finish(s, colour), vec3(0.02), 0.8 * line);
}
