#version 460
#pragma mixin class TriplanarNoise
#pragma mixin stage fragment
#pragma mixin inherit FlatSurface
#pragma mixin import Noise
#pragma mixin param float SCALE = 9.0
#pragma mixin override void mx_surface(inout Surface s);
#include <mixin>
void mx_surface(inout Surface s) {
    base_mx_surface(s);
    vec3 p = (s.position - object.sphere.xyz) / object.sphere.w * SCALE;
    vec3 w = s.normal * s.normal;
    float n = w.x * mx_noise(p.yz) + w.y * mx_noise(p.zx + 17.0) + w.z * mx_noise(p.xy + 41.0);
    s.albedo *= 0.3 + 0.9 * n;
    s.roughness = 0.4 + 0.5 * n;
}
