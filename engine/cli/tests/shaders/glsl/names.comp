#version 460
layout(local_size_x = 1) in;

// Names that generated code or Rust has in use.
struct Bindings { uint type; uint padding_0; };
struct Default { vec3 self; uint fn; };
struct Self { uint ref; };
struct Vec3OfSomething { float camelCase; float HTTPPort; float snake_case; float snakeCase; };

layout(set = 0, binding = 0, std430) buffer BlockA { Bindings bindings[2]; Default impl; } match;
layout(set = 0, binding = 1, std430) buffer BlockB { Self data; uint extra; } self;
layout(set = 0, binding = 2, std140) uniform BlockC { Vec3OfSomething data; float tail; } loop_;
layout(set = 0, binding = 3, std140) uniform BlockD { Vec3OfSomething data[2]; } Loop;
layout(set = 0, binding = 4, std430) buffer Push { uint value; } pushBuffer;

layout(push_constant) uniform Constants { uint value; } constants;

void main() {
    match.bindings[1].type = self.data.ref + match.impl.fn + constants.value;
    pushBuffer.value = uint(loop_.data.camelCase + Loop.data[1].HTTPPort);
}
