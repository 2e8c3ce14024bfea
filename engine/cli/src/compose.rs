//! `impel compose`: effects from recipes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use impel_spirv::compose::{
    ComposeOptions, Composer, Effect, Recipe, Recipes, ValidationRules, validate_effect,
};
use impel_spirv::{Interface, ListingStyle, disassemble, to_json};

use crate::error::Error;

/// What to do.
pub(crate) struct Request {
    /// The recipe file.
    pub(crate) recipes: PathBuf,
    /// Name of the effect; all without one.
    pub(crate) effect: Option<String>,
    /// Folder for the results; without one nothing is written.
    pub(crate) out: Option<PathBuf>,
    /// Print how the result comes about.
    pub(crate) trace: bool,
    /// Print the classes.
    pub(crate) list_classes: bool,
    /// Leave the validator out.
    pub(crate) no_validate: bool,
    /// Run the optimiser.
    pub(crate) optimize: bool,
    /// Keep source lines.
    pub(crate) debug_info: bool,
    /// Folder of compiled classes.
    pub(crate) cache: Option<PathBuf>,
}

/// Composes, writes what was asked for, and says what there is.
pub(crate) fn compose(request: &Request) -> Result<String, Error> {
    let recipes = Recipes::read(&request.recipes)?;
    let chosen: Vec<&Recipe> = match &request.effect {
        Some(name) => vec![recipes.effect(name)?],
        None => recipes.effects.iter().collect(),
    };
    if chosen.is_empty() {
        return Err(Error::File {
            file: request.recipes.clone(),
            problem: "has no effects, expected at least one".to_owned(),
        });
    }
    let options = ComposeOptions {
        debug_info: request.debug_info,
        cache: request.cache.clone(),
        ..ComposeOptions::default()
    };
    let composer = Composer::new(recipes.library()?, options);
    let mut text = String::new();
    for recipe in chosen {
        if request.list_classes {
            text.push_str(&composer.list_classes(recipe)?);
            continue;
        }
        let effect = composer.compose(recipe)?;
        if !request.no_validate {
            validate_effect(&composer, recipe, &effect, &ValidationRules::default())?;
        }
        if request.trace {
            text.push_str(&composer.trace(recipe)?);
        }
        if let Some(folder) = &request.out {
            write(folder, request, &effect, &mut text)?;
        } else if !request.trace {
            for stage in &effect.stages {
                text.push_str(&format!(
                    "{}.{}: {} words\n",
                    effect.name,
                    stage.stage.name(),
                    stage.words.len()
                ));
            }
        }
    }
    Ok(text)
}

fn write(
    folder: &Path,
    request: &Request,
    effect: &Effect,
    text: &mut String,
) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    let mut listing = String::new();
    let mut put = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        text.push_str(&format!("wrote {}\n", path.display()));
        std::fs::write(&path, bytes).map_err(|error| Error::file(&path, &error))
    };
    for stage in &effect.stages {
        let name = format!("{}.{}", effect.name, stage.stage.name());
        let mut spirv = stage.bytes();
        let mut interface = stage.interface.clone();
        if request.optimize {
            spirv = optimise(&spirv)?;
            let before = outputs(&interface);
            interface = impel_spirv::reflect(&spirv)?;
            if let Some(lost) = before
                .iter()
                .find(|output| !outputs(&interface).contains(output))
            {
                let problem =
                    format!("removed the output {lost:?} of {name}, which the next stage may read");
                return Err(Error::File {
                    file: PathBuf::from("spirv-opt"),
                    problem,
                });
            }
        }
        listing.push_str(&format!(
            "; {name}\n{}",
            disassemble(&spirv, ListingStyle::Names)?
        ));
        let json = format!("{:#}\n", to_json(&interface, &format!("{name}.spv")));
        put(format!("{name}.spv"), &spirv)?;
        put(format!("{name}.json"), json.as_bytes())?;
    }
    put(format!("{}.lst", effect.name), listing.as_bytes())
}

/// Outputs of a stage, by name and location.
fn outputs(interface: &Interface) -> Vec<(String, Option<u32>)> {
    let entries = interface.entry_points.iter();
    entries
        .flat_map(|entry| &entry.outputs)
        .map(|output| (output.name.to_string(), output.location))
        .collect()
}

/// `spirv-opt -O` with every input and output kept, or the next stage would have inputs that nobody writes.
fn optimise(spirv: &[u8]) -> Result<Vec<u8>, Error> {
    let folder = std::env::temp_dir().join(format!("impel-optimize-{}", std::process::id()));
    let fail = |problem: String| Error::File {
        file: PathBuf::from("spirv-opt"),
        problem,
    };
    std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
    let (from, to) = (folder.join("in.spv"), folder.join("out.spv"));
    std::fs::write(&from, spirv).map_err(|error| Error::file(&from, &error))?;
    // Versions before 2023.5 do not know the switch; what they do is checked afterwards.
    let help = Command::new("spirv-opt")
        .arg("--help")
        .stdin(Stdio::null())
        .output();
    let knows = help
        .is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--preserve-interface"));
    let output = Command::new("spirv-opt")
        .args(knows.then_some("--preserve-interface"))
        .args(["--target-env=vulkan1.3", "-O"])
        .arg(&from)
        .arg("-o")
        .arg(&to)
        .stdin(Stdio::null())
        .output();
    let result = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(fail("is not installed; it is in the package spirv-tools (Debian, Ubuntu) and in the Vulkan SDK".to_owned()))
        }
        Err(error) => Err(fail(error.to_string())),
        Ok(output) if !output.status.success() => {
            Err(fail(String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")))
        }
        Ok(_) => std::fs::read(&to).map_err(|error| Error::file(&to, &error)),
    };
    // Left-overs in the folder for temporary files harm nobody.
    let _ = std::fs::remove_dir_all(&folder);
    result
}
