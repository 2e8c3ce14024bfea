//! The error of the tool, and reading of text files.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a command failed. Each message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A file or folder cannot be read or written.
    #[error("{}: {problem}", file.display())]
    File { file: PathBuf, problem: String },
    /// A TOML file with a mistake at a line.
    #[error("{}:{line}: {problem}", file.display())]
    Toml {
        file: PathBuf,
        line: usize,
        problem: String,
    },
    /// A program that cannot be.
    #[error("{}: program {program}: {problem}", file.display())]
    Manifest {
        file: PathBuf,
        program: String,
        problem: String,
    },
    /// A constant that cannot be.
    #[error("{}: constant {constant}: {problem}", file.display())]
    Config {
        file: PathBuf,
        constant: String,
        problem: String,
    },
    /// GLSL that does not compile.
    #[error("{source}{}", more(*others))]
    Compile {
        source: impel_spirv::compile::CompileError,
        others: usize,
    },
    /// SPIR-V that cannot be used.
    #[error("{0}")]
    Spirv(#[from] impel_spirv::Error),
    /// A mesh that cannot be used.
    #[error("{0}")]
    Mesh(#[from] impel_geometry::Error),
    /// A Vulkan device or the way to it.
    #[error("{0}")]
    Gpu(#[from] impel_gpu::Error),
    /// The validator is not installed.
    #[error(
        "spirv-val is not installed; it is in the package spirv-tools (Debian, Ubuntu) and in the Vulkan SDK"
    )]
    NoValidator,
    /// The tool was built without the feature `portable`.
    #[cfg(not(feature = "portable"))]
    #[error(
        "this build of the tool has no SPIRV-Cross; build it with `cargo build -p impel-cli --features portable`"
    )]
    NoSpirvCross,
    /// Baked files that are not what their sources give.
    #[error("{}: {} of {total} baked files differ from what the sources give: {}; run `impel bake`", folder.display(), files.len(), files.join(", "))]
    Stale {
        folder: PathBuf,
        files: Vec<String>,
        total: usize,
    },
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " (and 1 more error)".to_owned(),
        n => format!(" (and {n} more errors)"),
    }
}

impl Error {
    /// A failed file operation.
    pub(crate) fn file(file: &Path, error: &std::io::Error) -> Self {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            std::io::ErrorKind::IsADirectory => "is a folder, expected a file".to_owned(),
            // Nothing that is there is in the way but where a folder is to be made.
            std::io::ErrorKind::AlreadyExists => "is a file, expected a folder".to_owned(),
            std::io::ErrorKind::NotADirectory => "lies under a file, expected a folder".to_owned(),
            _ => error.to_string(),
        };
        Self::File {
            file: file.to_owned(),
            problem,
        }
    }
}

/// Reads a UTF-8 text file.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = impel_spirv::read_file(path).map_err(|error| Error::file(path, &error))?;
    String::from_utf8(bytes).map_err(|_| Error::File {
        file: path.to_owned(),
        problem: "expected UTF-8 text".to_owned(),
    })
}

/// The mistake in a TOML file, on one line.
pub(crate) fn toml_error(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let start = error.span().map_or(0, |span| span.start);
    let line = text
        .bytes()
        .take(start)
        .filter(|&byte| byte == b'\n')
        .count()
        + 1;
    Error::Toml {
        file: path.to_owned(),
        line,
        problem: error.message().replace('\n', " "),
    }
}
