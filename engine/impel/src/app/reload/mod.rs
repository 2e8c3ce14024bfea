//! Hot reload (feature `hot-reload`): an edited shader takes the place of the one before, in just the pipelines that are made
//! of it; an edited class or recipe in just the effects that it takes part in. What does not compile leaves everything as it is.

mod effects;

use super::content::Reloadable;
use super::panels::ShaderState;
use crate::Error;
use impel_gpu::{Pipeline, Shader};
use impel_spirv::compile::{CompileError, CompileOptions, Compiler, Define, Source};
use notify::{RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Editors write a file in several steps; this long after the last one it counts as written.
const QUIET: Duration = Duration::from_millis(30);

/// Watches a folder of shaders, as `impel bake` takes it: sources in `glsl/`, classes in `mixins/` where there are any; and
/// recipe files.
///
/// A file with a new class is taken up, too: from then on recipes and other classes may name it.
pub struct HotReload {
    folder: PathBuf,
    compiler: Compiler,
    /// Stops when dropped.
    watcher: notify::RecommendedWatcher,
    events: Receiver<PathBuf>,
    /// Files that changed: relative to the folder, or a recipe file by its name; and when the last of them did.
    changed: BTreeSet<String>,
    last_change: Instant,
    /// Files that each shader is made of, by the shader's name.
    made_of: HashMap<String, Vec<String>>,
    /// The newest of every shader that was edited, for pipelines that are made later of those built in.
    edited: Vec<Shader>,
    /// Recipe files: place and name.
    recipes: Vec<(PathBuf, String)>,
    /// Files of classes and recipes whose present text could not be taken.
    refused: BTreeSet<String>,
    /// What is wrong with each shader, pipeline, class or recipe file.
    errors: BTreeMap<String, String>,
    state: ShaderState,
}

impl HotReload {
    /// Begins to watch.
    ///
    /// # Errors
    /// [`Error::Value`] when the folder cannot be watched or the compiler cannot be had.
    pub fn watch(folder: &Path) -> Result<Self, Error> {
        let wrong = |expected: &str, error: &dyn std::fmt::Display| wrong(folder, expected, error);
        let absolute = folder
            .canonicalize()
            .map_err(|error| wrong("a folder", &error))?;
        let (sender, events) = channel();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let Ok(event) = event else { return };
                // Reading a file is an event, too.
                if event.kind.is_access() {
                    return;
                }
                for path in event.paths {
                    let _ = sender.send(path);
                }
            })
            .map_err(|error| wrong("a watcher of files", &error))?;
        watcher
            .watch(&absolute.join("glsl"), RecursiveMode::Recursive)
            .map_err(|error| wrong("a folder glsl/ to watch", &error))?;
        let classes = absolute.join("mixins");
        if classes.is_dir() {
            watcher
                .watch(&classes, RecursiveMode::Recursive)
                .map_err(|error| wrong("a folder mixins/ to watch", &error))?;
        }
        Ok(Self {
            compiler: Compiler::new().map_err(|error| wrong("a compiler", &error))?,
            watcher,
            events,
            changed: BTreeSet::new(),
            last_change: Instant::now(),
            made_of: HashMap::new(),
            edited: Vec::new(),
            recipes: Vec::new(),
            refused: BTreeSet::new(),
            errors: BTreeMap::new(),
            state: ShaderState {
                folder: absolute.display().to_string(),
                ..ShaderState::default()
            },
            folder: absolute,
        })
    }

    /// What has become of edited shaders so far.
    #[must_use]
    pub fn state(&self) -> &ShaderState {
        &self.state
    }

    /// To be asked between frames: compiles what was edited and rebuilds the pipelines and effects that are made of it. Says
    /// whether anything was done.
    pub fn poll(&mut self, target: Reloadable<'_>) -> bool {
        let Reloadable {
            mut pipelines,
            effects,
        } = target;
        self.collect();
        let changed = match self.last_change.elapsed() < QUIET {
            true => BTreeSet::new(),
            false => std::mem::take(&mut self.changed),
        };
        let mut done = Vec::new();
        let names = self.compile_changed(&changed, &pipelines);
        let mut touched = !names.is_empty();
        touched |= self.rebuild(&names, &mut pipelines, &mut done);
        if let Some(effects) = effects {
            touched |= self.reload_effects(&changed, effects, &mut done);
        }
        if touched {
            self.state.replaced += done.len() as u64;
            self.state.last = done;
            self.state.errors = self.errors.values().cloned().collect();
        }
        touched
    }

    /// Takes what the system has told of files.
    fn collect(&mut self) {
        while let Ok(path) = self.events.try_recv() {
            let recipe = self.recipes.iter().find(|(place, _)| *place == path);
            let name = match (recipe, path.strip_prefix(&self.folder)) {
                (Some((_, name)), _) => name.clone(),
                (None, Ok(file)) => file.to_string_lossy().replace('\\', "/"),
                (None, Err(_)) => continue,
            };
            self.changed.insert(name);
            self.last_change = Instant::now();
        }
    }

    /// Compiles the shaders that are made of changed files; gives the names of all of them.
    fn compile_changed(
        &mut self,
        changed: &BTreeSet<String>,
        pipelines: &[&mut Pipeline],
    ) -> BTreeSet<String> {
        if changed.is_empty() {
            return BTreeSet::new();
        }
        let mut names: BTreeSet<String> = pipelines
            .iter()
            .flat_map(|pipeline| pipeline.shaders())
            .map(|shader| shader.name().to_owned())
            .collect();
        names.retain(|name| {
            self.files_of(name)
                .iter()
                .any(|file| changed.contains(file))
        });
        for name in &names {
            match self.compile(name) {
                Ok(shader) => {
                    self.errors.remove(name);
                    self.edited.retain(|old| old.name() != name);
                    self.edited.push(shader);
                }
                Err(error) => {
                    log::error!("{error}");
                    self.errors.insert(name.clone(), error);
                }
            }
        }
        names
    }

    /// Rebuilds the pipelines that have these shaders, and those that were made since an edit of what was there before it.
    fn rebuild(
        &mut self,
        names: &BTreeSet<String>,
        pipelines: &mut [&mut Pipeline],
        done: &mut Vec<String>,
    ) -> bool {
        if self.edited.is_empty() {
            return false;
        }
        let mut touched = false;
        for pipeline in pipelines {
            // No shader has such a name.
            let key = format!("pipeline {}", pipeline.name());
            let is_named = |shader: &Shader| {
                names.contains(shader.name()) && !self.errors.contains_key(shader.name())
            };
            let is_old = |shader: &Shader| {
                let edited = self.edited.iter().find(|new| new.name() == shader.name());
                edited.is_some_and(|new| !new.is_same_code(shader))
            };
            let due = pipeline.shaders().iter().any(is_named)
                || !self.errors.contains_key(&key) && pipeline.shaders().iter().any(is_old);
            if !due {
                continue;
            }
            touched = true;
            match pipeline.rebuild(&self.edited) {
                Ok(false) => {}
                Ok(true) => {
                    log::info!("pipeline {:?} has new shaders", pipeline.name());
                    self.errors.remove(&key);
                    done.push(pipeline.name().to_owned());
                }
                Err(error) => {
                    log::error!("{error}");
                    self.errors.insert(key, error.to_string());
                }
            }
        }
        touched
    }

    fn files_of(&mut self, name: &str) -> &[String] {
        let folder = &self.folder;
        self.made_of.entry(name.to_owned()).or_insert_with(|| {
            let (source, options) = source_of(name);
            Source::read(folder, source).map_or_else(
                |_| Vec::new(),
                |source| Compiler::dependencies(&source, &options),
            )
        })
    }

    fn compile(&mut self, name: &str) -> Result<Shader, String> {
        let (source, options) = source_of(name);
        let compiled = Source::read(&self.folder, source)
            .and_then(|source| self.compiler.compile(&source, &options))
            .map_err(|error: CompileError| error.report())?;
        self.made_of.insert(name.to_owned(), compiled.dependencies);
        Shader::new(name, &compiled.spirv).map_err(|error| error.to_string())
    }
}

/// Why a folder or file cannot be watched.
fn wrong(path: &Path, expected: &str, error: &dyn std::fmt::Display) -> Error {
    Error::value(format!("hot reload of {}", path.display()), expected, error)
}

/// The file of a shader, and what it is compiled with. Names are those of baked files: the source's, and its definitions
/// behind it (`draw.vert+VISIBILITY`).
fn source_of(name: &str) -> (String, CompileOptions) {
    let mut parts = name.split('+');
    let file = parts.next().unwrap_or_default();
    let options = CompileOptions {
        include_directories: vec!["glsl/include".into()],
        defines: parts
            .filter_map(|define| Define::parse(define).ok())
            .collect(),
        ..CompileOptions::default()
    };
    (format!("glsl/{file}"), options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_file_and_definitions() {
        let (file, options) = source_of("draw.vert+VISIBILITY+SIZE=4");
        assert_eq!(file, "glsl/draw.vert");
        let names: Vec<_> = options
            .defines
            .iter()
            .map(|define| define.name.as_str())
            .collect();
        assert_eq!(names, ["VISIBILITY", "SIZE"]);
    }
}
