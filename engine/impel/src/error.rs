//! The crate's one error type.

/// What can go wrong in the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is outside of what the engine can take.
    #[error("{what}: expected {expected}, got {given}")]
    Value {
        /// The thing that was given.
        what: String,
        /// What would have been right.
        expected: String,
        /// What it was.
        given: String,
    },
    /// What the Vulkan layer said.
    #[error(transparent)]
    Gpu(#[from] impel_gpu::Error),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path as the caller gave it.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Scene data that does not parse or makes no sense.
    #[error("{file}:{line}:{column}: {message}")]
    Data {
        /// File (or the built-in scene's name).
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

impl Error {
    /// A value that is not what was expected.
    pub(crate) fn value(
        what: impl Into<String>,
        expected: impl Into<String>,
        given: impl std::fmt::Display,
    ) -> Self {
        Self::Value {
            what: what.into(),
            expected: expected.into(),
            given: given.to_string(),
        }
    }
}
