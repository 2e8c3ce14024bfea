//! Inputs and outputs: variables and members, with their locations.

use std::collections::BTreeSet;

use crate::interface::Name;
use spirv::{Decoration, Op, StorageClass};

use super::Reflection;
use super::constants::scalar_type;
use crate::error::Error;
use crate::interface::{BuiltIn, EntryPoint, Format, InterfaceVariable, Interpolation, Stage};
use crate::module::{Decorated, Module};

/// Elements of an array of structs that are listed one by one; more locations than any device has.
const MAX_ELEMENTS: u32 = 4096;

/// What decorations say about an input or output; members inherit from the variable.
#[derive(Clone, Debug, Default)]
struct Traits {
    location: Option<u32>,
    component: Option<u32>,
    index: Option<u32>,
    built_in: Option<u32>,
    interpolation: Interpolation,
    per_primitive: bool,
    per_vertex: bool,
    patch: bool,
    semantic: Option<Box<str>>,
}

impl Traits {
    fn read<'a>(&mut self, decorations: impl Iterator<Item = Decorated<'a>>) {
        for found in decorations {
            if found.is(Decoration::Location) {
                self.location = found.literal();
                continue;
            }
            if found.is(Decoration::BuiltIn) {
                self.built_in = found.literal();
                continue;
            }
            match Decoration::from_u32(found.decoration) {
                Some(Decoration::Component) => self.component = found.literal(),
                Some(Decoration::Index) => self.index = found.literal(),
                Some(Decoration::Flat) => self.interpolation.flat = true,
                Some(Decoration::NoPerspective) => self.interpolation.no_perspective = true,
                Some(Decoration::Centroid) => self.interpolation.centroid = true,
                Some(Decoration::Sample) => self.interpolation.sample = true,
                Some(Decoration::PerPrimitiveEXT) => self.per_primitive = true,
                Some(Decoration::PerVertexKHR) => self.per_vertex = true,
                Some(Decoration::Patch) => self.patch = true,
                Some(Decoration::UserSemantic) => self.semantic = found.string(),
                _ => {}
            }
        }
    }
}

/// A variable being listed.
struct Listing {
    variable: u32,
    class: StorageClass,
    used: bool,
    /// Location that the next member without one of its own takes.
    next: Option<u32>,
}

