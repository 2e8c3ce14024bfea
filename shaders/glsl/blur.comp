// Blurs along one axis with the weights of a bell curve; twice, along both axes, makes the whole blur.
#version 460

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, rgba8) writeonly uniform image2D target;

layout(push_constant) uniform Push {
    uvec2 size;
    ivec2 axis;
    // Standard deviation, pixels.
    float radius;
} push;

void main() {
    if (any(greaterThanEqual(gl_GlobalInvocationID.xy, push.size))) {
        return;
    }
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    int reach = clamp(int(ceil(push.radius * 2.5)), 1, 32);
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (int step = -reach; step <= reach; ++step) {
        float along = float(step) / max(push.radius, 0.01);
        float weight = exp(-0.5 * along * along);
        ivec2 at = clamp(texel + push.axis * step, ivec2(0), ivec2(push.size) - 1);
        sum += weight * texelFetch(source, at, 0);
        weights += weight;
    }
    imageStore(target, texel, sum / weights);
}
