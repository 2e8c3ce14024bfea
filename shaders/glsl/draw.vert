// Draws clusters where there are no mesh shaders: one instance a cluster, always the most vertices that a cluster can
// have, those beyond its own triangles falling together in one point. With VISIBILITY for the visibility buffer, else
// for shading at once.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "vertex.glsl"

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer MeshBlock { Mesh data[]; } meshes;
layout(set = 0, binding = 3, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 4, scalar) readonly buffer MeshletVertexBlock { uint data[]; } meshlet_vertices;
layout(set = 0, binding = 5, scalar) readonly buffer MeshletTriangleBlock { uint data[]; } meshlet_triangles;
layout(set = 0, binding = 6, scalar) readonly buffer VertexBlock { uvec4 data[]; } vertices;
layout(set = 0, binding = 7, scalar) readonly buffer ClusterBlock { Cluster data[]; } clusters;

#ifdef VISIBILITY
layout(location = 0) flat out uvec2 out_triangle;
#else
layout(location = 0) out vec3 out_normal;
layout(location = 1) flat out uvec2 out_cluster; // instance, meshlet
#endif

void main() {
    uint slot = hardware_slot(frame.data, uint(gl_InstanceIndex));
    uint triangle = uint(gl_VertexIndex) / 3u;
    uint corner = uint(gl_VertexIndex) % 3u;
    Cluster cluster = clusters.data[slot];
    Meshlet meshlet = meshlets.data[cluster.meshlet];
#ifdef VISIBILITY
    out_triangle = uvec2(slot, triangle);
#else
    out_cluster = uvec2(cluster.instance, cluster.meshlet);
    out_normal = vec3(0.0);
#endif
    if (triangle >= meshlet_triangles_of(meshlet)) {
        gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
        return;
    }
    Instance instance = instances.data[cluster.instance];
    uvec3 corners = triangle_corners(meshlet_triangles.data[meshlet.triangle_offset + triangle], instance);
    uvec4 vertex = vertices.data[meshlet_vertices.data[meshlet.vertex_offset + corners[corner]]];
    vec4 grid = meshes.data[instance.mesh].grid;
    gl_Position = clip_position(frame.data.draw, instance, decode_position(vertex, grid));
#ifndef VISIBILITY
    out_normal = world_normal(instance, decode_normal(vertex));
#endif
}
