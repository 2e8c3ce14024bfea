//! Rust structs for the structs of blocks: every field where the shader has it, padding spelled out.

use std::collections::{BTreeMap, BTreeSet};

use super::definitions::{Content, Definitions, Field, StructDef, Tail, pad};
use super::glsl::glsl_type;
use super::layout::{self, RustType, Structs};
use super::names::{self, Scope};
use crate::{Dim, Member, StructType, Type, TypeId, TypeTable};

/// Makes the structs of one SPIR-V module.
pub(super) struct ModuleStructs<'a> {
    types: &'a TypeTable,
    definitions: &'a mut Definitions,
    done: BTreeMap<TypeId, Option<RustType>>,
    /// Structs on the way from the block to here: guards against types that hold themselves.
    open: BTreeSet<TypeId>,
    pointees: Vec<TypeId>,
    /// Stride of the arrays that have a struct as element, the smallest if several.
    strides: BTreeMap<TypeId, u64>,
    /// Room that a struct has where it is a plain member, the least if several.
    rooms: BTreeMap<TypeId, u64>,
}

impl<'a> ModuleStructs<'a> {
    pub(super) fn new(types: &'a TypeTable, definitions: &'a mut Definitions) -> Self {
        let mut strides: BTreeMap<TypeId, u64> = BTreeMap::new();
        let mut rooms: BTreeMap<TypeId, u64> = BTreeMap::new();
        let least = |map: &mut BTreeMap<TypeId, u64>, id: TypeId, value: u64| {
            map.entry(id)
                .and_modify(|known| *known = value.min(*known))
                .or_insert(value);
        };
        for (_, ty) in types.iter() {
            match ty {
                Type::Array {
                    element,
                    strides: all,
                    ..
                } => {
                    if let Some(stride) = all.last().copied().flatten() {
                        least(&mut strides, *element, u64::from(stride));
                    }
                }
                Type::Struct(found) => {
                    let end = found.members.iter().filter_map(|m| m.offset).max();
                    for member in &found.members {
                        // The last member of a struct may be padded as far as the struct itself is.
                        if member.offset != end {
                            least(&mut rooms, member.ty, member.padded_size);
                        }
                    }
                }
                _ => {}
            }
        }
        Self {
            types,
            definitions,
            done: BTreeMap::new(),
            open: BTreeSet::new(),
            pointees: Vec::new(),
            strides,
            rooms,
        }
    }

    /// What a buffer with this block holds. `fallback` names a block without a name.
    pub(super) fn block(&mut self, id: TypeId, fallback: &str) -> Option<Content> {
        let block = self.types.get_struct(id)?;
        let content = self.content(id, block, fallback);
        self.follow_pointers();
        content
    }

    /// Fields for the members of a push-constant block; offsets count from `base`.
    pub(super) fn push_constants(&mut self, members: &[Member], base: u64) -> Vec<Field> {
        let def = self.fields(members, base, 0);
        self.follow_pointers();
        def.fields
            .into_iter()
            .filter(|field| !field.padding)
            .collect()
    }

    fn follow_pointers(&mut self) {
        while let Some(id) = self.pointees.pop() {
            if let Some(found) = self.types.get_struct(id) {
                self.content(id, found, "Pointee");
            }
        }
    }

    fn content(&mut self, id: TypeId, block: &StructType, fallback: &str) -> Option<Content> {
        // A block around one struct is that struct: `uniform FrameBlock { Frame data; }`.
        if let [
            Member {
                ty,
                offset: Some(0),
                ..
            },
        ] = block.members.as_slice()
            && let Some(inner) = self.types.get_struct(*ty)
            && !inner.has_runtime_array
        {
            return self
                .define(*ty, inner, fallback)
                .map(|ty| Content::Struct(ty.text));
        }
        let tail = block
            .members
            .iter()
            .max_by_key(|m| m.offset)
            .filter(|m| is_runtime_array(self.types, m.ty));
        let elements = tail
            .and_then(|member| layout::element(self.types, member, self))
            .map(|(ty, _)| ty.text);
        match elements {
            Some(elements) if block.members.len() == 1 => Some(Content::Elements(elements)),
            elements => {
                let name = self.define(id, block, fallback)?.text;
                Some(match elements {
                    Some(elements) => Content::StructAndElements(name, elements),
                    None => Content::Struct(name),
                })
            }
        }
    }

