//! The `impel` tool: reflects, bakes, composes, lists, validates and generates code for shaders; processes meshes.
#![forbid(unsafe_code)]

mod bake;
mod compose;
mod devices;
mod error;
mod generate;
mod input;
mod mesh;
mod portable;
mod validate;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use impel_spirv::ListingStyle;

use bake::BakeOptions;
use error::Error;
use impel_spirv::{MissingBindings, Options};

/// Tool for shader and mesh authors.
#[derive(Parser)]
#[command(name = "impel", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Says what a shader asks for: bindings, push constants, blocks, inputs and outputs.
    ///
    /// The file is SPIR-V, GLSL (by its extension: comp, mesh, frag, ..) or baked reflection (refl).
    Reflect {
        /// The shader.
        file: PathBuf,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
        /// Try the shader in SPIRV-Cross as HLSL and MSL, and say what does not carry over.
        #[arg(long, conflicts_with = "json")]
        portable: bool,
        /// What the process that tries one target is told.
        #[arg(long, hide = true, requires = "portable", value_name = "TARGET")]
        target: Option<String>,
    },
    /// Compiles a folder's GLSL to SPIR-V with baked reflection, and generates typed Rust interfaces.
    ///
    /// The folder has `programs.toml`, `glsl/`, `glsl/include/` and, if constants are shared with Rust, `config.toml`.
    /// Made are `baked/`, `src/generated/` and `glsl/include/config.glsl`; only what changed is written.
    Bake {
        /// The shader folder.
        folder: PathBuf,
        /// Write nothing; fail if anything on disk differs from what the sources give.
        #[arg(long)]
        check: bool,
        /// Print every message of the GLSL compiler, not just the first.
        #[arg(short, long)]
        verbose: bool,
        /// Path of the crate that generated code is compiled against.
        #[arg(long, default_value = "impel_gpu", value_name = "PATH", value_parser = rust_path)]
        gpu_crate: String,
        /// Folder that keeps compiled modules, so that unchanged shaders are not compiled again.
        #[arg(long, value_name = "FOLDER")]
        cache: Option<PathBuf>,
    },
    /// Prints the typed Rust interface of a program.
    Codegen {
        /// The stages in pipeline order, as SPIR-V or GLSL.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Name of the program; by default that of the first file.
        #[arg(long)]
        name: Option<String>,
        /// Path of the crate that generated code is compiled against.
        #[arg(long, default_value = "impel_gpu", value_name = "PATH", value_parser = rust_path)]
        gpu_crate: String,
    },
    /// Has spirv-val judge a shader.
    Validate {
        /// The shader, as SPIR-V or GLSL.
        file: PathBuf,
        /// What the rules are those of, as spirv-val calls it.
        #[arg(long, default_value = "vulkan1.3", value_name = "NAME")]
        target_env: String,
    },
    /// Composes the effects of a recipe file from shader classes.
    ///
    /// Writes `EFFECT.STAGE.spv`, `EFFECT.STAGE.json` (what `reflect --json` prints) and `EFFECT.lst`.
    Compose {
        /// The recipe file (TOML).
        recipes: PathBuf,
        /// The effect; by default all of the file.
        #[arg(long, value_name = "NAME")]
        effect: Option<String>,
        /// Folder for the results; without it nothing is written.
        #[arg(short, long, value_name = "FOLDER")]
        out: Option<PathBuf>,
        /// Print what becomes of each instruction of each class, and the result.
        #[arg(long)]
        trace: bool,
        /// Print the classes in linear order, and compose nothing.
        #[arg(long)]
        list_classes: bool,
        /// Do not have spirv-val judge the results.
        #[arg(long)]
        no_validate: bool,
        /// Optimise the results with spirv-opt, after they were judged.
        #[arg(long)]
        optimize: bool,
        /// Keep the lines of the classes' sources in the results.
        #[arg(long)]
        debug_info: bool,
        /// Folder that keeps compiled classes.
        #[arg(long, value_name = "FOLDER")]
        cache: Option<PathBuf>,
    },
    /// Lists a module in the assembly language of the Khronos tools.
    Disassemble {
        /// The shader, as SPIR-V or GLSL.
        file: PathBuf,
        /// What ids are called: their numbers, their names, or their names with the instructions numbered.
        #[arg(long, default_value = "names", value_name = "STYLE", value_parser = ["ids", "names", "numbers"])]
        style: String,
    },
    /// Processes a mesh into meshlets and levels of detail, keeps the result in the cache, and prints statistics.
    Mesh {
        /// The mesh.
        file: PathBuf,
    },
    /// Lists the Vulkan devices: what each can do, what the engine will use, what is missing.
    Devices,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let _ = log::set_logger(&Warnings).map(|()| log::set_max_level(log::LevelFilter::Warn));
    match run(arguments.command).and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {}", one_line(&error.to_string())));
            if let Error::Spirv(impel_spirv::Error::Mixin(error)) = &error
                && !error.attachment.is_empty()
            {
                complain(error.attachment.trim_end());
            }
            ExitCode::FAILURE
        }
    }
}

