//! `impel validate`: the Khronos validator's verdict.

use std::path::{Path, PathBuf};

use impel_spirv::compose::{ValidationRules, Verdict, validate_module};

use crate::error::Error;
use crate::input;

/// Runs `spirv-val` on a shader (GLSL is compiled first, with lines, so that the verdict names them).
pub(crate) fn validate(path: &Path, target: &str) -> Result<String, Error> {
    let spirv = input::spirv_with_lines(path)?;
    let rules = ValidationRules {
        environment: target.to_owned(),
        ..ValidationRules::default()
    };
    match validate_module(&spirv, &rules) {
        Ok(()) => Ok(format!("{}: valid for {target}\n", path.display())),
        Err(Verdict::NoValidator) => Err(Error::NoValidator),
        Err(Verdict::Invalid { message, source }) => {
            let file = match source {
                // Names of sources are relative to the shader's folder.
                Some((file, line, column)) => {
                    let folder = path.parent().unwrap_or(Path::new(""));
                    PathBuf::from(format!("{}:{line}:{column}", folder.join(file).display()))
                }
                None => path.to_owned(),
            };
            Err(Error::File {
                file,
                problem: message,
            })
        }
    }
}
