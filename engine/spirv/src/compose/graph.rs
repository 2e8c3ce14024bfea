//! A recipe laid out: the classes of every mix in linear order, the mixes in slots, and the imports.

use std::collections::HashMap;

use super::constant::{Constant, ParamType, Scalar, evaluate};
use super::error::{Code, Place};
use super::header::{MemberKind, Param, Reference, SlotSize, reference};
use super::library::Library;
use super::link::{MAX_DEPTH, cycle};
use super::recipe::{Filling, Mix, ParamValue, Recipe};
use crate::Error;

/// Most mixes that a recipe can make, so that slots of slots of slots end.
const MAX_NODES: usize = 4096;

/// A class with its parameters, in a mix.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) class: usize,
    pub(crate) arguments: Vec<Constant>,
    pub(crate) node: usize,
    /// The mixes of its imports.
    pub(crate) imports: Vec<usize>,
}

/// A filled slot.
#[derive(Clone, Debug)]
pub(crate) struct FilledSlot {
    pub(crate) symbol: u32,
    /// Class that declares the slot, and its position there.
    pub(crate) class: usize,
    pub(crate) index: usize,
    pub(crate) nodes: Vec<usize>,
}

/// What a mix is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Effect,
    Slot,
    /// Holds an imported class, or one whose root functions are used from a slot. One for the whole effect.
    Import,
}

/// A mix.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Elements in linear order.
    pub(crate) elements: Vec<usize>,
    pub(crate) slots: Vec<FilledSlot>,
    /// Path for names, such as `lights[0].`.
    pub(crate) path: String,
}

/// The whole recipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) elements: Vec<Element>,
    /// Mixes of imported classes by class and parameters.
    pub(crate) imports: HashMap<(usize, Vec<Constant>), usize>,
}

type Arguments = Vec<Constant>;

/// Lays a recipe out.
pub(crate) fn build(library: &Library, recipe: &Recipe) -> Result<Graph, Error> {
    let mut builder = Builder {
        library,
        file: &recipe.file,
        graph: Graph::default(),
        within: Vec::new(),
        importing: 0,
    };
    builder.mix(&recipe.mix, NodeKind::Effect, String::new())?;
    Ok(builder.graph)
}

struct Builder<'a> {
    library: &'a Library,
    file: &'a str,
    graph: Graph,
    /// Classes whose slots are being filled with their defaults, from the outside in.
    within: Vec<usize>,
    /// Imports of imports that are being laid out.
    importing: usize,
}

/// Parameters of one mix, and which of them were taken.
struct Given<'a> {
    params: &'a [(String, ParamValue)],
    used: Vec<bool>,
}

