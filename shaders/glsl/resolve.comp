// Shades the visibility buffer: one thread a pixel. Finds the triangle, where in it the pixel's centre lies, and its
// normal there; writes colour, depth and normal.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "counters.glsl"
#include "shading.glsl"
#include "vertex.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) readonly buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer MeshBlock { Mesh data[]; } meshes;
layout(set = 0, binding = 3, scalar) readonly buffer MeshletBlock { Meshlet data[]; } meshlets;
layout(set = 0, binding = 4, scalar) readonly buffer MeshletVertexBlock { uint data[]; } meshlet_vertices;
layout(set = 0, binding = 5, scalar) readonly buffer MeshletTriangleBlock { uint data[]; } meshlet_triangles;
layout(set = 0, binding = 6, scalar) readonly buffer VertexBlock { uvec4 data[]; } vertices;
layout(set = 0, binding = 7, scalar) readonly buffer ClusterBlock { Cluster data[]; } clusters;
layout(set = 0, binding = 8, scalar) readonly buffer CounterBlock { Counters data; } counters;
layout(set = 0, binding = 9, scalar) readonly buffer PixelBlock { uvec2 data[]; } pixels; // low, high
layout(set = 0, binding = 10, rgba8) writeonly uniform image2D colour;
layout(set = 0, binding = 11, r32f) writeonly uniform image2D depth;
layout(set = 0, binding = 12, r32ui) writeonly uniform uimage2D normals; // octahedral, packSnorm2x16; 0 where nothing is

layout(set = 0, binding = 13) uniform sampler2D hzb;
layout(set = 0, binding = 14, scalar) readonly buffer OverdrawBlock { uint data[]; } overdraw;

// Views of what the renderer did, kept out of the shader that shades.
layout(constant_id = 0) const bool INSPECT = false;

float cross2(vec2 a, vec2 b) { return a.x * b.y - a.y * b.x; }

// Perspective-correct weights of three vertices at a point of the screen (normalised device coordinates). Relative to the
// point, vertices of a small triangle are small numbers, so that little is lost to rounding.
vec3 weights_at(vec4 a, vec4 b, vec4 c, vec2 point) {
    vec2 p = a.xy - point * a.w;
    vec2 q = b.xy - point * b.w;
    vec2 r = c.xy - point * c.w;
    vec3 weights = vec3(cross2(q, r), cross2(r, p), cross2(p, q));
    float sum = weights.x + weights.y + weights.z;
    return sum != 0.0 ? clamp(weights / sum, 0.0, 1.0) : vec3(1.0 / 3.0);
}

uint pack_normal(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    float t = max(-n.z, 0.0);
    n.x += n.x >= 0.0 ? t : -t;
    n.y += n.y >= 0.0 ? t : -t;
    return packSnorm2x16(n.xy);
}

// From dark over blue and orange to white, a step for each doubling.
vec3 heat(float value) {
    float t = clamp(log2(value + 1.0) / 6.0, 0.0, 1.0);
    return clamp(vec3(3.0 * t - 1.0, 3.0 * t - 1.6, t < 0.5 ? 1.6 * t : 3.4 * t - 2.4), 0.0, 1.0);
}

vec3 hzb_colour(uvec2 pixel) {
    ivec2 size = textureSize(hzb, int(frame.data.hzb_level));
    ivec2 texel = ivec2(pixel) * size / ivec2(frame.data.size);
    float depth = texelFetch(hzb, texel, int(frame.data.hzb_level)).x;
    float bands = log2(1.0 / max(depth, 1e-20)) * 0.5;
    return depth > 0.0 ? mix(vec3(1.0, 0.93, 0.76), vec3(0.05, 0.13, 0.30), clamp(bands / 7.0, 0.0, 1.0)) : vec3(0.0);
}

