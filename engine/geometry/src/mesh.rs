//! The processed mesh: plain data, laid out exactly as shaders read it.
//!
//! Every record here is `#[repr(C)]`, little endian, and a multiple of 4 bytes, so that it can be declared in GLSL
//! with scalar block layout (`GL_EXT_scalar_block_layout`) or read as an array of `uint`.
//!
//! All positions are in **object space**. Triangles wind **counter-clockwise** seen from outside.

use bytemuck::{Pod, Zeroable};

/// Most vertices in one meshlet.
pub const MESHLET_MAX_VERTICES: usize = 64;
/// Most triangles in one meshlet. A multiple of 4, as meshoptimizer asks for, and below 128, so that a triangle's
/// number within its meshlet fits 7 bits of a visibility buffer.
pub const MESHLET_MAX_TRIANGLES: usize = 124;
/// Most levels of detail of one mesh.
pub const MAX_LODS: usize = 8;

/// A quantised vertex: 16 bytes, in GLSL one `uvec4 v`.
///
/// | word | bits | field | decode |
/// |---|---|---|---|
/// | 0 | 0..16, 16..32 | position x, y | `grid.origin + grid.scale * vec3(x, y, z)`, exact in 32-bit floats |
/// | 1 | 0..16 | position z | |
/// | 1 | 16..32 | tangent | zero, reserved: no tangent |
/// | 2 | 0..32 | normal, octahedral | `unpackSnorm2x16`, then [`Vertex::normal`]'s unfolding |
/// | 3 | 0..32 | texture coordinate | `unpackHalf2x16` |
///
/// ```glsl
/// vec3 position = origin + scale * vec3(v.x & 0xffffu, v.x >> 16, v.y & 0xffffu);
/// vec2 e = unpackSnorm2x16(v.z);
/// vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
/// float t = max(-n.z, 0.0);
/// n.x += n.x >= 0.0 ? -t : t;
/// n.y += n.y >= 0.0 ? -t : t;
/// vec3 normal = normalize(n);
/// vec2 uv = unpackHalf2x16(v.w);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
pub struct Vertex {
    /// Steps on the mesh's [`PositionGrid`].
    pub position: [u16; 3],
    /// Reserved for a tangent; always zero now.
    pub tangent: u16,
    /// Unit normal, octahedral, two 16-bit signed normalised numbers (`value / 32767`).
    pub normal: [i16; 2],
    /// Texture coordinate as two half floats; (0, 0) when the source has none.
    pub uv: [u16; 2],
}

/// A small cluster of triangles: 32 bytes, in GLSL (scalar layout)
///
/// ```glsl
/// struct Meshlet {
///     vec3 centre; float radius;  // bounding sphere, object space
///     uint cone;                  // four int8: axis x, y, z and cutoff, each / 127
///     uint vertex_offset;         // first of its entries in meshlet_vertices
///     uint triangle_offset;       // first of its entries in meshlet_triangles
///     uint counts;                // vertices | triangles << 8 | LOD << 16 | longest edge << 24
/// };
/// ```
///
/// **Cone test.** With `axis = vec3(int8 x, y, z) / 127.0` (deliberately *not* normalised) and `cutoff = int8 w / 127.0`,
/// the whole meshlet faces away from a camera at `camera` (object space) when
///
/// ```glsl
/// dot(centre - camera, axis) >= cutoff * length(centre - camera) + radius
/// ```
///
/// A meshlet without a valid cone has axis 0 and cutoff 1, for which the test never holds.
/// Sphere and cone are taken from the quantised positions and rounded outwards: the sphere holds every vertex of the
/// meshlet, and no triangle that faces the camera is ever culled.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Meshlet {
    /// Centre of the bounding sphere, object space.
    pub centre: [f32; 3],
    /// Radius of the bounding sphere, object units.
    pub radius: f32,
    /// Normal cone: axis x, y, z and cutoff, each times 127.
    pub cone: [i8; 4],
    /// Index of its first entry in [`Mesh::meshlet_vertices`].
    pub vertex_offset: u32,
    /// Index of its first entry in [`Mesh::meshlet_triangles`].
    pub triangle_offset: u32,
    /// `vertices | triangles << 8 | LOD << 16 | longest edge << 24`; see [`Meshlet::longest_edge`].
    pub counts: u32,
}

impl Meshlet {
    /// Packs the numbers of [`Meshlet::counts`]; the longest edge in units of the sphere's diameter / 255, rounded up.
    #[must_use]
    pub const fn pack_counts(vertices: u32, triangles: u32, lod: u32, edge: u8) -> u32 {
        vertices | triangles << 8 | lod << 16 | (edge as u32) << 24
    }

    /// A bound for the longest edge of its triangles, object units: at most 1/255 of the sphere's diameter over it.
    #[must_use]
    pub const fn longest_edge(&self) -> f32 {
        (self.counts >> 24) as f32 * (self.radius / 127.5)
    }

    /// Number of vertices, 3 to [`MESHLET_MAX_VERTICES`].
    #[must_use]
    pub const fn vertex_count(&self) -> u32 {
        self.counts & 0xff
    }

    /// Number of triangles, 1 to [`MESHLET_MAX_TRIANGLES`].
    #[must_use]
    pub const fn triangle_count(&self) -> u32 {
        self.counts >> 8 & 0xff
    }

