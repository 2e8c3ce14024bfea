//! What goes wrong in a compilation, with the file and line it is about.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Why a compilation failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A file cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A cache file cannot be written.
    #[error("{}: cannot write to the compilation cache: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is no text.
    #[error("{}: expected GLSL in UTF-8, found other bytes", file.display())]
    NotText {
        /// The file.
        file: PathBuf,
    },
    /// A file's extension names no stage.
    #[error("{}: expected an extension that names a stage (vert, tesc, tese, geom, frag, comp, task, mesh, rgen, rint, rahit, rchit, rmiss, rcall)", file.display())]
    Stage {
        /// The file.
        file: PathBuf,
    },
    /// A definition that is neither `NAME` nor `NAME=VALUE`.
    #[error("expected a definition NAME or NAME=VALUE on one line, found {text:?}")]
    Define {
        /// The text given.
        text: String,
    },
    /// An included file is not there.
    #[error("{from} includes {requested:?}, which is in none of: {}", searched.join(", "))]
    Include {
        /// What the directive says.
        requested: String,
        /// Name of the file with the directive.
        from: String,
        /// Folders searched, relative to the root.
        searched: Vec<String>,
    },
    /// The front end found errors.
    #[error("{}", diagnostics.iter().find(|d| d.severity == Severity::Error).or(diagnostics.first()).map_or_else(|| format!("{name}: compilation failed"), |d| d.in_folder(root)))]
    Failed {
        /// Folder that the names are relative to.
        root: PathBuf,
        /// Name of the source.
        name: String,
        /// All messages, in the compiler's order.
        diagnostics: Vec<Diagnostic>,
    },
    /// The compiler itself failed.
    #[error("the GLSL compiler failed: {message}")]
    Internal {
        /// What it says.
        message: String,
    },
}

impl CompileError {
    /// All messages of the front end, one a line, with files relative to the current folder; the error itself if it is
    /// of another kind.
    #[must_use]
    pub fn report(&self) -> String {
        match self {
            Self::Failed {
                root, diagnostics, ..
            } if !diagnostics.is_empty() => diagnostics
                .iter()
                .map(|diagnostic| diagnostic.in_folder(root))
                .collect::<Vec<_>>()
                .join("\n"),
            other => other.to_string(),
        }
    }
}

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Severity {
    Warning,
    Error,
}

/// One message of the front end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Name of the file, relative to the source's root.
    pub file: String,
    /// Line, from 1, if the message is about one.
    pub line: Option<u32>,
    /// The message.
    pub message: String,
}

impl Diagnostic {
    fn in_folder(&self, root: &std::path::Path) -> String {
        Self {
            file: root.join(&self.file).display().to_string(),
            ..self.clone()
        }
        .to_string()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        let severity = match self.severity {
            Severity::Warning => "warning: ",
            Severity::Error => "",
        };
        write!(f, ": {severity}{}", self.message)
    }
}

/// Takes the compiler's log apart. Its lines are `file:line: error: message` or `file: error: message`; a line that fits
/// neither belongs to the message before it.
pub(super) fn parse(log: &str, name: &str) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for line in log
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
    {
        let split = [
            (": error: ", Severity::Error),
            (": warning: ", Severity::Warning),
        ]
        .into_iter()
        .filter_map(|(mark, severity)| {
            line.split_once(mark)
                .map(|(place, message)| (place, message, severity))
        })
        .min_by_key(|(place, ..)| place.len());
        let Some((place, message, severity)) = split else {
            match diagnostics.last_mut() {
                Some(last) => last.message = format!("{} {}", last.message, line.trim_start()),
                None => diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    file: name.to_owned(),
                    line: None,
                    message: line.to_owned(),
                }),
            }
            continue;
        };
        let (file, number) = match place.rsplit_once(':') {
            Some((file, number)) if number.parse::<u32>().is_ok() => (file, number.parse().ok()),
            _ => (place, None),
        };
        diagnostics.push(Diagnostic {
            severity,
            file: file.to_owned(),
            line: number,
            message: message.to_owned(),
        });
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_log_apart() {
        let log = "glsl/a.comp:7: error: 'x' : undeclared identifier\nglsl/include/m.glsl:3: warning: 'y' : odd: error: no\nglsl/a.comp: error: Linking failed\n  more of it\n";
        let found = parse(log, "glsl/a.comp");
        assert_eq!(found.len(), 3);
        assert_eq!(
            found[0].to_string(),
            "glsl/a.comp:7: 'x' : undeclared identifier"
        );
        assert_eq!(
            found[1].to_string(),
            "glsl/include/m.glsl:3: warning: 'y' : odd: error: no"
        );
        assert_eq!(
            (found[2].line, found[2].message.as_str()),
            (None, "Linking failed more of it")
        );
    }
}
