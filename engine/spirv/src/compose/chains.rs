//! Chains: all definitions of a function in a mix, or of a root function in the effect, from the first to the most derived.

use super::error::Code;
use super::header::MemberKind;
use super::link::same_signature;
use super::resolve::{Entry, ROOT, Resolver};
use crate::Error;

impl Resolver<'_> {
    pub(crate) fn build_chains(&mut self) -> Result<(), Error> {
        for class in self
            .graph
            .elements
            .iter()
            .filter_map(|element| self.library.classes.get(element.class))
        {
            for (member, &symbol) in class.header.members.iter().zip(&class.symbols) {
                if member.kind == MemberKind::Root && !self.roots.contains(&symbol) {
                    self.roots.push(symbol);
                }
            }
        }
        for node in 0..self.graph.nodes.len() {
            self.chain_node(node)?;
        }
        if !self.roots.is_empty() {
            let mut order = Vec::new();
            self.root_order(0, &mut order);
            // Imported classes and what hangs on them come first: they are furthest from the effect.
            for element in order {
                self.chain_root(element)?;
            }
        }
        Ok(())
    }

    /// Elements in the order in which their root functions stack: what is in a class's slots before the class itself.
    fn root_order(&self, node: usize, order: &mut Vec<usize>) {
        let Some(found) = self.graph.nodes.get(node) else {
            return;
        };
        for &number in &found.elements {
            let Some(element) = self.graph.elements.get(number) else {
                continue;
            };
            for slot in found
                .slots
                .iter()
                .filter(|slot| slot.class == element.class)
            {
                for inner in &slot.nodes {
                    self.root_order(*inner, order);
                }
            }
            // One instance for the effect: the effect's own, or that of the mix that holds the class for all.
            let at_root = self.graph.nodes.first().and_then(|root| {
                root.elements.iter().copied().find(|other| {
                    self.graph.elements.get(*other).is_some_and(|other| {
                        other.class == element.class && other.arguments == element.arguments
                    })
                })
            });
            let shared = || {
                let node = self
                    .graph
                    .imports
                    .get(&(element.class, element.arguments.clone()))?;
                self.graph.nodes.get(*node)?.elements.last().copied()
            };
            if let Some(home) = at_root.or_else(shared)
                && !order.contains(&home)
            {
                order.push(home);
            }
        }
    }

    fn is_root(&self, element: usize, symbol: u32) -> bool {
        self.roots.contains(&symbol) && {
            // An unrelated function of the same name that the mix itself introduces is none.
            let node = self
                .graph
                .elements
                .get(element)
                .map_or(0, |element| element.node);
            !self.chains.contains_key(&(node, symbol))
        }
    }

    fn members(&self, element: usize) -> Vec<(usize, u32, MemberKind, Option<u32>)> {
        let (Some(class), Some(Some(module))) = (self.class(element), self.modules.get(element))
        else {
            return Vec::new();
        };
        class
            .header
            .members
            .iter()
            .zip(&class.symbols)
            .enumerate()
            .map(|(index, (member, &symbol))| {
                (
                    index,
                    symbol,
                    member.kind,
                    module.members.get(index).copied().flatten(),
                )
            })
            .collect()
    }

    fn chain_node(&mut self, node: usize) -> Result<(), Error> {
        let elements = self
            .graph
            .nodes
            .get(node)
            .map(|node| node.elements.as_slice())
            .unwrap_or_default();
        for &element in elements {
            for (member, symbol, kind, function) in self.members(element) {
                if kind == MemberKind::Root
                    || (self.is_root(element, symbol) && kind == MemberKind::Override)
                {
                    continue;
                }
                let entry = Entry {
                    element,
                    member,
                    function,
                };
                self.append((node, symbol), entry, kind)?;
            }
        }
        Ok(())
    }

    fn chain_root(&mut self, element: usize) -> Result<(), Error> {
        for (member, symbol, kind, function) in self.members(element) {
            let root = kind == MemberKind::Root
                || (kind == MemberKind::Override && self.is_root(element, symbol));
            if root {
                let entry = Entry {
                    element,
                    member,
                    function,
                };
                self.append((ROOT, symbol), entry, kind)?;
            }
        }
        Ok(())
    }

    fn append(&mut self, key: (usize, u32), entry: Entry, kind: MemberKind) -> Result<(), Error> {
        let Some(class) = self.class(entry.element) else {
            return Ok(());
        };
        let Some(member) = class.header.members.get(entry.member) else {
            return Ok(());
        };
        let place = class.header.at(member.line);
        let previous = self
            .chains
            .get(&key)
            .and_then(|chain| chain.last())
            .copied();
        let Some(previous) = previous else {
            if kind == MemberKind::Override {
                return Err(place.error(
                    Code::M04,
                    &member.key,
                    "overrides a function that no earlier class of the mix has",
                ));
            }
            self.chains.insert(key, vec![entry]);
            return Ok(());
        };
        if let Some(other) = self.class(previous.element)
            && let Some(declared) = other.header.members.get(previous.member)
        {
            same_signature(
                &class.header,
                member.line,
                &member.prototype,
                &other.header,
                declared.line,
                &declared.prototype,
            )?;
            match kind {
                MemberKind::Override => {}
                // The same promise again adds nothing.
                MemberKind::Abstract => return Ok(()),
                MemberKind::Virtual | MemberKind::Root => {
                    // The same class with other parameters introduces the function once more; so may a body for a promise.
                    let same_class = self.chains.get(&key).is_some_and(|chain| {
                        chain.iter().any(|entry| {
                            self.class(entry.element)
                                .is_some_and(|other| std::ptr::eq(class, other))
                        })
                    });
                    if !same_class && previous.function.is_some() {
                        if member.implied && declared.implied {
                            return Err(place.error(
                                Code::M17,
                                &member.key,
                                format!(
                                    "the mix has two entry points, the other one in class {} ({}:{})",
                                    other.header.name(),
                                    other.header.place.file,
                                    declared.line
                                ),
                            ));
                        }
                        return Err(place.error(
                            Code::M05,
                            &member.key,
                            format!(
                                "is defined here and in class {} ({}:{}); one must override the other",
                                other.header.name(),
                                other.header.place.file,
                                declared.line
                            ),
                        ));
                    }
                }
            }
        }
        if let Some(chain) = self.chains.get_mut(&key) {
            chain.push(entry);
        }
        Ok(())
    }
}
