//! Edited classes and recipes.

use super::{HotReload, wrong};
use crate::Error;
use crate::effects::Effects;
use impel_spirv::compose::{Library, Recipes};
use notify::{RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl HotReload {
    /// Watches a recipe file, too. `name` is what its recipes were parsed under ([`Recipes::parse`]).
    ///
    /// # Errors
    /// [`Error::Value`] when it cannot be watched.
    pub fn watch_recipes(&mut self, path: &Path, name: &str) -> Result<(), Error> {
        let wrong = |error: &dyn std::fmt::Display| wrong(path, "a file", error);
        let place = path.canonicalize().map_err(|error| wrong(&error))?;
        // Editors put a new file in the old one's place, which ends the watching of a file.
        let folder = place.parent().unwrap_or(Path::new("/"));
        self.watcher
            .watch(folder, RecursiveMode::NonRecursive)
            .map_err(|error| wrong(&error))?;
        self.recipes.push((place, name.to_owned()));
        Ok(())
    }

    /// Composes anew what is made of changed files. What is done is added to `done`; says whether anything was tried.
    pub(super) fn reload_effects(
        &mut self,
        changed: &BTreeSet<String>,
        effects: &mut Effects,
        done: &mut Vec<String>,
    ) -> bool {
        let concerns = |file: &String| {
            self.recipes.iter().any(|(_, name)| name == file)
                || class_in(effects.composer().library(), file).is_some()
                || self.refused.contains(file)
                || self.holds_class(file)
        };
        let mut due: BTreeSet<String> = changed
            .iter()
            .filter(|file| concerns(file))
            .cloned()
            .collect();
        if due.is_empty() {
            return false;
        }
        // What could not be taken alone may go with what has changed now: an edit may span files.
        due.append(&mut self.refused);
        // A class that was never taken, and whose file is gone, is no more to be told of.
        due.retain(|file| {
            let library = effects.composer().library();
            let is_known = class_in(library, file).is_some() || self.place_of(file).exists();
            if !is_known {
                self.errors.remove(file);
            }
            is_known
        });
        loop {
            let before = due.len();
            due.retain(|file| match self.reload_file(file, effects) {
                Ok(names) => {
                    log::info!("{file} is taken; new effects: {}", names.join(", "));
                    self.errors.remove(file);
                    for name in names {
                        if !done.contains(&name) {
                            done.push(name);
                        }
                    }
                    false
                }
                Err(error) => {
                    self.errors.insert(file.clone(), error);
                    true
                }
            });
            if due.is_empty() || due.len() == before {
                break;
            }
        }
        for error in due.iter().filter_map(|file| self.errors.get(file)) {
            log::error!("{error}");
        }
        self.refused = due;
        true
    }

    /// Takes the present text of a class or recipe file; gives the names of the effects that it changes, or what is wrong.
    fn reload_file(&self, file: &str, effects: &mut Effects) -> Result<Vec<String>, String> {
        let text = std::fs::read_to_string(self.place_of(file))
            .map_err(|error| format!("{file}: {error}"))?;
        let is_recipes = self.recipes.iter().any(|(_, name)| name == file);
        let class = class_in(effects.composer().library(), file).map(ToOwned::to_owned);
        let names = match class {
            _ if is_recipes => Recipes::parse(file, &text)
                .map_err(|error| error.to_string())
                .map(|recipes| effects.reload_recipes(&recipes))?,
            Some(class) => effects.reload(&class, &text),
            None => effects.add_class(file, &text).map(|()| Vec::new()),
        };
        names.map_err(|error| error.to_string())
    }

    /// Where a file that changed lies.
    fn place_of(&self, file: &str) -> PathBuf {
        let recipes = self.recipes.iter().find(|(_, name)| name == file);
        recipes.map_or_else(|| self.folder.join(file), |(place, _)| place.clone())
    }

    /// Whether a file is one of the folder of classes, and has one in it. Editors leave others there for a while.
    fn holds_class(&self, file: &str) -> bool {
        let is_source = file.starts_with("mixins/") && file.ends_with(".glsl");
        is_source
            && std::fs::read_to_string(self.folder.join(file))
                .is_ok_and(|text| Library::is_class(&text))
    }
}

/// The class that a file holds.
fn class_in<'a>(library: &'a Library, file: &str) -> Option<&'a str> {
    library
        .names()
        .find(|class| library.file_of(class) == Some(file))
}
