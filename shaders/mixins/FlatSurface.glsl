#version 460
#pragma mixin class FlatSurface
#pragma mixin stage fragment
#pragma mixin inherit ForwardBase
#pragma mixin override void mx_surface(inout Surface s);
#include <mixin>
void mx_surface(inout Surface s) {
    s.albedo = object.tint.rgb;
}
