//! What the tests share.

use std::io::Write as _;
use std::process::{Command, Stdio};

use impel_spirv::compose::{ComposeOptions, Composer, Effect, Library, Mix, MixinError, Recipe};
use impel_spirv::{Error, Stage};

/// Classes from texts whose names are `NAME.glsl`, by the class in them.
pub(crate) fn library(classes: &[&str]) -> Library {
    let mut library = Library::new();
    for text in classes {
        library.add_source(&file(text), text).unwrap();
    }
    library
}

fn file(text: &str) -> String {
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("#pragma mixin class "))
        .unwrap_or("Nameless");
    format!("{}.glsl", name.trim())
}

pub(crate) fn composer(classes: &[&str]) -> Composer {
    Composer::new(library(classes), ComposeOptions::default())
}

/// Composes a compute effect and has the validator judge it.
pub(crate) fn compute(classes: &[&str], mix: Mix) -> Effect {
    compose(classes, mix, &[Stage::Compute])
}

pub(crate) fn compose(classes: &[&str], mix: Mix, stages: &[Stage]) -> Effect {
    let effect = composer(classes)
        .compose_new(&Recipe::new("test", mix, stages))
        .unwrap_or_else(|error| panic!("{error}\n{}", attachment(&error)));
    for stage in &effect.stages {
        validate(&stage.words);
    }
    effect
}

fn attachment(error: &Error) -> String {
    match error {
        Error::Mixin(error) => error.attachment.clone(),
        _ => String::new(),
    }
}

/// The error of a composition that must fail.
pub(crate) fn failure(composer: &Composer, recipe: &Recipe) -> MixinError {
    match composer.compose_new(recipe) {
        Err(Error::Mixin(error)) => *error,
        Err(other) => panic!("no coded error: {other}"),
        Ok(_) => panic!("composed"),
    }
}

/// Runs a program of spirv-tools on a module.
pub(crate) fn tool(name: &str, arguments: &[&str], words: &[u32]) -> Result<Vec<u8>, String> {
    let mut child = Command::new(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{name} is needed for this test (package spirv-tools): {error}")
        });
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned())
    }
}

pub(crate) fn validate(words: &[u32]) {
    if let Err(problem) = tool(
        "spirv-val",
        &["--target-env", "vulkan1.3", "--scalar-block-layout", "-"],
        words,
    ) {
        let listing = tool("spirv-dis", &["-"], words).unwrap_or_default();
        panic!("{problem}\n{}", String::from_utf8_lossy(&listing));
    }
}

pub(crate) fn listing(words: &[u32]) -> String {
    String::from_utf8(tool("spirv-dis", &["--no-indent", "--no-color", "-"], words).unwrap())
        .unwrap()
}
