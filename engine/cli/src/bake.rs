//! `impel bake`: a folder of GLSL becomes SPIR-V, baked reflection and typed Rust interfaces.
//!
//! ```text
//! FOLDER/programs.toml        which shaders make a program
//! FOLDER/config.toml          constants for both languages (may be missing)
//! FOLDER/glsl/                sources; glsl/include/ is searched by #include
//! FOLDER/mixins.toml          effects of shader classes (may be missing)
//! FOLDER/glsl/include/config.glsl   made
//! FOLDER/baked/               made: one .spv and .refl per source and set of definitions
//! FOLDER/src/generated/       made: one .rs per program, and mod.rs
//! ```
//!
//! The result depends on the sources and the compiler alone, byte for byte.

mod config;
mod manifest;
mod mixins;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use impel_spirv::codegen::{self, CodegenOptions, ProgramStage};
use impel_spirv::compile::{CompileOptions, Compiler, Source};
use impel_spirv::{Interface, Stage as ShaderStage};
use rayon::prelude::*;

use crate::error::Error;
use crate::input::compile_error;
use manifest::{Program, Stage};

const CONFIG_GLSL: &str = "glsl/include/config.glsl";
const CONFIG_RUST: &str = "src/generated/config.rs";
const INCLUDE: &str = "glsl/include";
const BAKED: &str = "baked";
const GENERATED: &str = "src/generated";

/// How to bake.
pub(crate) struct BakeOptions {
    /// Crate that the generated Rust is compiled against.
    pub(crate) gpu_crate: String,
    /// Whether to print each diagnostic of the GLSL compiler, not just the first.
    pub(crate) verbose: bool,
    /// Folder of the compilation cache.
    pub(crate) cache: Option<PathBuf>,
}

/// What baking makes: files by their path in the folder, with `/`.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What changed on disk.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    folder: PathBuf,
    written: Vec<String>,
    removed: Vec<String>,
    total: usize,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.written {
            writeln!(f, "wrote {}", self.folder.join(name).display())?;
        }
        for name in &self.removed {
            writeln!(f, "removed {}", self.folder.join(name).display())?;
        }
        writeln!(
            f,
            "{} files, {} written, {} removed",
            self.total,
            self.written.len(),
            self.removed.len()
        )
    }
}

/// Bakes a folder and brings the files on disk up to date; files that are already so are not touched.
pub(crate) fn bake(folder: &Path, options: &BakeOptions) -> Result<Changes, Error> {
    let files = make(folder, options)?;
    let mut changes = Changes {
        folder: folder.to_owned(),
        total: files.len(),
        ..Changes::default()
    };
    for (name, bytes) in &files {
        let path = folder.join(name);
        if impel_spirv::read_file(&path).is_ok_and(|found| found == *bytes) {
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| Error::file(parent, &error))?;
        }
        std::fs::write(&path, bytes).map_err(|error| Error::file(&path, &error))?;
        changes.written.push(name.clone());
    }
    for name in stale(folder, &files)? {
        let path = folder.join(&name);
        std::fs::remove_file(&path).map_err(|error| Error::file(&path, &error))?;
        changes.removed.push(name);
    }
    Ok(changes)
}

/// Bakes a folder in memory and compares with what is on disk.
pub(crate) fn check(folder: &Path, options: &BakeOptions) -> Result<usize, Error> {
    let files = make(folder, options)?;
    let mut different = Vec::new();
    for (name, bytes) in &files {
        match impel_spirv::read_file(&folder.join(name)) {
            Ok(found) if found == *bytes => {}
            Ok(_) => different.push(name.clone()),
            Err(_) => different.push(format!("{name} (missing)")),
        }
    }
    different.extend(
        stale(folder, &files)?
            .into_iter()
            .map(|name| format!("{name} (stale)")),
    );
    if different.is_empty() {
        return Ok(files.len());
    }
    Err(Error::Stale {
        folder: folder.to_owned(),
        files: different,
        total: files.len(),
    })
}

/// Made files on disk that nothing makes any more.
fn stale(folder: &Path, files: &Files) -> Result<Vec<String>, Error> {
    let mut stale = Vec::new();
    for (made, extensions) in [(BAKED, &["spv", "refl"][..]), (GENERATED, &["rs"])] {
        let path = folder.join(made);
        if !path.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&path).map_err(|error| Error::file(&path, &error))? {
            let entry = entry
                .map_err(|error| Error::file(&path, &error))?
                .file_name();
            let name = format!("{made}/{}", entry.to_string_lossy());
            let ours = Path::new(&entry)
                .extension()
                .is_some_and(|extension| extensions.iter().any(|known| extension == *known));
            if ours && !files.contains_key(&name) {
                stale.push(name);
            }
        }
    }
    stale.sort();
    Ok(stale)
}

/// A compiled and reflected source.
struct Module {
    stem: String,
    spirv: Vec<u8>,
    interface: Interface,
}

