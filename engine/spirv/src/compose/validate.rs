//! The Khronos validator's verdict, traced back to source lines.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::composer::{ComposeOptions, Composer, Effect};
use super::error::{Code, Place};
use super::library::with_attachment;
use super::recipe::Recipe;
use crate::Error;
use crate::disassemble::{ListingStyle, disassemble};
use crate::words::Words;

/// What the rules are those of.
#[derive(Clone, Debug)]
pub struct ValidationRules {
    /// As `spirv-val` calls it: `vulkan1.3`, `spv1.6`.
    pub environment: String,
    /// Whether the device has scalar block layout.
    pub scalar_block_layout: bool,
    /// Whether the device has the standard layout for uniform buffers.
    pub uniform_buffer_standard_layout: bool,
    /// Whether the device has relaxed block layout, as all Vulkan 1.1 ones have.
    pub relaxed_block_layout: bool,
}

impl Default for ValidationRules {
    fn default() -> Self {
        Self {
            environment: "vulkan1.3".to_owned(),
            scalar_block_layout: true,
            uniform_buffer_standard_layout: true,
            relaxed_block_layout: true,
        }
    }
}

/// Why a module is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// `spirv-val` is not installed.
    NoValidator,
    /// What the validator says, with the source line where the module has one: file, line, column.
    Invalid {
        /// The message on one line.
        message: String,
        /// File, line and column of the source.
        source: Option<(String, u32, u32)>,
    },
}

/// Has `spirv-val` judge a module.
///
/// # Errors
/// Its verdict, if the module is not valid.
pub fn validate_module(bytes: &[u8], rules: &ValidationRules) -> Result<(), Verdict> {
    let mut command = Command::new("spirv-val");
    command.args(["--target-env", &rules.environment]);
    for (on, switch) in [
        (rules.scalar_block_layout, "--scalar-block-layout"),
        (
            rules.uniform_buffer_standard_layout,
            "--uniform-buffer-standard-layout",
        ),
        (rules.relaxed_block_layout, "--relax-block-layout"),
    ] {
        if on {
            command.arg(switch);
        }
    }
    let child = command
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let fail = |error: &std::io::Error| Verdict::Invalid {
        message: format!("cannot run spirv-val: {error}"),
        source: None,
    };
    let mut child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Verdict::NoValidator);
        }
        Err(error) => return Err(fail(&error)),
    };
    let input = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A validator that has seen enough closes its end, which is no failure of ours.
            if let Some(mut input) = input {
                let _ = input.write_all(bytes);
            }
        });
        child.wait_with_output()
    })
    .map_err(|error| fail(&error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    let message = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = message
        .strip_prefix("error: ")
        .unwrap_or(&message)
        .to_owned();
    // `line 14: ...` counts instructions from 1.
    let number = message
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(':'))
        .and_then(|(number, _)| number.parse::<usize>().ok());
    let source = number.and_then(|number| source_of(bytes, number));
    Err(Verdict::Invalid {
        message: if message.is_empty() {
            format!("spirv-val ended with {}", output.status)
        } else {
            message
        },
        source,
    })
}

/// The source line that an instruction, counted from 1, belongs to.
fn source_of(bytes: &[u8], number: usize) -> Option<(String, u32, u32)> {
    let words = Words::parse(bytes).ok()?;
    let mut found = None;
    for instruction in words.iter().take(number) {
        match spirv::Op::from_u32(instruction.opcode) {
            Some(spirv::Op::Line) => {
                let operand = |at| instruction.operands.get(at).copied().unwrap_or_default();
                found = Some((operand(0), operand(1), operand(2)));
            }
            Some(spirv::Op::NoLine | spirv::Op::FunctionEnd) => found = None,
            _ => {}
        }
    }
    let (file, line, column) = found?;
    let name = words.iter().find(|instruction| {
        instruction.opcode == spirv::Op::String as u32
            && instruction.operands.first() == Some(&file)
    })?;
    Some((name.string(1).ok()?, line, column))
}

/// Has `spirv-val` judge every stage of an effect, before anything optimises it. A failure is traced back to the class.
///
/// # Errors
/// [`Code::M23`] with the listing attached; [`Code::M28`] if the validator is not installed.
pub fn validate_effect(
    composer: &Composer,
    recipe: &Recipe,
    effect: &Effect,
    rules: &ValidationRules,
) -> Result<(), Error> {
    for stage in &effect.stages {
        let place = Place {
            file: recipe.file.clone(),
            line: recipe.mix.line,
            class: String::new(),
        };
        let symbol = format!("{} ({} stage)", recipe.name, stage.stage.name());
        let bytes = stage.bytes();
        match validate_module(&bytes, rules) {
            Ok(()) => {}
            Err(Verdict::NoValidator) => {
                return Err(place.error(
                    Code::M28,
                    symbol,
                    "spirv-val is not installed; it is in the package spirv-tools (Debian, Ubuntu) and in the Vulkan SDK",
                ));
            }
            Err(Verdict::Invalid { message, source }) => {
                let (message, source) =
                    with_lines(composer, recipe, stage.stage, rules, message, source);
                let listing = disassemble(&bytes, ListingStyle::Numbers)?;
                let at = match &source {
                    Some((file, line, column)) => Place {
                        file: format!("{}:{line}:{column}", class_file(composer, file)),
                        line: 0,
                        class: class_of(composer, file),
                    },
                    None => place,
                };
                return Err(with_attachment(
                    at.error(Code::M23, symbol, format!("spirv-val: {message}")),
                    listing,
                ));
            }
        }
    }
    Ok(())
}

type Source = Option<(String, u32, u32)>;

/// The same failure from a module that has lines.
fn with_lines(
    composer: &Composer,
    recipe: &Recipe,
    stage: crate::Stage,
    rules: &ValidationRules,
    message: String,
    source: Source,
) -> (String, Source) {
    if source.is_some() {
        return (message, source);
    }
    let options = ComposeOptions {
        debug_info: true,
        ..composer.options.clone()
    };
    let again = composer.with_options(options);
    let only = Recipe {
        stages: vec![stage],
        ..recipe.clone()
    };
    let lined = again
        .compose_modules(&only)
        .ok()
        .and_then(|modules| modules.into_iter().next());
    let verdict = lined.map(|words| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        validate_module(&bytes, rules)
    });
    match verdict {
        Some(Err(Verdict::Invalid {
            source: Some(found),
            ..
        })) => (message, Some(found)),
        _ => (message, None),
    }
}

/// The class whose file the compiler calls this.
fn class_of(composer: &Composer, file: &str) -> String {
    if let Some(class) = file.strip_prefix("mixin/") {
        return class.to_owned();
    }
    let library = composer.library();
    let found = library.names().find(|name| {
        library
            .file_of(name)
            .is_some_and(|own| own == file || own.rsplit('/').next() == Some(file))
    });
    found.unwrap_or_default().to_owned()
}

fn class_file(composer: &Composer, file: &str) -> String {
    let class = class_of(composer, file);
    composer
        .library()
        .file_of(&class)
        .unwrap_or(file)
        .to_owned()
}
