#version 460
#pragma mixin class Toon
#pragma mixin stage fragment
#pragma mixin inherit FlatSurface
#pragma mixin param int STEPS = 3
#pragma mixin override vec3 mx_shade(Surface s);
#include <mixin>
vec3 mx_shade(Surface s) {
    vec3 colour = base_mx_shade(s);
    float light = max(max(colour.r, colour.g), max(colour.b, 1e-4));
    float stepped = (floor(min(light, 0.999) * float(STEPS)) + 0.5) / float(STEPS);
    return colour * (stepped / light);
}
