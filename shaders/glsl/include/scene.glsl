// Records that the engine uploads. Scalar block layout; the Rust twins are named beside each.
#ifndef SCENE_GLSL
#define SCENE_GLSL

#include "config.glsl"

// A placement of a mesh, 64 bytes. Twin: `impel::scene::Instance`.
struct Instance {
    vec4 rows[3]; // object space to world space
    uint mesh;
    uint flags;
    float scale; // largest stretch of the transform
    uint colour; // sRGB, unpackUnorm4x8
};

// An affine transform alone, 48 bytes. Twin: `impel::math::Affine`.
struct Rows {
    vec4 rows[3];
};

// The transform mirrors: winding turns.
const uint INSTANCE_MIRRORED = 1u;

// One level of detail, 16 bytes. Twin: `impel_geometry::Lod`.
struct Lod {
    uint first_meshlet;
    uint meshlet_count;
    uint triangle_count;
    float error; // object units
};

// A mesh, 176 bytes. Twin: `impel::renderer::GpuMesh`.
struct Mesh {
    vec4 bounds; // sphere, object space, radius in w
    vec4 grid;   // origin and step of quantised positions
    uint lod_count;
    uint reserved[3];
    Lod lods[MAX_LODS];
};

// A meshlet, 32 bytes. Twin: `impel_geometry::Meshlet` with offsets into the scene's arrays.
struct Meshlet {
    vec3 centre; // bounding sphere, object space
    float radius;
    uint cone; // four int8: axis and cutoff, each times 127
    uint vertex_offset;
    uint triangle_offset;
    uint counts; // vertices | triangles << 8 | LOD << 16 | longest edge << 24
};

uint meshlet_vertices_of(Meshlet meshlet) { return meshlet.counts & 0xffu; }
uint meshlet_triangles_of(Meshlet meshlet) { return (meshlet.counts >> 8) & 0xffu; }
uint meshlet_lod_of(Meshlet meshlet) { return (meshlet.counts >> 16) & 0xffu; }
// A bound for the longest edge, object space.
float meshlet_edge_of(Meshlet meshlet) { return float(meshlet.counts >> 24) * (meshlet.radius / 127.5); }

// A run of meshlets of one instance for one group of `clusters.comp`, 12 bytes.
struct Chunk {
    uint instance;
    uint first_meshlet;
    uint meshlet_count; // at most CHUNK_MESHLETS; 0 for an empty one
};

// A meshlet of an instance that is drawn, 8 bytes.
struct Cluster {
    uint instance;
    uint meshlet;
};

#endif
