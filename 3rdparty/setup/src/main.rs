//! `cargo demo` and `cargo verify`: looks for the native parts that Impel needs, installs what is
//! missing, then runs the demo or every test.
//!
//! It depends on the standard library alone, so that it is built in a second or two on a machine that
//! has nothing but Rust. Looking is done by files only (no package manager is asked), which keeps a run
//! with nothing missing well under a second.

#![forbid(unsafe_code)]

mod apt_sources;
mod arguments;
mod command;
mod demo;
#[cfg(test)]
mod dependency_table;
mod distribution;
mod driver;
mod error;
mod install;
mod lock_file;
mod machine;
mod manifest;
mod newer_layer;
mod parts;
mod shaderc;
mod verify;
mod workspace;

use std::process::ExitCode;

use arguments::Action;
use error::Error;
use machine::Machine;
use workspace::Workspace;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("setup: error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<ExitCode, Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let action = arguments::parse(&arguments)?;
    let machine = Machine::this();
    match action {
        Action::Help => {
            print!("{}", arguments::USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Action::Demo(options) => demo::run(&machine, &Workspace::find()?, &options),
        Action::Verify(options) => verify::run(&machine, &Workspace::find()?, &options),
        Action::InNewerRoot(test) => newer_layer::run_test(&machine, &Workspace::find()?, &test),
    }
}
