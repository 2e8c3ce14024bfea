// Copies the finished picture, sRGB values, to an image of a window, whatever its format and size.
#version 460

layout(set = 0, binding = 0) uniform sampler2D picture;

layout(push_constant) uniform Push {
    // Of the target, pixels.
    vec2 size;
    // Whether the target's format converts from linear values to sRGB.
    uint converts;
} push;

layout(location = 0) out vec4 out_colour;

vec3 to_linear(vec3 display) {
    vec3 low = display / 12.92;
    vec3 high = pow((display + 0.055) / 1.055, vec3(2.4));
    return mix(high, low, lessThanEqual(display, vec3(0.04045)));
}

void main() {
    vec3 colour = texture(picture, gl_FragCoord.xy / push.size).rgb;
    out_colour = vec4(push.converts != 0u ? to_linear(colour) : colour, 1.0);
}
