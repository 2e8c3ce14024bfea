//! `programs.toml`: which shaders make a program.

use std::collections::BTreeMap;
use std::path::Path;

use impel_spirv::codegen;
use impel_spirv::compile::{Define, stage_of};
use serde::Deserialize;

use crate::error::{Error, read_text, toml_error};

/// Name of the manifest in a shader folder.
pub(crate) const FILE: &str = "programs.toml";

/// A program as the manifest has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    stages: Vec<String>,
    #[serde(default)]
    defines: Vec<String>,
}

/// One pipeline's shaders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Name, a Rust identifier.
    pub(crate) name: String,
    /// Stages in the manifest's order.
    pub(crate) stages: Vec<Stage>,
}

/// A source with its definitions: what becomes one SPIR-V file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stage {
    /// File name in `glsl/`.
    pub(crate) source: String,
    /// Definitions in the manifest's order.
    pub(crate) defines: Vec<Define>,
}

impl Stage {
    /// Name of the baked files, without extension: the source's, and the definitions behind it (`cull.comp+LATE`).
    pub(crate) fn file_stem(&self) -> String {
        let mut stem = self.source.replace('/', "-");
        for define in &self.defines {
            stem.push('+');
            stem.push_str(&define.name);
            if let Some(value) = &define.value {
                stem.push('=');
                stem.extend(value.chars().map(|c| {
                    if c.is_ascii_alphanumeric() || "._-".contains(c) {
                        c
                    } else {
                        '_'
                    }
                }));
            }
        }
        stem
    }
}

/// Reads the manifest of a shader folder. Programs come sorted by name.
pub(crate) fn read(folder: &Path) -> Result<Vec<Program>, Error> {
    let path = folder.join(FILE);
    parse(&path, &read_text(&path)?)
}

fn parse(path: &Path, text: &str) -> Result<Vec<Program>, Error> {
    let entries: BTreeMap<String, Entry> =
        toml::from_str(text).map_err(|error| toml_error(path, text, &error))?;
    let mut programs = Vec::new();
    for (name, entry) in entries {
        let fail = |problem: String| Error::Manifest {
            file: path.to_owned(),
            program: name.clone(),
            problem,
        };
        if !codegen::is_program_name(&name) || name == "config" {
            return Err(fail(
                "expected a name in snake_case that is no Rust keyword and not \"config\"".into(),
            ));
        }
        if entry.stages.is_empty() {
            return Err(fail("expected at least one stage".into()));
        }
        let mut defines = Vec::new();
        for define in &entry.defines {
            defines.push(Define::parse(define).map_err(|error| fail(error.to_string()))?);
        }
        let mut stages: Vec<Stage> = Vec::new();
        for source in entry.stages {
            let stage = stage_of(Path::new(&source));
            if stage.is_none()
                || source.starts_with('/')
                || source.split('/').any(|part| part == "..")
            {
                return Err(fail(format!(
                    "stage {source:?}: expected a file of glsl/ whose extension names a stage (comp, mesh, frag, ..)"
                )));
            }
            if let Some(other) = stages
                .iter()
                .find(|other| stage_of(Path::new(&other.source)) == stage)
            {
                return Err(fail(format!(
                    "{:?} and {source:?} are of the same stage",
                    other.source
                )));
            }
            stages.push(Stage {
                source,
                defines: defines.clone(),
            });
        }
        programs.push(Program { name, stages });
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let error = parse(Path::new("shaders/programs.toml"), text)
            .unwrap_err()
            .to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    }

    #[test]
    fn a_manifest() {
        let programs = parse(Path::new("p"), "[draw]\nstages = [\"draw.mesh\", \"draw.frag\"]\n[cull_late]\nstages = [\"cull.comp\"]\ndefines = [\"LATE\", \"SIZE=8*2\"]\n").unwrap();
        assert_eq!(
            programs.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
            ["cull_late", "draw"]
        );
        assert_eq!(programs[0].stages[0].file_stem(), "cull.comp+LATE+SIZE=8_2");
        assert_eq!(
            programs[1]
                .stages
                .iter()
                .map(Stage::file_stem)
                .collect::<Vec<_>>(),
            ["draw.mesh", "draw.frag"]
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, parts) in [
            (
                "[a]\nstages = [\"a.comp\"]\nflags = 1\n",
                ["shaders/programs.toml:3", "flags"],
            ),
            (
                "[a]\nstagez = [\"a.comp\"]\n",
                ["shaders/programs.toml:2", "stagez"],
            ),
            ("[a]\n", ["shaders/programs.toml:1", "stages"]),
            ("[a]\nstages = []\n", ["program a", "at least one stage"]),
            (
                "[a]\nstages = \"a.comp\"\n",
                ["shaders/programs.toml:2", "sequence"],
            ),
            ("[a]\nstages = [\"a.glsl\"]\n", ["program a", "a.glsl"]),
            (
                "[a]\nstages = [\"../a.comp\"]\n",
                ["program a", "../a.comp"],
            ),
            (
                "[a]\nstages = [\"a.comp\", \"b.comp\"]\n",
                ["a.comp", "b.comp"],
            ),
            (
                "[a]\nstages = [\"a.comp\"]\ndefines = [\"1X\"]\n",
                ["program a", "1X"],
            ),
            (
                "[fn]\nstages = [\"a.comp\"]\n",
                ["program fn", "snake_case"],
            ),
            (
                "[DrawAll]\nstages = [\"a.comp\"]\n",
                ["program DrawAll", "snake_case"],
            ),
            (
                "[config]\nstages = [\"a.comp\"]\n",
                ["program config", "config"],
            ),
            (
                "[a]\nstages = [\"a.comp\"]\n[a]\nstages = [\"b.comp\"]\n",
                ["shaders/programs.toml:3", "duplicate"],
            ),
            ("nonsense", ["shaders/programs.toml:1", ""]),
        ] {
            let message = error(text);
            assert!(
                parts.iter().all(|part| message.contains(part)),
                "{text:?} gave {message:?}"
            );
        }
    }
}
