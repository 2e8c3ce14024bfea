#version 460
// The frame of a forward fragment shader: a surface, lit by what is in the slots, finished by features.
#pragma mixin class ForwardBase
#pragma mixin stage fragment
#pragma mixin inherit ForwardTypes
#pragma mixin compose Light lights[]
#pragma mixin abstract void mx_surface(inout Surface s);
#pragma mixin virtual vec3 mx_shade(Surface s);
#pragma mixin virtual vec3 mx_finish(Surface s, vec3 colour);
#pragma mixin virtual void mx_main();
#include <mixin>
#pragma mixin interface begin
layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec3 in_corner;
#pragma mixin interface end
layout(location = 0) out vec4 out_colour;

vec3 mx_shade(Surface s) {
    vec3 colour = vec3(0);
    slot_foreach_lights_mx_light(s, colour);
    return colour;
}

vec3 mx_finish(Surface s, vec3 colour) {
    return colour / (1 + 0.4 * colour);
}

// Pictures hold sRGB values, and their formats do not convert.
vec3 to_srgb(vec3 colour) {
    colour = clamp(colour, 0, 1);
    return mix(colour * 12.92, 1.055 * pow(colour, vec3(1 / 2.4)) - 0.055, greaterThan(colour, vec3(0.0031308)));
}

void mx_main() {
    Surface s;
    s.position = in_position;
    s.normal = normalize(in_normal);
    s.view = normalize(frame.eye.xyz - in_position);
    s.albedo = object.tint.rgb;
    s.metallic = 0;
    s.roughness = 0.5;
    s.coat = 0;
    mx_surface(s);
    out_colour = vec4(to_srgb(mx_finish(s, mx_shade(s))), 1);
}
