#version 460
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform texture2D a;
layout(set = 0, binding = 1) uniform texture2D b;
layout(set = 0, binding = 2) uniform sampler s;
layout(set = 0, binding = 3) uniform sampler t;
layout(set = 0, binding = 4) uniform texture2D sized_only;
layout(set = 0, binding = 5) uniform texture2D fetched;
layout(set = 0, binding = 6) uniform sampler2D combined;
layout(location = 0) out vec4 color;
vec4 take(texture2D image, sampler how, vec2 at) { return texture(sampler2D(image, how), at); }
void main() {
    color = take(a, s, vec2(0)) + take(b, t, vec2(1));
    color += vec4(textureSize(sized_only, 0), 0, 0) + texelFetch(fetched, ivec2(0), 0) + texture(combined, vec2(0));
}
