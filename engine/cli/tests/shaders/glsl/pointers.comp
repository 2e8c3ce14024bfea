#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 64) in;

struct Vertex {
    vec3 position;
    float weight;
};

layout(buffer_reference) buffer Node;

layout(buffer_reference, scalar) readonly buffer VertexList {
    uint count;
    Vertex vertices[];
};

// Leads back to itself.
layout(buffer_reference, scalar) buffer Node {
    Node next;
    VertexList lists[2];
    uint value;
};

layout(buffer_reference, scalar) buffer Numbers { uint numbers[]; };

// Nothing is bound: addresses come by push constants.
layout(push_constant, scalar) uniform Push {
    Node head;
    Numbers result;
    uint limit;
} push;

void main() {
    Node node = push.head;
    for (uint i = 0; i < push.limit; ++i) {
        push.result.numbers[i] = node.value + node.lists[1].count + uint(node.lists[0].vertices[i].weight);
        node = node.next;
    }
}
