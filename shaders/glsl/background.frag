// The sky behind everything.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "shading.glsl"

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;

layout(location = 0) out vec4 out_colour;

void main() {
    out_colour = vec4(background_colour(frame.data, gl_FragCoord.xy), 1.0);
}