impl Reflection<'_> {
    pub(super) fn stage_interface(
        &mut self,
        entry: &mut EntryPoint,
        interface: &[u32],
        position: usize,
    ) -> Result<(), Error> {
        let module = self.module;
        // Nothing is listed twice by a compiler.
        let mut seen = BTreeSet::new();
        let is_short = interface.len() <= 32;
        for (at, id) in interface.iter().enumerate() {
            let Some(definition) = module
                .definition(*id)
                .filter(|definition| definition.is(Op::Variable))
            else {
                continue;
            };
            let class = match definition
                .operands
                .get(2)
                .copied()
                .and_then(StorageClass::from_u32)
            {
                Some(class @ (StorageClass::Input | StorageClass::Output))
                    if (is_short && !interface.iter().take(at).any(|other| other == id))
                        || (!is_short && seen.insert(*id)) =>
                {
                    class
                }
                _ => continue,
            };
            let ty = crate::usage::variable_type(module, definition);
            let mut traits = Traits::default();
            traits.read(module.decorations(*id));
            let element = self.per_vertex_element(entry.stage, class, *id, ty, &traits);
            let usage = self.usages.get(position);
            let used = usage.is_some_and(|usage| usage.names(*id));
            let mut listing = Listing {
                variable: *id,
                class,
                used,
                next: traits.location,
            };
            let list = if class == StorageClass::Input {
                &mut entry.inputs
            } else {
                &mut entry.outputs
            };
            if list.capacity() == 0 {
                list.reserve(interface.len().min(8));
            }
            self.list(&mut listing, ty, element, traits, list, position)?;
        }
        for list in [&mut entry.inputs, &mut entry.outputs] {
            if list.len() < 2 {
                continue;
            }
            list.sort_by_key(|variable| {
                (
                    variable.built_in.is_some(),
                    variable.location.is_none(),
                    variable.location,
                    variable.component,
                    variable.index,
                    variable.built_in,
                )
            });
        }
        Ok(())
    }

    /// The type without the array over vertices or primitives.
    fn per_vertex_element(
        &self,
        stage: Stage,
        class: StorageClass,
        id: u32,
        ty: u32,
        traits: &Traits,
    ) -> u32 {
        let module = self.module;
        let arrayed = match (stage, class) {
            (Stage::TessellationControl, _)
            | (Stage::TessellationEvaluation | Stage::Geometry, StorageClass::Input)
            | (Stage::Mesh, StorageClass::Output) => true,
            (Stage::Fragment, StorageClass::Input) => traits.per_vertex,
            _ => false,
        };
        let Some(definition) = module.definition(ty).filter(|_| arrayed && !traits.patch) else {
            return ty;
        };
        match definition.operands.get(1) {
            Some(element) if definition.is_any([Op::TypeArray, Op::TypeRuntimeArray]) => {
                let task = module.has(id, Decoration::PerTaskNV)
                    || module.member_has(*element, 0, Decoration::PerTaskNV);
                // A block whose members are decorated Patch is no array over vertices.
                if task || module.member_has(*element, 0, Decoration::Patch) {
                    ty
                } else {
                    *element
                }
            }
            _ => ty,
        }
    }

    /// Lists a variable, or the members of a struct, without recursion.
    fn list(
        &mut self,
        listing: &mut Listing,
        ty: u32,
        element: u32,
        traits: Traits,
        list: &mut Vec<InterfaceVariable>,
        position: usize,
    ) -> Result<(), Error> {
        let module = self.module;
        let name = module.name(listing.variable);
        if !self.is_struct(element) {
            self.budget.keep(1 + name.len() / 128)?;
            let used = listing.used;
            list.push(self.variable(listing, name, ty, element, &traits, used)?);
            return Ok(());
        }
        self.touched.clear();
        if let Some(usage) = self.usages.get(position) {
            let touched = usage.touched_of(listing.variable);
            let steps = self.touched.add(module, self.places, touched);
            self.touched.sort();
            self.budget.work(steps)?;
        }
        // Entries still to list, the next one last: name, whole type, element type, traits, used.
        let mut stack = vec![(name, ty, element, traits, listing.used)];
        while let Some((name, ty, element, traits, used)) = stack.pop() {
            // Names are part of what is kept: deep structs with long names must not multiply them.
            self.budget.keep(1 + name.len() / 128)?;
            let (inner, dims, _) = self.types.dimensions(element)?;
            let Some(definition) = module.definition(inner) else {
                continue;
            };
            if !definition.is(Op::TypeStruct) {
                let variable = self.variable(listing, name, ty, element, &traits, used)?;
                list.push(variable);
                continue;
            }
            let mut inherited = Traits {
                location: None,
                component: None,
                semantic: None,
                ..traits.clone()
            };
            inherited.built_in = None;
            if !dims.is_empty() {
                let count = dims.iter().fold(1u32, |count, dim| {
                    count.saturating_mul(dim.default_length())
                });
                // Blocks of built-ins come as one, however many there are.
                let count = if self.holds_built_ins(inner) {
                    1
                } else {
                    count
                };
                if count > MAX_ELEMENTS {
                    return Err(Error::TooLarge {
                        what: format!("input or output \"{name}\" (id {})", listing.variable),
                        bytes: self.budget.bytes,
                        limit: MAX_ELEMENTS as usize,
                        unit: "elements",
                    });
                }
                let mut elements = Vec::new();
                for index in 0..count {
                    let name = if count == 1 && self.holds_built_ins(inner) {
                        name.clone()
                    } else {
                        [&*name, &subscript(&dims, index)].into_iter().collect()
                    };
                    self.budget.keep(1 + name.len() / 128)?;
                    elements.push((name, inner, inner, inherited.clone(), used));
                }
                stack.extend(elements.into_iter().rev());
                continue;
            }
            let mut members = Vec::new();
            for (number, member) in (0..).zip(definition.rest(1)) {
                let mut own = inherited.clone();
                own.read(module.member_decorations(inner, number));
                let member_name = module.member_name(inner, number);
                let name = if name.is_empty() {
                    member_name
                } else {
                    [&*name, ".", &*member_name].into_iter().collect()
                };
                self.budget.keep(1 + name.len() / 128)?;
                let used = used && self.touched.contains(module, inner, number);
                let element = if own.per_vertex
                    && !inherited.per_vertex
                    && listing.class == StorageClass::Input
                {
                    self.strip_array(*member)
                } else {
                    *member
                };
                members.push((name, *member, element, own, used));
            }
            stack.extend(members.into_iter().rev());
        }
        Ok(())
    }

    /// Whether a type is a struct, or an array of structs.
    fn is_struct(&self, ty: u32) -> bool {
        let element = super::types::array_element(self.module, ty);
        self.module.is_defined_by(element, Op::TypeStruct)
    }

    fn strip_array(&self, ty: u32) -> u32 {
        let definition = self
            .module
            .definition(ty)
            .filter(|definition| definition.is(Op::TypeArray));
        definition
            .and_then(|definition| definition.operands.get(1).copied())
            .unwrap_or(ty)
    }

    fn holds_built_ins(&self, structure: u32) -> bool {
        self.module.member_has(structure, 0, Decoration::BuiltIn)
    }

    fn variable(
        &mut self,
        listing: &mut Listing,
        name: Name,
        ty: u32,
        element: u32,
        traits: &Traits,
        used: bool,
    ) -> Result<InterfaceVariable, Error> {
        let module = self.module;
        let (scalar_or_vector, dims, _) = self.types.dimensions(element)?;
        let count = dims.iter().fold(1u32, |count, dim| {
            count.saturating_mul(dim.default_length())
        });
        let shape = Shape::of(module, scalar_or_vector);
        let built_in = traits.built_in.map(BuiltIn);
        let locations = if built_in.is_some() {
            0
        } else {
            shape.locations.saturating_mul(count)
        };
        let location = if built_in.is_some() {
            None
        } else {
            traits.location.or(listing.next)
        };
        if let Some(location) = location {
            listing.next = Some(location.saturating_add(locations));
        }
        Ok(InterfaceVariable {
            name,
            spirv_id: listing.variable,
            location,
            component: traits.component,
            index: traits.index,
            locations,
            ty: self.types.add(ty),
            element_type: self.types.add(element),
            format: shape.format,
            built_in,
            per_primitive: traits.per_primitive,
            per_vertex: traits.per_vertex,
            patch: traits.patch,
            interpolation: Some(traits.interpolation)
                .filter(|interpolation| *interpolation != Interpolation::default()),
            semantic: traits.semantic.clone(),
            used,
        })
    }
}

