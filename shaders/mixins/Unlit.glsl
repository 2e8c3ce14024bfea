#version 460
#pragma mixin class Unlit
#pragma mixin stage fragment
#pragma mixin inherit Light
#pragma mixin override void mx_light(Surface s, inout vec3 colour);
#include <mixin>
void mx_light(Surface s, inout vec3 colour) {
    colour += s.albedo;
}
