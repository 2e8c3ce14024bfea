#version 460
struct Inner { vec2 uv; float weights[2]; };
layout(location = 2) out Surface { vec3 normal; Inner inner; flat int material; } surface;
layout(location = 0) in vec3 position;
out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; };
void main() {
    surface.normal = position;
    surface.inner.uv = vec2(0);
    surface.material = 1;
    gl_Position = vec4(position, 1);
    gl_ClipDistance[0] = 1;
}
