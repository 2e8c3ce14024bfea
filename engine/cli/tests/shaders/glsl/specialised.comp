#version 460
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(local_size_x = 16, local_size_y = 2) in;

layout(constant_id = 2) const float THRESHOLD = 0.25;
layout(constant_id = 7) const bool late = false;
layout(constant_id = 3) const int STEPS = -4;
layout(constant_id = 9) const uint LENGTH = 5;

layout(set = 0, binding = 0, std430) buffer Table {
    float values[LENGTH];
    uint behind;
} table;

#ifdef WIDE
layout(set = 0, binding = 1, std430) buffer Wide { vec4 data[]; } wide;
#endif

void main() {
    if (late) {
        table.values[gl_LocalInvocationIndex] = THRESHOLD * float(STEPS);
    }
    table.behind = 1;
#ifdef WIDE
    wide.data[gl_LocalInvocationIndex * STEP] = vec4(1);
#endif
}
