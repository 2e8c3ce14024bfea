// What decides what is drawn. The twins in `engine/impel/src/math` are the oracles that tests compare with: keep the
// order of operations. Decisions that must be equal on both sides are `precise` and use only +, -, * and comparisons.
#ifndef CULLING_GLSL
#define CULLING_GLSL

#include "frame.glsl"
#include "scene.glsl"

// Twin: `Affine::transform_point`.
vec3 transform_point(vec4 rows[3], vec3 p) {
    precise float x = ((rows[0].x * p.x + rows[0].y * p.y) + rows[0].z * p.z) + rows[0].w;
    precise float y = ((rows[1].x * p.x + rows[1].y * p.y) + rows[1].z * p.z) + rows[1].w;
    precise float z = ((rows[2].x * p.x + rows[2].y * p.y) + rows[2].z * p.z) + rows[2].w;
    return vec3(x, y, z);
}

// Whether a sphere in view space may be in the picture. Twin: `Frustum::sees_sphere`.
bool frustum_visible(View view, vec3 centre, float radius) {
    precise float depth = -centre.z;
    precise float right = depth * view.frustum.y - abs(centre.x) * view.frustum.x;
    precise float upper = depth * view.frustum.w - abs(centre.y) * view.frustum.z;
    precise float far_side = depth + radius;
    return right > -radius && upper > -radius && far_side > view.near;
}

// Whether an instance is within the draw distance: that is what is to be drawn, not culling. Twin: `Frustum::sees_sphere`.
bool near_enough(View view, vec3 centre, float radius) {
    precise float near_side = -centre.z - radius;
    return near_side < view.draw_distance;
}

// The level for a sphere `offset` away from the LOD origin; all in world space. Twin: `LodSelector::select`.
uint select_lod(FrameData frame, Mesh mesh, vec3 offset, float radius, float scale) {
    precise float distance_squared = (offset.x * offset.x + offset.y * offset.y) + offset.z * offset.z;
    uint last = mesh.lod_count - 1u;
    if (frame.lod_mode == LOD_MODE_FORCED) {
        return min(frame.lod_forced, last);
    }
    uint lod = 0u;
    if (frame.lod_mode == LOD_MODE_ERROR) {
        for (uint level = 1u; level <= last; ++level) {
            precise float reach = (mesh.lods[level].error * scale) * frame.error_distance + radius;
            precise float reach_squared = reach * reach;
            if (reach_squared < distance_squared) {
                lod = level;
            }
        }
        return lod;
    }
    for (uint level = 0u; level < MAX_LODS - 1u; ++level) {
        lod += distance_squared >= frame.begins_squared[level] ? 1u : 0u;
    }
    return min(lod, last);
}

// Rows of the cofactor matrix of a transform's linear part: determinant times its inverse transposed.
mat3 cofactor_rows(vec4 rows[3]) {
    return mat3(cross(rows[1].xyz, rows[2].xyz), cross(rows[2].xyz, rows[0].xyz), cross(rows[0].xyz, rows[1].xyz));
}

// Whether all triangles of a meshlet face away. Twin: `cone_culled`, with the camera brought to object space.
bool cone_culled(Instance instance, Meshlet meshlet, vec3 camera) {
    mat3 cofactors = cofactor_rows(instance.rows);
    float determinant = dot(instance.rows[0].xyz, cofactors[0]);
    vec3 translation = vec3(instance.rows[0].w, instance.rows[1].w, instance.rows[2].w);
    // The inverse's columns are the cofactor rows over the determinant. A flat transform gives no finite camera, for
    // which the comparison below is false: nothing is culled.
    vec3 object_camera = cofactors * (camera - translation) / determinant;
    int packed = int(meshlet.cone);
    vec3 axis = vec3(bitfieldExtract(packed, 0, 8), bitfieldExtract(packed, 8, 8), bitfieldExtract(packed, 16, 8)) / 127.0;
    float cutoff = float(bitfieldExtract(packed, 24, 8)) / 127.0;
    vec3 to_centre = meshlet.centre - object_camera;
    return determinant != 0.0 && dot(to_centre, axis) >= cutoff * length(to_centre) + meshlet.radius;
}

// The box of a sphere on the screen: (0, 0) upper left. False when the sphere reaches the near plane.
// Mara and McGuire, JCGT 2013. Twin: `project_sphere`.
bool project_sphere(View view, vec3 centre, float radius, out vec4 box, out float depth) {
    float distance = -centre.z;
    if (distance < radius + view.near) {
        return false;
    }
    vec2 a = centre.xy;
    vec2 tangent = sqrt(a * a + (distance * distance - radius * radius));
    vec2 low = (tangent * a - distance * radius) / (tangent * distance + a * radius);
    vec2 high = (tangent * a + distance * radius) / (tangent * distance - a * radius);
    low = low * view.scale * 0.5;
    high = high * view.scale * 0.5;
    box = vec4(0.5 + low.x, 0.5 - high.y, 0.5 + high.x, 0.5 - low.y);
    depth = view.near / (distance - radius);
    return true;
}

// The level at which 2x2 texels cover a box. Twin: `mip_for_box`.
uint hzb_level(vec4 box, uvec2 hzb_size) {
    uint last = uint(findMSB(max(hzb_size.x, hzb_size.y)));
    vec2 size = vec2(hzb_size);
    vec2 texels = (box.zw - box.xy) * size;
    float extent = max(max(texels.x, texels.y), 1.0);
    // log2 may be off by a little: the comparison puts it right.
    uint coarse = min(uint(ceil(log2(extent))), last);
    if (coarse < last && extent > exp2(float(coarse))) {
        coarse += 1u;
    }
    if (coarse == 0u) {
        return 0u;
    }
    vec2 finer = max(size / float(1u << (coarse - 1u)), vec2(1.0));
    vec2 spans = box.zw * finer - floor(box.xy * finer);
    return max(spans.x, spans.y) <= 2.0 ? coarse - 1u : coarse;
}

// Whether a sphere (view space) lies behind everything in the pyramid. Twin: `Hzb::occludes`.
bool hzb_occluded(sampler2D hzb, FrameData frame, View view, vec3 centre, float radius) {
    vec4 box;
    float depth;
    if (!project_sphere(view, centre, radius, box, depth)) {
        return false;
    }
    box = clamp(box, vec4(0.0), vec4(1.0));
    uint level = hzb_level(box, frame.hzb_size);
    ivec2 size = max(ivec2(frame.hzb_size >> level), ivec2(1));
    ivec2 low = min(ivec2(box.xy * vec2(size)), size - 1);
    ivec2 high = min(low + 1, size - 1);
    float a = texelFetch(hzb, low, int(level)).x;
    float b = texelFetch(hzb, ivec2(high.x, low.y), int(level)).x;
    float c = texelFetch(hzb, ivec2(low.x, high.y), int(level)).x;
    float d = texelFetch(hzb, high, int(level)).x;
    if (depth < min(min(a, b), min(c, d))) {
        return true;
    }
    // The 2x2 texels cover up to 16 times the box: look at what it touches, some levels finer.
    level -= min(level, HZB_REFINEMENT);
    size = max(ivec2(frame.hzb_size >> level), ivec2(1));
    low = min(ivec2(box.xy * vec2(size)), size - 1);
    high = min(ivec2(box.zw * vec2(size)), size - 1);
    for (int y = low.y; y <= high.y; ++y) {
        for (int x = low.x; x <= high.x; ++x) {
            if (depth >= texelFetch(hzb, ivec2(x, y), int(level)).x) {
                return false;
            }
        }
    }
    return true;
}

#endif
