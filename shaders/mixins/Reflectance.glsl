#version 460
// Reflectance of rough metals and dielectrics: GGX distribution, Smith's visibility by Hammon's approximation, Schlick's Fresnel.
#pragma mixin class Reflectance
#pragma mixin stage fragment
#pragma mixin inherit ForwardTypes
#pragma mixin virtual vec3 mx_reflect(Surface s, vec3 light);
#include <mixin>

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
