#version 460
// The vertex path: six vertices for each quad of the sphere, made from the vertex's number.
#pragma mixin class SphereVertex
#pragma mixin stage vertex
#pragma mixin inherit ForwardTypes
#pragma mixin import Sphere
#pragma mixin virtual vec3 mx_stored(vec3 normal);
#pragma mixin virtual void mx_main();
#include <mixin>

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec3 out_corner;

// What is left of a normal in the format that vertices are stored in: all of it.
vec3 mx_stored(vec3 normal) {
    return normal;
}

void mx_main() {
    const uvec2 CORNERS[6] = uvec2[6](uvec2(0, 0), uvec2(1, 0), uvec2(0, 1), uvec2(1, 0), uvec2(1, 1), uvec2(0, 1));
    uint corner = gl_VertexIndex % 6;
    uint quad = gl_VertexIndex / 6;
    uint across = SPHERE_AROUND * SPHERE_QUADS;
    uvec2 at = uvec2(quad % across, quad / across) + CORNERS[corner];
    vec3 normal = mx_stored(mx_sphere(vec2(at) / vec2(across, SPHERE_DOWN * SPHERE_QUADS)));
    out_position = object.sphere.xyz + object.sphere.w * normal;
    out_normal = normal;
    out_corner = vec3(corner % 3 == 0, corner % 3 == 1, corner % 3 == 2);
    gl_Position = frame.view_projection * vec4(out_position, 1);
}
