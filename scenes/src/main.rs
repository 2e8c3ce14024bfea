//! Runs the demo scenes. Exit status: 0 done, 1 bad input or a failed run (one line on standard error), 2 bad usage.
#![forbid(unsafe_code)]

use clap::Parser;
use clap::error::ErrorKind;
use scenes::arguments::{Arguments, Command};
use scenes::calibrate::calibrate;
use scenes::compare::compare;
use scenes::{Error, applicable, data, mixins, outputs, run, window};
use std::io::Write;
use std::process::ExitCode;

/// Exit status for options that are wrong.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    scenes::logger::install();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let done = match arguments.command {
        Command::List => list(),
        Command::Run(arguments) => outputs::check(&arguments).and_then(|()| {
            if let Err(error) = applicable::check(&arguments) {
                failure(&error);
                return Ok(ExitCode::from(USAGE));
            }
            let is_mixins = arguments.scene == mixins::NAME;
            match (window::wanted(&arguments), is_mixins) {
                (true, false) => window::run(&arguments).map(|()| ExitCode::SUCCESS),
                (true, true) => mixins::run_in_window(&arguments).map(|()| ExitCode::SUCCESS),
                (false, false) => {
                    run::run(&arguments).and_then(|report| finish(&arguments, &report))
                }
                (false, true) => mixins::run(&arguments).and_then(|report| {
                    if let Some(path) = &arguments.json {
                        write_json(path, &report)?;
                    }
                    tell(&report.table())
                }),
            }
        }),
        Command::Calibrate(arguments) => calibrate(&arguments).and_then(|text| tell(&text)),
        Command::Compare { first, second } => compare(&first, &second).and_then(|text| tell(&text)),
    };
    match done {
        Ok(code) => code,
        Err(error) => failure(&error),
    }
}

/// Help as it is; a mistake as one line.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match print(&error.to_string()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure(&error),
        };
    }
    let text = error.to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        complain(&text);
    } else {
        // The first paragraph says it; what follows is usage.
        complain(&(one_line(text.split("\n\n").next().unwrap_or(&text)) + "\n"));
    }
    ExitCode::from(USAGE)
}

fn failure(error: &Error) -> ExitCode {
    complain(&format!("error: {}\n", one_line(&error.to_string())));
    if error.leaves_work() {
        impel::gpu::exit_at_once(1);
    }
    ExitCode::from(1)
}

/// Where standard error cannot be written to, the exit status still says it.
fn complain(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn one_line(text: &str) -> String {
    text.split('\n')
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn tell(text: &str) -> Result<ExitCode, Error> {
    print(text)?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<ExitCode, Error> {
    let mut text = String::new();
    for (name, _) in data::BUILT_IN {
        let scene = data::SceneData::find(name)?;
        let cameras: Vec<_> = scene.cameras.keys().map(String::as_str).collect();
        text += &format!(
            "{name:<8} {}\n{:<8} meshes {}; cameras {}\n",
            scene.title,
            "",
            scene.meshes.join(", "),
            cameras.join(", ")
        );
    }
    text += &format!(
        "{:<8} A grid of spheres, each a permutation of shader classes of its own\n",
        mixins::NAME
    );
    tell(&text)
}

fn finish(
    arguments: &scenes::arguments::RunArguments,
    report: &scenes::report::Report,
) -> Result<ExitCode, Error> {
    if let Some(path) = &arguments.json {
        write_json(path, report)?;
    }
    print(&report.table())?;
    if let Some(audit) = report.audit.filter(|audit| audit.false_pixels > 0) {
        return Err(Error::value(
            "audit",
            "no pixel changed by culling",
            audit.false_pixels,
        ));
    }
    if report.validation.messages > 0 {
        return Err(Error::value(
            "validation",
            "no messages",
            format!("{}", report.validation.messages),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn write_json(path: &std::path::Path, report: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(report).map_err(|reason| Error::file(path, reason))?;
    std::fs::write(path, text + "\n").map_err(|reason| Error::file(path, reason))
}

/// Standard output may be a pipe that is closed early: that is no failure of the run.
fn print(text: &str) -> Result<(), Error> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(reason) if reason.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::file(std::path::Path::new("standard output"), reason))
        }
        _ => Ok(()),
    }
}
