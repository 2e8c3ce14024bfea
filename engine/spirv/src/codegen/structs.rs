//! Rust structs for the structs of blocks: every field where the shader has it, padding spelled out.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{self, RustType, Structs};
use super::names::{self, Scope};
use crate::{Dim, Member, StructType, Type, TypeId, TypeTable};

/// One Rust struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StructDef {
    /// Its name.
    pub(super) name: String,
    /// What the shader calls it; empty if nothing.
    pub(super) source_name: String,
    /// Fields by offset, padding among them.
    pub(super) fields: Vec<Field>,
    /// `size_of` it.
    pub(super) size: u64,
    /// `align_of` it.
    pub(super) align: u64,
    /// Offset that the shader's offsets are counted from (push constants that do not begin at 0).
    pub(super) base: u64,
    /// The runtime array behind it.
    pub(super) tail: Option<Tail>,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its name, not escaped.
    pub(super) name: String,
    /// Rust type.
    pub(super) ty: String,
    /// Offset in the Rust struct.
    pub(super) offset: u64,
    /// `size_of` its type.
    pub(super) size: u64,
    /// `align_of` its type.
    pub(super) align: u64,
    /// Doc comment.
    pub(super) doc: String,
    /// Whether no shader knows it.
    pub(super) padding: bool,
}

/// A runtime array at the end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// What the shader calls it.
    pub(super) name: String,
    /// Rust type of an element.
    pub(super) element: String,
    /// Byte offset of its first element in the block.
    pub(super) offset: u64,
    /// Bytes from one element to the next.
    pub(super) stride: u64,
}

/// What a buffer holds, in Rust types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// One struct.
    Struct(String),
    /// Elements, as many as fit.
    Elements(String),
    /// A struct and elements behind it.
    StructAndElements(String, String),
}

/// The structs of one generated module.
pub(super) struct Definitions {
    pub(super) structs: Vec<StructDef>,
    names: Scope,
}

impl Definitions {
    pub(super) fn new() -> Self {
        Self {
            structs: Vec::new(),
            names: Scope::for_types(),
        }
    }

    /// Adds a struct, or finds the one with the same wanted name and content. Gives its name.
    fn add(&mut self, wanted: &str, mut def: StructDef) -> String {
        let known = self.structs.iter().find(|known| {
            let same_name = known.name == wanted
                || known
                    .name
                    .strip_prefix(wanted)
                    .is_some_and(|rest| rest.parse::<u32>().is_ok());
            same_name
                && StructDef {
                    name: known.name.clone(),
                    ..def.clone()
                } == **known
        });
        if let Some(known) = known {
            return known.name.clone();
        }
        def.name = if self.names.is_free(wanted) {
            self.names.claim(wanted, "")
        } else {
            self.names.claim(&format!("{wanted}Data"), "")
        };
        let name = def.name.clone();
        self.structs.push(def);
        name
    }
}

impl Definitions {
    /// Adds `Push` from the fields of several stages' blocks; where fields overlap, the earlier part's stands.
    pub(super) fn add_push(
        &mut self,
        source_name: &str,
        parts: Vec<Vec<Field>>,
        base: u64,
        size: u64,
    ) {
        let mut fields: Vec<Field> = Vec::new();
        for field in parts.into_iter().flatten() {
            if fields
                .iter()
                .all(|other| field.offset >= other.end() || field.end() <= other.offset)
            {
                fields.push(field);
            }
        }
        fields.sort_by_key(|field| field.offset);
        let mut def = StructDef::empty(base);
        def.name = "Push".to_owned();
        def.source_name = source_name.to_owned();
        let mut scope = Scope::default();
        for mut field in fields {
            pad(&mut def, field.offset, &mut scope);
            field.name = scope.claim(&field.name, "_");
            def.size = field.end();
            def.align = def.align.max(field.align);
            def.fields.push(field);
        }
        pad(&mut def, size, &mut scope);
        if !def.fields.is_empty() {
            self.structs.insert(0, def);
        }
    }
}

/// The structs that at least two of these modules have, alike in everything that they are made of. Of structs with one
/// name but different content the most frequent is taken.
pub(super) fn shared(modules: &[&[StructDef]]) -> Vec<StructDef> {
    let mut counted: Vec<(&StructDef, usize)> = Vec::new();
    for def in modules
        .iter()
        .copied()
        .flatten()
        .filter(|def| def.name != "Push")
    {
        match counted.iter_mut().find(|(known, _)| *known == def) {
            Some((_, count)) => *count += 1,
            None => counted.push((def, 1)),
        }
    }
    counted.retain(|(_, count)| *count > 1);
    counted.sort_by(|(a, a_count), (b, b_count)| a.name.cmp(&b.name).then(b_count.cmp(a_count)));
    counted.dedup_by(|(later, _), (earlier, _)| later.name == earlier.name);
    let mut shared: Vec<&StructDef> = counted.into_iter().map(|(def, _)| def).collect();
    // Two structs may look alike and yet hold different ones of the same name: whatever holds a struct that some module
    // defines otherwise stays where it is, and what holds that in turn.
    loop {
        let before = shared.len();
        let fits = |def: &StructDef| {
            def.parts().all(|part| {
                shared
                    .iter()
                    .any(|known| known.name == part && is_uniform(known, modules))
            })
        };
        let kept: Vec<&StructDef> = shared.iter().copied().filter(|def| fits(def)).collect();
        shared = kept;
        if shared.len() == before {
            return shared.into_iter().cloned().collect();
        }
    }
}

