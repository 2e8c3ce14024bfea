//! Recipes: which classes make an effect.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Code, Place};
use super::header::stage;
use crate::{Error, Stage};

/// Deepest nesting of recipes in slots.
const MAX_DEPTH: usize = 32;

/// A value for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// For `bool`.
    Bool(bool),
    /// For `int`, `uint` and `float`.
    Int(i64),
    /// For `float`.
    Float(f64),
    /// For vectors.
    Vector(Vec<ParamValue>),
}

/// Classes with what they need. The whole of an effect is one, and so is what fills a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mix {
    /// Classes, `Class` or `Class<1, NAME = 2>`; later ones are more derived.
    pub mixins: Vec<String>,
    /// Parameters, for every class of this mix that declares the name.
    pub params: Vec<(String, ParamValue)>,
    /// What fills slots, by the slot's name.
    pub slots: Vec<(String, Filling)>,
    /// Line in the recipe file; 0 without one.
    pub line: u32,
}

/// What fills a slot.
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    /// One mix, for a single slot; an array takes it as its only element.
    One(Mix),
    /// Any number, for an array.
    Many(Vec<Mix>),
}

/// An effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// Name.
    pub name: String,
    /// Its classes.
    pub mix: Mix,
    /// Stages to compose.
    pub stages: Vec<Stage>,
    /// The recipe file, for messages.
    pub file: String,
}

