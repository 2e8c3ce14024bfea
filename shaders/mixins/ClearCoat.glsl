#version 460
// A coat over what MetalRough gives; the parameters of the parent are passed on.
#pragma mixin class ClearCoat
#pragma mixin stage fragment
#pragma mixin param float BASE_ROUGHNESS = 0.6
#pragma mixin inherit MetalRough<METALLIC = 0.0, ROUGHNESS = BASE_ROUGHNESS>
#pragma mixin override void mx_surface(inout Surface s);
#include <mixin>
void mx_surface(inout Surface s) {
    base_mx_surface(s);
    s.coat = 1.0;
}
