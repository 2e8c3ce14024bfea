//! GLSL to SPIR-V, through shaderc (feature `compile`).
//!
//! Target is Vulkan 1.3 (SPIR-V 1.6). Names always survive, because reflection and generated code live from them; paths
//! and source text never get in unless [`CompileOptions::debug_info`] asks for them.
//!
//! ```no_run
//! use impel_spirv::compile::{CompileOptions, Compiler, Source};
//! let options = CompileOptions { include_directories: vec!["glsl/include".into()], ..Default::default() };
//! let compiled = Compiler::new()?.compile(&Source::read("shaders", "glsl/cull.comp")?, &options)?;
//! println!("{} bytes, made of {:?}", compiled.spirv.len(), compiled.dependencies);
//! # Ok::<(), impel_spirv::compile::CompileError>(())
//! ```

mod cache;
mod diagnostic;
mod include;
mod strip;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Stage;

pub use diagnostic::{CompileError, Diagnostic, Severity};

/// Name and version of the compiler, part of every cache key. Raise it together with the `shaderc` dependency.
pub const COMPILER: &str = "shaderc 0.10.1";

/// Oldest version that can become SPIR-V.
const OLDEST_GLSL: u32 = 140;
/// Most files on the way from a source to what it includes.
const MAX_INCLUDE_DEPTH: usize = 32;
/// Most text that one source includes, files that it includes again counted again.
const MAX_INCLUDED_BYTES: usize = 64 << 20;

/// One GLSL file to compile.
#[derive(Clone, Debug)]
pub struct Source {
    /// Folder that names are relative to (the project's).
    pub root: PathBuf,
    /// Path relative to `root`, with `/` between folders. Messages and debug information use this name.
    pub name: String,
    /// GLSL, beginning with `#version 460`.
    pub text: String,
    /// Stage to compile it for.
    pub stage: Stage,
}

impl Source {
    /// Reads `root/name`; the file's extension (`.comp`, `.mesh`, ..) says the stage.
    ///
    /// # Errors
    /// The file cannot be read, is no UTF-8 text, or has an extension that names no stage.
    pub fn read(root: impl Into<PathBuf>, name: impl Into<String>) -> Result<Self, CompileError> {
        let (root, name) = (root.into(), name.into());
        let path = root.join(&name);
        let stage = stage_of(&path).ok_or_else(|| CompileError::Stage { file: path.clone() })?;
        let text = include::read_text(&path)?;
        Ok(Self {
            root,
            name,
            text,
            stage,
        })
    }
}

/// The stage that a GLSL file's extension names: `vert`, `tesc`, `tese`, `geom`, `frag`, `comp`, `task`, `mesh`, `rgen`,
/// `rint`, `rahit`, `rchit`, `rmiss`, `rcall`.
#[must_use]
pub fn stage_of(path: &Path) -> Option<Stage> {
    Some(match path.extension()?.to_str()? {
        "vert" => Stage::Vertex,
        "tesc" => Stage::TessellationControl,
        "tese" => Stage::TessellationEvaluation,
        "geom" => Stage::Geometry,
        "frag" => Stage::Fragment,
        "comp" => Stage::Compute,
        "task" => Stage::Task,
        "mesh" => Stage::Mesh,
        "rgen" => Stage::RayGeneration,
        "rint" => Stage::Intersection,
        "rahit" => Stage::AnyHit,
        "rchit" => Stage::ClosestHit,
        "rmiss" => Stage::Miss,
        "rcall" => Stage::Callable,
        _ => return None,
    })
}

/// A preprocessor definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Define {
    /// Name of the macro.
    pub name: String,
    /// What it expands to; `None` defines it as nothing.
    pub value: Option<String>,
}

impl Define {
    /// Parses `NAME` or `NAME=VALUE`.
    ///
    /// # Errors
    /// The name is no C identifier, or the value has a line break or a NUL in it.
    pub fn parse(text: &str) -> Result<Self, CompileError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| !c.is_ascii_digit());
        if !identifier || value.is_some_and(|value| value.contains(['\n', '\r', '\0'])) {
            return Err(CompileError::Define {
                text: text.to_owned(),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        })
    }
}

/// How hard the compiler tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// SPIR-V as the front end writes it: every declared binding and every name is there. Drivers optimise on their own,
    /// and the composer needs it so.
    #[default]
    None,
    /// `spirv-opt`'s performance passes. Unused bindings go away and equal structs may become one.
    Performance,
}

