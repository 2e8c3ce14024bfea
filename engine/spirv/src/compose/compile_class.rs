//! Compiles classes with what is generated for them.

use std::path::PathBuf;

use super::composer::Composer;
use super::error::{Code, Place};
use super::generate::generate;
use super::library::with_attachment;
use super::link::{Linked, Stub};
use super::stages::is_stage_function;
use crate::compile::{CompileError, CompileOptions, Diagnostic, Severity, Source};
use crate::{Error, Stage};

/// A class's SPIR-V for a stage, with lines.
pub(crate) fn compile(
    composer: &Composer,
    number: usize,
    stage: Stage,
    linked: &Linked,
    stubs: &[Stub],
) -> Result<Vec<u8>, Error> {
    let library = &composer.library;
    let Some(class) = library.classes.get(number) else {
        return Ok(Vec::new());
    };
    let generated = generate(library, number, linked, stubs, stage);
    let file = &class.header.place.file;
    // Relative names, so that equal classes in another folder give equal modules.
    let in_folder = !class.root.as_os_str().is_empty();
    let name = if in_folder {
        file.rsplit('/').next().unwrap_or(file)
    } else {
        file
    };
    let source = Source {
        root: class.root.clone(),
        name: name.to_owned(),
        text: generated.text,
        stage,
    };
    let options = CompileOptions {
        include_directories: vec![PathBuf::new()],
        debug_info: true,
        virtual_files: generated.files,
        cache: composer.options.cache.clone(),
        automatic_bindings: true,
        spirv_1_3: composer
            .options
            .spirv_version
            .is_some_and(|version| version < (1, 4)),
        ..CompileOptions::default()
    };
    let compiled = composer
        .compiler()
        .and_then(|compiler| compiler.compile(&source, &options));
    match compiled {
        Ok(compiled) => Ok(compiled.spirv),
        Err(CompileError::Failed { diagnostics, .. }) => {
            Err(failed(composer, &class.header.place, name, &diagnostics))
        }
        Err(other) => Err(class.header.place.error(Code::M27, "", other.to_string())),
    }
}

fn failed(composer: &Composer, class: &Place, name: &str, diagnostics: &[Diagnostic]) -> Error {
    let place = |diagnostic: &Diagnostic| {
        let file = if diagnostic.file == name {
            class.file.clone()
        } else if let Some(other) = diagnostic.file.strip_prefix("mixin/") {
            composer
                .library
                .file_of(other)
                .unwrap_or(&diagnostic.file)
                .to_owned()
        } else if diagnostic.file.starts_with("mixin") {
            format!("{} (generated)", class.file)
        } else {
            diagnostic.file.clone()
        };
        Place {
            file,
            line: diagnostic.line.unwrap_or_default(),
            class: class.class.clone(),
        }
    };
    let first = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.severity == Severity::Error)
        .or(diagnostics.first());
    let Some(first) = first else {
        return class.error(Code::M27, "", "the class does not compile");
    };
    let symbol = first
        .message
        .strip_prefix('\'')
        .and_then(|rest| rest.split_once('\''))
        .map_or("", |(symbol, _)| symbol);
    let wrong_stage = first.message.contains("not supported in this stage")
        || ([
            "no matching overloaded function",
            "required extension not requested",
        ]
        .iter()
        .any(|text| first.message.contains(text))
            && is_stage_function(symbol));
    if wrong_stage {
        return place(first).error(Code::M20, symbol, first.message.clone());
    }
    let all: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let at = place(diagnostic);
            format!("{}:{}: {}", at.file, at.line, diagnostic.message)
        })
        .collect();
    with_attachment(
        place(first).error(Code::M27, symbol, first.message.clone()),
        all.join("\n"),
    )
}
