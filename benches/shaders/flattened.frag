#version 460
// What the recipe of the bench `composition` comes to, written by hand in one piece: base, checker, triplanar noise,
// metal/rough, fog, rim and wireframe, with a directional light.
struct Surface {
    vec3 position;
    vec3 normal;
    vec3 view;
    vec3 albedo;
    float metallic;
    float roughness;
    float coat;
};
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    vec4 eye;
    vec4 sun;
    vec4 fog;
} frame;
layout(push_constant) uniform Object {
    vec4 sphere;
    vec4 tint;
} object;
layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec3 in_corner;
layout(location = 0) out vec4 out_colour;

const int TILES = 6;
const float SCALE = 9.0;
const float METALLIC = 1.0;
const float ROUGHNESS = 0.35;
const float DENSITY = 0.9;
const vec3 COLOUR = vec3(1.0, 0.75, 0.4);
const float WIDTH = 1.0;

float distribution(float n_h, float alpha) {
    float a2 = alpha * alpha;
    float d = n_h * n_h * (a2 - 1) + 1;
    return a2 / (3.14159265 * d * d);
}

float visibility(float n_l, float n_v, float alpha) {
    return 0.5 / max(mix(2 * n_l * n_v, n_l + n_v, alpha), 1e-4);
}

vec3 mx_reflect(Surface s, vec3 light) {
    vec3 h = normalize(light + s.view);
    float n_l = max(dot(s.normal, light), 0);
    float n_v = max(dot(s.normal, s.view), 1e-4);
    float n_h = max(dot(s.normal, h), 0);
    float alpha = max(s.roughness * s.roughness, 1e-3);
    vec3 f0 = mix(vec3(0.04), s.albedo, s.metallic);
    float grazing = pow(1 - max(dot(h, s.view), 0), 5);
    vec3 fresnel = f0 + (1 - f0) * grazing;
    vec3 specular = fresnel * distribution(n_h, alpha) * visibility(n_l, n_v, alpha);
    vec3 diffuse = (1 - fresnel) * (1 - s.metallic) * s.albedo / 3.14159265;
    float coat = s.coat * (0.04 + 0.96 * grazing) * distribution(n_h, 0.01) * visibility(n_l, n_v, 0.01);
    return (diffuse + specular * (1 - 0.5 * s.coat) + min(coat, 4)) * n_l;
}

uint pcg(uint v) {
    uint state = v * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

float corner(ivec2 at) {
    return float(pcg(uint(at.x) + pcg(uint(at.y)))) * (1.0 / 4294967296.0);
}

float mx_noise(vec2 at) {
    ivec2 cell = ivec2(floor(at));
    vec2 f = at - vec2(cell);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(corner(cell), corner(cell + ivec2(1, 0)), f.x), mix(corner(cell + ivec2(0, 1)), corner(cell + ivec2(1, 1)), f.x), f.y);
}

void surface_flat(inout Surface s) {
    s.albedo = object.tint.rgb;
}

void surface_checker(inout Surface s) {
    surface_flat(s);
    vec2 at = vec2(atan(s.normal.z, s.normal.x) / 3.14159265, acos(clamp(s.normal.y, -1.0, 1.0)) / 1.5707963);
    ivec2 tile = ivec2(floor(at * float(TILES)));
    if (((tile.x + tile.y) & 1) != 0) s.albedo *= 0.25;
}

void surface_triplanar(inout Surface s) {
    surface_checker(s);
    vec3 p = (s.position - object.sphere.xyz) / object.sphere.w * SCALE;
    vec3 w = s.normal * s.normal;
    float n = w.x * mx_noise(p.yz) + w.y * mx_noise(p.zx + 17.0) + w.z * mx_noise(p.xy + 41.0);
    s.albedo *= 0.3 + 0.9 * n;
    s.roughness = 0.4 + 0.5 * n;
}

void mx_surface(inout Surface s) {
    surface_triplanar(s);
    s.metallic = METALLIC;
    s.roughness = ROUGHNESS;
}

void mx_light(Surface s, inout vec3 colour) {
    colour += 3.14159265 * frame.sun.w * mx_reflect(s, frame.sun.xyz);
}

void each_light(Surface s, inout vec3 colour) {
    mx_light(s, colour);
}

vec3 mx_shade(Surface s) {
    vec3 colour = vec3(0);
    each_light(s, colour);
    return colour;
}

vec3 finish_base(Surface s, vec3 colour) {
    return colour / (1 + 0.4 * colour);
}

vec3 finish_fog(Surface s, vec3 colour) {
    float depth = 1 - (s.position.z - object.sphere.z) / object.sphere.w;
    return mix(finish_base(s, colour), frame.fog.rgb, 1 - exp(-DENSITY * depth));
}

vec3 finish_rim(Surface s, vec3 colour) {
    float rim = pow(1 - max(dot(s.normal, s.view), 0), 3);
    return finish_fog(s, colour + rim * COLOUR);
}

vec3 mx_finish(Surface s, vec3 colour) {
    vec3 d = fwidth(in_corner);
    vec3 inside = smoothstep(vec3(0), d * WIDTH * 1.5, in_corner);
    float line = 1 - min(inside.x, min(inside.y, inside.z));
    return mix(finish_rim(s, colour), vec3(0.02), 0.8 * line);
}

vec3 to_srgb(vec3 colour) {
    colour = clamp(colour, 0, 1);
    return mix(colour * 12.92, 1.055 * pow(colour, vec3(1 / 2.4)) - 0.055, greaterThan(colour, vec3(0.0031308)));
}

void mx_main() {
    Surface s;
    s.position = in_position;
    s.normal = normalize(in_normal);
    s.view = normalize(frame.eye.xyz - in_position);
    s.albedo = object.tint.rgb;
    s.metallic = 0;
    s.roughness = 0.5;
    s.coat = 0;
    mx_surface(s);
    out_colour = vec4(to_srgb(mx_finish(s, mx_shade(s))), 1);
}

void main() {
    mx_main();
}
