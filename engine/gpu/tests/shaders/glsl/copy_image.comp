#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8) readonly uniform image2D source;
layout(set = 0, binding = 1, rgba8) writeonly uniform image2D target;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(target)))) return;
    imageStore(target, at, imageLoad(source, at));
}
