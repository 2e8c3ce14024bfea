#version 460
#extension GL_EXT_ray_query : require
layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(set = 0, binding = 1) writeonly buffer R { uint hit; };
void main() {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, scene, 0, 255, vec3(0), 0, vec3(1), 1);
    while (rayQueryProceedEXT(query)) {}
    hit = rayQueryGetIntersectionTypeEXT(query, true);
}
