//! Reading of shaders: SPIR-V, GLSL (compiled on the way) and baked reflection, by their file names.

use std::path::Path;

use impel_spirv::compile::{CompileError, CompileOptions, Compiler, Source, stage_of};
use impel_spirv::{Interface, Options};

use crate::error::Error;

/// Largest file that is read. Real modules are a thousandth of it.
const MAX_BYTES: u64 = 256 << 20;

/// A shader's SPIR-V: the file itself, or what its GLSL compiles to.
///
/// GLSL finds what it includes beside it and in `include/` beside it.
pub(crate) fn spirv(path: &Path) -> Result<Vec<u8>, Error> {
    compiled(path, false)
}

/// As [`spirv`], with the lines that a debugger and a validator's message need.
pub(crate) fn spirv_with_lines(path: &Path) -> Result<Vec<u8>, Error> {
    compiled(path, true)
}

fn compiled(path: &Path, debug_info: bool) -> Result<Vec<u8>, Error> {
    if stage_of(path).is_some() && path.is_file() {
        let root = path.parent().unwrap_or(Path::new("")).to_owned();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let options = CompileOptions {
            include_directories: vec!["include".into()],
            debug_info,
            ..CompileOptions::default()
        };
        let compile = || Compiler::new()?.compile(&Source::read(root, name)?, &options);
        return compile()
            .map(|compiled| compiled.spirv)
            .map_err(compile_error);
    }
    bytes(path)
}

/// What a shader says of itself: reflected, or read from a `.refl` file.
pub(crate) fn interface(path: &Path, options: &Options) -> Result<Interface, Error> {
    let name = path.display().to_string();
    if path
        .extension()
        .is_some_and(|extension| extension == "refl")
    {
        return Ok(impel_spirv::unbake(&bytes(path)?, None, &name)?);
    }
    Ok(impel_spirv::reflect_with(&spirv(path)?, options).map_err(|error| error.in_file(&name))?)
}

/// A compilation's failure, with the number of messages beside the first.
pub(crate) fn compile_error(source: CompileError) -> Error {
    let others = match &source {
        CompileError::Failed { diagnostics, .. } => diagnostics.len().saturating_sub(1),
        _ => 0,
    };
    Error::Compile { source, others }
}

/// A whole file, if it is one (reading a pipe might never end) and of a sensible size.
fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |error: std::io::Error| Error::file(path, &error);
    if std::fs::metadata(path).map_err(fail)?.len() > MAX_BYTES {
        let problem = format!("is larger than {} MB, which no shader is", MAX_BYTES >> 20);
        return Err(Error::File {
            file: path.to_owned(),
            problem,
        });
    }
    impel_spirv::read_file(path).map_err(fail)
}
