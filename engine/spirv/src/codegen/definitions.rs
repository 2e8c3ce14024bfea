//! Rust structs as they are to be written: collected, named and shared.

use super::names::Scope;

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
    /// Whether its alignment has to be forced down to `align` for its size to be right.
    pub(super) packed: bool,
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
    pub(super) fn add(&mut self, wanted: &str, mut def: StructDef) -> String {
        let known = self.structs.iter().find(|known| {
            let same_name = known.name.strip_prefix(wanted).is_some_and(|rest| {
                let number = rest.strip_prefix("Data").unwrap_or(rest);
                number.is_empty() || number.parse::<u32>().is_ok()
            });
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
        // A pointer and a number are 12 bytes to Vulkan, which Rust would round up to 16.
        if !def.size.is_multiple_of(def.align) {
            def.align = 1 << def.size.trailing_zeros();
            def.packed = true;
        }
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

    pub(super) fn empty(base: u64) -> Self {
        Self {
            name: String::new(),
            source_name: String::new(),
            fields: Vec::new(),
            size: 0,
            align: 1,
            packed: false,
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

/// Fills the struct up to `end` with unused bytes.
pub(super) fn pad(def: &mut StructDef, end: u64, scope: &mut Scope) {
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
