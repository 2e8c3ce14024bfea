#version 460
#extension GL_EXT_mesh_shader : require
// The mesh path: a workgroup makes one patch of the sphere. Triangles have vertices of their own, as the wireframe needs.
#pragma mixin class SphereMesh
#pragma mixin stage mesh
#pragma mixin inherit ForwardTypes
#pragma mixin import Sphere
#pragma mixin virtual void mx_main();
#include <mixin>

layout(local_size_x = 32) in;
layout(triangles, max_vertices = 192, max_primitives = 64) out;
layout(location = 0) out vec3 out_position[];
layout(location = 1) out vec3 out_normal[];
layout(location = 2) out vec3 out_corner[];

void mx_main() {
    const uvec2 CORNERS[6] = uvec2[6](uvec2(0, 0), uvec2(1, 0), uvec2(0, 1), uvec2(1, 0), uvec2(1, 1), uvec2(0, 1));
    // Two workgroups share a patch: 192 vertices and 64 triangles are within what every device can do.
    const uint QUADS = SPHERE_QUADS * SPHERE_QUADS / 2;
    SetMeshOutputsEXT(QUADS * 6, QUADS * 2);
    uint patch_number = gl_WorkGroupID.x / 2;
    uint first = (gl_WorkGroupID.x % 2) * QUADS;
    uvec2 origin = uvec2(patch_number % SPHERE_AROUND, patch_number / SPHERE_AROUND) * SPHERE_QUADS;
    uvec2 size = uvec2(SPHERE_AROUND, SPHERE_DOWN) * SPHERE_QUADS;
    for (uint vertex = gl_LocalInvocationIndex; vertex < QUADS * 6; vertex += 32) {
        uint corner = vertex % 6;
        uint quad = first + vertex / 6;
        uvec2 at = origin + uvec2(quad % SPHERE_QUADS, quad / SPHERE_QUADS) + CORNERS[corner];
        vec3 normal = mx_sphere(vec2(at) / vec2(size));
        vec3 position = object.sphere.xyz + object.sphere.w * normal;
        out_position[vertex] = position;
        out_normal[vertex] = normal;
        out_corner[vertex] = vec3(corner % 3 == 0, corner % 3 == 1, corner % 3 == 2);
        gl_MeshVerticesEXT[vertex].gl_Position = frame.view_projection * vec4(position, 1);
    }
    for (uint triangle = gl_LocalInvocationIndex; triangle < QUADS * 2; triangle += 32) {
        gl_PrimitiveTriangleIndicesEXT[triangle] = triangle * 3 + uvec3(0, 1, 2);
    }
}
