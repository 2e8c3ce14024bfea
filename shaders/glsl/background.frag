// The sky behind everything.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "sky.glsl"

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;

layout(location = 0) out vec4 out_colour;

void main() {
    vec3 ray = normalize(ray_through(frame.data.draw, gl_FragCoord.xy, frame.data.size));
    uint view = frame.data.debug_view;
    bool plain = view == DEBUG_VIEW_INSTANCES || view == DEBUG_VIEW_NORMALS || view == DEBUG_VIEW_DEPTH;
    out_colour = plain ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(to_display(sky(ray)), 1.0);
}
