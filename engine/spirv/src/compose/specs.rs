//! The specialisation constants of class modules: parameters, numbers of classes in slots, the local size.

use std::collections::HashSet;

use super::header::SlotSize;
use super::library::Library;
use super::link::Linked;

/// Function that ends the initialisers of globals in a class's `main`: the front end writes those first.
pub(crate) const MARKER: &str = "mixin_begin";

/// First specialisation constant of ours. The front end takes ids below 2047.
const FIRST_SPEC_ID: u32 = 1024;

/// Specialisation constants for the local size, in classes that do not declare it: the effect's size takes their place.
pub(crate) const LOCAL_SIZE_IDS: [u32; 3] = [1021, 1022, 1023];

/// What a specialisation constant of a class module stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecSource {
    /// A component of a parameter of a class.
    Param {
        class: usize,
        index: usize,
        component: usize,
    },
    /// The number of classes in a slot.
    Count(u32),
    /// The local size along an axis.
    LocalSize(usize),
}

/// The constants of a class module, by SpecId. Depends on headers alone, so a module compiled elsewhere agrees.
pub(crate) fn specs(library: &Library, class: usize, linked: &Linked) -> Vec<(u32, SpecSource)> {
    let mut found: Vec<_> = LOCAL_SIZE_IDS
        .iter()
        .enumerate()
        .map(|(axis, id)| (*id, SpecSource::LocalSize(axis)))
        .collect();
    let mut taken = HashSet::new();
    let mut next = FIRST_SPEC_ID;
    for from in [class].into_iter().chain(linked.visible.iter().copied()) {
        let Some(other) = library.classes.get(from) else {
            continue;
        };
        for (index, param) in other.header.params.iter().enumerate() {
            // Of two parameters of one name the class's own is meant.
            if !taken.insert(param.name.as_str()) {
                continue;
            }
            for component in 0..usize::from(param.ty.components) {
                let source = SpecSource::Param {
                    class: from,
                    index,
                    component,
                };
                found.push((next, source));
                next += 1;
            }
        }
    }
    let mut counted = HashSet::new();
    for slot in &linked.slots {
        let Some(owner) = library.classes.get(slot.class) else {
            continue;
        };
        let array = owner
            .header
            .slots
            .get(slot.index)
            .is_some_and(|slot| slot.size != SlotSize::One);
        if let Some(&symbol) = owner.slot_symbols.get(slot.index)
            && array
            && counted.insert(symbol)
        {
            found.push((next, SpecSource::Count(symbol)));
            next += 1;
        }
    }
    found
}
