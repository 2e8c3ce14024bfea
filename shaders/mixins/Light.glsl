#version 460
// What fills the slots for lights: adds the light that a surface sends to the eye.
#pragma mixin class Light
#pragma mixin stage fragment
#pragma mixin inherit ForwardTypes
#pragma mixin abstract void mx_light(Surface s, inout vec3 colour);
#include <mixin>