    fn define(&mut self, id: TypeId, found: &StructType, fallback: &str) -> Option<RustType> {
        if let Some(done) = self.done.get(&id) {
            return done.clone();
        }
        if found.members.iter().any(|member| member.offset.is_none()) || !self.open.insert(id) {
            return None;
        }
        let wanted_size = match (self.strides.get(&id), self.rooms.get(&id)) {
            (Some(&stride), room)
                if stride >= found.size && room.is_none_or(|&room| room >= stride) =>
            {
                stride
            }
            _ => found.size,
        };
        let mut def = self.fields(&found.members, 0, wanted_size);
        self.open.remove(&id);
        def.source_name = names::shown(&found.name);
        let ty = if def.fields.is_empty() {
            None
        } else {
            let named = names::camel(&found.name);
            let (size, align) = (def.size, def.align);
            let text = self
                .definitions
                .add(if named.is_empty() { fallback } else { &named }, def);
            Some(RustType {
                text,
                size,
                align,
                notes: Vec::new(),
            })
        };
        self.done.insert(id, ty.clone());
        ty
    }

    /// Fields for these members, padded where they leave room and up to `size`.
    fn fields(&mut self, members: &[Member], base: u64, size: u64) -> StructDef {
        let mut sorted: Vec<&Member> = members
            .iter()
            .filter(|member| member.offset.is_some())
            .collect();
        sorted.sort_by_key(|member| member.offset);
        let mut def = StructDef::empty(base);
        let mut scope = Scope::default();
        let field_names: Vec<String> = sorted
            .iter()
            .enumerate()
            .map(|(i, member)| {
                let name = names::snake(&member.name);
                scope.claim(
                    &if name.is_empty() {
                        format!("member_{i}")
                    } else {
                        name
                    },
                    "_",
                )
            })
            .collect();
        for (i, (member, name)) in sorted.iter().zip(field_names).enumerate() {
            let offset = u64::from(member.offset.unwrap_or(0)).saturating_sub(base);
            if is_runtime_array(self.types, member.ty) {
                if let Some((element, stride)) = layout::element(self.types, member, self) {
                    def.tail = Some(Tail {
                        name: names::shown(&member.name),
                        element: element.text,
                        offset,
                        stride,
                    });
                    pad(&mut def, offset, &mut scope);
                }
                continue;
            }
            let next = sorted
                .get(i + 1)
                .and_then(|next| next.offset)
                .map(|next| u64::from(next).saturating_sub(base));
            let available = next
                .unwrap_or_else(|| size.max(offset.saturating_add(member.size)))
                .saturating_sub(offset);
            let shifted = Member {
                offset: u32::try_from(offset).ok(),
                ..(*member).clone()
            };
            let ty = layout::member(self.types, &shifted, available, self);
            // Members that overlap (a union in hand-written SPIR-V) keep the first.
            if ty.size == 0 || offset < def.size {
                continue;
            }
            pad(&mut def, offset, &mut scope);
            let mut doc = format!(
                "`{}` at byte {}",
                glsl_type(self.types, member.ty),
                offset.saturating_add(base)
            );
            for note in &ty.notes {
                doc.push_str("; ");
                doc.push_str(note);
            }
            doc.push('.');
            def.size = offset.saturating_add(ty.size);
            def.align = def.align.max(ty.align);
            def.fields.push(Field {
                name,
                ty: ty.text,
                offset,
                size: ty.size,
                align: ty.align,
                doc,
                padding: false,
            });
        }
        let end = if def.tail.is_some() {
            def.size
        } else {
            size.max(def.size)
        };
        let end = end
            .checked_next_multiple_of(def.align.max(1))
            .unwrap_or(end);
        pad(&mut def, end, &mut scope);
        def
    }
}

impl Structs for ModuleStructs<'_> {
    fn rust_struct(&mut self, id: TypeId) -> Option<RustType> {
        let found = self.types.get_struct(id)?;
        self.define(id, found, "Unnamed")
    }

    fn pointee(&mut self, id: TypeId) -> Option<String> {
        let Type::Struct(found) = self.types.get(id)? else {
            return Some(format!("`{}`", glsl_type(self.types, id)));
        };
        if !self.pointees.contains(&id) && !self.done.contains_key(&id) {
            self.pointees.push(id);
        }
        (!found.name.is_empty()).then(|| format!("`{}`", names::shown(&found.name)))
    }
}

fn is_runtime_array(types: &TypeTable, id: TypeId) -> bool {
    matches!(types.get(id), Some(Type::Array { dims, .. }) if dims.first() == Some(&Dim::Runtime))
}
