//! The LOD chain: each level is simplified from the one before.

use crate::Error;
use crate::source::SourceVertex;

use super::Working;
use meshopt::SimplifyOptions;

/// Simplifies `indices`, whose error against LOD 0 is `error`; returns the next level and its error, both in vertex
/// cache order, or nothing when the chain ends here.
///
/// The simplifier measures each step against the level before, so the total is estimated: at least 1.5 times the error
/// before (niagara's rule), which also makes it rise strictly from the first non-zero error on.
pub(super) fn simplify(working: &Working<'_>, indices: &[u32], error: f32) -> Result<Option<(Vec<u32>, f32)>, Error> {
    let settings = working.settings;
    let adapter = working.adapter()?;
    // A whole number of triangles. In 64-bit floats: 32 bits don't hold every count exactly.
    let target = (indices.len() as f64 * f64::from(settings.lod_ratio)) as usize / 3 * 3;
    let scale = meshopt::simplify_scale(&adapter);
    let mut step_error = 0.0;
    let next = meshopt::simplify_with_attributes_and_locks(
        indices,
        &adapter,
        // The normals, read from the third float of each vertex on.
        bytemuck::cast_slice::<SourceVertex, f32>(&working.decoded).get(3..).unwrap_or_default(),
        &[settings.normal_weight; 3],
        size_of::<SourceVertex>(),
        &vec![false; working.decoded.len()],
        target,
        settings.lod_max_error * scale,
        SimplifyOptions::Sparse | SimplifyOptions::ErrorAbsolute,
        Some(&mut step_error),
    );
    let stop = indices.len() as f64 * f64::from(settings.lod_stop_ratio);
    if next.is_empty() || next.len() as f64 >= stop {
        return Ok(None);
    }
    let error = step_error.max(error * 1.5);
    Ok(Some((meshopt::optimize_vertex_cache(&next, working.vertices.len()), error)))
}
