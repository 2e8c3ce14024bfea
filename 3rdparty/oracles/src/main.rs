//! `oracles FOLDER`: compares our reflection with four others over the SPIR-V modules of a folder, and prints where
//! they agree. Fails only if our own reflection fails.
#![forbid(unsafe_code)]

use oracles::Error;
use oracles::compare::compare;
use oracles::oracle::Oracle;
use oracles::process::{ONE, tell};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("oracles: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [one, oracle, file] if *one == ONE => {
            let oracle = Oracle::from_name(oracle)
                .ok_or_else(|| Error::Arguments(format!("unknown oracle {oracle}")))?;
            tell(oracle, Path::new(file))?;
            Ok(ExitCode::SUCCESS)
        }
        [folder] => {
            let program = std::env::current_exe().map_err(|error| Error::Process {
                oracle: "all",
                error,
            })?;
            let comparison = compare(&program, Path::new(folder))?;
            print!("{comparison}");
            Ok(if comparison.failures.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
        other => Err(Error::Arguments(other.join(" "))),
    }
}
