//! The one error type of this program; each message becomes the one line that a person sees.

use std::fmt;
use std::path::PathBuf;

/// Why setup stopped.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Error {
    /// The command line was not understood.
    Usage(String),
    /// A file or folder could not be read or written.
    File {
        /// What was being done, as in "read" or "create".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        cause: std::io::Error,
    },
    /// A program could not be started.
    Start {
        /// The program.
        program: String,
        /// What the operating system said.
        cause: std::io::Error,
    },
    /// A program ended with a failure.
    Failed {
        /// The command as a person would type it.
        command: String,
        /// How it ended.
        status: String,
    },
    /// Something that a person must change by hand; the text says what and how.
    ByHand(String),
}

impl Error {
    /// Exit status of the process: 2 for bad usage, else 1.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            _ => 1,
        }
    }

    /// For `map_err`: a file error with what was being done to which path.
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |cause| Error::File { doing, path, cause }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(text) => write!(formatter, "{text} (see `cargo verify --help`)"),
            Error::File { doing, path, cause } => {
                write!(formatter, "cannot {doing} {}: {cause}", path.display())
            }
            Error::Start { program, cause } => write!(formatter, "cannot start {program}: {cause}"),
            Error::Failed { command, status } => write!(formatter, "`{command}` failed ({status})"),
            Error::ByHand(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
