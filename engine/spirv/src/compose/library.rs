//! The classes that recipes choose from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::{Code, MixinError, Place};
use super::header::{Header, is_class};
use crate::{Error, Stage};

/// Most folders within each other that are searched for classes.
const MAX_FOLDER_DEPTH: usize = 16;

/// One class.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) header: Header,
    /// Folder that the class's own includes are searched from.
    #[cfg_attr(
        not(feature = "compile"),
        allow(dead_code, reason = "for the compiler")
    )]
    pub(crate) root: PathBuf,
    /// SPIR-V that came with the header, by stage.
    pub(crate) modules: Vec<(Stage, Vec<u8>)>,
    /// Whether the class is compiled from its text.
    pub(crate) source: bool,
    /// The members' keys as numbers.
    pub(crate) symbols: Vec<u32>,
    /// Names of slots as numbers.
    pub(crate) slot_symbols: Vec<u32>,
}

/// A class that is stored in a program: its source, which holds the header, and its SPIR-V.
#[derive(Clone, Copy, Debug)]
pub struct ClassCode {
    /// The source file, for messages.
    pub file: &'static str,
    /// The source.
    pub header: &'static str,
    /// SPIR-V by stage.
    pub modules: &'static [(Stage, &'static [u8])],
}

/// Classes, by name: GLSL with a pragma header, or SPIR-V with a header beside it.
#[derive(Clone, Debug, Default)]
pub struct Library {
    pub(crate) classes: Vec<Class>,
    by_name: HashMap<String, usize>,
    pub(crate) symbols: Vec<String>,
    symbol_numbers: HashMap<String, u32>,
}

impl Library {
    /// A library without classes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The classes that a program has stored.
    ///
    /// # Errors
    /// [`Code::M29`] for a mistake in a header.
    pub fn from_code(classes: &[ClassCode]) -> Result<Self, Error> {
        let mut library = Self::new();
        for class in classes {
            let modules = class
                .modules
                .iter()
                .map(|(stage, spirv)| (*stage, spirv.to_vec()))
                .collect();
            library.add_modules(class.file, class.header, modules)?;
        }
        Ok(library)
    }

    /// Whether a text is that of a class. Other files beside classes are there to be included.
    #[must_use]
    pub fn is_class(text: &str) -> bool {
        is_class(text)
    }

    /// Adds a class from its GLSL. `file` is what messages call it.
    ///
    /// # Errors
    /// [`Code::M29`] for a mistake in the header or a name that another class has.
    pub fn add_source(&mut self, file: &str, text: &str) -> Result<(), Error> {
        self.add_source_in(file, text, Path::new(""))
    }

    fn add_source_in(&mut self, file: &str, text: &str, root: &Path) -> Result<(), Error> {
        let header = Header::parse(file, text, true)?;
        self.add(header, root, true).map(drop)
    }

    /// Adds a class that is compiled already: its header (the pragmas are enough), and SPIR-V for each stage that it is
    /// used in.
    ///
    /// # Errors
    /// As [`Self::add_source`].
    pub fn add_modules(
        &mut self,
        file: &str,
        header: &str,
        modules: Vec<(Stage, Vec<u8>)>,
    ) -> Result<(), Error> {
        let header = Header::parse(file, header, false)?;
        let number = self.add(header, Path::new(""), false)?;
        if let Some(class) = self.classes.get_mut(number) {
            class.modules = modules;
        }
        Ok(())
    }

    /// Adds all classes of a folder and the folders in it: GLSL files (`.glsl`, or the extension of a stage) that have a class
    /// header, and `NAME.mixin` headers with `NAME.STAGE.spv` beside them. Files are read in the order of their names. Messages call a file `name/path`.
    ///
    /// # Errors
    /// [`Code::M28`] for a folder or file that cannot be read; as [`Self::add_source`].
    pub fn add_folder(&mut self, folder: &Path, name: &str) -> Result<(), Error> {
        self.walk(folder, name, 0)
    }

