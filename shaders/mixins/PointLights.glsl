#version 460
// A ring of point lights around the object.
#pragma mixin class PointLights
#pragma mixin stage fragment
#pragma mixin inherit Light
#pragma mixin import Reflectance
#pragma mixin param int COUNT = 3
#pragma mixin override void mx_light(Surface s, inout vec3 colour);
#include <mixin>
void mx_light(Surface s, inout vec3 colour) {
    for (int i = 0; i < COUNT; ++i) {
        float angle = 6.28318530718 * (float(i) + 0.25) / float(COUNT);
        vec3 place = object.sphere.xyz + object.sphere.w * vec3(1.6 * cos(angle), 1.6 * sin(angle), 1.4);
        vec3 to = place - s.position;
        float falloff = object.sphere.w * object.sphere.w / dot(to, to);
        vec3 hue = 0.6 + 0.4 * cos(angle + vec3(0, 2.1, 4.2));
        colour += 4.0 * falloff * hue * mx_reflect(s, normalize(to));
    }
}
