//! Compares what the oracles say with what we say, over all modules of a folder.

use crate::Error;
use crate::facts::Facts;
use crate::oracle::Oracle;
use crate::process::{Crash, Outcome, run};
use std::path::{Path, PathBuf};

/// A fact on which an oracle and we are not of one mind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The module, relative to the folder.
    pub file: String,
    /// Path of the fact.
    pub fact: String,
    /// What we say; `None` if nothing.
    pub ours: Option<String>,
    /// What the oracle says.
    pub theirs: String,
}

/// What came of one oracle over all modules.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The oracle.
    pub oracle: Oracle,
    /// Modules that it described.
    pub described: usize,
    /// Facts that it tells as we do, by path.
    pub agreements: usize,
    /// Facts of ours of which it says nothing, in modules that it described.
    pub untold: usize,
    /// Facts that it tells otherwise than we, or that we do not know.
    pub differences: Vec<Difference>,
    /// Modules that it refused, and why.
    pub refused: Vec<(String, String)>,
    /// Modules on which it crashed, and how.
    pub crashed: Vec<(String, Crash)>,
}

/// The whole comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The modules, relative to the folder, each with the minor version of its SPIR-V.
    pub modules: Vec<(String, u8)>,
    /// Modules that we could not describe, and what became of us.
    pub failures: Vec<(String, Outcome)>,
    /// One for each oracle.
    pub tallies: Vec<Tally>,
}

/// Compares over every `.spv` file in a folder and below. `program` is the binary of this crate, which is started for
/// each module and reflector.
///
/// # Errors
/// [`Error::File`] for what cannot be read, [`Error::NoModules`], [`Error::Process`].
pub fn compare(program: &Path, folder: &Path) -> Result<Comparison, Error> {
    let files = modules(folder)?;
    let mut comparison = Comparison {
        modules: Vec::new(),
        failures: Vec::new(),
        tallies: Oracle::OTHERS.map(Tally::new).into(),
    };
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        let name = name.display().to_string();
        comparison
            .modules
            .push((name.clone(), minor_version(&file)?));
        let ours = match run(program, Oracle::Impel, &file)? {
            Outcome::Facts(facts) => facts,
            outcome => {
                comparison.failures.push((name, outcome));
                continue;
            }
        };
        for tally in &mut comparison.tallies {
            let outcome = run(program, tally.oracle, &file)?;
            tally.count(&name, &ours, outcome);
        }
    }
    Ok(comparison)
}

impl Tally {
    fn new(oracle: Oracle) -> Tally {
        Tally {
            oracle,
            described: 0,
            agreements: 0,
            untold: 0,
            differences: Vec::new(),
            refused: Vec::new(),
            crashed: Vec::new(),
        }
    }

    fn count(&mut self, file: &str, ours: &Facts, outcome: Outcome) {
        let theirs = match outcome {
            Outcome::Facts(facts) => facts,
            Outcome::Refused(reason) => return self.refused.push((file.to_owned(), reason)),
            Outcome::Crashed(crash) => return self.crashed.push((file.to_owned(), crash)),
        };
        self.described += 1;
        for (fact, value) in theirs.iter() {
            let our_value = ours.get(fact);
            if our_value.as_ref() == Some(&value) {
                self.agreements += 1;
            } else {
                self.differences.push(Difference {
                    file: file.to_owned(),
                    fact: fact.to_owned(),
                    ours: our_value,
                    theirs: value,
                });
            }
        }
        self.untold += ours
            .iter()
            .filter(|(fact, _)| theirs.get(fact).is_none())
            .count();
    }
}

/// The `.spv` files of a folder and below, sorted.
fn modules(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| Error::File {
            path: folder.clone(),
            error,
        };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Links are not followed, so that a loop of them is none of ours.
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|end| end == "spv") {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::NoModules(folder.to_owned()));
    }
    Ok(files)
}

/// Minor version of a little-endian module, 0 for what is too short to have one.
fn minor_version(file: &Path) -> Result<u8, Error> {
    let bytes = std::fs::read(file).map_err(|error| Error::File {
        path: file.to_owned(),
        error,
    })?;
    Ok(bytes.get(5).copied().unwrap_or(0))
}
