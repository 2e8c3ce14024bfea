#version 460
// Points of a unit sphere by longitude and latitude.
#pragma mixin class Sphere
#pragma mixin stage any
#pragma mixin virtual vec3 mx_sphere(vec2 at);
#include <mixin>
#pragma mixin interface begin
// Patches around the axis and from pole to pole, and quads along an edge of a patch.
const uint SPHERE_AROUND = 8;
const uint SPHERE_DOWN = 4;
const uint SPHERE_QUADS = 8;
#pragma mixin interface end

vec3 mx_sphere(vec2 at) {
    float around = at.x * 6.28318530718;
    float down = at.y * 3.14159265359;
    return vec3(sin(down) * cos(around), cos(down), sin(down) * sin(around));
}