/// What to compile with.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Folders that `#include` searches, in order; for `"x.glsl"` after the folder of the including file. Relative to the
    /// source's root.
    pub include_directories: Vec<PathBuf>,
    /// Definitions, in order; a later one replaces an earlier one of the same name.
    pub defines: Vec<Define>,
    /// Optimisation.
    pub optimization: Optimization,
    /// Whether to keep lines, file names and source text for a debugger. Not for files that are committed.
    pub debug_info: bool,
    /// Files that `#include` finds before those on disk, by name relative to the root (generated headers).
    pub virtual_files: BTreeMap<String, String>,
    /// Whether resources may have no binding; the compiler then numbers them.
    pub automatic_bindings: bool,
    /// Whether to write SPIR-V 1.3, for Vulkan 1.1, instead of 1.6.
    pub spirv_1_3: bool,
    /// Folder of the compilation cache; `None` compiles every time.
    pub cache: Option<PathBuf>,
}

/// Result of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// SPIR-V in the machine's byte order.
    pub spirv: Vec<u8>,
    /// Names of the files it was made from: the source first, then what it includes, sorted. Files in branches that the
    /// preprocessor skips are among them.
    pub dependencies: Vec<String>,
    /// Warnings of the front end.
    pub warnings: Vec<Diagnostic>,
    /// Whether it came from the cache.
    pub cached: bool,
}

/// The GLSL compiler. One serves any number of threads.
pub struct Compiler {
    shaderc: shaderc::Compiler,
}

impl Compiler {
    /// Loads the compiler.
    ///
    /// # Errors
    /// The native library does not initialise.
    pub fn new() -> Result<Self, CompileError> {
        let shaderc = shaderc::Compiler::new().map_err(|error| CompileError::Internal {
            message: error.to_string(),
        })?;
        Ok(Self { shaderc })
    }

    /// Compiles one source.
    ///
    /// # Errors
    /// [`CompileError::Failed`] has one [`Diagnostic`] per message of the front end, each with the file and line it is
    /// about. Sources with NUL characters, stages that are none of GLSL's, and a cache folder that cannot be written are
    /// errors, too.
    pub fn compile(
        &self,
        source: &Source,
        options: &CompileOptions,
    ) -> Result<Compiled, CompileError> {
        let includes = include::Includes::new(&source.root, options);
        if source.text.contains('\0') || source.name.contains('\0') {
            return Err(CompileError::NotText {
                file: source.root.join(&source.name),
            });
        }
        // Without this the front end prints its built-in functions on standard output before it fails.
        if version(&source.text).is_none_or(|version| version < OLDEST_GLSL) {
            let message = "expected #version 460 (140 at least) before all else".to_owned();
            return Err(CompileError::Failed {
                root: source.root.clone(),
                name: source.name.clone(),
                diagnostics: vec![Diagnostic {
                    severity: Severity::Error,
                    file: source.name.clone(),
                    line: Some(1),
                    message,
                }],
            });
        }
        let closure = includes.closure(&source.name, &source.text);
        let dependencies = Self::dependencies(source, options);
        let entry = options
            .cache
            .as_deref()
            .map(|folder| cache::Entry::new(folder, source, options, &closure));
        if let Some(spirv) = entry.as_ref().and_then(cache::Entry::load) {
            return Ok(Compiled {
                spirv,
                dependencies,
                warnings: Vec::new(),
                cached: true,
            });
        }
        let (spirv, warnings) = self.run(source, options, &includes)?;
        if let Some(entry) = entry.filter(|_| warnings.is_empty()) {
            entry.store(&spirv)?;
        }
        Ok(Compiled {
            spirv,
            dependencies,
            warnings,
            cached: false,
        })
    }

    /// The files that a source is made of, as [`Compiled::dependencies`] has them, without compiling it.
    #[must_use]
    pub fn dependencies(source: &Source, options: &CompileOptions) -> Vec<String> {
        let closure = include::Includes::new(&source.root, options);
        let closure = closure.closure(&source.name, &source.text);
        let mut dependencies = vec![source.name.clone()];
        dependencies.extend(closure.into_keys().filter(|name| *name != source.name));
        dependencies
    }

