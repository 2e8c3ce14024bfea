//! Vertex normals from geometry: the sum of the unit normals of the faces around, each weighted by its angle there
//! (Thürmer and Wüthrich, "Computing vertex normals from polygonal facets", 1998). Unlike plain averages, the result
//! doesn't depend on how a flat face is cut into triangles.

use glam::{DVec3, Vec3};

use crate::source::{SourceMesh, SourceVertex};

/// Unit normal of a triangle and its three inner angles; nothing for a triangle without area.
fn face(corners: [DVec3; 3]) -> Option<(DVec3, [f64; 3])> {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a).try_normalize()?;
    let angle = |p: DVec3, q: DVec3, r: DVec3| {
        let cosine = (q - p).normalize_or_zero().dot((r - p).normalize_or_zero());
        libm::acos(cosine.clamp(-1.0, 1.0))
    };
    Some((normal, [angle(a, b, c), angle(b, c, a), angle(c, a, b)]))
}

fn corners(vertices: &[SourceVertex], triangle: &[u32]) -> [DVec3; 3] {
    std::array::from_fn(|k| Vec3::from(vertices[triangle[k] as usize].position).as_dvec3())
}

/// For each vertex the first one with an equal position.
fn weld(vertices: &[SourceVertex]) -> Vec<u32> {
    meshopt::generate_position_remap_decoder(
        &vertices
            .iter()
            .map(|vertex| Position(vertex.position))
            .collect::<Vec<_>>(),
    )
}

struct Position([f32; 3]);

impl meshopt::DecodePosition for Position {
    fn decode_position(&self) -> [f32; 3] {
        self.0
    }
}

/// Gives each vertex without a normal the smooth one of its position, and brings all others to unit length.
/// The mesh has passed [`SourceMesh::check`].
pub(crate) fn fill_missing(mesh: &mut SourceMesh) {
    let missing = |vertex: &SourceVertex| {
        Vec3::from(vertex.normal)
            .as_dvec3()
            .try_normalize()
            .is_none()
    };
    if mesh.vertices.iter().any(missing) {
        let weld = weld(&mesh.vertices);
        let mut sums = vec![DVec3::ZERO; mesh.vertices.len()];
        // What is left when the faces around cancel out: any of them.
        let mut fallback = vec![DVec3::Z; mesh.vertices.len()];
        for triangle in mesh.indices.chunks_exact(3) {
            if let Some((normal, angles)) = face(corners(&mesh.vertices, triangle)) {
                for (&vertex, angle) in triangle.iter().zip(angles) {
                    let position = weld[vertex as usize] as usize;
                    sums[position] += normal * angle;
                    fallback[position] = normal;
                }
            }
        }
        for (vertex, &position) in mesh.vertices.iter_mut().zip(&weld) {
            if missing(vertex) {
                let sum = sums[position as usize];
                let normal = if sum.length_squared() > 1e-12 {
                    sum.normalize()
                } else {
                    fallback[position as usize]
                };
                vertex.normal = normal.as_vec3().into();
            }
        }
    }
    for vertex in &mut mesh.vertices {
        let normal = Vec3::from(vertex.normal).as_dvec3();
        vertex.normal = normal.try_normalize().unwrap_or(DVec3::Z).as_vec3().into();
    }
}

/// Splits vertices so that faces whose normals differ by more than the angle with the given cosine are shaded with an
/// edge between them, and computes all normals. Vertices must be welded: one per position.
pub(crate) fn crease(mesh: &mut SourceMesh, cosine: f64) {
    let faces: Vec<_> = mesh
        .indices
        .chunks_exact(3)
        .map(|triangle| face(corners(&mesh.vertices, triangle)))
        .collect();

    // Corners around each vertex, as one array with offsets.
    let mut offsets = vec![0_u32; mesh.vertices.len() + 1];
    for &vertex in &mesh.indices {
        offsets[vertex as usize + 1] += 1;
    }
    for vertex in 0..mesh.vertices.len() {
        offsets[vertex + 1] += offsets[vertex];
    }
    let mut next = offsets.clone();
    let mut around = vec![0_u32; mesh.indices.len()];
    for (corner, &vertex) in mesh.indices.iter().enumerate() {
        around[next[vertex as usize] as usize] = corner as u32;
        next[vertex as usize] += 1;
    }

    let unindexed: Vec<SourceVertex> = mesh
        .indices
        .iter()
        .enumerate()
        .map(|(corner, &vertex)| {
            let mut result = mesh.vertices[vertex as usize];
            let own = faces[corner / 3].map_or(DVec3::Z, |face| face.0);
            let mut sum = DVec3::ZERO;
            for &other in
                &around[offsets[vertex as usize] as usize..offsets[vertex as usize + 1] as usize]
            {
                if let Some((normal, angles)) = faces[other as usize / 3]
                    && normal.dot(own) >= cosine
                {
                    sum += normal * angles[other as usize % 3];
                }
            }
            // Rounded, and rid of minus zeros, so that corners whose sums differ only by the order of addition stay one vertex.
            let normal = sum.try_normalize().unwrap_or(own);
            result.normal = ((normal * 1_048_576.0).round() / 1_048_576.0 + DVec3::ZERO)
                .as_vec3()
                .into();
            result
        })
        .collect();
    let (count, remap) = meshopt::generate_vertex_remap(&unindexed, None);
    mesh.indices = meshopt::remap_index_buffer(None, unindexed.len(), &remap);
    mesh.vertices = meshopt::remap_vertex_buffer(&unindexed, count, &remap);
}
