// Moves the instances that may move: turns each about its own Y axis from where it rests, and keeps last frame's transform.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require

#include "frame.glsl"
#include "scene.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, scalar) uniform FrameBlock { FrameData data; } frame;
layout(set = 0, binding = 1, scalar) buffer InstanceBlock { Instance data[]; } instances;
layout(set = 0, binding = 2, scalar) readonly buffer RestBlock { Rows data[]; } rest;
layout(set = 0, binding = 3, scalar) writeonly buffer PreviousBlock { Rows data[]; } previous;

layout(push_constant, scalar) uniform Push {
    vec2 turn; // cosine and sine of the angle
} push;

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationIndex;
    if (index >= frame.data.moving_count) {
        return;
    }
    previous.data[index].rows = instances.data[index].rows;
    vec4 rows[3] = rest.data[index].rows;
    for (uint i = 0u; i < 3u; ++i) {
        float x = rows[i].x * push.turn.x - rows[i].z * push.turn.y;
        float z = rows[i].x * push.turn.y + rows[i].z * push.turn.x;
        rows[i] = vec4(x, rows[i].y, z, rows[i].w);
    }
    instances.data[index].rows = rows;
}
