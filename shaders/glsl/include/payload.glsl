// What a workgroup of `draw.task` hands to the mesh shaders that it starts.
#ifndef PAYLOAD_GLSL
#define PAYLOAD_GLSL

struct Payload {
    Cluster clusters[CLUSTER_GROUP_SIZE];
};

taskPayloadSharedEXT Payload payload;

#endif
