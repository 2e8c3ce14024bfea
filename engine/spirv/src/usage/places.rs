//! Places: parts of variables that pointers point at, as a tree that all entry points share.

use std::collections::HashMap;

use spirv::Op;

use crate::module::{IdTable, Module};

/// Index of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlaceId(pub(crate) u32);

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Root {
    /// A variable, global or local.
    Variable(u32),
    /// Whatever a physical pointer of this pointee type points at.
    Physical(u32),
}

impl Root {
    /// Id of the variable, or of the type.
    pub(crate) fn id(self) -> u32 {
        match self {
            Self::Variable(id) | Self::Physical(id) => id,
        }
    }
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Step {
    /// The beginning.
    Root(Root),
    /// A member of a struct.
    Member(u32),
    /// An element of an array, vector or matrix with this index.
    Element(u32),
    /// An element whose index is not constant: any of them.
    AnyElement,
    /// The same memory seen as another type.
    View,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) parent: Option<PlaceId>,
    pub(crate) step: Step,
    pub(crate) root: Root,
    /// Type of what lies there; 0 if unknown.
    pub(crate) ty: u32,
}

/// A place in the tree, with its links: children of one parent form a list.
#[derive(Clone, Copy, Debug)]
struct Node {
    place: Place,
    /// Number of the newest child, plus 1; 0 if there is none.
    child: u32,
    /// Number of the next older child of the same parent, plus 1.
    sibling: u32,
    children: u32,
}

/// Children that are found by going through the list; places with more use the map.
const MAX_LISTED: u32 = 8;

/// The tree. It stops growing at a limit; then a part stands for the whole, which says more than the code does, never less.
#[derive(Debug, Default)]
pub(crate) struct Places {
    nodes: Vec<Node>,
    /// Number of the place of each variable, plus 1.
    variables: IdTable<u32>,
    /// The same for what physical pointers point at, by type.
    physical: HashMap<u32, PlaceId>,
    crowded: HashMap<(PlaceId, Step, u32), PlaceId>,
    limit: usize,
}

