//! `config.toml`: constants that Rust and GLSL share, each with its reason.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, read_text, toml_error};

/// Name of the file in a shader folder. A folder may do without.
pub(crate) const FILE: &str = "config.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    constant: Vec<Constant>,
}

/// One constant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    name: String,
    value: Value,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
}

/// The two files made from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Generated {
    pub(crate) glsl: String,
    pub(crate) rust: String,
}

/// Reads the constants of a shader folder; `None` if it has no such file.
pub(crate) fn read(folder: &Path) -> Result<Option<Generated>, Error> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    generate(&path, &read_text(&path)?).map(Some)
}

fn generate(path: &Path, text: &str) -> Result<Generated, Error> {
    let config: Config = toml::from_str(text).map_err(|error| toml_error(path, text, &error))?;
    let mut glsl = String::from(
        "// Constants shared with Rust. Made from config.toml by `impel bake`, which overwrites changes.\n\n#ifndef CONFIG_GLSL\n#define CONFIG_GLSL\n",
    );
    let mut rust = String::from(
        "//! Constants shared with the shaders.\n//!\n//! Made from `config.toml` by `impel bake`, which overwrites changes.\n",
    );
    let mut names = BTreeSet::new();
    for constant in &config.constant {
        let fail = |problem: &str| Error::Config {
            file: path.to_owned(),
            constant: constant.name.clone(),
            problem: problem.to_owned(),
        };
        let upper = constant
            .name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !upper
            || !constant.name.starts_with(|c: char| c.is_ascii_uppercase())
            || constant.name.contains("__")
        {
            return Err(fail("expected a name in UPPER_SNAKE_CASE"));
        }
        if !names.insert(&constant.name) {
            return Err(fail("it is defined twice"));
        }
        let reason = constant.reason.trim();
        if reason.is_empty() || reason.contains(['\n', '\r', '\0']) {
            return Err(fail("expected a reason of one line"));
        }
        let (glsl_type, glsl_value, rust_type, rust_value) = match constant.value {
            Value::Bool(value) => ("bool", value.to_string(), "bool", value.to_string()),
            Value::Int(value) => match (u32::try_from(value), i32::try_from(value)) {
                (Ok(value), _) => ("uint", format!("{value}u"), "u32", grouped(value)),
                (_, Ok(value)) => ("int", value.to_string(), "i32", value.to_string()),
                _ => return Err(fail("expected a whole number of 32 bits")),
            },
            Value::Float(value) if (value as f32).is_finite() => (
                "float",
                format!("{:?}", value as f32),
                "f32",
                format!("{:?}", value as f32),
            ),
            Value::Float(_) => return Err(fail("expected a number that a 32-bit float can hold")),
        };
        let name = &constant.name;
        let _ = write!(
            glsl,
            "\n// {reason}\nconst {glsl_type} {name} = {glsl_value};\n"
        );
        let _ = write!(
            rust,
            "\n/// {reason}\npub const {name}: {rust_type} = {rust_value};\n"
        );
    }
    glsl.push_str("\n#endif\n");
    Ok(Generated { glsl, rust })
}

/// Thousands apart, as clippy and people like them.
fn grouped(value: u32) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && digits.len() > 4 && (digits.len() - i).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<Generated, Error> {
        generate(Path::new("shaders/config.toml"), text)
    }

    #[test]
    fn both_languages_get_each_constant() {
        let made = run("[[constant]]\nname = \"DRAWS\"\nvalue = 32768\nreason = \"Why.\"\n[[constant]]\nname = \"BIAS\"\nvalue = -2\nreason = \"So.\"\n[[constant]]\nname = \"SCALE\"\nvalue = 0.5\nreason = \"Half.\"\n[[constant]]\nname = \"ON\"\nvalue = true\nreason = \"Yes.\"\n").unwrap();
        for line in [
            "// Why.",
            "const uint DRAWS = 32768u;",
            "const int BIAS = -2;",
            "const float SCALE = 0.5;",
            "const bool ON = true;",
        ] {
            assert!(made.glsl.lines().any(|found| found == line), "{line}");
        }
        for line in [
            "/// Why.",
            "pub const DRAWS: u32 = 32_768;",
            "pub const BIAS: i32 = -2;",
            "pub const SCALE: f32 = 0.5;",
            "pub const ON: bool = true;",
        ] {
            assert!(made.rust.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (fields, part) in [
            (
                "name = \"lower\"\nvalue = 1\nreason = \"x\"",
                "UPPER_SNAKE_CASE",
            ),
            ("name = \"A\"\nvalue = 1\nreason = \" \"", "reason"),
            ("name = \"A\"\nvalue = 1", "reason"),
            (
                "name = \"A\"\nvalue = 1\nreason = \"x\"\nunit = \"m\"",
                "unit",
            ),
            (
                "name = \"A\"\nvalue = 4294967296\nreason = \"x\"",
                "32 bits",
            ),
            (
                "name = \"A\"\nvalue = 1e300\nreason = \"x\"",
                "32-bit float",
            ),
            (
                "name = \"A\"\nvalue = 1\nreason = \"x\"\n[[constant]]\nname = \"A\"\nvalue = 1\nreason = \"x\"",
                "twice",
            ),
        ] {
            let message = run(&format!("[[constant]]\n{fields}\n"))
                .unwrap_err()
                .to_string();
            assert!(
                message.contains(part) && message.starts_with("shaders/config.toml"),
                "{message}"
            );
            assert_eq!(message.lines().count(), 1);
        }
    }
}