// What would have culled a cluster: the stages in their order, for the camera that culls.
vec3 culled_by(Instance instance, Mesh mesh, Meshlet meshlet) {
    View view = frame.data.cull;
    vec3 centre = transform_point(view.rows, transform_point(instance.rows, mesh.bounds.xyz));
    float radius = mesh.bounds.w * instance.scale;
    if (!near_enough(view, centre, radius) || !frustum_visible(view, centre, radius)) {
        return vec3(0.75, 0.10, 0.12);
    }
    if (hzb_occluded(hzb, frame.data, view, centre, radius)) {
        return vec3(0.08, 0.16, 0.55);
    }
    centre = transform_point(view.rows, transform_point(instance.rows, meshlet.centre));
    radius = meshlet.radius * instance.scale;
    if (cone_culled(instance, meshlet, view.position)) {
        return vec3(0.92, 0.80, 0.10);
    }
    if (!frustum_visible(view, centre, radius)) {
        return vec3(0.95, 0.45, 0.10);
    }
    return hzb_occluded(hzb, frame.data, view, centre, radius) ? vec3(0.25, 0.60, 0.95) : vec3(0.70);
}

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(pixel, frame.data.size))) {
        return;
    }
    uvec2 found = pixels.data[pixel.y * frame.data.size.x + pixel.x];
    vec2 centre = vec2(pixel) + 0.5;
    if (INSPECT && frame.data.debug_view == DEBUG_VIEW_OVERDRAW) {
        uint samples = overdraw.data[pixel.y * frame.data.size.x + pixel.x];
        imageStore(colour, ivec2(pixel), vec4(heat(float(samples)), 1.0));
        return;
    }
    if (INSPECT && frame.data.debug_view == DEBUG_VIEW_HZB) {
        imageStore(colour, ivec2(pixel), vec4(hzb_colour(pixel), 1.0));
        return;
    }
    if (found.y == 0u) {
        imageStore(colour, ivec2(pixel), vec4(background_colour(frame.data, centre), 1.0));
        imageStore(depth, ivec2(pixel), vec4(0.0));
        imageStore(normals, ivec2(pixel), uvec4(0u));
        return;
    }
    uint slot = found.x >> 7;
    Cluster cluster = clusters.data[slot];
    Instance instance = instances.data[cluster.instance];
    Meshlet meshlet = meshlets.data[cluster.meshlet];
    vec4 grid = meshes.data[instance.mesh].grid;
    uvec3 corner = triangle_corners(meshlet_triangles.data[meshlet.triangle_offset + (found.x & 127u)], instance);
    vec4 clip[3];
    vec3 normal[3];
    for (uint i = 0u; i < 3u; ++i) {
        uvec4 vertex = vertices.data[meshlet_vertices.data[meshlet.vertex_offset + corner[i]]];
        clip[i] = clip_position(frame.data.draw, instance, decode_position(vertex, grid));
        normal[i] = world_normal(instance, decode_normal(vertex));
    }
    vec2 point = centre / vec2(frame.data.size) * vec2(2.0, -2.0) + vec2(-1.0, 1.0);
    vec3 weights = weights_at(clip[0], clip[1], clip[2], point);

    Surface surface;
    surface.normal = normalize(normal[0] * weights.x + normal[1] * weights.y + normal[2] * weights.z);
    surface.depth = uintBitsToFloat(found.y);
    surface.instance = cluster.instance;
    surface.meshlet = cluster.meshlet;
    surface.lod = meshlet_lod_of(meshlet);
    surface.colour = instance.colour;
    surface.by_compute = slot < counters.data.compute_count;
    vec3 shown = surface_colour(frame.data, surface, centre);
    if (INSPECT) {
        shown *= culled_by(instance, meshes.data[instance.mesh], meshlet);
    }
    imageStore(colour, ivec2(pixel), vec4(shown, 1.0));
    imageStore(depth, ivec2(pixel), vec4(surface.depth));
    imageStore(normals, ivec2(pixel), uvec4(pack_normal(surface.normal)));
}
