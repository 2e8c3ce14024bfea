//! What a composer tells about effects without composing them.

use super::composer::Composer;
use super::graph::{NodeKind, build};
use super::recipe::Recipe;
use crate::{Error, Stage};

impl Composer {
    /// The classes of an effect in linear order, bases first; with what is in slots below the class that has the slot.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn list_classes(&self, recipe: &Recipe) -> Result<String, Error> {
        let graph = build(&self.library, recipe)?;
        let mut text = String::new();
        for node in graph
            .nodes
            .iter()
            .filter(|node| node.kind != NodeKind::Import)
        {
            let path = if node.path.is_empty() {
                recipe.name.clone()
            } else {
                node.path.trim_end_matches('.').to_owned()
            };
            text.push_str(&path);
            text.push('\n');
            for number in &node.elements {
                let Some(class) = graph
                    .elements
                    .get(*number)
                    .and_then(|element| self.library.classes.get(element.class))
                else {
                    continue;
                };
                let parents = self.linked(
                    graph
                        .elements
                        .get(*number)
                        .map_or(0, |element| element.class),
                )?;
                let names: Vec<_> = parents
                    .parents
                    .iter()
                    .filter_map(|parent| self.library.classes.get(*parent))
                    .map(|class| class.header.name())
                    .collect();
                let arguments: Vec<_> = class
                    .header
                    .params
                    .iter()
                    .zip(
                        graph
                            .elements
                            .get(*number)
                            .map(|element| element.arguments.as_slice())
                            .unwrap_or_default(),
                    )
                    .map(|(param, value)| format!("{} = {value}", param.name))
                    .collect();
                let arguments = if arguments.is_empty() {
                    String::new()
                } else {
                    format!("<{}>", arguments.join(", "))
                };
                let own = class.header.name();
                let list = if names.is_empty() {
                    "nothing".to_owned()
                } else {
                    names.join(", ")
                };
                let with = names
                    .iter()
                    .copied()
                    .chain([own])
                    .collect::<Vec<_>>()
                    .join(", ");
                text.push_str(&format!(
                    "  {own}{arguments}: inherits {list}; with itself {with}\n"
                ));
            }
        }
        Ok(text)
    }

    /// Recipes of these that a class takes part in: those to compose anew when its file has changed.
    #[must_use]
    pub fn affected<'r>(&self, recipes: &'r [Recipe], class: &str) -> Vec<&'r Recipe> {
        let Some(wanted) = self.library.find(class) else {
            return Vec::new();
        };
        recipes
            .iter()
            .filter(|recipe| match build(&self.library, recipe) {
                Ok(graph) => graph.elements.iter().any(|element| {
                    element.class == wanted
                        || self
                            .linked(element.class)
                            .is_ok_and(|linked| linked.visible.contains(&wanted))
                }),
                // One that cannot be laid out may be mended by any change.
                Err(_) => true,
            })
            .collect()
    }

    /// The classes of an effect with the stages that they are compiled for.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn class_stages(&self, recipe: &Recipe) -> Result<Vec<(String, Stage)>, Error> {
        let graph = build(&self.library, recipe)?;
        let mut found = Vec::new();
        for class in graph
            .elements
            .iter()
            .filter_map(|element| self.library.classes.get(element.class))
        {
            for stage in recipe
                .stages
                .iter()
                .filter(|stage| class.header.takes_part(**stage))
            {
                let pair = (class.header.name().to_owned(), *stage);
                if !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
        Ok(found)
    }
}
