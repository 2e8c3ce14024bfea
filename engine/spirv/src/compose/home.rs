//! Whose a variable is that several classes see.

use super::class_module::Owner;
use super::graph::Graph;
use super::library::Library;

/// The element that a private or shared variable belongs to; `None` if no other class comes into question.
pub(crate) fn home(
    library: &Library,
    graph: &Graph,
    element: usize,
    owner: Owner,
    name: &str,
) -> Option<usize> {
    let own = graph.elements.get(element)?;
    match owner {
        Owner::Own => None,
        Owner::Root => {
            let declares = |number: &usize| {
                graph
                    .elements
                    .get(*number)
                    .and_then(|element| library.classes.get(element.class))
                    .is_some_and(|class| {
                        class
                            .header
                            .root_variables
                            .iter()
                            .any(|variable| variable.name == name)
                    })
            };
            (0..graph.elements.len()).find(declares)
        }
        Owner::Interface(class) => {
            let of_class = |number: &&usize| {
                graph
                    .elements
                    .get(**number)
                    .is_some_and(|element| element.class == class)
            };
            if own.class == class {
                return Some(element);
            }
            let node = graph.nodes.get(own.node)?;
            if let Some(found) = node.elements.iter().rev().find(of_class) {
                return Some(*found);
            }
            // An imported class's, then.
            node.elements
                .iter()
                .filter_map(|number| graph.elements.get(*number))
                .flat_map(|element| &element.imports)
                .filter_map(|node| graph.nodes.get(*node))
                .find_map(|node| node.elements.iter().rev().find(of_class))
                .copied()
        }
    }
}
