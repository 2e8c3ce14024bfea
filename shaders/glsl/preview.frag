// One mip of any picture, made visible.
#version 460

layout(set = 0, binding = 0) uniform sampler2D picture;

layout(push_constant) uniform Push {
    // Of the target, pixels.
    vec2 size;
    uint mip;
    // 0 colours as they are, 1 the first component as grey, 2 the same as reversed depth.
    uint mode;
    float brightness;
} push;

layout(location = 0) out vec4 out_colour;

void main() {
    ivec2 texels = textureSize(picture, int(push.mip));
    ivec2 texel = min(ivec2(gl_FragCoord.xy / push.size * vec2(texels)), texels - 1);
    vec4 value = texelFetch(picture, texel, int(push.mip));
    vec3 colour = value.rgb;
    if (push.mode == 1u) {
        colour = value.rrr;
    } else if (push.mode == 2u) {
        // Depth is near / distance: its root spreads far things over more of the range.
        colour = vec3(sqrt(max(value.r, 0.0)));
    }
    out_colour = vec4(clamp(colour * push.brightness, 0.0, 1.0), 1.0);
}
