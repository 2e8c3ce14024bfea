#version 460
#extension GL_EXT_nonuniform_qualifier : require
// An unsized array that is indexed dynamically is a runtime array.
layout(set = 1, binding = 0) uniform texture2D textures[];
layout(set = 1, binding = 1) uniform sampler samplers[4];
layout(location = 0) flat in uint index;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    color = texture(sampler2D(textures[nonuniformEXT(index)], samplers[index & 3u]), uv);
}