    /// The level of detail that it belongs to.
    #[must_use]
    pub const fn lod(&self) -> u32 {
        self.counts >> 16 & 0xff
    }
}

/// One level of detail: a run of consecutive meshlets; 16 bytes, in GLSL three `uint` and a `float`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Lod {
    /// Index of its first meshlet in [`Mesh::meshlets`].
    pub first_meshlet: u32,
    /// Number of meshlets.
    pub meshlet_count: u32,
    /// Triangles in these meshlets together.
    pub triangle_count: u32,
    /// How far its surface may lie from the original's, in object units; 0 for LOD 0, never less than that of the LOD before.
    pub error: f32,
}

/// A sphere; 16 bytes, in GLSL a `vec4` with the radius in w.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Sphere {
    /// Centre, object space.
    pub centre: [f32; 3],
    /// Radius, object units.
    pub radius: f32,
}

/// How quantised positions become object space: `origin + scale * steps`; 16 bytes, in GLSL a `vec4` with the scale in w.
///
/// The scale is a power of two and the origin a multiple of it, small enough that each decoded coordinate has at most 24
/// significant bits: decoding is exact, whatever the order of operations or the use of fused multiply-add.
/// All LODs and meshlets of a mesh share one grid, so vertices that coincide decode to equal positions.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct PositionGrid {
    /// Position of step (0, 0, 0), object space.
    pub origin: [f32; 3],
    /// Length of one step, object units.
    pub scale: f32,
}

impl PositionGrid {
    /// The position of a quantised vertex, object space.
    #[must_use]
    pub fn decode(&self, steps: [u16; 3]) -> [f32; 3] {
        std::array::from_fn(|axis| self.origin[axis] + self.scale * f32::from(steps[axis]))
    }
}

/// A mesh ready for the GPU.
///
/// The vertices of meshlet `m` are `vertices[meshlet_vertices[m.vertex_offset + i]]` for `i < m.vertex_count()`; its
/// triangles are `meshlet_triangles[m.triangle_offset + t]` for `t < m.triangle_count()`, each naming three such `i`:
/// `i0 | i1 << 8 | i2 << 16`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Name for people: the file's stem, or the built-in's name.
    pub name: String,
    /// Triangles of LOD 0.
    pub triangle_count: u32,
    /// Bounding sphere of every LOD: centre is the mean vertex, radius the largest distance to it.
    pub bounds: Sphere,
    /// Decodes [`Vertex::position`].
    pub grid: PositionGrid,
    /// Vertices, shared by all LODs.
    pub vertices: Vec<Vertex>,
    /// Meshlets, those of LOD 0 first.
    pub meshlets: Vec<Meshlet>,
    /// Indices into [`Mesh::vertices`].
    pub meshlet_vertices: Vec<u32>,
    /// One entry per triangle: three 8-bit indices into the meshlet's vertices, the top byte zero.
    pub meshlet_triangles: Vec<u32>,
    /// Levels of detail, finest first; 1 to [`MAX_LODS`].
    pub lods: Vec<Lod>,
}

impl Mesh {
    /// Bytes that its GPU arrays take together.
    #[must_use]
    pub fn gpu_bytes(&self) -> usize {
        size_of_val(&self.vertices[..])
            + size_of_val(&self.meshlets[..])
            + size_of_val(&self.meshlet_vertices[..])
            + size_of_val(&self.meshlet_triangles[..])
            + size_of_val(&self.lods[..])
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The words that the documentation promises to shaders.
    #[test]
    fn layouts() {
        let vertex = Vertex {
            position: [0x0102, 0x0304, 0x0506],
            tangent: 0x0708,
            normal: [0x090a, 0x0b0c],
            uv: [0x0d0e, 0x0f10],
        };
        let words: [u32; 4] = bytemuck::cast(vertex);
        assert_eq!(words, [0x0304_0102, 0x0708_0506, 0x0b0c_090a, 0x0f10_0d0e]);

        assert_eq!(size_of::<Meshlet>(), 32);
        assert_eq!(offset_of!(Meshlet, radius), 12);
        assert_eq!(offset_of!(Meshlet, cone), 16);
        assert_eq!(offset_of!(Meshlet, vertex_offset), 20);
        assert_eq!(offset_of!(Meshlet, triangle_offset), 24);
        assert_eq!(offset_of!(Meshlet, counts), 28);
        let meshlet = Meshlet {
            cone: [1, -2, 3, 4],
            counts: Meshlet::pack_counts(64, 124, 7, 255),
            radius: 0.5,
            ..Meshlet::default()
        };
        let words: [u32; 8] = bytemuck::cast(meshlet);
        assert_eq!(words[4], 0x0403_fe01);
        assert_eq!(
            (
                meshlet.vertex_count(),
                meshlet.triangle_count(),
                meshlet.lod()
            ),
            (64, 124, 7)
        );
        assert_eq!(meshlet.longest_edge(), 1.0);

        assert_eq!((size_of::<Lod>(), offset_of!(Lod, error)), (16, 12));
        assert_eq!((size_of::<Sphere>(), offset_of!(Sphere, radius)), (16, 12));
        assert_eq!(
            (size_of::<PositionGrid>(), offset_of!(PositionGrid, scale)),
            (16, 12)
        );
    }
}
