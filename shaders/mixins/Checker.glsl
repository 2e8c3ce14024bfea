#version 460
#pragma mixin class Checker
#pragma mixin stage fragment
#pragma mixin inherit FlatSurface
#pragma mixin param int TILES = 6
#pragma mixin override void mx_surface(inout Surface s);
#include <mixin>
void mx_surface(inout Surface s) {
    base_mx_surface(s);
    vec2 at = vec2(atan(s.normal.z, s.normal.x) / 3.14159265, acos(clamp(s.normal.y, -1.0, 1.0)) / 1.5707963);
    ivec2 tile = ivec2(floor(at * float(TILES)));
    if (((tile.x + tile.y) & 1) != 0) s.albedo *= 0.25;
}
