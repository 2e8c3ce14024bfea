#version 460
#pragma mixin class DirectionalLight
#pragma mixin stage fragment
#pragma mixin inherit Light
#pragma mixin import Reflectance
#pragma mixin override void mx_light(Surface s, inout vec3 colour);
#include <mixin>
void mx_light(Surface s, inout vec3 colour) {
    colour += 3.14159265 * frame.sun.w * mx_reflect(s, frame.sun.xyz);
}
