//! The crate's error type.

use std::path::PathBuf;

/// What keeps a comparison from being made. What an oracle says of a module is no error but a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read.
    #[error("{path}: {error}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A folder without modules.
    #[error("{0}: expected a folder with .spv files in it or below it, found none")]
    NoModules(PathBuf),
    /// The process of an oracle could not be started or heard.
    #[error("process of oracle {oracle}: {error}")]
    Process {
        /// Name of the oracle.
        oracle: &'static str,
        /// What the system said.
        error: std::io::Error,
    },
    /// The command line is not understood.
    #[error("expected `oracles FOLDER`, given: {0}")]
    Arguments(String),
}
