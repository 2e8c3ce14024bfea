//! Places: parts of variables that pointers point at, as a tree that all entry points share.

use std::collections::HashMap;

use spirv::Op;

use crate::module::Module;

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

/// The tree. It stops growing at a limit; then a part stands for the whole, which says more than the code does, never less.
#[derive(Debug)]
pub(crate) struct Places {
    nodes: Vec<Place>,
    index: HashMap<(Option<PlaceId>, Step, u32), PlaceId>,
    limit: usize,
}

impl Places {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            nodes: Vec::new(),
            index: HashMap::new(),
            limit,
        }
    }

    pub(crate) fn get(&self, id: PlaceId) -> Place {
        self.nodes.get(id.0 as usize).copied().unwrap_or(Place {
            parent: None,
            step: Step::View,
            root: Root::Physical(0),
            ty: 0,
        })
    }

    fn intern(&mut self, place: Place) -> Option<PlaceId> {
        let key = (place.parent, place.step, place.ty);
        if let Some(found) = self.index.get(&key) {
            return Some(*found);
        }
        if self.nodes.len() >= self.limit && place.parent.is_some() {
            return None;
        }
        let id = PlaceId(self.nodes.len() as u32);
        self.nodes.push(place);
        self.index.insert(key, id);
        Some(id)
    }

    pub(crate) fn root(&mut self, root: Root, ty: u32) -> PlaceId {
        self.intern(Place {
            parent: None,
            step: Step::Root(root),
            root,
            ty,
        })
        .unwrap_or(PlaceId(0))
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
        let parent = self.get(place);
        let Some(definition) = module.definition(parent.ty) else {
            return place;
        };
        let element = definition.operands.get(1).copied();
        let (step, ty) = match (Op::from_u32(definition.opcode), index) {
            (Some(Op::TypeStruct), Some(member)) => (
                Step::Member(member),
                definition.rest(1).get(member as usize).copied(),
            ),
            (
                Some(Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix),
                Some(index),
            ) => (Step::Element(index), element),
            (
                Some(Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix),
                None,
            ) => (Step::AnyElement, element),
            _ => return place,
        };
        match ty {
            Some(ty) => self
                .intern(Place {
                    parent: Some(place),
                    step,
                    root: parent.root,
                    ty,
                })
                .unwrap_or(place),
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
        self.intern(Place {
            parent: Some(place),
            step: Step::View,
            root: at.root,
            ty,
        })
        .unwrap_or(place)
    }

    /// Places from the root down to this one.
    pub(crate) fn path(&self, id: PlaceId) -> Vec<PlaceId> {
        let mut path = vec![id];
        let mut at = id;
        while let Some(parent) = self.get(at).parent {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        path
    }
}
