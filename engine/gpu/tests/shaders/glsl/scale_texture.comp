#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, rgba8) writeonly uniform image2D target;
layout(push_constant) uniform Push { float factor; };

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(target)))) return;
    vec2 uv = (vec2(at) + 0.5) / vec2(imageSize(target));
    imageStore(target, at, textureLod(source, uv, 0.0) * factor);
}
