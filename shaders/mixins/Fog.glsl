#version 460
#pragma mixin class Fog
#pragma mixin stage fragment
#pragma mixin inherit ForwardBase
#pragma mixin param float DENSITY = 0.9
#pragma mixin override vec3 mx_finish(Surface s, vec3 colour);
#include <mixin>
vec3 mx_finish(Surface s, vec3 colour) {
    float depth = 1 - (s.position.z - object.sphere.z) / object.sphere.w;
    return mix(base_mx_finish(s, colour), frame.fog.rgb, 1 - exp(-DENSITY * depth));
}
