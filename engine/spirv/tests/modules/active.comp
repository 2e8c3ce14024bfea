#version 460
struct Pair { uint left; uint right; };
layout(set = 0, binding = 0) buffer B {
    uint head;        // 0
    uint table[4];    // 4
    Pair pairs[3];    // 20
    vec4 color;       // 48
    Pair rest[];      // 64
};
layout(set = 0, binding = 1) buffer Result { uint result; uint untouched; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    result = table[2] + pairs[i].right + rest[5].left;
    color.y = 1;
}
