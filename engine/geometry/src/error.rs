//! The crate's one error type.

use std::path::PathBuf;

/// What can go wrong on the way from a file to a [`Mesh`](crate::Mesh).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened or read.
    #[error("{path}: cannot read: {source}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A path leads to a directory, a pipe or a device.
    #[error("{path}: expected a file, found {found}", path = .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What lies there.
        found: &'static str,
    },
    /// The file's name ends in something that no importer reads.
    #[error("{path}: expected a Wavefront OBJ file (.obj), found extension {extension:?}", path = .path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its extension, without the dot.
        extension: String,
    },
    /// A line of a Wavefront OBJ file makes no sense.
    #[error("{file}:{line}: {message}")]
    Obj {
        /// The file.
        file: String,
        /// Line number, from 1.
        line: u32,
        /// The element, what was expected, and what was found.
        message: String,
    },
    /// Nothing is left to draw.
    #[error("{mesh}: no triangles: {reason}")]
    NoTriangles {
        /// The file or mesh.
        mesh: String,
        /// Why there are none.
        reason: &'static str,
    },
    /// A number of a mesh is out of its range: not finite, too large, or an index beyond its array.
    #[error("{mesh}: {element} {index}: expected {expected}, found {found}")]
    OutOfRange {
        /// The file or mesh.
        mesh: String,
        /// Which array.
        element: &'static str,
        /// Position in that array.
        index: usize,
        /// The range.
        expected: String,
        /// The value.
        found: String,
    },
    /// A mesh has more of something than 32-bit indices or memory can take.
    #[error("{mesh}: too many {element}: at most {limit}, found {found}")]
    TooMany {
        /// The file or mesh.
        mesh: String,
        /// What there are too many of.
        element: &'static str,
        /// The limit.
        limit: usize,
        /// The number found.
        found: usize,
    },
    /// A built-in mesh was asked for by a name or with a triangle count that it doesn't have.
    #[error("built-in mesh {name:?}: expected {expected}, found {found}")]
    BuiltIn {
        /// As it was asked for.
        name: String,
        /// What there is.
        expected: String,
        /// What was asked.
        found: String,
    },
    /// A field of [`Settings`](crate::Settings) is out of range.
    #[error("mesh settings: {field}: expected {expected}, found {found}")]
    Settings {
        /// Name of the field.
        field: &'static str,
        /// Its range.
        expected: &'static str,
        /// The value.
        found: String,
    },
    /// A cached mesh is damaged, cut short, or of another version.
    #[error("{path}: damaged mesh cache: {what}: expected {expected}, found {found}", path = .path.display())]
    DamagedCache {
        /// The cache file.
        path: PathBuf,
        /// What doesn't fit, and where.
        what: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The cache could not be written.
    #[error("{path}: cannot write the mesh cache: {source}", path = .path.display())]
    WriteCache {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// meshoptimizer refused its input: a fault of this crate.
    #[error("{mesh}: meshoptimizer: {source}")]
    Meshopt {
        /// The mesh.
        mesh: String,
        /// What it said.
        source: meshopt::Error,
    },
}
