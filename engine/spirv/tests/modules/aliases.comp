#version 460
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
// One buffer read as bytes, shorts and words.
layout(set = 0, binding = 2) readonly buffer Bytes { uint8_t bytes[]; };
layout(set = 0, binding = 2) readonly buffer Shorts { uint16_t shorts[]; };
layout(set = 0, binding = 2) readonly buffer Words { uint words[]; };
layout(set = 0, binding = 0) writeonly buffer Result { uint result[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    result[i] = uint(bytes[i]) + uint(shorts[i]) + words[i];
}
