#version 460
// Value noise from an integer hash (PCG), so that it is the same on every device.
#pragma mixin class Noise
#pragma mixin stage any
#pragma mixin virtual float mx_noise(vec2 at);
#include <mixin>

uint pcg(uint v) {
    uint state = v * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

float corner(ivec2 at) {
    return float(pcg(uint(at.x) + pcg(uint(at.y)))) * (1.0 / 4294967296.0);
}

float mx_noise(vec2 at) {
    ivec2 cell = ivec2(floor(at));
    vec2 f = at - vec2(cell);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(corner(cell), corner(cell + ivec2(1, 0)), f.x), mix(corner(cell + ivec2(0, 1)), corner(cell + ivec2(1, 1)), f.x), f.y);
}
