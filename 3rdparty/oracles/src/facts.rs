//! What a module says of itself, as plain facts: a path such as `binding 0.3/type` and a value.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// The facts that one reflector tells of one module.
///
/// A path may have several values: variables that share a set and a binding tell their types under the same path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(BTreeMap<String, BTreeSet<String>>);

/// One line that the process of an oracle prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A fact: path and value.
    Fact(String, String),
    /// The oracle cannot or will not read the module, and says why.
    Refused(String),
    /// All facts are told.
    End,
}

impl Facts {
    /// Adds a value to what is known under a path.
    pub fn add(&mut self, path: impl Into<String>, value: &dyn Display) {
        self.0
            .entry(path.into())
            .or_default()
            .insert(value.to_string());
    }

    /// All values under a path, joined; `None` if nothing is said.
    pub fn get(&self, path: &str) -> Option<String> {
        Some(joined(self.0.get(path)?))
    }

    /// All paths with their values, joined.
    pub fn iter(&self) -> impl Iterator<Item = (&str, String)> {
        self.0
            .iter()
            .map(|(path, values)| (path.as_str(), joined(values)))
    }

    /// All paths with each of their values as one line.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.0.iter().flat_map(|(path, values)| {
            values
                .iter()
                .map(|value| Line::Fact(path.clone(), value.clone()))
        })
    }

    /// An entry point; gives the beginning of the paths of its facts.
    pub fn entry_point(&mut self, name: &str, stage: impl Display) -> String {
        let path = format!("entry point {name} ({stage})");
        self.add(path.clone(), &"present");
        path
    }

    /// A local size.
    pub fn local_size(&mut self, entry_point: &str, [x, y, z]: [u32; 3]) {
        self.add(
            format!("{entry_point}/local size"),
            &format!("{x} x {y} x {z}"),
        );
    }

    /// An input (`direction` is `input`) or output of an entry point.
    pub fn location(&mut self, entry_point: &str, direction: &str, location: u32) {
        self.add(format!("{entry_point}/{direction} {location}"), &"present");
    }

    /// A descriptor; gives the beginning of the paths of its facts.
    pub fn binding(&mut self, set: u32, binding: u32, descriptor_type: &str) -> String {
        let path = format!("binding {set}.{binding}");
        self.add(format!("{path}/type"), &descriptor_type);
        path
    }

    /// A push-constant block: where its first member starts, and bytes from there to its end.
    pub fn push_constants(&mut self, offset: u32, size: Option<u32>) {
        self.add("push constants/offset", &offset);
        if let Some(size) = size {
            self.add("push constants/size", &size);
        }
    }

    /// A specialisation constant.
    pub fn spec_constant(&mut self, id: u32) {
        self.add(format!("spec constant {id}"), &"present");
    }
}

fn joined(values: &BTreeSet<String>) -> String {
    values.iter().cloned().collect::<Vec<_>>().join(" | ")
}