impl Mix {
    /// Classes without parameters and slots.
    #[must_use]
    pub fn of(mixins: &[&str]) -> Self {
        Self {
            mixins: mixins.iter().map(|&name| name.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// The same with a slot filled.
    #[must_use]
    pub fn slot(mut self, name: &str, filling: Filling) -> Self {
        self.slots.push((name.to_owned(), filling));
        self
    }

    /// The same with a parameter.
    #[must_use]
    pub fn param(mut self, name: &str, value: ParamValue) -> Self {
        self.params.push((name.to_owned(), value));
        self
    }
}

impl Recipe {
    /// An effect of these classes and stages.
    #[must_use]
    pub fn new(name: &str, mix: Mix, stages: &[Stage]) -> Self {
        Self {
            name: name.to_owned(),
            mix,
            stages: stages.to_vec(),
            file: "recipe".to_owned(),
        }
    }
}

/// A recipe file.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    /// Folders of classes as the file names them, relative to it.
    pub folders: Vec<String>,
    /// The effects in the order of their names.
    pub effects: Vec<Recipe>,
    file: String,
}

impl Recipes {
    /// Reads a recipe file.
    ///
    /// # Errors
    /// [`Code::M28`], with the line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let place = Place {
            file: file.clone(),
            ..Place::default()
        };
        let bytes = crate::read_file(path).map_err(|error| {
            let problem = match error.kind() {
                std::io::ErrorKind::NotFound => "no such file".to_owned(),
                _ => error.to_string(),
            };
            place.error(Code::M28, "", problem)
        })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| place.error(Code::M28, "", "expected TOML in UTF-8, found other bytes"))?;
        Self::parse(&file, &text)
    }

    /// Parses the text of a recipe file.
    ///
    /// # Errors
    /// [`Code::M28`], with the line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let reader = Reader { file, text };
        let table = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            reader.error(start, "", format!("no valid TOML: {}", error.message()))
        })?;
        let mut recipes = Self {
            file: file.to_owned(),
            ..Self::default()
        };
        for (key, value) in table.get_ref() {
            match key.get_ref().as_ref() {
                "classes" => recipes.folders = reader.strings(value, "classes")?,
                "effect" => {
                    for (name, value) in reader.table(value, "effect")? {
                        recipes.effects.push(reader.effect(name.get_ref(), value)?);
                    }
                }
                other => {
                    return Err(reader.error(
                        key.span().start,
                        other,
                        "unknown key, expected classes or effect",
                    ));
                }
            }
        }
        recipes.effects.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(recipes)
    }

    /// The effect of a name.
    ///
    /// # Errors
    /// [`Code::M28`] if there is none.
    pub fn effect(&self, name: &str) -> Result<&Recipe, Error> {
        self.effects
            .iter()
            .find(|effect| effect.name == name)
            .ok_or_else(|| {
                let names: Vec<_> = self
                    .effects
                    .iter()
                    .map(|effect| effect.name.as_str())
                    .collect();
                let place = Place {
                    file: self.file.clone(),
                    ..Place::default()
                };
                place.error(
                    Code::M28,
                    name,
                    format!("no such effect; the file has: {}", names.join(", ")),
                )
            })
    }

    /// The class folders, found from the recipe file: path, and name for messages.
    #[must_use]
    pub fn class_folders(&self) -> Vec<(PathBuf, String)> {
        let base = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        self.folders
            .iter()
            .map(|folder| (base.join(folder), base.join(folder).display().to_string()))
            .collect()
    }

    /// The classes of all folders.
    ///
    /// # Errors
    /// [`Code::M28`] and [`Code::M29`].
    pub fn library(&self) -> Result<super::Library, Error> {
        let mut library = super::Library::new();
        for (path, name) in self.class_folders() {
            library.add_folder(&path, &name)?;
        }
        Ok(library)
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn line(&self, start: usize) -> u32 {
        self.text
            .bytes()
            .take(start)
            .filter(|&byte| byte == b'\n')
            .count() as u32
            + 1
    }

    fn error(&self, start: usize, symbol: &str, message: impl Into<String>) -> Error {
        Place {
            file: self.file.to_owned(),
            line: self.line(start),
            class: String::new(),
        }
        .error(Code::M28, symbol, message)
    }

    fn wrong(&self, value: &Value<'_>, symbol: &str, expected: &str) -> Error {
        self.error(
            value.span().start,
            symbol,
            format!("expected {expected}, found {}", value.get_ref().type_str()),
        )
    }

    fn table<'v, 'i>(&self, value: &'v Value<'i>, symbol: &str) -> Result<&'v DeTable<'i>, Error> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong(value, symbol, "a table")),
        }
    }

    fn string(&self, value: &Value<'_>, symbol: &str) -> Result<String, Error> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong(value, symbol, "a string")),
        }
    }

    fn strings(&self, value: &Value<'_>, symbol: &str) -> Result<Vec<String>, Error> {
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| self.string(item, symbol)).collect(),
            _ => Err(self.wrong(value, symbol, "an array of strings")),
        }
    }

    fn effect(&self, name: &str, value: &Value<'_>) -> Result<Recipe, Error> {
        let table = self.table(value, name)?;
        let mut stages = Vec::new();
        let mut given = false;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "stages" => {
                    given = true;
                    for text in self.strings(value, "stages")? {
                        let found = stage(&text).ok_or_else(|| {
                            self.error(
                                value.span().start,
                                &text,
                                "no stage that classes can be for, expected vertex, fragment, compute, task or mesh",
                            )
                        })?;
                        if stages.contains(&found) {
                            return Err(self.error(
                                value.span().start,
                                &text,
                                "the stage is listed twice",
                            ));
                        }
                        stages.push(found);
                    }
                }
                "mixins" | "params" | "slots" => {}
                other => {
                    return Err(self.error(
                        key.span().start,
                        other,
                        "unknown key, expected mixins, stages, params or slots",
                    ));
                }
            }
        }
        if !given || stages.is_empty() {
            return Err(self.error(value.span().start, name, "the effect lists no stages"));
        }
        Ok(Recipe {
            name: name.to_owned(),
            mix: self.mix(table, value.span().start, name, 0)?,
            stages,
            file: self.file.to_owned(),
        })
    }

    fn mix(
        &self,
        table: &DeTable<'_>,
        start: usize,
        name: &str,
        depth: usize,
    ) -> Result<Mix, Error> {
        if depth > MAX_DEPTH {
            return Err(self.error(
                start,
                name,
                format!("slots are nested more than {MAX_DEPTH} deep"),
            ));
        }
        let mut mix = Mix {
            line: self.line(start),
            ..Mix::default()
        };
        let mut given = false;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "mixins" => {
                    given = true;
                    mix.mixins = self.strings(value, "mixins")?;
                    mix.line = self.line(value.span().start);
                }
                "params" => {
                    for (name, value) in self.table(value, "params")? {
                        mix.params.push((
                            name.get_ref().to_string(),
                            self.value(name.get_ref(), value)?,
                        ));
                    }
                }
                "slots" => {
                    for (name, value) in self.table(value, "slots")? {
                        let filling = match value.get_ref() {
                            DeValue::Array(items) => Filling::Many(
                                items
                                    .iter()
                                    .map(|item| self.filling(name.get_ref(), item, depth))
                                    .collect::<Result<_, _>>()?,
                            ),
                            _ => Filling::One(self.filling(name.get_ref(), value, depth)?),
                        };
                        mix.slots.push((name.get_ref().to_string(), filling));
                    }
                }
                "stages" if depth == 0 => {}
                other => {
                    return Err(self.error(
                        key.span().start,
                        other,
                        "unknown key, expected mixins, params or slots",
                    ));
                }
            }
        }
        if !given || mix.mixins.is_empty() {
            return Err(self.error(start, name, "lists no mixins"));
        }
        Ok(mix)
    }

    fn filling(&self, name: &str, value: &Value<'_>, depth: usize) -> Result<Mix, Error> {
        match value.get_ref() {
            DeValue::String(class) => Ok(Mix {
                mixins: vec![class.to_string()],
                line: self.line(value.span().start),
                ..Mix::default()
            }),
            DeValue::Table(table) => self.mix(table, value.span().start, name, depth + 1),
            _ => Err(self.wrong(value, name, "a class, a recipe, or an array of these")),
        }
    }

    fn value(&self, name: &str, value: &Value<'_>) -> Result<ParamValue, Error> {
        let bad =
            |what: &str| self.error(value.span().start, name, format!("{what} is out of range"));
        Ok(match value.get_ref() {
            DeValue::Boolean(value) => ParamValue::Bool(*value),
            DeValue::Integer(number) => ParamValue::Int(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| bad(number.as_str()))?,
            ),
            DeValue::Float(number) => {
                ParamValue::Float(number.as_str().parse().map_err(|_| bad(number.as_str()))?)
            }
            DeValue::Array(items) => ParamValue::Vector(
                items
                    .iter()
                    .map(|item| self.value(name, item))
                    .collect::<Result<_, _>>()?,
            ),
            _ => return Err(self.wrong(value, name, "a number, a bool or an array of these")),
        })
    }
}
