//! The `impel` tool: reflects, bakes, validates and generates code for shaders.
#![forbid(unsafe_code)]

mod bake;
mod error;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use bake::BakeOptions;
use error::Error;

/// Tool for shader and mesh authors.
#[derive(Parser)]
#[command(name = "impel", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
        #[arg(long, default_value = "impel_gpu", value_name = "PATH")]
        gpu_crate: String,
        /// Folder that keeps compiled modules, so that unchanged shaders are not compiled again.
        #[arg(long, value_name = "FOLDER")]
        cache: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    // Wrong usage ends with status 2 in here.
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error.to_string().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Bake { folder, check, verbose, gpu_crate, cache } => {
            let options = BakeOptions { gpu_crate, verbose, cache };
            if check {
                let total = bake::check(&folder, &options)?;
                println!("{total} baked files are up to date");
            } else {
                let changes = bake::bake(&folder, &options)?;
                for name in &changes.written {
                    println!("wrote {}", folder.join(name).display());
                }
                for name in &changes.removed {
                    println!("removed {}", folder.join(name).display());
                }
                println!("{} files, {} written, {} removed", changes.total, changes.written.len(), changes.removed.len());
            }
        }
    }
    Ok(())
}
