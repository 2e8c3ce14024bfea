//! `cargo verify`: every check and every test, one after another; the first failure ends it.

use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::arguments::VerifyOptions;
use crate::command::{self, Privilege};
use crate::error::Error;
use crate::install;
use crate::machine::Machine;
use crate::newer_layer;
use crate::parts;
use crate::shaderc;
use crate::workspace::Workspace;

/// Provides what is missing, then runs every step. Says at the end what ran and what did not.
pub(crate) fn run(
    machine: &Machine,
    workspace: &Workspace,
    options: &VerifyOptions,
) -> Result<ExitCode, Error> {
    let privilege = Privilege::of(machine);
    let left_out = if options.no_newer_layer {
        Some("left out by --no-newer-layer")
    } else {
        newer_layer::obstacle(privilege)
    };
    let mut lists = vec![parts::DEMO, parts::VERIFY];
    if left_out.is_none() {
        lists.push(parts::NEWER_LAYER);
    }
    install::ensure(machine, &lists, options.no_install)?;
    shaderc::ensure(machine, workspace)?;

    let mut report = Vec::new();
    step(
        &mut report,
        "format",
        &mut cargo(workspace, &["fmt", "--all", "--check"]),
    )?;
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "--deny=warnings",
    ];
    step(&mut report, "lints", &mut cargo(workspace, &lints))?;
    // Features are all on everywhere else, so what is built without them needs a look of its own.
    step(
        &mut report,
        "the demo's build, without optional features",
        &mut cargo(workspace, &["check"]),
    )?;
    let mut docs = cargo(
        workspace,
        &["doc", "--workspace", "--no-deps", "--all-features"],
    );
    step(
        &mut report,
        "documentation",
        docs.env("RUSTDOCFLAGS", "--deny=warnings"),
    )?;
    // Tests that bake the shaders anew and compare are among these, behind a feature. The development profile
    // (lightly optimised, see Cargo.toml) keeps overflow checks and debug assertions.
    let tests = ["test", "--workspace", "--all-features"];
    let layer = parts::validation_layer(machine)
        .map_or("unknown".into(), |[a, b, c]| format!("{a}.{b}.{c}"));
    let heading = format!("tests and doc examples, with validation layer {layer}");
    step(&mut report, &heading, &mut cargo(workspace, &tests))?;
    match left_out {
        Some(reason) => report.push(format!(
            "NOT RUN: GPU tests with the newer validation layer: {reason}"
        )),
        None => {
            let root = newer_layer::lay_out(machine, privilege)?;
            let heading = format!(
                "GPU tests with validation layer {}",
                newer_layer::layer_version(&root)
            );
            // The same selection as above: another one would turn off features and build much anew.
            let mut again = cargo(workspace, &tests);
            again
                .args(["--tests", "--config"])
                .arg(newer_layer::runner_option(&root)?);
            step(&mut report, &heading, &mut again)?;
        }
    }
    println!("\n== verify");
    for line in report {
        println!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut cargo = workspace.cargo();
    cargo.current_dir(&workspace.root).args(arguments);
    cargo
}

fn step(report: &mut Vec<String>, name: &str, command: &mut Command) -> Result<(), Error> {
    println!("\n== {name}");
    let start = Instant::now();
    command::run(command)?;
    report.push(format!(
        "passed in {:4.0} s: {name}",
        start.elapsed().as_secs_f64()
    ));
    Ok(())
}
