#version 460
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 8, local_size_y = 8) in;

layout(constant_id = 4) const uint LAYERS = 3;

layout(set = 0, binding = 9, rgba8) uniform writeonly image2DArray target;
layout(set = 0, binding = 0) uniform sampler2D combined[4];
layout(set = 0, binding = 2) uniform texture3D volume;
layout(set = 0, binding = 3) uniform sampler clamped;
layout(set = 0, binding = 5, r32ui) uniform uimageBuffer counters;
layout(set = 0, binding = 6) uniform samplerBuffer weights;
layout(set = 0, binding = 7) uniform textureCube layers[LAYERS];
layout(set = 0, binding = 8, std430) readonly buffer Part { float values[]; } parts[2];
// The bindless heap is nobody's binding.
layout(set = 1, binding = 0) uniform texture2D heap[];

void main() {
    ivec3 at = ivec3(gl_GlobalInvocationID);
    vec4 colour = textureLod(combined[at.x & 3], vec2(0.5), 0.0) + textureLod(sampler3D(volume, clamped), vec3(0.5), 0.0);
    colour += textureLod(samplerCube(layers[at.y % LAYERS], clamped), vec3(1), 0.0);
    colour += textureLod(sampler2D(heap[nonuniformEXT(at.x)], clamped), vec2(0.5), 0.0);
    colour *= texelFetch(weights, at.x).x * parts[at.y & 1].values[at.x];
    imageAtomicAdd(counters, at.x, 1u);
    imageStore(target, at, colour);
}
