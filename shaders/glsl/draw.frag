// Shades clusters as they are drawn.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "shading.glsl"

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 3, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;

layout(location = 0) in vec3 in_normal;
layout(location = 1) flat in uvec2 in_cluster; // instance, meshlet
layout(location = 0) out vec4 out_colour;

void main() {
    Cluster cluster = Cluster(in_cluster.x, in_cluster.y);
    Surface surface;
    surface.normal = normalize(in_normal);
    surface.depth = gl_FragCoord.z;
    surface.instance = cluster.instance;
    surface.meshlet = cluster.meshlet;
    surface.lod = meshlet_lod_of(meshlets.data[cluster.meshlet]);
    surface.colour = instances.data[cluster.instance].colour;
    surface.by_compute = false;
    out_colour = vec4(surface_colour(frame.data, surface, gl_FragCoord.xy), 1.0);
}
