// Shades clusters so that their shape is seen, or shows what the renderer did.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "scene.glsl"
#include "sky.glsl"

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 3, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 7, scalar) readonly buffer ClusterBlock { Cluster data[]; } clusters;

layout(location = 0) in vec3 in_normal;
layout(location = 1) flat in uint in_cluster;
layout(location = 0) out vec4 out_colour;

// Three bytes that are different for different numbers below 2^24: multiplying by an odd number is a bijection.
vec3 distinct_colour(uint number) {
    uint bits = number * 0x9e3779b1u;
    return vec3(bits & 0xffu, (bits >> 8) & 0xffu, (bits >> 16) & 0xffu) / 255.0;
}

vec3 lod_colour(uint lod) {
    const vec3 ramp[MAX_LODS] = vec3[](
        vec3(0.80, 0.16, 0.14), vec3(0.90, 0.43, 0.12), vec3(0.93, 0.74, 0.16), vec3(0.48, 0.72, 0.22),
        vec3(0.13, 0.58, 0.42), vec3(0.12, 0.48, 0.68), vec3(0.25, 0.28, 0.62), vec3(0.45, 0.22, 0.56));
    return ramp[min(lod, uint(MAX_LODS - 1))];
}

vec3 shade(vec3 albedo, vec3 normal, vec3 to_camera) {
    vec3 sky_light = mix(vec3(0.17, 0.14, 0.13), vec3(0.40, 0.49, 0.62), normal.y * 0.5 + 0.5);
    // A little wrap keeps the terminator soft.
    float key = max((dot(normal, KEY_DIRECTION) + 0.12) / 1.12, 0.0);
    vec3 middle = normalize(KEY_DIRECTION + to_camera);
    float gloss = pow(max(dot(normal, middle), 0.0), 40.0) * 0.16 * key;
    float edge = pow(1.0 - max(dot(normal, to_camera), 0.0), 4.0);
    return albedo * (sky_light + KEY_COLOUR * key) + KEY_COLOUR * gloss + sky_light * edge * 0.25;
}

void main() {
    Cluster cluster = clusters.data[in_cluster];
    uint view = frame.data.debug_view;
    vec3 normal = normalize(in_normal);
    vec3 ray = ray_through(frame.data.draw, gl_FragCoord.xy, frame.data.size);
    float distance = frame.data.draw.near / max(gl_FragCoord.z, 1e-30) * length(ray);
    ray = normalize(ray);

    if (view == DEBUG_VIEW_INSTANCES) {
        out_colour = vec4(distinct_colour(cluster.instance + 1u), 1.0);
        return;
    }
    if (view == DEBUG_VIEW_NORMALS) {
        out_colour = vec4(normal * 0.5 + 0.5, 1.0);
        return;
    }
    if (view == DEBUG_VIEW_DEPTH) {
        // Each factor of 4 in distance is one band from bright to dark.
        float bands = log2(distance / frame.data.draw.near) * 0.5;
        out_colour = vec4(mix(vec3(1.0, 0.93, 0.76), vec3(0.05, 0.13, 0.30), clamp(bands / 7.0, 0.0, 1.0)), 1.0);
        return;
    }
    vec3 albedo = from_srgb(unpackUnorm4x8(instances.data[cluster.instance].colour).rgb);
    if (view == DEBUG_VIEW_MESHLETS) {
        albedo = distinct_colour(cluster.meshlet * 7u + 3u) * 0.8 + 0.1;
    } else if (view == DEBUG_VIEW_LODS) {
        albedo = lod_colour(meshlet_lod_of(meshlets.data[cluster.meshlet]));
    }
    vec3 colour = shade(albedo, normal, -ray);
    if (frame.data.fog_distance > 0.0 && view == DEBUG_VIEW_NONE) {
        float through = distance / frame.data.fog_distance;
        colour = mix(sky(ray), colour, exp(-through * through));
    }
    out_colour = vec4(to_display(colour), 1.0);
}
