// Vertices as the mesh and the vertex path both make them: the same operations, so that both give the same depth.
#ifndef VERTEX_GLSL
#define VERTEX_GLSL

#include "culling.glsl"

// Object space. Exact in 32-bit floats, see `impel_geometry::PositionGrid`.
vec3 decode_position(uvec4 vertex, vec4 grid) {
    vec3 steps = vec3(vertex.x & 0xffffu, vertex.x >> 16, vertex.y & 0xffffu);
    precise vec3 position = grid.xyz + grid.w * steps;
    return position;
}

// Object space, unit length; octahedral encoding.
vec3 decode_normal(uvec4 vertex) {
    vec2 e = unpackSnorm2x16(vertex.z);
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    float t = max(-n.z, 0.0);
    n.x += n.x >= 0.0 ? -t : t;
    n.y += n.y >= 0.0 ? -t : t;
    return normalize(n);
}

// Clip coordinates, +Y up (the viewport turns the picture): reversed depth, infinite far plane. Twin: `Lens::clip`.
vec4 clip_position(View view, Instance instance, vec3 position) {
    vec3 p = transform_point(view.rows, transform_point(instance.rows, position));
    precise vec2 xy = p.xy * view.scale;
    return vec4(xy, view.near, -p.z);
}

// World space, unit length, for any invertible transform: normals go by the inverse transposed.
vec3 world_normal(Instance instance, vec3 normal) {
    vec3 n = normal * cofactor_rows(instance.rows);
    float side = (instance.flags & INSTANCE_MIRRORED) != 0u ? -1.0 : 1.0;
    return n * (side * inversesqrt(max(dot(n, n), 1e-30)));
}

// The three vertices of a triangle within its meshlet, in winding order after the transform.
uvec3 triangle_corners(uint packed_triangle, Instance instance) {
    uvec3 corners = uvec3(packed_triangle, packed_triangle >> 8, packed_triangle >> 16) & 0xffu;
    return (instance.flags & INSTANCE_MIRRORED) != 0u ? corners.xzy : corners;
}

#endif