/// Help as it is; a mistake as one line and status 2.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    if !error.use_stderr() {
        return match print(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&format!("error: {error}"));
                ExitCode::FAILURE
            }
        };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        complain(text.trim_end());
    } else {
        // The first paragraph says it; what follows is usage.
        complain(&one_line(text.split("\n\n").next().unwrap_or(&text)));
    }
    ExitCode::from(2)
}

fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whoever reads standard output may have enough of it (`impel reflect .. | head`), which is no failure.
fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::file(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// Where standard error cannot be written to, the exit status still says it.
pub(crate) fn complain(text: &str) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Runs a command and gives what it has to say.
fn run(command: Command) -> Result<String, Error> {
    match command {
        Command::Reflect {
            file,
            portable: true,
            target,
            ..
        } => portable::portable(&file, target.as_deref()),
        Command::Reflect { file, json, .. } => reflect(&file, json),
        Command::Bake {
            folder,
            check,
            verbose,
            gpu_crate,
            cache,
        } => {
            let options = BakeOptions {
                gpu_crate,
                verbose,
                cache,
            };
            if check {
                Ok(format!(
                    "{} baked files are up to date\n",
                    bake::check(&folder, &options)?
                ))
            } else {
                Ok(bake::bake(&folder, &options)?.to_string())
            }
        }
        Command::Codegen {
            files,
            name,
            gpu_crate,
        } => generate::generate(&files, name.as_deref(), &gpu_crate),
        Command::Validate { file, target_env } => validate::validate(&file, &target_env),
        Command::Compose {
            recipes,
            effect,
            out,
            trace,
            list_classes,
            no_validate,
            optimize,
            debug_info,
            cache,
        } => compose::compose(&compose::Request {
            recipes,
            effect,
            out,
            trace,
            list_classes,
            no_validate,
            optimize,
            debug_info,
            cache,
        }),
        Command::Disassemble { file, style } => {
            let style = match style.as_str() {
                "ids" => ListingStyle::Ids,
                "numbers" => ListingStyle::Numbers,
                _ => ListingStyle::Names,
            };
            let name = file.display().to_string();
            Ok(impel_spirv::disassemble(&input::spirv(&file)?, style)
                .map_err(|error| error.in_file(&name))?)
        }
        Command::Mesh { file } => mesh::mesh(&file),
        Command::Devices => devices::devices(),
    }
}

fn reflect(file: &Path, json: bool) -> Result<String, Error> {
    // Whoever looks wants to see what is missing, too.
    let options = Options {
        missing_bindings: MissingBindings::Keep,
    };
    let interface = input::interface(file, &options)?;
    let name = file.display().to_string();
    Ok(if json {
        format!("{:#}\n", impel_spirv::to_json(&interface, &name))
    } else {
        impel_spirv::to_table(&interface, &name)
    })
}

/// A Rust path: identifiers with `::` between them.
fn rust_path(text: &str) -> Result<String, String> {
    let identifier = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if text.split("::").all(identifier) {
        Ok(text.to_owned())
    } else {
        Err("expected a Rust path such as impel::gpu".to_owned())
    }
}

/// Shows warnings of the libraries.
struct Warnings;

impl log::Log for Warnings {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let level = record.level().as_str().to_lowercase();
        complain(&format!("{level}: {}", record.args()));
    }

    fn flush(&self) {}
}
