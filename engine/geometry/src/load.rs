//! From a path or a name to a processed mesh, through the cache.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::builtin::GENERATOR_VERSION;
use crate::cache::{Cache, CacheKey};
use crate::progress::{OnProgress, Progress, Stage};
use crate::{BuiltIn, Error, Mesh, Settings, import, process};

/// Where a mesh comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MeshSource {
    /// A Wavefront OBJ file.
    File(PathBuf),
    /// A built-in mesh.
    BuiltIn(BuiltIn),
}

/// Loads a mesh: from the cache when it holds the result of the same bytes and settings, else by importing and
/// processing, after which it is put into the cache.
///
/// A cache that is damaged or cannot be read or written costs a warning (`log`) and time, never the mesh.
///
/// # Errors
/// As [`import_file`](crate::import_file), [`BuiltIn::generate`] and [`process`](crate::process()).
pub fn load(
    source: &MeshSource,
    settings: &Settings,
    cache: Option<&Cache>,
    on_progress: OnProgress<'_>,
) -> Result<Mesh, Error> {
    settings.check()?;
    let (kind, name) = match source {
        MeshSource::File(path) => (
            path.extension()
                .unwrap_or_default()
                .to_string_lossy()
                .to_ascii_lowercase(),
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        ),
        MeshSource::BuiltIn(built_in) => ("built-in".to_owned(), built_in.to_string()),
    };
    on_progress(Progress {
        mesh: &name,
        stage: Stage::Load,
        fraction: 0.0,
    });
    let bytes = match source {
        MeshSource::File(path) => import::read_file(path)?,
        // Its name says all about it, but for how this version makes it.
        MeshSource::BuiltIn(_) => GENERATOR_VERSION.to_le_bytes().to_vec(),
    };
    let cached = cache.map(|cache| (cache, CacheKey::new(&kind, &name, &bytes, settings)));
    if let Some((cache, key)) = cached {
        match cache.read(key) {
            Ok(Some(mesh)) => {
                on_progress(Progress {
                    mesh: &name,
                    stage: Stage::Done,
                    fraction: 1.0,
                });
                return Ok(mesh);
            }
            Ok(None) => {}
            Err(error) => log::warn!("{error}; {name} is built anew"),
        }
    }
    let imported = match source {
        MeshSource::File(path) => import::import_bytes(path, &bytes)?,
        MeshSource::BuiltIn(built_in) => built_in.generate()?,
    };
    drop(bytes);
    let mesh = process(&imported, settings, on_progress)?;
    if let Some((cache, key)) = cached
        && let Err(error) = cache.write(key, &mesh)
    {
        log::warn!("{error}; {name} will be built anew next time");
    }
    Ok(mesh)
}

/// Loads several meshes on all cores, in the order of `sources`.
///
/// # Errors
/// Of those that fail, the error of the first in that order.
pub fn load_all(
    sources: &[MeshSource],
    settings: &Settings,
    cache: Option<&Cache>,
    on_progress: OnProgress<'_>,
) -> Result<Vec<Mesh>, Error> {
    let results: Vec<_> = sources
        .par_iter()
        .map(|source| load(source, settings, cache, on_progress))
        .collect();
    results.into_iter().collect()
}