    fn walk(&mut self, folder: &Path, name: &str, depth: usize) -> Result<(), Error> {
        let place = |file: &str| Place {
            file: file.to_owned(),
            ..Place::default()
        };
        let unreadable = |file: &str, error: &std::io::Error| {
            let problem = match error.kind() {
                std::io::ErrorKind::NotFound => "no such folder or file".to_owned(),
                _ => error.to_string(),
            };
            place(file).error(Code::M28, "classes", problem)
        };
        if depth > MAX_FOLDER_DEPTH {
            return Err(place(name).error(
                Code::M28,
                "classes",
                format!("folders are nested more than {MAX_FOLDER_DEPTH} deep"),
            ));
        }
        let mut entries = std::fs::read_dir(folder)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unreadable(name, &error))?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let file = entry.file_name().to_string_lossy().into_owned();
            let inside = if name.is_empty() {
                file.clone()
            } else {
                format!("{name}/{file}")
            };
            if path.is_dir() {
                self.walk(&path, &inside, depth + 1)?;
                continue;
            }
            self.add_file(&path, &inside)?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, name: &str) -> Result<(), Error> {
        const TEXTS: [&str; 7] = ["glsl", "mixin", "vert", "task", "mesh", "frag", "comp"];
        let place = Place {
            file: name.to_owned(),
            ..Place::default()
        };
        let unreadable =
            |error: &std::io::Error| place.error(Code::M28, "classes", error.to_string());
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if !TEXTS.contains(&extension.as_ref()) {
            return Ok(());
        }
        let bytes = crate::read_file(path).map_err(|error| unreadable(&error))?;
        let text = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text,
            _ => {
                return Err(place.error(
                    Code::M29,
                    "",
                    "expected GLSL in UTF-8, found other bytes",
                ));
            }
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        if extension != "mixin" {
            return if is_class(&text) {
                self.add_source_in(name, &text, folder)
            } else {
                Ok(())
            };
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut modules = Vec::new();
        for stage in [
            Stage::Vertex,
            Stage::Task,
            Stage::Mesh,
            Stage::Fragment,
            Stage::Compute,
        ] {
            match crate::read_file(&folder.join(format!("{stem}.{}.spv", stage.name()))) {
                Ok(bytes) => modules.push((stage, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&error)),
            }
        }
        if modules.is_empty() {
            return self.add_source_in(name, &text, folder);
        }
        self.add_modules(name, &text, modules)
    }

    fn add(&mut self, header: Header, root: &Path, source: bool) -> Result<usize, Error> {
        let number = self.classes.len();
        if let Some(other) = self.find(header.name()).and_then(|at| self.classes.get(at)) {
            return Err(header.place.error(
                Code::M29,
                "class",
                format!(
                    "another class has this name, in {}:{}",
                    other.header.place.file, other.header.place.line
                ),
            ));
        }
        self.by_name.insert(header.name().to_owned(), number);
        let symbols = header
            .members
            .iter()
            .map(|member| member.key.clone())
            .collect::<Vec<_>>();
        let slots = header
            .slots
            .iter()
            .map(|slot| slot.name.clone())
            .collect::<Vec<_>>();
        let symbols = symbols.into_iter().map(|key| self.symbol(key)).collect();
        let slot_symbols = slots.into_iter().map(|name| self.symbol(name)).collect();
        self.classes.push(Class {
            header,
            root: root.to_owned(),
            modules: Vec::new(),
            source,
            symbols,
            slot_symbols,
        });
        Ok(number)
    }

    /// Replaces the text of a class.
    pub(crate) fn replace(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let number = self.require(name, &Place::default())?;
        let Some(file) = self
            .classes
            .get(number)
            .map(|class| class.header.place.file.clone())
        else {
            return Ok(());
        };
        let header = Header::parse(&file, text, true)?;
        if header.name() != name {
            return Err(header.place.error(
                Code::M29,
                "class",
                format!("the class was called {name} before"),
            ));
        }
        let keys: Vec<_> = header
            .members
            .iter()
            .map(|member| member.key.clone())
            .collect();
        let slots: Vec<_> = header.slots.iter().map(|slot| slot.name.clone()).collect();
        let symbols = keys.into_iter().map(|key| self.symbol(key)).collect();
        let slot_symbols = slots.into_iter().map(|slot| self.symbol(slot)).collect();
        if let Some(class) = self.classes.get_mut(number) {
            (class.header, class.symbols, class.slot_symbols) = (header, symbols, slot_symbols);
            (class.source, class.modules) = (true, Vec::new());
        }
        Ok(())
    }

    /// Compiles a class from its text from now on, where that is whole; a header beside SPIR-V may lack the bodies.
    pub(crate) fn prefer_source(&mut self, number: usize) {
        if let Some(class) = self.classes.get_mut(number)
            && !class.source
            && Header::parse(&class.header.place.file, &class.header.text, true).is_ok()
        {
            (class.source, class.modules) = (true, Vec::new());
        }
    }

    fn symbol(&mut self, key: String) -> u32 {
        let next = self.symbols.len() as u32;
        let number = *self.symbol_numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.symbols.push(key);
        }
        number
    }

    pub(crate) fn find_symbol(&self, key: &str) -> Option<u32> {
        self.symbol_numbers.get(key).copied()
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The class of a name that stands at a place.
    pub(crate) fn require(&self, name: &str, at: &Place) -> Result<usize, Error> {
        self.find(name).ok_or_else(|| {
            let near = self
                .classes
                .iter()
                .map(|class| class.header.name())
                .find(|other| other.eq_ignore_ascii_case(name));
            let hint = near.map_or_else(String::new, |other| format!("; there is {other}"));
            at.error(Code::M01, name, format!("no class has this name{hint}"))
        })
    }

    /// Names of the classes, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.classes.iter().map(|class| class.header.name())
    }

    /// The file of a class, as messages call it.
    #[must_use]
    pub fn file_of(&self, class: &str) -> Option<&str> {
        let class = self.classes.get(self.find(class)?)?;
        Some(&class.header.place.file)
    }
}

/// The error with lines to read below it.
pub(crate) fn with_attachment(error: Error, attachment: String) -> Error {
    match error {
        Error::Mixin(inner) => MixinError {
            attachment,
            ..*inner
        }
        .into(),
        other => other,
    }
}
