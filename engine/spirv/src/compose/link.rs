//! What a class sees of others: parents, imports, slots, and the functions that stand for theirs.

use std::collections::HashSet;

use super::error::{Code, Place};
use super::header::{Header, MemberKind, SlotSize};
use super::library::Library;
use super::prototype::Prototype;
use crate::{Error, Stage};

/// Most classes that inherit, import or compose one another in a row.
pub(crate) const MAX_DEPTH: usize = 128;

/// What a function of a class module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Helper of the class.
    Private,
    /// Defined by the class and declared in its header: the member's position.
    Own(usize),
    /// Declared by a parent.
    Inherited(u32),
    /// Declared root by a parent.
    Root(u32),
    /// The definition before an override: the member's position.
    Base(usize),
    /// Declared by an imported class: class that imports, position among its imports, symbol.
    Import(usize, usize, u32),
    /// A slot's function: name of the slot, symbol.
    Slot(u32, u32),
    /// All of a slot's functions: name of the slot, symbol.
    Each(u32, u32),
}

/// A function that a class can call although it does not define it.
#[derive(Clone, Debug)]
pub(crate) struct Stub {
    pub(crate) name: String,
    pub(crate) prototype: Prototype,
    pub(crate) role: Role,
}

/// A slot that a class can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisibleSlot {
    pub(crate) class: usize,
    pub(crate) index: usize,
}

/// A class in its surroundings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linked {
    /// All parents, bases first.
    pub(crate) parents: Vec<usize>,
    /// Classes whose interfaces it sees, in the order in which they depend on each other. Not itself.
    pub(crate) visible: Vec<usize>,
    /// Own and inherited imports: class that imports, position.
    pub(crate) imports: Vec<(usize, usize)>,
    /// Own and inherited slots.
    pub(crate) slots: Vec<VisibleSlot>,
    /// Keys that are root for it.
    pub(crate) roots: HashSet<u32>,
}

/// Parents of a class, bases first, each once.
pub(crate) fn parents(library: &Library, class: usize) -> Result<Vec<usize>, Error> {
    let mut found = Vec::new();
    let mut path = vec![class];
    for reference in &header(library, class)?.inherits {
        visit_parents(
            library,
            &reference.class,
            reference.line,
            &mut path,
            &mut found,
        )?;
    }
    Ok(found)
}

fn header(library: &Library, class: usize) -> Result<&Header, Error> {
    library
        .classes
        .get(class)
        .map(|class| &class.header)
        .ok_or_else(|| Place::default().error(Code::M01, "", "no such class"))
}

fn visit_parents(
    library: &Library,
    name: &str,
    line: u32,
    path: &mut Vec<usize>,
    found: &mut Vec<usize>,
) -> Result<(), Error> {
    let from = path.last().copied().unwrap_or_default();
    let place = header(library, from)?.at(line);
    let class = library.require(name, &place)?;
    if let Some(at) = path.iter().position(|other| *other == class) {
        return Err(cycle(
            library,
            path.get(at..).unwrap_or_default(),
            class,
            &place,
        ));
    }
    if found.contains(&class) {
        return Ok(());
    }
    if path.len() >= MAX_DEPTH {
        return Err(place.error(
            Code::M02,
            name,
            format!("classes inherit more than {MAX_DEPTH} deep"),
        ));
    }
    path.push(class);
    for reference in &header(library, class)?.inherits {
        visit_parents(library, &reference.class, reference.line, path, found)?;
    }
    path.pop();
    found.push(class);
    Ok(())
}

/// The error of classes that inherit in a circle.
pub(crate) fn cycle(library: &Library, path: &[usize], again: usize, place: &Place) -> Error {
    let names: Vec<_> = path
        .iter()
        .chain([&again])
        .filter_map(|class| library.classes.get(*class))
        .map(|class| class.header.name())
        .collect();
    place.error(
        Code::M02,
        names.last().copied().unwrap_or_default(),
        format!("classes inherit in a circle: {}", names.join(" -> ")),
    )
}

/// Links one class.
pub(crate) fn link(library: &Library, class: usize) -> Result<Linked, Error> {
    let mut linked = Linked {
        parents: parents(library, class)?,
        ..Linked::default()
    };
    let family: Vec<usize> = linked.parents.iter().copied().chain([class]).collect();
    for &member in &family {
        let own = header(library, member)?;
        for index in 0..own.imports.len() {
            linked.imports.push((member, index));
        }
        for index in 0..own.slots.len() {
            linked.slots.push(VisibleSlot {
                class: member,
                index,
            });
        }
        if let Some(found) = library.classes.get(member) {
            for (declared, symbol) in own.members.iter().zip(&found.symbols) {
                if declared.kind == MemberKind::Root {
                    linked.roots.insert(*symbol);
                }
            }
        }
    }
    let mut seen = HashSet::from([class]);
    visit_visible(library, class, 0, &mut seen, &mut linked.visible)?;
    check_overrides(library, class, &linked)?;
    Ok(linked)
}

fn visit_visible(
    library: &Library,
    class: usize,
    depth: usize,
    seen: &mut HashSet<usize>,
    found: &mut Vec<usize>,
) -> Result<(), Error> {
    let own = header(library, class)?;
    let references = own
        .inherits
        .iter()
        .chain(&own.imports)
        .chain(own.slots.iter().map(|slot| &slot.class));
    for reference in references {
        let other = library.require(&reference.class, &own.at(reference.line))?;
        if depth >= MAX_DEPTH {
            let problem = format!("classes depend on each other more than {MAX_DEPTH} deep");
            return Err(own
                .at(reference.line)
                .error(Code::M02, &reference.class, problem));
        }
        if seen.insert(other) {
            visit_visible(library, other, depth + 1, seen, found)?;
            found.push(other);
        }
    }
    Ok(())
}