impl Builder<'_> {
    fn place(&self, line: u32) -> Place {
        Place {
            file: self.file.to_owned(),
            line,
            class: String::new(),
        }
    }

    fn mix(&mut self, mix: &Mix, kind: NodeKind, path: String) -> Result<usize, Error> {
        let place = self.place(mix.line);
        let mut references = Vec::with_capacity(mix.mixins.len());
        for text in &mix.mixins {
            references.push(
                reference(text, mix.line)
                    .map_err(|problem| place.error(Code::M28, text.as_str(), problem))?,
            );
        }
        let mut given = Given {
            params: &mix.params,
            used: vec![false; mix.params.len()],
        };
        let node = self.node(kind, path, &place)?;
        for reference in &references {
            self.add(node, reference, &place, None, &mut given, &mut Vec::new())?;
        }
        if let Some((name, _)) = mix
            .params
            .iter()
            .zip(&given.used)
            .find(|(_, used)| !**used)
            .map(|(param, _)| param)
        {
            return Err(place.error(
                Code::M09,
                name.as_str(),
                "no class of this mix has a parameter of this name",
            ));
        }
        self.fill_slots(node, mix, &place)?;
        Ok(node)
    }

    fn node(&mut self, kind: NodeKind, path: String, place: &Place) -> Result<usize, Error> {
        if self.graph.nodes.len() >= MAX_NODES {
            return Err(place.error(
                Code::M08,
                "",
                format!("the recipe makes more than {MAX_NODES} mixes"),
            ));
        }
        self.graph.nodes.push(Node {
            kind,
            elements: Vec::new(),
            slots: Vec::new(),
            path,
        });
        Ok(self.graph.nodes.len() - 1)
    }

    /// Adds a class after its parents; one that is there with the same parameters stays where it is.
    fn add(
        &mut self,
        node: usize,
        reference: &Reference,
        place: &Place,
        from: Option<(usize, &[Constant])>,
        given: &mut Given<'_>,
        path: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let library = self.library;
        let class = library.require(&reference.class, place)?;
        if let Some(at) = path.iter().position(|other| *other == class) {
            return Err(cycle(
                library,
                path.get(at..).unwrap_or_default(),
                class,
                place,
            ));
        }
        if path.len() >= MAX_DEPTH {
            return Err(place.error(
                Code::M02,
                &reference.class,
                format!("classes inherit more than {MAX_DEPTH} deep"),
            ));
        }
        let arguments = self.arguments(class, reference, place, from, given)?;
        let there = self.graph.nodes.get(node).is_some_and(|node| {
            node.elements
                .iter()
                .filter_map(|element| self.graph.elements.get(*element))
                .any(|element| element.class == class && element.arguments == arguments)
        });
        if there {
            return Ok(());
        }
        let Some(header) = library.classes.get(class).map(|class| &class.header) else {
            return Ok(());
        };
        path.push(class);
        for parent in &header.inherits {
            self.add(
                node,
                parent,
                &header.at(parent.line),
                Some((class, &arguments)),
                given,
                path,
            )?;
        }
        path.pop();
        self.push(node, class, &arguments)
    }

    fn push(&mut self, node: usize, class: usize, arguments: &[Constant]) -> Result<(), Error> {
        let library = self.library;
        let number = self.graph.elements.len();
        self.graph.elements.push(Element {
            class,
            arguments: arguments.to_vec(),
            node,
            imports: Vec::new(),
        });
        if let Some(node) = self.graph.nodes.get_mut(node) {
            node.elements.push(number);
        }
        let Some(header) = library.classes.get(class).map(|class| &class.header) else {
            return Ok(());
        };
        for import in &header.imports {
            let imported = self.import(import, &header.at(import.line), (class, arguments))?;
            if let Some(element) = self.graph.elements.get_mut(number) {
                element.imports.push(imported);
            }
        }
        Ok(())
    }

    fn import(
        &mut self,
        reference: &Reference,
        place: &Place,
        from: (usize, &[Constant]),
    ) -> Result<usize, Error> {
        let class = self.library.require(&reference.class, place)?;
        let mut given = Given {
            params: &[],
            used: Vec::new(),
        };
        let arguments = self.arguments(class, reference, place, Some(from), &mut given)?;
        if self.importing >= MAX_DEPTH {
            return Err(place.error(
                Code::M02,
                &reference.class,
                format!("classes import more than {MAX_DEPTH} deep"),
            ));
        }
        self.importing += 1;
        let node = self.import_node(class, &arguments, place);
        self.importing -= 1;
        node
    }

    /// The mix that holds a class for the whole effect.
    fn import_node(
        &mut self,
        class: usize,
        arguments: &[Constant],
        place: &Place,
    ) -> Result<usize, Error> {
        if let Some(&node) = self.graph.imports.get(&(class, arguments.to_vec())) {
            return Ok(node);
        }
        let node = self.node(NodeKind::Import, String::new(), place)?;
        self.graph.imports.insert((class, arguments.to_vec()), node);
        let mut given = Given {
            params: &[],
            used: Vec::new(),
        };
        let Some(header) = self.library.classes.get(class).map(|class| &class.header) else {
            return Ok(node);
        };
        for parent in &header.inherits {
            self.add(
                node,
                parent,
                &header.at(parent.line),
                Some((class, arguments)),
                &mut given,
                &mut vec![class],
            )?;
        }
        self.push(node, class, arguments)?;
        Ok(node)
    }

    /// Makes mixes for classes in slots that have root functions or override them.
    fn promote(&mut self, node: usize) -> Result<(), Error> {
        let library = self.library;
        let elements = self
            .graph
            .nodes
            .get(node)
            .map(|node| node.elements.clone())
            .unwrap_or_default();
        let class_of = |graph: &Graph, element: &usize| {
            let element = graph.elements.get(*element)?;
            Some((element.clone(), library.classes.get(element.class)?))
        };
        let roots: Vec<u32> = elements
            .iter()
            .filter_map(|element| class_of(&self.graph, element))
            .flat_map(|(_, class)| {
                let members = class.header.members.iter().zip(&class.symbols);
                members
                    .filter(|(member, _)| member.kind == MemberKind::Root)
                    .map(|(_, symbol)| *symbol)
            })
            .collect();
        if roots.is_empty() {
            return Ok(());
        }
        for number in elements {
            let Some((element, class)) = class_of(&self.graph, &number) else {
                continue;
            };
            if class.symbols.iter().any(|symbol| roots.contains(symbol)) {
                self.import_node(element.class, &element.arguments, &class.header.place)?;
            }
        }
        Ok(())
    }

    /// A slot that nobody filled holds the declared class, which must then be complete.
    fn complete(&self, node: usize) -> Option<String> {
        let mut missing: Vec<&str> = Vec::new();
        for element in &self.graph.nodes.get(node)?.elements {
            let class = self
                .graph
                .elements
                .get(*element)
                .and_then(|element| self.library.classes.get(element.class))?;
            for member in &class.header.members {
                missing.retain(|key| *key != member.key);
                if member.kind == MemberKind::Abstract {
                    missing.push(&member.key);
                }
            }
        }
        missing.first().map(|key| (*key).to_owned())
    }

    fn arguments(
        &self,
        class: usize,
        reference: &Reference,
        place: &Place,
        from: Option<(usize, &[Constant])>,
        given: &mut Given<'_>,
    ) -> Result<Arguments, Error> {
        let Some(header) = self.library.classes.get(class).map(|class| &class.header) else {
            return Ok(Vec::new());
        };
        if header.params.is_empty() && reference.arguments.is_empty() {
            return Ok(Vec::new());
        }
        let error = |symbol: &str, message: String| Err(place.error(Code::M09, symbol, message));
        // What the referring class calls its parameters.
        let outer = |name: &str| {
            let (class, values) = from?;
            let at = self
                .library
                .classes
                .get(class)?
                .header
                .params
                .iter()
                .position(|param| param.name == name)?;
            values.get(at).copied()
        };
        let mut explicit: Vec<Option<&str>> = vec![None; header.params.len()];
        for (position, (name, value)) in reference.arguments.iter().enumerate() {
            let at = if name.is_empty() {
                Some(position).filter(|at| *at < header.params.len())
            } else {
                header.params.iter().position(|param| param.name == *name)
            };
            let Some(slot) = at.and_then(|at| explicit.get_mut(at)) else {
                return error(
                    if name.is_empty() { value } else { name },
                    format!(
                        "class {} has {} parameters, none for this",
                        header.name(),
                        header.params.len()
                    ),
                );
            };
            if slot.replace(value).is_some() {
                return error(name, "is given twice".to_owned());
            }
        }
        let mut values: Arguments = Vec::with_capacity(header.params.len());
        for (param, explicit) in header.params.iter().zip(explicit) {
            let by_name = given
                .params
                .iter()
                .position(|(name, _)| *name == param.name);
            if let Some(used) = by_name.and_then(|at| given.used.get_mut(at)) {
                *used = true;
            }
            let by_name = by_name
                .and_then(|at| given.params.get(at))
                .map(|(_, value)| value);
            let value = if let Some(text) = explicit {
                evaluate(text, &outer)
            } else if let Some(value) = by_name {
                constant(value, param)
            } else if let Some(text) = &param.default {
                let own = |name: &str| {
                    let at = header.params.iter().position(|param| param.name == name)?;
                    values.get(at).copied()
                };
                evaluate(text, &own)
            } else {
                return error(
                    &param.name,
                    format!(
                        "parameter of class {} without a value and without a default",
                        header.name()
                    ),
                );
            };
            match value.and_then(|value| value.converted(param.ty)) {
                Ok(value) => values.push(value),
                Err(problem) => {
                    return error(
                        &param.name,
                        format!("parameter of class {} {problem}", header.name()),
                    );
                }
            }
        }
        Ok(values)
    }

    fn fill_slots(&mut self, node: usize, mix: &Mix, place: &Place) -> Result<(), Error> {
        let library = self.library;
        let Some(found) = self.graph.nodes.get(node) else {
            return Ok(());
        };
        let (elements, path) = (found.elements.clone(), found.path.clone());
        let mut declared: Vec<FilledSlot> = Vec::new();
        for number in elements {
            let Some(element) = self.graph.elements.get(number) else {
                continue;
            };
            let (class, arguments) = (element.class, element.arguments.clone());
            let Some(owner) = library.classes.get(class) else {
                continue;
            };
            for (index, (slot, &symbol)) in owner
                .header
                .slots
                .iter()
                .zip(&owner.slot_symbols)
                .enumerate()
            {
                let slot_place = owner.header.at(slot.class.line);
                if let Some(other) = declared.iter().find(|other| other.symbol == symbol) {
                    let same = library
                        .classes
                        .get(other.class)
                        .and_then(|class| class.header.slots.get(other.index))
                        .is_some_and(|other| {
                            other.class.class == slot.class.class && other.size == slot.size
                        });
                    if same {
                        continue;
                    }
                    return Err(slot_place.error(
                        Code::M08,
                        &slot.name,
                        "two classes of the mix declare this slot differently",
                    ));
                }
                let filling = mix.slots.iter().find(|(name, _)| *name == slot.name);
                let nodes = self.fill(
                    class,
                    &arguments,
                    index,
                    filling.map(|(_, filling)| filling),
                    &path,
                    place,
                )?;
                declared.push(FilledSlot {
                    symbol,
                    class,
                    index,
                    nodes,
                });
            }
        }
        for (name, _) in &mix.slots {
            let known = library
                .find_symbol(name)
                .is_some_and(|symbol| declared.iter().any(|slot| slot.symbol == symbol));
            if !known {
                let names: Vec<_> = declared
                    .iter()
                    .filter_map(|slot| {
                        library
                            .symbols
                            .get(slot.symbol as usize)
                            .map(String::as_str)
                    })
                    .collect();
                return Err(place.error(
                    Code::M08,
                    name.as_str(),
                    format!(
                        "no class of this mix has a slot of this name; there are: {}",
                        names.join(", ")
                    ),
                ));
            }
        }
        if let Some(node) = self.graph.nodes.get_mut(node) {
            node.slots = declared;
        }
        Ok(())
    }

    fn fill(
        &mut self,
        class: usize,
        arguments: &[Constant],
        index: usize,
        filling: Option<&Filling>,
        path: &str,
        place: &Place,
    ) -> Result<Vec<usize>, Error> {
        let library = self.library;
        let Some((header, slot)) = library
            .classes
            .get(class)
            .and_then(|class| Some((&class.header, class.header.slots.get(index)?)))
        else {
            return Ok(Vec::new());
        };
        let kind = library.require(&slot.class.class, &header.at(slot.class.line))?;
        let error = |message: String| {
            Place {
                class: header.name().to_owned(),
                ..place.clone()
            }
            .error(Code::M08, &slot.name, message)
        };
        let mut nodes = Vec::new();
        let name = |position: usize| match slot.size {
            SlotSize::One => format!("{path}{}.", slot.name),
            _ => format!("{path}{}[{position}].", slot.name),
        };
        let mixes: Vec<&Mix> = match filling {
            Some(Filling::One(mix)) => vec![mix],
            Some(Filling::Many(mixes)) => mixes.iter().collect(),
            None => {
                if let Some(at) = self.within.iter().position(|other| *other == kind) {
                    let path = self.within.get(at..).unwrap_or_default();
                    return Err(cycle(library, path, kind, &header.at(slot.class.line)));
                }
                let count = match slot.size {
                    SlotSize::Exactly(count) => count as usize,
                    _ => 1,
                };
                for position in 0..count {
                    let node = self.node(NodeKind::Slot, name(position), place)?;
                    let mut given = Given {
                        params: &[],
                        used: Vec::new(),
                    };
                    let slot_place = header.at(slot.class.line);
                    self.add(
                        node,
                        &slot.class,
                        &slot_place,
                        Some((class, arguments)),
                        &mut given,
                        &mut Vec::new(),
                    )?;
                    if let Some(missing) = self.complete(node) {
                        return Err(error(format!(
                            "is not filled, and the class {} is abstract: {missing} has no body",
                            slot.class.class
                        )));
                    }
                    self.within.push(kind);
                    self.fill_slots(node, &Mix::default(), place)?;
                    self.within.pop();
                    self.promote(node)?;
                    nodes.push(node);
                }
                return Ok(nodes);
            }
        };
        match (slot.size, filling) {
            (SlotSize::One, Some(Filling::Many(_))) => {
                return Err(error("is a single slot, but a list was given".to_owned()));
            }
            (SlotSize::Exactly(count), _) if count as usize != mixes.len() => {
                return Err(error(format!(
                    "takes {count} classes, but {} were given",
                    mixes.len()
                )));
            }
            _ => {}
        }
        for (position, mix) in mixes.into_iter().enumerate() {
            let outer = std::mem::take(&mut self.within);
            let node = self.mix(mix, NodeKind::Slot, name(position));
            self.within = outer;
            let node = node?;
            let fits = self.graph.nodes.get(node).is_some_and(|node| {
                node.elements
                    .iter()
                    .filter_map(|element| self.graph.elements.get(*element))
                    .any(|element| element.class == kind)
            });
            if !fits {
                return Err(error(format!(
                    "takes classes that inherit {}, but {} does not",
                    slot.class.class,
                    mix.mixins.join(" + ")
                )));
            }
            self.promote(node)?;
            nodes.push(node);
        }
        Ok(nodes)
    }
}

