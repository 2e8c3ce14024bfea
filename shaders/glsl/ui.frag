// The user interface is blended in sRGB values, as egui's colours are meant: the target has a format without conversion.
#version 460

layout(set = 0, binding = 2) uniform sampler2D image;

layout(location = 0) in vec2 in_uv;
layout(location = 1) in vec4 in_colour;

layout(location = 0) out vec4 out_colour;

void main() {
    out_colour = in_colour * texture(image, in_uv);
}
