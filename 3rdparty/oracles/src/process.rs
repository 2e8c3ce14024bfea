//! Each reflector in a process of its own, which may crash or hang.

use crate::Error;
use crate::facts::{Facts, Line};
use crate::oracle::Oracle;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The hidden argument after which the program is an oracle: `--one ORACLE FILE`.
pub const ONE: &str = "--one";

/// Longest time that an oracle may take for a module.
pub const TIME_LIMIT: Duration = Duration::from_secs(20);

/// What became of an oracle with a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It described the module.
    Facts(Facts),
    /// It said that it cannot read the module.
    Refused(String),
    /// Its process came to an end of another kind.
    Crashed(Crash),
}

/// How a process failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// By a signal (6 is an abort, 11 a wild access).
    Signal(i32),
    /// With this exit code (101 is a Rust panic).
    Exit(i32),
    /// It took longer than [`TIME_LIMIT`] and was ended.
    TimedOut,
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Crash::Signal(signal) => write!(f, "signal {signal}"),
            Crash::Exit(code) => write!(f, "exit code {code}"),
            Crash::TimedOut => write!(f, "no end after {} s", TIME_LIMIT.as_secs()),
        }
    }
}

/// Runs an oracle on a module, in a new process of `program`, which must be the binary of this crate.
///
/// # Errors
/// [`Error::Process`] if there is no process.
pub fn run(program: &Path, oracle: Oracle, file: &Path) -> Result<Outcome, Error> {
    let failed = |error| Error::Process {
        oracle: oracle.name(),
        error,
    };
    let mut child = Command::new(program)
        .args([ONE, oracle.name()])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let output = child.stdout.take();
    // Read while it runs: a full pipe would hold it up.
    let reader = std::thread::spawn(move || output.map(read).unwrap_or_default());
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if start.elapsed() > TIME_LIMIT => {
                child.kill().map_err(failed)?;
                child.wait().map_err(failed)?;
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let told = reader.join().unwrap_or_default();
    Ok(judge(status, told))
}

#[derive(Default)]
struct Told {
    facts: Facts,
    refused: Option<String>,
    ended: bool,
}

fn read(output: impl std::io::Read) -> Told {
    let mut told = Told::default();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Line::Fact(path, value)) => told.facts.add(path, &value),
            Ok(Line::Refused(reason)) => told.refused = Some(reason),
            Ok(Line::End) => told.ended = true,
            // An oracle may print to the same stream.
            Err(_) => {}
        }
    }
    told
}

/// An oracle that crashes after its last word (in a destructor, say) has crashed all the same.
fn judge(status: Option<ExitStatus>, told: Told) -> Outcome {
    let Some(status) = status else {
        return Outcome::Crashed(Crash::TimedOut);
    };
    match (status.signal(), status.code(), told.refused) {
        (Some(signal), _, _) => Outcome::Crashed(Crash::Signal(signal)),
        (None, Some(0), Some(reason)) => Outcome::Refused(reason),
        (None, Some(0), None) if told.ended => Outcome::Facts(told.facts),
        (None, code, _) => Outcome::Crashed(Crash::Exit(code.unwrap_or(-1))),
    }
}

/// What that process does: tells on standard output what the oracle says of the module.
///
/// # Errors
/// [`Error::File`] if the module cannot be read or the output written.
pub fn tell(oracle: Oracle, file: &Path) -> Result<(), Error> {
    let failed = |error| Error::File {
        path: file.to_owned(),
        error,
    };
    let module = std::fs::read(file).map_err(failed)?;
    let lines: Vec<Line> = match oracle.facts(&module) {
        Ok(facts) => facts.lines().chain([Line::End]).collect(),
        Err(reason) => vec![Line::Refused(reason)],
    };
    let mut output = std::io::stdout().lock();
    for line in lines {
        serde_json::to_writer(&mut output, &line).map_err(|error| failed(error.into()))?;
        writeln!(output).map_err(failed)?;
    }
    Ok(())
}
