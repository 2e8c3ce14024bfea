//! Files in, [`SourceMesh`] out.

mod obj;
mod polygon;

use std::path::Path;

use crate::{Error, source::SourceMesh};

/// Reads a whole file; a directory, pipe or device is refused before anything is read from it.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let read = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let kind = std::fs::metadata(path).map_err(read)?.file_type();
    if !kind.is_file() {
        let found = if kind.is_dir() {
            "a directory"
        } else {
            "something that is not a plain file"
        };
        return Err(Error::NotAFile {
            path: path.to_owned(),
            found,
        });
    }
    std::fs::read(path).map_err(read)
}

/// Imports a mesh file by its extension.
///
/// # Errors
/// [`Error::Read`], [`Error::NotAFile`], [`Error::UnknownFormat`], or what [`obj`] says of its content.
pub fn import_file(path: &Path) -> Result<SourceMesh, Error> {
    import_bytes(path, &read_file(path)?)
}

/// As [`import_file`], of a file already read; `path` only names it.
pub(crate) fn import_bytes(path: &Path, bytes: &[u8]) -> Result<SourceMesh, Error> {
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    if extension != "obj" {
        return Err(Error::UnknownFormat {
            path: path.to_owned(),
            extension,
        });
    }
    let mut mesh = obj(&path.display().to_string(), bytes)?;
    mesh.name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(mesh)
}

/// Imports a Wavefront OBJ text; `file` only names it in messages.
///
/// All objects and groups become one mesh. Polygons are cut into triangles, concave ones too. Vertices without a normal
/// get the smooth one of their position. The texture's origin is turned from OBJ's bottom left to top left. Points,
/// lines, materials and free-form surfaces are passed over; unknown keywords too, with one warning.
///
/// # Errors
/// [`Error::Obj`] with the line for anything malformed, truncated, not finite, or out of range;
/// [`Error::NoTriangles`] when nothing is left to draw.
pub fn obj(file: &str, bytes: &[u8]) -> Result<SourceMesh, Error> {
    let mut mesh = obj::parse(file, bytes)?;
    mesh.fill_missing_normals()?;
    // Once more: only now have vertices that lacked a normal got it.
    mesh.deduplicate()?;
    Ok(mesh)
}
