#version 460
#pragma mixin class HemisphereLight
#pragma mixin stage fragment
#pragma mixin inherit Light
#pragma mixin param vec3 SKY = vec3(0.55, 0.7, 1.0)
#pragma mixin param vec3 GROUND = vec3(0.3, 0.22, 0.15)
#pragma mixin override void mx_light(Surface s, inout vec3 colour);
#include <mixin>
void mx_light(Surface s, inout vec3 colour) {
    vec3 light = mix(GROUND, SKY, 0.5 + 0.5 * s.normal.y);
    colour += s.albedo * light * (1 - 0.5 * s.metallic);
}
