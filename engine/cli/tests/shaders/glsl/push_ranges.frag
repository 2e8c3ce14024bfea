#version 460
layout(push_constant) uniform Colour {
    layout(offset = 48) vec3 tint;
    layout(offset = 64) float alpha;
} colour;

layout(location = 0) in vec2 in_uv;
layout(location = 0) out vec4 out_colour;

void main() {
    out_colour = vec4(colour.tint * in_uv.x, colour.alpha);
}