/// Index of an element in all dimensions: `[1][0]`.
fn subscript(dims: &[crate::Dim], index: u32) -> String {
    let (mut rest, mut parts) = (index, Vec::new());
    for dim in dims.iter().rev() {
        let length = dim.default_length().max(1);
        parts.push(rest % length);
        rest /= length;
    }
    parts.iter().rev().map(|part| format!("[{part}]")).collect()
}

/// What one location of a type holds, and how many it takes.
struct Shape {
    format: Option<Format>,
    locations: u32,
}

impl Shape {
    fn of(module: &Module, ty: u32) -> Self {
        let mut shape = Self {
            format: None,
            locations: 1,
        };
        let (mut at, mut columns) = (ty, 1u32);
        if let Some(matrix) = module
            .definition(at)
            .filter(|definition| definition.is(Op::TypeMatrix))
        {
            at = matrix.operands.get(1).copied().unwrap_or(0);
            columns = matrix.operands.get(2).copied().unwrap_or(1);
        }
        let mut components = 1;
        if let Some(vector) = module
            .definition(at)
            .filter(|definition| definition.is(Op::TypeVector))
        {
            at = vector.operands.get(1).copied().unwrap_or(0);
            components = vector.operands.get(2).copied().unwrap_or(1);
        }
        if let Some(scalar) = scalar_type(module, at) {
            shape.format = Format::of(scalar, components);
            // A location is 16 bytes: three or four 64-bit components do not fit.
            let wide = scalar.width() == 64 && components > 2;
            shape.locations = columns.saturating_mul(if wide { 2 } else { 1 });
        }
        shape
    }
}