/// Everything that baking makes of a folder.
fn make(folder: &Path, options: &BakeOptions) -> Result<Files, Error> {
    let programs = manifest::read(folder)?;
    let config = config::read(folder)?;
    let mut compile_options = CompileOptions {
        include_directories: vec![INCLUDE.into()],
        cache: options.cache.clone(),
        ..CompileOptions::default()
    };
    let mut files = Files::new();
    let mut others = Vec::new();
    if let Some(config) = config {
        compile_options
            .virtual_files
            .insert(CONFIG_GLSL.to_owned(), config.glsl.clone());
        files.insert(CONFIG_GLSL.to_owned(), config.glsl.into_bytes());
        files.insert(CONFIG_RUST.to_owned(), config.rust.into_bytes());
        others.push("config");
    }
    if mixins::bake(folder, options, &mut files)? {
        others.push("mixins");
    }
    let modules = compile(folder, &programs, &compile_options, options.verbose)?;
    for module in modules.values() {
        let hash = impel_spirv::spirv_hash(&module.spirv);
        let refl = impel_spirv::bake(&module.interface, hash)?;
        files.insert(format!("{BAKED}/{}.spv", module.stem), module.spirv.clone());
        files.insert(format!("{BAKED}/{}.refl", module.stem), refl);
    }
    for (name, text) in generate(&programs, &modules, &others, &options.gpu_crate)? {
        files.insert(format!("{GENERATED}/{name}"), text.into_bytes());
    }
    Ok(files)
}

/// Compiles every distinct source of the programs on all cores.
fn compile<'a>(
    folder: &Path,
    programs: &'a [Program],
    options: &CompileOptions,
    verbose: bool,
) -> Result<BTreeMap<&'a Stage, Module>, Error> {
    let stages: BTreeSet<&Stage> = programs
        .iter()
        .flat_map(|program| &program.stages)
        .collect();
    let mut stems = BTreeMap::new();
    for stage in &stages {
        if let Some(other) = stems.insert(stage.file_stem(), *stage) {
            let problem = format!(
                "{} and {}, with different definitions, would both be baked as {}",
                other.source,
                stage.source,
                stage.file_stem()
            );
            return Err(Error::File {
                file: folder.join(manifest::FILE),
                problem,
            });
        }
    }
    let compiler = Compiler::new().map_err(|source| Error::Compile { source, others: 0 })?;
    let results: Vec<(&Stage, Result<Module, Error>)> = stages
        .into_par_iter()
        .map(|stage| (stage, compile_one(&compiler, folder, stage, options)))
        .collect();
    let mut modules = BTreeMap::new();
    let mut failures = Vec::new();
    for (stage, result) in results {
        match result {
            Ok(module) => {
                modules.insert(stage, module);
            }
            Err(error) => failures.push(error),
        }
    }
    let others = failures.len().saturating_sub(1);
    if verbose {
        for failure in &failures {
            if let Error::Compile { source, .. } = failure {
                crate::complain(source.report().trim_end());
            }
        }
    }
    match failures.into_iter().next() {
        None => Ok(modules),
        Some(Error::Compile {
            source,
            others: own,
        }) => Err(Error::Compile {
            source,
            others: own + others,
        }),
        Some(other) => Err(other),
    }
}

fn compile_one(
    compiler: &Compiler,
    folder: &Path,
    stage: &Stage,
    options: &CompileOptions,
) -> Result<Module, Error> {
    let source = Source::read(folder, format!("glsl/{}", stage.source)).map_err(compile_error)?;
    let options = CompileOptions {
        defines: stage.defines.clone(),
        ..options.clone()
    };
    let spirv = compiler
        .compile(&source, &options)
        .map_err(compile_error)?
        .spirv;
    let interface = impel_spirv::reflect(&spirv).map_err(|error| error.in_file(&stage.source))?;
    Ok(Module {
        stem: stage.file_stem(),
        spirv,
        interface,
    })
}

/// The generated Rust, by file name.
fn generate(
    programs: &[Program],
    modules: &BTreeMap<&Stage, Module>,
    others: &[&str],
    gpu_crate: &str,
) -> Result<BTreeMap<String, String>, Error> {
    let options = CodegenOptions {
        gpu_crate: gpu_crate.to_owned(),
        ..CodegenOptions::default()
    };
    let paths: BTreeMap<&Stage, [String; 3]> = modules
        .iter()
        .map(|(stage, module)| {
            let baked = |extension: &str| format!("../../{BAKED}/{}.{extension}", module.stem);
            (
                *stage,
                [
                    format!("glsl/{}", stage.source),
                    baked("spv"),
                    baked("refl"),
                ],
            )
        })
        .collect();
    let mut stages: Vec<Vec<ProgramStage<'_>>> = Vec::new();
    for program in programs {
        let mut of_program: Vec<ProgramStage<'_>> = program
            .stages
            .iter()
            .filter_map(|stage| {
                let module = modules.get(stage)?;
                let [source, spirv_path, refl_path] = paths.get(stage)?;
                Some(ProgramStage {
                    name: &module.stem,
                    source,
                    interface: &module.interface,
                    spirv_path,
                    refl_path,
                })
            })
            .collect();
        of_program.sort_by_key(|stage| {
            stage
                .interface
                .entry_points
                .first()
                .map(|entry| pipeline_order(entry.stage))
        });
        stages.push(of_program);
    }
    let programs: Vec<codegen::Program<'_>> = programs
        .iter()
        .zip(&stages)
        .map(|(program, stages)| codegen::Program {
            name: &program.name,
            stages,
        })
        .collect();
    Ok(codegen::folder(&programs, others, &options)?)
}

/// Place of a stage in its pipeline.
fn pipeline_order(stage: ShaderStage) -> usize {
    use ShaderStage as S;
    [
        S::Vertex,
        S::TessellationControl,
        S::TessellationEvaluation,
        S::Geometry,
        S::Task,
        S::Mesh,
        S::Fragment,
    ]
    .iter()
    .position(|&known| known == stage)
    .unwrap_or(usize::MAX)
}
