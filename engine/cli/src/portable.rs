//! `impel reflect --portable`: whether SPIRV-Cross can say a shader in HLSL and in MSL, and if not, why.

/// Without SPIRV-Cross there is nothing to try with.
#[cfg(not(feature = "portable"))]
pub(crate) fn portable(
    _: &std::path::Path,
    _: Option<&str>,
) -> Result<String, crate::error::Error> {
    Err(crate::error::Error::NoSpirvCross)
}

#[cfg(feature = "portable")]
pub(crate) use with_spirv_cross::portable;

#[cfg(feature = "portable")]
mod with_spirv_cross {
    use std::fmt::Write as _;
    use std::path::Path;
    use std::process::Command;

    use impel_spirv::{EntryPoint, MissingBindings, Options};
    use spirv_cross2::compile::hlsl::HlslShaderModel;
    use spirv_cross2::compile::{CompilableTarget, CompiledArtifact};
    use spirv_cross2::spirv::ExecutionModel;
    use spirv_cross2::targets::{Hlsl, Msl};
    use spirv_cross2::{Compiler, Module, SpirvCrossError};

    use crate::error::Error;
    use crate::input;

    /// A language that is tried, with the version whose features may be used.
    const TARGETS: [(&str, &str); 2] = [("hlsl", "HLSL, shader model 6.8"), ("msl", "MSL 3.1")];

    /// Tries all targets, each in a process of its own: SPIRV-Cross ends its process on some modules. With `target`, this is
    /// such a process: it prints a line per entry point.
    pub(crate) fn portable(file: &Path, target: Option<&str>) -> Result<String, Error> {
        let spirv = input::spirv(file)?;
        let options = Options {
            missing_bindings: MissingBindings::Keep,
        };
        let name = file.display().to_string();
        let interface =
            impel_spirv::reflect_with(&spirv, &options).map_err(|error| error.in_file(&name))?;
        let words = words(&spirv);
        if let Some(target) = target {
            let mut text = String::new();
            for entry in &interface.entry_points {
                let verdict = match tried(target, &words, entry) {
                    Ok(()) => "carries over".to_owned(),
                    Err(reason) => format!("does not carry over: {}", one_line(&reason)),
                };
                let _ = writeln!(text, "  {} {:?} {verdict}", entry.stage, entry.name);
            }
            return Ok(text);
        }
        let mut text = format!("{name}\n");
        for (target, title) in TARGETS {
            let _ = writeln!(text, "{title}");
            let output = std::env::current_exe()
                .and_then(|tool| {
                    Command::new(tool)
                        .args(["reflect", "--portable", "--target", target])
                        .arg(file)
                        .output()
                })
                .map_err(|error| Error::file(file, &error))?;
            if output.status.success() {
                text.push_str(&String::from_utf8_lossy(&output.stdout));
            } else {
                let _ = writeln!(
                    text,
                    "  unknown: SPIRV-Cross ended its process ({})",
                    output.status
                );
            }
        }
        Ok(text)
    }

    /// The words of a module that reflection has accepted.
    fn words(spirv: &[u8]) -> Vec<u32> {
        let (chunks, _) = spirv.as_chunks::<4>();
        let swapped = chunks
            .first()
            .is_some_and(|first| u32::from_le_bytes(*first) != impel_spirv::words::MAGIC);
        let word = |chunk: &[u8; 4]| {
            if swapped {
                u32::from_be_bytes(*chunk)
            } else {
                u32::from_le_bytes(*chunk)
            }
        };
        chunks.iter().map(word).collect()
    }

    /// What SPIRV-Cross objects to in one entry point.
    fn tried(target: &str, words: &[u32], entry: &EntryPoint) -> Result<(), String> {
        let model = ExecutionModel::from_u32(entry.stage.execution_model())
            .ok_or_else(|| format!("SPIRV-Cross knows no {} stage", entry.stage))?;
        let outcome = match target {
            "hlsl" => {
                let mut options = Hlsl::options();
                options.shader_model = HlslShaderModel::ShaderModel6_8;
                compiled::<Hlsl>(words, entry, model, &options).map(drop)
            }
            "msl" => {
                let mut options = Msl::options();
                options.version = (3, 1).into();
                options.argument_buffers = true;
                compiled::<Msl>(words, entry, model, &options).map(drop)
            }
            other => return Err(format!("unknown target \"{other}\"")),
        };
        outcome.map_err(|error| error.to_string())
    }

    fn compiled<T: CompilableTarget>(
        words: &[u32],
        entry: &EntryPoint,
        model: ExecutionModel,
        options: &T::Options,
    ) -> Result<CompiledArtifact<T>, SpirvCrossError> {
        let mut compiler = Compiler::<T>::new(Module::from_words(words))?;
        compiler.set_entry_point(entry.name.as_str(), model)?;
        compiler.compile(options)
    }

    fn one_line(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
