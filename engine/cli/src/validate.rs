//! `impel validate`: the Khronos validator's verdict.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::input;

/// Runs `spirv-val` on a shader (GLSL is compiled first).
pub(crate) fn validate(path: &Path, target: &str) -> Result<String, Error> {
    let spirv = input::spirv(path)?;
    let fail = |problem: String| Error::File {
        file: path.to_owned(),
        problem,
    };
    let mut child = Command::new("spirv-val")
        .args(["--target-env", target, "--scalar-block-layout", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NoValidator,
            _ => fail(format!("cannot run spirv-val: {error}")),
        })?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A validator that has seen enough closes its end, which is no failure of ours.
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(&spirv);
            }
        });
        child.wait_with_output()
    })
    .map_err(|error| fail(format!("cannot run spirv-val: {error}")))?;
    if output.status.success() {
        return Ok(format!("{}: valid for {target}\n", path.display()));
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let said = said.strip_prefix("error: ").unwrap_or(&said).to_owned();
    Err(fail(if said.is_empty() {
        format!("spirv-val ended with {}", output.status)
    } else {
        said
    }))
}
