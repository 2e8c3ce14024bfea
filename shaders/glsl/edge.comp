// Finds edges: how much brightness changes around each pixel (Sobel).
#version 460

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1, r8) writeonly uniform image2D edges;

layout(push_constant) uniform Push {
    uvec2 size;
    float strength;
} push;

float brightness(ivec2 texel) {
    texel = clamp(texel, ivec2(0), ivec2(push.size) - 1);
    return dot(texelFetch(picture, texel, 0).rgb, vec3(0.2126, 0.7152, 0.0722));
}

void main() {
    if (any(greaterThanEqual(gl_GlobalInvocationID.xy, push.size))) {
        return;
    }
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    vec2 slope = vec2(0.0);
    for (int along = -1; along <= 1; ++along) {
        float weight = along == 0 ? 2.0 : 1.0;
        slope.x += weight * (brightness(texel + ivec2(1, along)) - brightness(texel + ivec2(-1, along)));
        slope.y += weight * (brightness(texel + ivec2(along, 1)) - brightness(texel + ivec2(along, -1)));
    }
    imageStore(edges, texel, vec4(clamp(length(slope) * push.strength, 0.0, 1.0)));
}