/// A function with a body that a parent declares must say that it overrides; signatures must agree.
fn check_overrides(library: &Library, class: usize, linked: &Linked) -> Result<(), Error> {
    let own = header(library, class)?;
    for &parent in &linked.parents {
        let other = header(library, parent)?;
        for declared in &other.members {
            let member = own.members.iter().find(|member| member.key == declared.key);
            let silent = member.is_none_or(|member| member.implied);
            if silent
                && let Some((_, line)) =
                    own.definitions.iter().find(|(key, _)| *key == declared.key)
            {
                return Err(own.at(*line).error(
                    Code::M05,
                    &declared.key,
                    format!(
                        "is defined here without override, but {} declares it in {}:{}",
                        other.name(),
                        other.place.file,
                        declared.line
                    ),
                ));
            }
            if let Some(member) = member {
                same_signature(
                    own,
                    member.line,
                    &member.prototype,
                    other,
                    declared.line,
                    &declared.prototype,
                )?;
            }
        }
    }
    Ok(())
}

/// Two declarations of one function agree in what the key leaves out.
pub(crate) fn same_signature(
    own: &Header,
    line: u32,
    prototype: &Prototype,
    other: &Header,
    other_line: u32,
    declared: &Prototype,
) -> Result<(), Error> {
    let same = prototype.returns == declared.returns
        && prototype
            .parameters
            .iter()
            .zip(&declared.parameters)
            .all(|(a, b)| {
                a.direction == b.direction
                    && a.constant == b.constant
                    && a.is_opaque() == b.is_opaque()
            });
    if same {
        return Ok(());
    }
    Err(own.at(line).error(
        Code::M06,
        prototype.key(),
        format!(
            "is \"{}\" here, but {} declares \"{}\" in {}:{other_line}",
            prototype.text(),
            other.name(),
            declared.text(),
            other.place.file
        ),
    ))
}

/// The functions that a class may call in a stage without defining them.
pub(crate) fn stubs(library: &Library, class: usize, linked: &Linked, stage: Stage) -> Vec<Stub> {
    let mut found: Vec<Stub> = Vec::new();
    let Some(own) = library.classes.get(class) else {
        return found;
    };
    let mut taken: HashSet<u32> = HashSet::new();
    for (index, member) in own.header.members.iter().enumerate() {
        match member.kind {
            MemberKind::Abstract => continue,
            MemberKind::Override => found.push(Stub {
                name: format!("base_{}", member.prototype.name),
                prototype: member.prototype.clone(),
                role: Role::Base(index),
            }),
            MemberKind::Virtual | MemberKind::Root => {}
        }
        taken.insert(own.symbols.get(index).copied().unwrap_or_default());
    }
    let mut add = |found: &mut Vec<Stub>, from: usize, role: &dyn Fn(u32) -> Role| {
        let Some(other) = library
            .classes
            .get(from)
            .filter(|other| other.header.takes_part(stage))
        else {
            return;
        };
        for (member, &symbol) in other.header.members.iter().zip(&other.symbols) {
            if taken.insert(symbol) {
                found.push(Stub {
                    name: member.prototype.name.clone(),
                    prototype: member.prototype.clone(),
                    role: role(symbol),
                });
            }
        }
    };
    let inherited = |symbol: u32| {
        if linked.roots.contains(&symbol) {
            Role::Root(symbol)
        } else {
            Role::Inherited(symbol)
        }
    };
    for &parent in linked.parents.iter().chain([&class]) {
        add(&mut found, parent, &inherited);
    }
    for &(importer, index) in &linked.imports {
        for from in with_parents(library, importer, index) {
            add(&mut found, from, &|symbol| {
                Role::Import(importer, index, symbol)
            });
        }
    }
    for slot in &linked.slots {
        slot_stubs(library, *slot, stage, &mut found);
    }
    found
}

/// An imported class with its parents; none if there is no such class.
fn with_parents(library: &Library, importer: usize, index: usize) -> Vec<usize> {
    let name = library
        .classes
        .get(importer)
        .and_then(|class| class.header.imports.get(index))
        .map(|reference| reference.class.as_str());
    family(library, name.unwrap_or_default())
}

fn family(library: &Library, name: &str) -> Vec<usize> {
    let Some(class) = library.find(name) else {
        return Vec::new();
    };
    let mut all = parents(library, class).unwrap_or_default();
    all.push(class);
    all
}

fn slot_stubs(library: &Library, slot: VisibleSlot, stage: Stage, found: &mut Vec<Stub>) {
    let Some(owner) = library
        .classes
        .get(slot.class)
        .filter(|owner| owner.header.takes_part(stage))
    else {
        return;
    };
    let (Some(declared), Some(&name)) = (
        owner.header.slots.get(slot.index),
        owner.slot_symbols.get(slot.index),
    ) else {
        return;
    };
    let mut seen = HashSet::new();
    for member_class in family(library, &declared.class.class) {
        let Some(class) = library
            .classes
            .get(member_class)
            .filter(|class| class.header.takes_part(stage))
        else {
            continue;
        };
        for (member, &symbol) in class.header.members.iter().zip(&class.symbols) {
            if !seen.insert(symbol) {
                continue;
            }
            let function = &member.prototype.name;
            if declared.size == SlotSize::One {
                found.push(Stub {
                    name: format!("slot_{}_{function}", declared.name),
                    prototype: member.prototype.clone(),
                    role: Role::Slot(name, symbol),
                });
            } else if member.prototype.returns == "void" {
                found.push(Stub {
                    name: format!("slot_foreach_{}_{function}", declared.name),
                    prototype: member.prototype.clone(),
                    role: Role::Each(name, symbol),
                });
            }
        }
    }
}
