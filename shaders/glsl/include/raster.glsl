// Triangles to pixels in whole numbers. Include after defining `void plot(ivec2 pixel, float depth, uint triangle)`.
//
// Positions are rounded to 1/256 pixel, as hardware does; what a triangle covers is then decided exactly: pixel centres
// inside, and those on a top or left edge, so that triangles that share an edge never both or neither take a pixel.
// Twin: the reference rasteriser of `tests/raster_oracle.rs`.
#ifndef RASTER_GLSL
#define RASTER_GLSL

#include "config.glsl"

// Pixels from the upper left, and depth. `half_size` is half of the picture's.
vec3 place_of(vec4 clip, vec2 half_size) {
    precise float inverse = 1.0 / clip.w;
    precise vec2 ndc = clip.xy * inverse;
    precise vec2 pixel = vec2(ndc.x * half_size.x, ndc.y * -half_size.y) + half_size;
    return vec3(pixel, clip.z * inverse);
}

// The position in 1/256 pixel.
ivec2 snap(vec3 place) { return ivec2(roundEven(place.xy * 256.0)); }

// Twice the signed area of a triangle, as seen by the edge from a to b. Within 31 bits for triangles of at most
// RASTER_MAX_EXTENT pixels each way.
int edge_function(ivec2 a, ivec2 b, ivec2 p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// 0 where pixel centres on the edge from a to b are covered, else 1. The triangle lies to the right, y goes down: a top
// edge goes right, left edges go up.
int edge_bias(ivec2 a, ivec2 b) {
    return (b.y < a.y || (b.y == a.y && b.x > a.x)) ? 0 : 1;
}

// Plots the pixels of a triangle that is counter-clockwise seen with +Y up; nothing for others. Coverage goes by the snapped
// corners, depth by the plane through the corners as they were, kept within theirs: slivers have no plane to speak of.
void rasterise(ivec2 a, ivec2 c, ivec2 b, vec3 place_a, vec3 place_c, vec3 place_b, ivec2 size, uint triangle) {
    int area = edge_function(a, b, c);
    if (area <= 0) {
        return;
    }
    // Pixels whose centres lie in the box, within the picture.
    ivec2 low = max((min(min(a, b), c) + 127) >> 8, ivec2(0));
    ivec2 high = min((max(max(a, b), c) - 128) >> 8, size - 1);
    if (any(greaterThan(low, high))) {
        return;
    }
    precise vec3 to_b = place_b - place_a;
    precise vec3 to_c = place_c - place_a;
    precise float plane_area = to_b.x * to_c.y - to_b.y * to_c.x;
    precise float slope_x = (to_b.z * to_c.y - to_c.z * to_b.y) / plane_area;
    precise float slope_y = (to_c.z * to_b.x - to_b.z * to_c.x) / plane_area;
    float nearest = max(max(place_a.z, place_b.z), place_c.z);
    float farthest = min(min(place_a.z, place_b.z), place_c.z);

    ivec2 centre = low * 256 + 128;
    ivec3 row = ivec3(edge_function(b, c, centre), edge_function(c, a, centre), edge_function(a, b, centre)) -
                ivec3(edge_bias(b, c), edge_bias(c, a), edge_bias(a, b));
    ivec3 right = -256 * ivec3(c.y - b.y, a.y - c.y, b.y - a.y);
    ivec3 down = 256 * ivec3(c.x - b.x, a.x - c.x, b.x - a.x);
    for (int y = low.y; y <= high.y; ++y) {
        ivec3 inside = row;
        for (int x = low.x; x <= high.x; ++x) {
            if ((inside.x | inside.y | inside.z) >= 0) {
                precise vec2 offset = vec2(x, y) + 0.5 - place_a.xy;
                precise float depth = place_a.z + (offset.x * slope_x + offset.y * slope_y);
                // Of these comparisons what is not a number fails the first, and takes the farthest.
                depth = depth > farthest ? min(depth, nearest) : farthest;
                plot(ivec2(x, y), depth, triangle);
            }
            inside += right;
        }
        row += down;
    }
}

#endif