impl Places {
    /// Makes the tree empty, for another module.
    pub(crate) fn reset(&mut self, limit: usize) {
        self.nodes.clear();
        self.variables.clear();
        self.physical.clear();
        self.crowded.clear();
        self.limit = limit;
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn get(&self, id: PlaceId) -> &Place {
        const UNKNOWN: &Place = &Place {
            parent: None,
            step: Step::View,
            root: Root::Physical(0),
            ty: 0,
        };
        match self.nodes.get(id.0 as usize) {
            Some(node) => &node.place,
            None => UNKNOWN,
        }
    }

    fn push(&mut self, place: Place, sibling: u32) -> PlaceId {
        self.nodes.push(Node {
            place,
            child: 0,
            sibling,
            children: 0,
        });
        PlaceId(self.nodes.len() as u32 - 1)
    }

    /// The part of `parent` that a step leads to; `None` if the tree is full.
    fn part(&mut self, parent: PlaceId, step: Step, ty: u32) -> Option<PlaceId> {
        let above = *self.nodes.get(parent.0 as usize)?;
        let mut at = above.child;
        for _ in 0..MAX_LISTED {
            let Some(node) = at.checked_sub(1).and_then(|at| self.nodes.get(at as usize)) else {
                break;
            };
            if node.place.step == step && node.place.ty == ty {
                return Some(PlaceId(at - 1));
            }
            at = node.sibling;
        }
        let key = (parent, step, ty);
        if above.children > MAX_LISTED
            && let Some(found) = self.crowded.get(&key)
        {
            return Some(*found);
        }
        if self.nodes.len() >= self.limit {
            return None;
        }
        let id = self.push(
            Place {
                parent: Some(parent),
                step,
                root: above.place.root,
                ty,
            },
            above.child,
        );
        if let Some(above) = self.nodes.get_mut(parent.0 as usize) {
            above.child = id.0 + 1;
            above.children += 1;
            if above.children == MAX_LISTED + 1 {
                self.move_to_map(parent);
            } else if above.children > MAX_LISTED {
                self.crowded.insert(key, id);
            }
        }
        Some(id)
    }

    /// Puts all children of a place into the map: there are too many for the list.
    fn move_to_map(&mut self, parent: PlaceId) {
        let mut at = self
            .nodes
            .get(parent.0 as usize)
            .map_or(0, |above| above.child);
        while let Some(node) = at.checked_sub(1).and_then(|at| self.nodes.get(at as usize)) {
            self.crowded
                .insert((parent, node.place.step, node.place.ty), PlaceId(at - 1));
            at = node.sibling;
        }
    }

    /// The place of a whole variable, or of what a physical pointer points at.
    pub(crate) fn root(
        &mut self,
        module: &Module,
        root: Root,
        ty: impl FnOnce() -> u32,
    ) -> PlaceId {
        let known = match root {
            Root::Variable(id) => self.variables.get(module, id).checked_sub(1).map(PlaceId),
            Root::Physical(pointee) => self.physical.get(&pointee).copied(),
        };
        if let Some(known) = known {
            return known;
        }
        let place = self.push(
            Place {
                parent: None,
                step: Step::Root(root),
                root,
                ty: ty(),
            },
            0,
        );
        match root {
            Root::Variable(id) => self.variables.set(module, id, place.0 + 1),
            Root::Physical(pointee) => {
                self.physical.insert(pointee, place);
            }
        }
        place
    }

    /// The whole that a place is part of.
    pub(crate) fn whole(&self, id: PlaceId) -> PlaceId {
        let mut at = id;
        while let Some(parent) = self.get(at).parent {
            at = parent;
        }
        at
    }

    /// The part of `place` that an index leads to; the place itself if its type has no such part.
    pub(crate) fn child(&mut self, module: &Module, place: PlaceId, index: Option<u32>) -> PlaceId {
        let Some(definition) = module.definition(self.get(place).ty) else {
            return place;
        };
        let (step, ty) = if definition.is(Op::TypeStruct) {
            let Some(member) = index else {
                return place;
            };
            (
                Step::Member(member),
                definition.rest(1).get(member as usize),
            )
        } else if definition.is_any([
            Op::TypeArray,
            Op::TypeRuntimeArray,
            Op::TypeVector,
            Op::TypeMatrix,
        ]) {
            let step = index.map_or(Step::AnyElement, Step::Element);
            (step, definition.operands.get(1))
        } else {
            return place;
        };
        match ty {
            Some(ty) => self.part(place, step, *ty).unwrap_or(place),
            None => place,
        }
    }

    /// The neighbours of an array element: what pointer arithmetic can reach from it.
    pub(crate) fn neighbours(&mut self, module: &Module, place: PlaceId) -> PlaceId {
        let at = self.get(place);
        match (at.parent, at.step) {
            (Some(parent), Step::Element(_) | Step::AnyElement) => self.child(module, parent, None),
            _ => place,
        }
    }

    /// The same memory seen as another type.
    pub(crate) fn view(&mut self, place: PlaceId, ty: u32) -> PlaceId {
        let at = self.get(place);
        if at.ty == ty {
            return place;
        }
        // A loop that moves a pointer on must not make views of views without end.
        let mut above = at.parent;
        while let Some(id) = above {
            let ancestor = self.get(id);
            if ancestor.step == Step::View && ancestor.ty == ty {
                return id;
            }
            above = ancestor.parent;
        }
        self.part(place, Step::View, ty).unwrap_or(place)
    }

    /// Places from the root down to this one, into `path`.
    pub(crate) fn path(&self, id: PlaceId, path: &mut Vec<PlaceId>) {
        path.clear();
        path.push(id);
        let mut at = id;
        while let Some(parent) = self.get(at).parent {
            path.push(parent);
            at = parent;
        }
        path.reverse();
    }
}