/// Whether no module has another struct of this name.
fn is_uniform(def: &StructDef, modules: &[&[StructDef]]) -> bool {
    modules
        .iter()
        .copied()
        .flatten()
        .all(|other| other.name != def.name || other == def)
}

impl StructDef {
    /// Names of the structs in its fields.
    fn parts(&self) -> impl Iterator<Item = &str> {
        let types = self
            .fields
            .iter()
            .map(|field| field.ty.as_str())
            .chain(self.tail.iter().map(|tail| tail.element.as_str()));
        types
            .map(|ty| {
                ty.trim_start_matches('[')
                    .split(';')
                    .next()
                    .unwrap_or_default()
            })
            .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
    }

    fn empty(base: u64) -> Self {
        Self {
            name: String::new(),
            source_name: String::new(),
            fields: Vec::new(),
            size: 0,
            align: 1,
            base,
            tail: None,
        }
    }
}

impl Field {
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

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
        for ty in types.types.values() {
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
        def.source_name.clone_from(&found.name);
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
                        name: member.name.clone(),
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
            def.size = offset + ty.size;
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
        let end = end.next_multiple_of(def.align.max(1));
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
        let found = match self.types.get(id)? {
            Type::Struct(found) => found,
            _ => return Some(format!("`{}`", glsl_type(self.types, id))),
        };
        if !self.pointees.contains(&id) && !self.done.contains_key(&id) {
            self.pointees.push(id);
        }
        (!found.name.is_empty()).then(|| format!("`{}`", found.name))
    }
}

/// Fills the struct up to `end` with unused bytes.
fn pad(def: &mut StructDef, end: u64, scope: &mut Scope) {
    let gap = end.saturating_sub(def.size);
    if gap == 0 {
        return;
    }
    let offset = def.size;
    // Words only where the struct is aligned to them anyway.
    let words = def.align >= 4 && gap.is_multiple_of(4) && offset.is_multiple_of(4);
    let ty = match (words, gap) {
        (true, 4) => "u32".to_owned(),
        (true, _) => format!("[u32; {}]", gap / 4),
        (false, _) => format!("[u8; {gap}]"),
    };
    let name = scope.claim(&format!("padding_{offset}"), "_");
    let align = if words { 4 } else { 1 };
    def.fields.push(Field {
        name,
        ty,
        offset,
        size: gap,
        align,
        doc: "Not read.".to_owned(),
        padding: true,
    });
    def.size = end;
}

fn is_runtime_array(types: &TypeTable, id: TypeId) -> bool {
    matches!(types.get(id), Some(Type::Array { dims, .. }) if dims.first() == Some(&Dim::Runtime))
}

/// GLSL's name of a type.
pub(super) fn glsl_type(types: &TypeTable, id: TypeId) -> String {
    let prefix = |component: &TypeId| match types.get(*component) {
        Some(Type::Float { width: 32 }) => "",
        Some(Type::Float { width: 64 }) => "d",
        Some(Type::Float { .. }) => "f16",
        Some(Type::Int {
            width: 32,
            signed: true,
        }) => "i",
        Some(Type::Int {
            width: 32,
            signed: false,
        }) => "u",
        Some(Type::Int {
            width: 8,
            signed: true,
        }) => "i8",
        Some(Type::Int {
            width: 8,
            signed: false,
        }) => "u8",
        Some(Type::Int {
            width: 16,
            signed: true,
        }) => "i16",
        Some(Type::Int {
            width: 16,
            signed: false,
        }) => "u16",
        Some(Type::Int { signed: true, .. }) => "i64",
        Some(Type::Int { signed: false, .. }) => "u64",
        _ => "b",
    };
    match types.get(id) {
        Some(Type::Bool) => "bool".into(),
        Some(Type::Int { width: 32, signed }) => if *signed { "int" } else { "uint" }.into(),
        Some(Type::Int { width, signed }) => {
            format!("{}int{width}_t", if *signed { "" } else { "u" })
        }
        Some(Type::Float { width: 32 }) => "float".into(),
        Some(Type::Float { width: 64 }) => "double".into(),
        Some(Type::Float { width }) => format!("float{width}_t"),
        Some(Type::Vector { component, length }) => format!("{}vec{length}", prefix(component)),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) if columns == rows => format!("{}mat{columns}", prefix(component)),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) => format!("{}mat{columns}x{rows}", prefix(component)),
        Some(Type::Array { element, dims, .. }) => {
            let mut name = glsl_type(types, *element);
            for dim in dims {
                match dim {
                    Dim::Runtime => name.push_str("[]"),
                    dim => name.push_str(&format!("[{}]", dim.default_length())),
                }
            }
            name
        }
        Some(Type::Struct(found)) if !found.name.is_empty() => found.name.clone(),
        Some(Type::Struct(_)) => "struct".into(),
        Some(Type::Pointer { pointee, .. }) => match types.get(*pointee) {
            Some(Type::Struct(found)) if !found.name.is_empty() => found.name.clone(),
            _ => "buffer reference".into(),
        },
        _ => "unknown type".into(),
    }
}
