#version 460
// What all classes of the forward effects share: the surface that lights see, the frame, and the place of one object.
#pragma mixin class ForwardTypes
#pragma mixin stage any
#include <mixin>
#pragma mixin interface begin
struct Surface {
    vec3 position;
    vec3 normal;
    vec3 view;
    vec3 albedo;
    float metallic;
    float roughness;
    // Strength of a clear coat over the rest.
    float coat;
};
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    // World space.
    vec4 eye;
    // Direction towards the sun and its strength.
    vec4 sun;
    vec4 fog;
} frame;
layout(push_constant) uniform Object {
    // Centre in world space and radius.
    vec4 sphere;
    vec4 tint;
} object;
#pragma mixin interface end