/// A recipe's value as the type of a parameter.
fn constant(value: &ParamValue, param: &Param) -> Result<Constant, String> {
    let scalar = |value: &ParamValue| -> Result<u32, String> {
        let wrong = || Err(format!("is {value:?}, expected {}", param.ty));
        match (param.ty.scalar, value) {
            (Scalar::Bool, ParamValue::Bool(value)) => Ok(u32::from(*value)),
            (Scalar::Int, ParamValue::Int(value)) => i32::try_from(*value)
                .map(|value| value as u32)
                .map_err(|_| format!("is {value}, which is out of range for int")),
            (Scalar::Uint, ParamValue::Int(value)) => u32::try_from(*value)
                .map_err(|_| format!("is {value}, which is out of range for uint")),
            (Scalar::Float, ParamValue::Int(value)) => Ok((*value as f32).to_bits()),
            (Scalar::Float, ParamValue::Float(value)) if (*value as f32).is_finite() => {
                Ok((*value as f32).to_bits())
            }
            (Scalar::Float, ParamValue::Float(value)) => {
                Err(format!("is {value}, which is out of range for float"))
            }
            _ => wrong(),
        }
    };
    let mut bits = [0; 4];
    let ty = ParamType { ..param.ty };
    match value {
        ParamValue::Vector(parts) => {
            if ty.components == 1 || parts.len() != usize::from(ty.components) {
                return Err(format!("has {} components, expected {ty}", parts.len()));
            }
            for (to, part) in bits.iter_mut().zip(parts) {
                *to = scalar(part)?;
            }
        }
        single if ty.components == 1 => bits[0] = scalar(single)?,
        _ => return Err(format!("is a single value, expected {ty}")),
    }
    Ok(Constant { ty, bits })
}
