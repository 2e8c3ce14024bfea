#version 460
#pragma mixin class Rim
#pragma mixin stage fragment
#pragma mixin inherit ForwardBase
#pragma mixin param vec3 COLOUR = vec3(1.0, 0.75, 0.4)
#pragma mixin override vec3 mx_finish(Surface s, vec3 colour);
#include <mixin>
vec3 mx_finish(Surface s, vec3 colour) {
    float rim = pow(1 - max(dot(s.normal, s.view), 0), 3);
    return base_mx_finish(s, colour + rim * COLOUR);
}
