//! The LOD chain: each level is simplified from the one before.

use crate::Error;
use crate::source::SourceVertex;

use super::Working;
use meshopt::SimplifyOptions;

/// Simplifies `indices`, whose error against LOD 0 is `error`; returns the next level and its error, or nothing when the
/// chain ends here. The order of the triangles is the simplifier's own: reordering between the steps made the chain of
/// kitten.obj up to 4 % worse.
///
/// The simplifier measures each step against the level before, so the total is estimated: at least 1.5 times the error
/// before (niagara's rule), which also makes it rise strictly from the first non-zero error on.
pub(super) fn simplify(
    working: &Working<'_>,
    indices: &[u32],
    error: f32,
) -> Result<Option<(Vec<u32>, f32)>, Error> {
    let settings = working.settings;
    // A whole number of triangles. In 64-bit floats: 32 bits don't hold every count exactly.
    let target = (indices.len() as f64 * f64::from(settings.lod_ratio)) as usize / 3 * 3;
    let stop = indices.len() as f64 * f64::from(settings.lod_stop_ratio);
    let options = SimplifyOptions::Sparse | SimplifyOptions::ErrorAbsolute;
    // Seams of normals and texture coordinates are kept as long as that leads on; hard-edged meshes, where every
    // corner is a seam, would have no LODs at all.
    for options in [options, options | SimplifyOptions::Permissive] {
        let (next, step_error) = step(working, indices, target, options)?;
        if !next.is_empty() && (next.len() as f64) < stop {
            return Ok(Some((next, step_error.max(error * 1.5))));
        }
    }
    Ok(None)
}

fn step(
    working: &Working<'_>,
    indices: &[u32],
    target: usize,
    options: SimplifyOptions,
) -> Result<(Vec<u32>, f32), Error> {
    let adapter = working.adapter()?;
    let largest_error = working.settings.lod_max_error * meshopt::simplify_scale(&adapter);
    let mut error = 0.0;
    let next = meshopt::simplify_with_attributes_and_locks(
        indices,
        &adapter,
        // The normals, read from the third float of each vertex on.
        bytemuck::cast_slice::<SourceVertex, f32>(&working.decoded)
            .get(3..)
            .unwrap_or_default(),
        &[working.settings.normal_weight; 3],
        size_of::<SourceVertex>(),
        &vec![false; working.decoded.len()],
        target,
        largest_error,
        options,
        Some(&mut error),
    );
    Ok((next, error))
}
