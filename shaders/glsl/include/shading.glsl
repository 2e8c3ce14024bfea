// How surfaces look, or what the renderer did to them: shared by all raster paths, so that they give the same picture.
#ifndef SHADING_GLSL
#define SHADING_GLSL

#include "scene.glsl"
#include "sky.glsl"

// A point of a surface.
struct Surface {
    vec3 normal; // world space, unit length
    float depth; // reversed
    uint instance;
    uint meshlet;
    uint lod;
    uint colour; // sRGB, unpackUnorm4x8
    bool by_compute;
};

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

// Views that show data rather than a scene have no sky.
bool is_plain(uint view) {
    return view == DEBUG_VIEW_INSTANCES || view == DEBUG_VIEW_NORMALS || view == DEBUG_VIEW_DEPTH;
}

// The display colour of a pixel without a surface.
vec3 background_colour(FrameData frame, vec2 pixel) {
    return is_plain(frame.debug_view) ? vec3(0.0) : to_display(sky(normalize(ray_through(frame.draw, pixel, frame.size))));
}

// The display colour of a surface at a pixel's centre.
vec3 surface_colour(FrameData frame, Surface surface, vec2 pixel) {
    uint view = frame.debug_view;
    vec3 ray = ray_through(frame.draw, pixel, frame.size);
    float distance = frame.draw.near / max(surface.depth, 1e-30) * length(ray);
    ray = normalize(ray);
    if (view == DEBUG_VIEW_INSTANCES) {
        return distinct_colour(surface.instance + 1u);
    }
    if (view == DEBUG_VIEW_NORMALS) {
        return surface.normal * 0.5 + 0.5;
    }
    if (view == DEBUG_VIEW_DEPTH) {
        // Each factor of 4 in distance is one band from bright to dark.
        float bands = log2(distance / frame.draw.near) * 0.5;
        return mix(vec3(1.0, 0.93, 0.76), vec3(0.05, 0.13, 0.30), clamp(bands / 7.0, 0.0, 1.0));
    }
    vec3 albedo = from_srgb(unpackUnorm4x8(surface.colour).rgb);
    if (view == DEBUG_VIEW_MESHLETS) {
        albedo = distinct_colour(surface.meshlet * 7u + 3u) * 0.8 + 0.1;
    } else if (view == DEBUG_VIEW_LODS) {
        albedo = lod_colour(surface.lod);
    } else if (view == DEBUG_VIEW_CULLED_BY) {
        albedo = vec3(0.9);
    } else if (view == DEBUG_VIEW_RASTER) {
        albedo = surface.by_compute ? vec3(0.10, 0.45, 0.62) : vec3(0.90, 0.38, 0.10);
    }
    vec3 colour = shade(albedo, surface.normal, -ray);
    if (frame.fog_distance > 0.0 && view == DEBUG_VIEW_NONE) {
        float through = distance / frame.fog_distance;
        colour = mix(sky(ray), colour, exp(-through * through));
    }
    return to_display(colour);
}

#endif
