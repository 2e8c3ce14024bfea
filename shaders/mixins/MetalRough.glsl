#version 460
#pragma mixin class MetalRough
#pragma mixin stage fragment
#pragma mixin inherit FlatSurface
#pragma mixin param float METALLIC = 1.0
#pragma mixin param float ROUGHNESS = 0.35
#pragma mixin override void mx_surface(inout Surface s);
#include <mixin>
void mx_surface(inout Surface s) {
    base_mx_surface(s);
    s.metallic = METALLIC;
    s.roughness = ROUGHNESS;
}
