//! The runner's one error type.

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// From the engine.
    #[error(transparent)]
    Engine(Box<impel::Error>),
    /// From the Vulkan layer.
    #[error(transparent)]
    Gpu(Box<impel::gpu::Error>),
    /// From a mesh.
    #[error(transparent)]
    Mesh(Box<impel::geometry::Error>),
    /// A file that could not be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The path as given.
        path: String,
        /// What the system or the encoder said.
        reason: String,
    },
    /// A scene file with a mistake in it.
    #[error("{file}:{line}:{column}: {message}")]
    Data {
        /// The file, or the built-in scene's.
        file: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The mistake.
        message: String,
    },
    /// Something that is not there, or a value out of range.
    #[error("{what}: expected {expected}, got {given}")]
    Value {
        /// The thing.
        what: String,
        /// What would have been right.
        expected: String,
        /// What was given.
        given: String,
    },
}

impl Error {
    /// A value that is not what was expected.
    pub fn value(
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

    /// Whether a device may be at its work yet; then the process ends by [`impel::gpu::exit_at_once`].
    pub fn leaves_work(&self) -> bool {
        let error = match self {
            Self::Gpu(error) => error,
            Self::Engine(error) => match &**error {
                impel::Error::Gpu(error) => error,
                _ => return false,
            },
            _ => return false,
        };
        matches!(error, impel::gpu::Error::Hung { .. })
    }

    /// As the engine's own error, for what the engine calls back into.
    #[must_use]
    pub fn into_engine(self) -> impel::Error {
        match self {
            Self::Engine(error) => *error,
            Self::Gpu(error) => impel::Error::Gpu(*error),
            Self::Value {
                what,
                expected,
                given,
            } => impel::Error::Value {
                what,
                expected,
                given,
            },
            other => impel::Error::Value {
                what: "scene".into(),
                expected: "one that draws".into(),
                given: other.to_string(),
            },
        }
    }

    /// Trouble with a file.
    pub fn file(path: &std::path::Path, reason: impl std::fmt::Display) -> Self {
        Self::File {
            path: path.display().to_string(),
            reason: reason.to_string(),
        }
    }
}

/// Boxed: they are large, and `Result` is passed around far more often than it holds one.
macro_rules! boxed {
    ($($variant:ident($error:ty)),+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        })+
    };
}

boxed!(
    Engine(impel::Error),
    Gpu(impel::gpu::Error),
    Mesh(impel::geometry::Error)
);
