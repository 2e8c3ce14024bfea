//! `impel codegen`: the Rust interface of some shaders, on standard output.

use std::path::{Path, PathBuf};

use impel_spirv::codegen::{self, CodegenOptions, Program, ProgramStage};

use crate::error::Error;
use crate::input;

/// Generates the module of a program that has these stages, in pipeline order.
pub(crate) fn generate(
    files: &[PathBuf],
    name: Option<&str>,
    gpu_crate: &str,
) -> Result<String, Error> {
    let mut parts = Vec::new();
    for file in files {
        let interface = input::interface(file, &impel_spirv::Options::default())?;
        let source = file.display().to_string();
        let shown = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let shader = shown.strip_suffix(".spv").unwrap_or(&shown).to_owned();
        let spirv = match file.extension() {
            Some(extension) if extension == "spv" => file.clone(),
            _ => with_extension(file, "spv"),
        };
        let refl = impel_spirv::baked_path(&spirv);
        parts.push((
            interface,
            source,
            shader,
            spirv.display().to_string(),
            refl.display().to_string(),
        ));
    }
    let stages: Vec<ProgramStage<'_>> = parts
        .iter()
        .map(
            |(interface, source, name, spirv_path, refl_path)| ProgramStage {
                name,
                source,
                interface,
                spirv_path,
                refl_path,
            },
        )
        .collect();
    let stem = parts
        .first()
        .and_then(|(_, _, shader, ..)| shader.split('.').next())
        .unwrap_or("program");
    let program = Program {
        name: name.unwrap_or(stem),
        stages: &stages,
    };
    let options = CodegenOptions {
        gpu_crate: gpu_crate.to_owned(),
        ..CodegenOptions::default()
    };
    Ok(codegen::program(&program, &options)?)
}

/// `cull.comp` gives `cull.comp.spv`.
fn with_extension(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(extension);
    file.with_file_name(name)
}