    fn run(
        &self,
        source: &Source,
        options: &CompileOptions,
        includes: &include::Includes<'_>,
    ) -> Result<(Vec<u8>, Vec<Diagnostic>), CompileError> {
        let kind = shader_kind(source.stage).ok_or_else(|| CompileError::Stage {
            file: source.root.join(&source.name),
        })?;
        let internal = |error: shaderc::Error| CompileError::Internal {
            message: format!("{}: {error}", source.name),
        };
        // The front end itself follows a file that includes itself until memory runs out. An error from the callback
        // does not stop it either; `#error` does.
        let included = Cell::new(0);
        let mut native = shaderc::CompileOptions::new().map_err(internal)?;
        let (environment, version) = if options.spirv_1_3 {
            (shaderc::EnvVersion::Vulkan1_1, shaderc::SpirvVersion::V1_3)
        } else {
            (shaderc::EnvVersion::Vulkan1_3, shaderc::SpirvVersion::V1_6)
        };
        native.set_target_env(shaderc::TargetEnv::Vulkan, environment as u32);
        native.set_target_spirv(version);
        native.set_auto_bind_uniforms(options.automatic_bindings);
        native.set_source_language(shaderc::SourceLanguage::GLSL);
        for define in &options.defines {
            native.add_macro_definition(&define.name, define.value.as_deref());
        }
        if options.optimization == Optimization::Performance {
            native.set_optimization_level(shaderc::OptimizationLevel::Performance);
        }
        // Without debug information shaderc strips the names before it optimises, so it is asked for and taken out below.
        if options.debug_info || options.optimization == Optimization::Performance {
            native.set_generate_debug_info();
        }
        native.set_include_callback(|requested, kind, from, depth| {
            let relative = matches!(kind, shaderc::IncludeType::Relative);
            let (name, text) = includes
                .resolve(requested, relative, from)
                .map_err(|error| error.to_string())?;
            included.set(included.get() + text.len());
            let content = if depth > MAX_INCLUDE_DEPTH || included.get() > MAX_INCLUDED_BYTES {
                format!(
                    "#error includes over {MAX_INCLUDE_DEPTH} deep or {MAX_INCLUDED_BYTES} bytes\n"
                )
            } else {
                text
            };
            Ok(shaderc::ResolvedInclude {
                resolved_name: name,
                content,
            })
        });
        let artifact = match self.shaderc.compile_into_spirv(
            &source.text,
            kind,
            &source.name,
            "main",
            Some(&native),
        ) {
            Ok(artifact) => artifact,
            Err(shaderc::Error::CompilationError(_, log)) => {
                return Err(CompileError::Failed {
                    root: source.root.clone(),
                    name: source.name.clone(),
                    diagnostics: diagnostic::parse(&log, &source.name),
                });
            }
            Err(error) => return Err(internal(error)),
        };
        let warnings = diagnostic::parse(&artifact.get_warning_messages(), &source.name);
        let spirv = if options.debug_info {
            artifact.as_binary_u8().to_vec()
        } else {
            strip::without_source(artifact.as_binary())
        };
        Ok((spirv, warnings))
    }
}

/// A module without paths, source text and lines, as committed files must be. Bytes that are no module stay as they are.
pub(crate) fn without_source(spirv: &[u8]) -> Vec<u8> {
    match crate::words::Words::parse(spirv) {
        Ok(words) => strip::without_source(words.as_slice()),
        Err(_) => spirv.to_vec(),
    }
}

/// The number in a source's `#version` line.
fn version(text: &str) -> Option<u32> {
    text.lines().find_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        directive
            .strip_prefix("version")?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    })
}

fn shader_kind(stage: Stage) -> Option<shaderc::ShaderKind> {
    use shaderc::ShaderKind as Kind;
    Some(match stage {
        Stage::Vertex => Kind::Vertex,
        Stage::TessellationControl => Kind::TessControl,
        Stage::TessellationEvaluation => Kind::TessEvaluation,
        Stage::Geometry => Kind::Geometry,
        Stage::Fragment => Kind::Fragment,
        Stage::Compute => Kind::Compute,
        Stage::Task => Kind::Task,
        Stage::Mesh => Kind::Mesh,
        Stage::RayGeneration => Kind::RayGeneration,
        Stage::Intersection => Kind::Intersection,
        Stage::AnyHit => Kind::AnyHit,
        Stage::ClosestHit => Kind::ClosestHit,
        Stage::Miss => Kind::Miss,
        Stage::Callable => Kind::Callable,
        Stage::Unknown(_) => return None,
    })
}
