//! `cargo demo`: the demo scene, built for speed; in a window where there is a display.

use std::process::ExitCode;

use crate::arguments::DemoOptions;
use crate::error::Error;
use crate::install;
use crate::machine::Machine;
use crate::parts;
use crate::workspace::Workspace;

/// Where the picture goes when there is no window and the arguments do not say.
const PICTURE: &str = "cloud.png";

/// Provides what is missing, then builds and runs the demo; the exit status is the demo's.
pub(crate) fn run(
    machine: &Machine,
    workspace: &Workspace,
    options: &DemoOptions,
) -> Result<ExitCode, Error> {
    install::ensure(machine, &[parts::DEMO], options.no_install)?;
    // In the folder at hand, so that the paths a person types mean what they say.
    let mut cargo = workspace.cargo();
    cargo
        .args([
            "run",
            "--release",
            "--package",
            "scenes",
            "--bin",
            "scenes",
            "--manifest-path",
        ])
        .arg(workspace.root.join("Cargo.toml"))
        .args(["--", "run", "cloud"])
        .args(&options.scene_arguments);
    let says_where = |argument: &String| argument == "--out" || argument.starts_with("--out=");
    if !options.scene_arguments.iter().any(says_where) && !has_window(machine, options) {
        cargo.args(["--out", PICTURE]);
    }
    let status = cargo.status().map_err(|cause| Error::Start {
        program: "cargo".into(),
        cause,
    })?;
    let code = status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Whether the scene opens a window: where there is a display, unless the arguments speak against it.
fn has_window(machine: &Machine, options: &DemoOptions) -> bool {
    let display = machine.variable("DISPLAY").is_some();
    let wants = |name: &str| {
        options
            .scene_arguments
            .iter()
            .any(|argument| argument == name)
    };
    wants("--window") || (display && !wants("--headless") && !wants("--frames"))
}
