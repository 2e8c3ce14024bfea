// Puts picture, glow and edges together: the glow is added in linear light, brightness is compressed, edges are inked.
#version 460

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1) uniform sampler2D blurred;
layout(set = 0, binding = 2) uniform sampler2D edges;
layout(set = 0, binding = 3, rgba8) writeonly uniform image2D result;

layout(push_constant) uniform Push {
    uvec2 size;
    float exposure;
    float glow;
    float ink;
} push;

vec3 to_linear(vec3 display) {
    vec3 high = pow((display + 0.055) / 1.055, vec3(2.4));
    return mix(high, display / 12.92, lessThanEqual(display, vec3(0.04045)));
}

vec3 to_display(vec3 linear) {
    vec3 high = 1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055;
    return mix(high, linear * 12.92, lessThanEqual(linear, vec3(0.0031308)));
}

void main() {
    if (any(greaterThanEqual(gl_GlobalInvocationID.xy, push.size))) {
        return;
    }
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    vec3 light = to_linear(texelFetch(picture, texel, 0).rgb);
    light += push.glow * to_linear(texelFetch(blurred, texel, 0).rgb);
    light *= push.exposure;
    // Reinhard: 1 becomes 1/2, everything fits.
    light = light / (1.0 + light);
    light *= 1.0 - push.ink * texelFetch(edges, texel, 0).r;
    imageStore(result, texel, vec4(to_display(clamp(light, 0.0, 1.0)), 1.0));
}
