//! Meshlets of one LOD.

use rayon::prelude::*;

use super::{LodMeshlets, Working, bounds};
use crate::Error;
use crate::mesh::{MESHLET_MAX_TRIANGLES, MESHLET_MAX_VERTICES, Meshlet};

/// Indices that one core cuts at a time. Fixed, so that the result doesn't depend on the number of cores; large enough
/// that the few small meshlets at the seams between pieces don't count.
const PIECE: usize = 3 << 17;

pub(super) fn build(
    working: &Working<'_>,
    indices: &[u32],
    lod: u32,
    error: f32,
) -> Result<LodMeshlets, Error> {
    let mut indices = meshopt::optimize_vertex_cache(indices, working.vertices.len());
    // May lose 5 % of the vertex cache's hits for less overdraw.
    meshopt::optimize_overdraw_in_place(&mut indices, &working.adapter()?, 1.05);
    let pieces = indices
        .par_chunks(PIECE)
        .map(|piece| build_piece(working, piece, lod))
        .collect::<Result<Vec<_>, _>>()?;
    let mut result = LodMeshlets {
        triangle_count: (indices.len() / 3) as u32,
        error,
        meshlets: Vec::new(),
        vertices: Vec::new(),
        triangles: Vec::new(),
    };
    for (meshlets, vertices, triangles) in pieces {
        let (first_vertex, first_triangle) =
            (result.vertices.len() as u32, result.triangles.len() as u32);
        result
            .meshlets
            .extend(meshlets.iter().map(|meshlet| Meshlet {
                vertex_offset: meshlet.vertex_offset + first_vertex,
                triangle_offset: meshlet.triangle_offset + first_triangle,
                ..*meshlet
            }));
        result.vertices.extend(vertices);
        result.triangles.extend(triangles);
    }
    Ok(result)
}

type Piece = (Vec<Meshlet>, Vec<u32>, Vec<u32>);

fn build_piece(working: &Working<'_>, indices: &[u32], lod: u32) -> Result<Piece, Error> {
    let adapter = working.adapter()?;
    let cone_weight = working.settings.cone_weight;
    let built = meshopt::build_meshlets(
        indices,
        &adapter,
        MESHLET_MAX_VERTICES,
        MESHLET_MAX_TRIANGLES,
        cone_weight,
    );
    let (mut meshlets, mut vertices, mut triangles) =
        (Vec::with_capacity(built.len()), Vec::new(), Vec::new());
    for part in built.iter() {
        let hint = meshopt::compute_meshlet_bounds(part, &adapter);
        let corners = || {
            part.vertices
                .iter()
                .map(|&vertex| working.vertices[vertex as usize].position)
        };
        let corners: Vec<_> = corners().collect();
        let sphere = bounds::meshlet_sphere(&working.grid, &corners, hint.center);
        meshlets.push(Meshlet {
            centre: sphere.centre,
            radius: sphere.radius,
            cone: bounds::cone(&corners, part.triangles, hint.cone_axis),
            vertex_offset: vertices.len() as u32,
            triangle_offset: triangles.len() as u32,
            counts: Meshlet::pack_counts(
                part.vertices.len() as u32,
                part.triangles.len() as u32 / 3,
                lod,
                bounds::longest_edge(&working.grid, &corners, part.triangles, sphere.radius),
            ),
        });
        vertices.extend_from_slice(part.vertices);
        triangles.extend(
            part.triangles
                .chunks_exact(3)
                .map(|t| u32::from(t[0]) | u32::from(t[1]) << 8 | u32::from(t[2]) << 16),
        );
    }
    Ok((meshlets, vertices, triangles))
}
