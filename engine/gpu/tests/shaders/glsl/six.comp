#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(set = 0, binding = 1) uniform Block { vec4 block[4]; };
layout(set = 0, binding = 2) uniform sampler2D combined;
layout(set = 0, binding = 3) uniform texture2D separate;
layout(set = 0, binding = 4) uniform sampler filtering;
layout(set = 0, binding = 5, rgba8) writeonly uniform image2D target;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    vec2 uv = (vec2(at) + 0.5) / vec2(imageSize(target));
    vec4 value = textureLod(combined, uv, 0.0) + textureLod(sampler2D(separate, filtering), uv, 0.0);
    imageStore(target, at, value * block[at.x & 3] + float(source[at.y]));
}
