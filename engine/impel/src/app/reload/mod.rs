//! Hot reload (feature `hot-reload`): an edited shader takes the place of the one before, in just the pipelines that are made
//! of it. What does not compile leaves everything as it is.

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

/// Watches a folder of shaders: `glsl/` with its sources, as `impel bake` takes it.
pub struct HotReload {
    folder: PathBuf,
    compiler: Compiler,
    /// Stops when dropped.
    _watcher: notify::RecommendedWatcher,
    events: Receiver<PathBuf>,
    /// Files that changed, relative to the folder, and when the last of them did.
    changed: BTreeSet<String>,
    last_change: Instant,
    /// Files that each shader is made of, by the shader's name.
    made_of: HashMap<String, Vec<String>>,
    /// What is wrong with each shader, or with a pipeline.
    errors: BTreeMap<String, String>,
    state: ShaderState,
}

impl HotReload {
    /// Begins to watch.
    ///
    /// # Errors
    /// [`Error::Value`] when the folder cannot be watched or the compiler cannot be had.
    pub fn watch(folder: &Path) -> Result<Self, Error> {
        let shown = folder.display().to_string();
        let wrong = |expected: &str, error: &dyn std::fmt::Display| {
            Error::value(format!("hot reload of {shown}"), expected, error)
        };
        let folder = folder
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
            .watch(&folder.join("glsl"), RecursiveMode::Recursive)
            .map_err(|error| wrong("a folder glsl/ to watch", &error))?;
        Ok(Self {
            compiler: Compiler::new().map_err(|error| wrong("a compiler", &error))?,
            _watcher: watcher,
            events,
            changed: BTreeSet::new(),
            last_change: Instant::now(),
            made_of: HashMap::new(),
            errors: BTreeMap::new(),
            state: ShaderState {
                folder: folder.display().to_string(),
                ..ShaderState::default()
            },
            folder,
        })
    }

    /// What has become of edited shaders so far.
    #[must_use]
    pub fn state(&self) -> &ShaderState {
        &self.state
    }

    /// To be asked between frames: compiles what was edited and rebuilds the pipelines that are made of it. Says whether
    /// anything was done.
    pub fn poll(&mut self, mut pipelines: Vec<&mut Pipeline>) -> bool {
        while let Ok(path) = self.events.try_recv() {
            if let Ok(file) = path.strip_prefix(&self.folder) {
                self.changed
                    .insert(file.to_string_lossy().replace('\\', "/"));
                self.last_change = Instant::now();
            }
        }
        if self.changed.is_empty() || self.last_change.elapsed() < QUIET {
            return false;
        }
        let changed = std::mem::take(&mut self.changed);
        let names: BTreeSet<String> = pipelines
            .iter()
            .flat_map(|pipeline| pipeline.shaders())
            .map(|shader| shader.name().to_owned())
            .collect();
        let mut fresh = Vec::new();
        let mut touched = false;
        for name in names {
            if !self
                .files_of(&name)
                .iter()
                .any(|file| changed.contains(file))
            {
                continue;
            }
            touched = true;
            match self.compile(&name) {
                Ok(shader) => {
                    self.errors.remove(&name);
                    fresh.push(shader);
                }
                Err(error) => {
                    log::error!("{error}");
                    self.errors.insert(name, error);
                }
            }
        }
        if !touched {
            return false;
        }
        self.state.last.clear();
        for pipeline in &mut pipelines {
            // No shader has such a name.
            let key = format!("pipeline {}", pipeline.name());
            match pipeline.rebuild(&fresh) {
                Ok(false) => {}
                Ok(true) => {
                    log::info!("pipeline {:?} has new shaders", pipeline.name());
                    self.errors.remove(&key);
                    self.state.replaced += 1;
                    self.state.last.push(pipeline.name().to_owned());
                }
                Err(error) => {
                    log::error!("{error}");
                    self.errors.insert(key, error.to_string());
                }
            }
        }
        self.state.errors = self.errors.values().cloned().collect();
        true
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
