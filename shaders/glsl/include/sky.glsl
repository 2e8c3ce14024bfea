// The light of the demo scenes: a soft sky, a key light, and haze that takes distant things into the sky's colour.
#ifndef SKY_GLSL
#define SKY_GLSL

#include "frame.glsl"

const vec3 KEY_DIRECTION = vec3(0.42, 0.77, 0.48); // towards the light, unit length within 1e-3
const vec3 KEY_COLOUR = vec3(1.65, 1.47, 1.18);

// Linear colour of the sky in a direction (world space, unit length).
vec3 sky(vec3 direction) {
    const vec3 zenith = vec3(0.10, 0.19, 0.36);
    const vec3 horizon = vec3(0.62, 0.66, 0.68);
    const vec3 ground = vec3(0.22, 0.20, 0.20);
    float up = direction.y;
    vec3 colour = up > 0.0 ? mix(horizon, zenith, pow(up, 0.55)) : mix(horizon, ground, pow(-up, 0.6));
    float sun = max(dot(direction, KEY_DIRECTION), 0.0);
    return colour + KEY_COLOUR * 0.10 * pow(sun, 12.0);
}

// The ray through a point of the picture (pixels): view depth 1 along the camera's axis, world space.
vec3 ray_through(View view, vec2 pixel, uvec2 size) {
    vec2 ndc = pixel / vec2(size) * 2.0 - 1.0;
    vec3 ray = vec3(ndc.x / view.scale.x, -ndc.y / view.scale.y, -1.0);
    return ray.x * view.rows[0].xyz + ray.y * view.rows[1].xyz + ray.z * view.rows[2].xyz;
}

// Linear to display: a gentle shoulder for what is brighter than 1, then sRGB's curve.
vec3 to_display(vec3 colour) {
    colour = colour * (1.0 + colour * 0.12) / (1.0 + colour * 0.42);
    colour = clamp(colour, 0.0, 1.0);
    return mix(colour * 12.92, 1.055 * pow(colour, vec3(1.0 / 2.4)) - 0.055, greaterThan(colour, vec3(0.0031308)));
}

vec3 from_srgb(vec3 colour) {
    return mix(colour / 12.92, pow((colour + 0.055) / 1.055, vec3(2.4)), greaterThan(colour, vec3(0.04045)));
}

#endif
