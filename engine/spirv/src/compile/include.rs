//! Finds what `#include` asks for, and everything a source may include.

use std::collections::BTreeMap;
use std::path::Path;

use super::{CompileError, CompileOptions};

/// Reads a file as UTF-8 text without NUL characters (the compiler's interface cannot take them).
pub(super) fn read_text(path: &Path) -> Result<String, CompileError> {
    let bytes = crate::read_file(path).map_err(|source| CompileError::Read {
        file: path.to_owned(),
        source,
    })?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(CompileError::NotText {
            file: path.to_owned(),
        }),
    }
}

/// Looks up included files for one source.
pub(super) struct Includes<'a> {
    root: &'a Path,
    options: &'a CompileOptions,
}

impl<'a> Includes<'a> {
    pub(super) fn new(root: &'a Path, options: &'a CompileOptions) -> Self {
        Self { root, options }
    }

    /// Name (relative to the root) and text of the file that `from` includes as `requested`.
    pub(super) fn resolve(
        &self,
        requested: &str,
        relative: bool,
        from: &str,
    ) -> Result<(String, String), CompileError> {
        let beside = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let directories = self
            .options
            .include_directories
            .iter()
            .map(|directory| directory.to_string_lossy().replace('\\', "/"));
        let mut searched = Vec::new();
        for folder in relative
            .then(|| beside.to_owned())
            .into_iter()
            .chain(directories)
        {
            let name = normalize(&folder, requested);
            if let Some(text) = self.options.virtual_files.get(&name) {
                return Ok((name, text.clone()));
            }
            let path = self.root.join(&name);
            // What is there and no file is an error, not passed over.
            if path.exists() && !path.is_dir() {
                return Ok((name, read_text(&path)?));
            }
            searched.push(if folder.is_empty() {
                ".".to_owned()
            } else {
                folder
            });
        }
        Err(CompileError::Include {
            requested: requested.to_owned(),
            from: from.to_owned(),
            searched,
        })
    }

    /// All files that `text` (of the file `name`) includes, directly or through others, by name, with their text.
    ///
    /// Conditions are not evaluated: a file in a skipped branch is in here, and one that does not exist is left out (if the
    /// branch is taken after all, the compiler reports it).
    pub(super) fn closure(&self, name: &str, text: &str) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut pending = vec![(name.to_owned(), text.to_owned())];
        while let Some((name, text)) = pending.pop() {
            for (requested, relative) in text.lines().filter_map(directive) {
                let Ok((included, text)) = self.resolve(requested, relative, &name) else {
                    continue;
                };
                if !found.contains_key(&included) {
                    found.insert(included.clone(), text.clone());
                    pending.push((included, text));
                }
            }
        }
        found
    }
}

/// What an `#include` line asks for, and whether in quotes.
fn directive(line: &str) -> Option<(&str, bool)> {
    let rest = line
        .trim_start()
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("include")?
        .trim_start();
    let (close, relative) = match rest.chars().next()? {
        '"' => ('"', true),
        '<' => ('>', false),
        _ => return None,
    };
    let (requested, _) = rest.get(1..)?.split_once(close)?;
    Some((requested, relative))
}

/// Joins and resolves `.` and `..` by name, so that one file has one name however it is reached.
fn normalize(folder: &str, requested: &str) -> String {
    let absolute = requested.starts_with('/') || folder.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    let joined = if requested.starts_with('/') {
        requested.to_owned()
    } else {
        format!("{folder}/{requested}")
    };
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let name = parts.join("/");
    if absolute { format!("/{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        assert_eq!(directive("#include \"a.glsl\""), Some(("a.glsl", true)));
        assert_eq!(
            directive("  #  include <x/b.glsl> // why"),
            Some(("x/b.glsl", false))
        );
        assert_eq!(directive("#include MACRO"), None);
        assert_eq!(directive("#include \"open"), None);
        assert_eq!(directive("// #include \"a\""), None);
        assert_eq!(directive("#include"), None);
    }

    #[test]
    fn one_name_per_file() {
        assert_eq!(
            normalize("glsl/include", "../include/./math.glsl"),
            "glsl/include/math.glsl"
        );
        assert_eq!(normalize("", "../up.glsl"), "../up.glsl");
        assert_eq!(normalize("a", "../../../up.glsl"), "../../up.glsl");
        assert_eq!(normalize("a", "/abs/x.glsl"), "/abs/x.glsl");
    }
}
