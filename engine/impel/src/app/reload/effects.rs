//! Edited classes and recipes.

use super::{HotReload, wrong};
use crate::Error;
use crate::effects::Effects;
use impel_spirv::compose::{Library, Recipes};
use notify::{RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::Path;

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
        loop {
            let before = due.len();
            due.retain(|file| match self.reload_file(file, effects) {
                Ok(names) => {
                    log::info!("{file}: new {}", names.join(", "));
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
        let recipes = self.recipes.iter().find(|(_, name)| name == file);
        let place = recipes.map_or_else(|| self.folder.join(file), |(place, _)| place.clone());
        let text = std::fs::read_to_string(&place).map_err(|error| format!("{file}: {error}"))?;
        let names = match recipes {
            Some((_, name)) => Recipes::parse(name, &text)
                .map_err(|error| error.to_string())
                .map(|recipes| effects.reload_recipes(&recipes))?,
            None => {
                let class = class_in(effects.composer().library(), file);
                let class = class.unwrap_or_default().to_owned();
                effects.reload(&class, &text)
            }
        };
        names.map_err(|error| error.to_string())
    }
}

/// The class that a file holds.
fn class_in<'a>(library: &'a Library, file: &str) -> Option<&'a str> {
    library
        .names()
        .find(|class| library.file_of(class) == Some(file))
}
