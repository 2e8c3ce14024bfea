#version 460
layout(set = 0, binding = 0, rgba8) uniform image2D read_only_by_code;
layout(set = 0, binding = 1, rgba8) uniform image2D written_by_code;
layout(set = 0, binding = 2, r32ui) uniform uimage2DArray counted;
layout(set = 0, binding = 3, r32f) readonly uniform image3D decorated;
layout(set = 0, binding = 4) writeonly uniform image2D no_format;
layout(set = 0, binding = 5, rgba16f) uniform imageCube sized_only;
void main() {
    vec4 texel = imageLoad(read_only_by_code, ivec2(0)) + imageLoad(decorated, ivec3(0));
    imageStore(written_by_code, ivec2(0), texel);
    imageAtomicAdd(counted, ivec3(0), 1u);
    imageStore(no_format, imageSize(sized_only), texel);
}
