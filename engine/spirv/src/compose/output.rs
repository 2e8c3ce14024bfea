//! The module that composing makes: sections as words, and a table that gives equal types and constants one id.

use spirv::Op;

use super::hash;

/// Where a word of the trace comes from: element and id there.
pub(crate) type Origin = (u32, u32);

/// Origin of ids that composing itself makes.
pub(crate) const OWN: Origin = (u32::MAX, 0);

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    start: u32,
    len: u32,
    id: u32,
}

/// A module in the making.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) capabilities: Vec<u32>,
    /// Strings of extensions, as words.
    pub(crate) extensions: Vec<Vec<u32>>,
    pub(crate) imports: Vec<u32>,
    pub(crate) strings: Vec<u32>,
    pub(crate) names: Vec<u32>,
    pub(crate) decorations: Vec<u32>,
    pub(crate) globals: Vec<u32>,
    pub(crate) functions: Vec<u32>,
    /// Where each id comes from; its length is the bound.
    pub(crate) origins: Vec<Origin>,
    /// Position of each id's definition among the globals, plus one.
    pub(crate) places: Vec<u32>,
    /// Keys of what is in the table.
    keys: Vec<u32>,
    entries: Vec<Entry>,
    slots: Vec<u32>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self {
            capabilities: Vec::new(),
            extensions: Vec::new(),
            imports: Vec::new(),
            strings: Vec::new(),
            names: Vec::with_capacity(4096),
            decorations: Vec::with_capacity(1024),
            globals: Vec::with_capacity(4096),
            functions: Vec::with_capacity(16384),
            origins: vec![OWN],
            places: vec![0],
            keys: Vec::with_capacity(8192),
            entries: Vec::with_capacity(512),
            slots: vec![0; 1024],
        }
    }

    pub(crate) fn id(&mut self, origin: Origin) -> u32 {
        self.origins.push(origin);
        self.places.push(0);
        self.origins.len() as u32 - 1
    }

    /// Begins a key; what is pushed until [`Self::find`] makes it up.
    pub(crate) fn begin(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn key(&mut self, word: u32) {
        self.keys.push(word);
    }

    pub(crate) fn key_words(&mut self, words: &[u32]) {
        self.keys.extend_from_slice(words);
    }

    /// The id of an equal key, or `None` after having entered this one for the next id that is made.
    pub(crate) fn find(&mut self, begin: usize) -> Option<u32> {
        let key = self.keys.get(begin..).unwrap_or_default();
        let hash = hash::of(key);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(&slot) = self.slots.get(at) {
            let Some(entry) = (slot as usize)
                .checked_sub(1)
                .and_then(|index| self.entries.get(index))
            else {
                break;
            };
            let same = entry.hash == hash
                && self
                    .keys
                    .get(entry.start as usize..(entry.start + entry.len) as usize)
                    == Some(key);
            if same {
                let id = entry.id;
                self.keys.truncate(begin);
                return Some(id);
            }
            at = (at + 1) & mask;
        }
        self.entries.push(Entry {
            hash,
            start: begin as u32,
            len: key.len() as u32,
            id: self.origins.len() as u32,
        });
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = self.entries.len() as u32;
        }
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        None
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![0; mask + 1];
        for (index, entry) in self.entries.iter().enumerate() {
            let mut at = entry.hash as usize & mask;
            while self.slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = index as u32 + 1;
            }
        }
    }

    /// Notes that the definition of an id comes next among the globals.
    pub(crate) fn place(&mut self, id: u32) {
        let at = self.globals.len() as u32 + 1;
        if let Some(place) = self.places.get_mut(id as usize) {
            *place = at;
        }
    }

    /// Opcode and operands of an id's definition among the globals.
    pub(crate) fn definition(&self, id: u32) -> Option<(u32, &[u32])> {
        let at = (*self.places.get(id as usize)?).checked_sub(1)? as usize;
        let first = *self.globals.get(at)?;
        Some((
            first & 0xffff,
            self.globals.get(at + 1..at + (first >> 16) as usize)?,
        ))
    }

    /// A type or constant of these operands, where `0` stands for its own id: made, or the one that is there.
    pub(crate) fn simple(&mut self, op: Op, operands: &[u32]) -> u32 {
        let begin = self.begin();
        self.key(instruction(op as u32, operands.len()));
        self.key_words(operands);
        if let Some(id) = self.find(begin) {
            return id;
        }
        let id = self.id(OWN);
        self.place(id);
        self.globals.push(instruction(op as u32, operands.len()));
        let own = usize::from(op as u32 >= Op::ConstantTrue as u32 && op != Op::TypeForwardPointer);
        for (at, word) in operands.iter().enumerate() {
            self.globals.push(if at == own { id } else { *word });
        }
        id
    }

    pub(crate) fn uint(&mut self) -> u32 {
        self.simple(Op::TypeInt, &[0, 32, 0])
    }

    pub(crate) fn constant(&mut self, ty: u32, bits: u32) -> u32 {
        self.simple(Op::Constant, &[ty, 0, bits])
    }

    pub(crate) fn bool_constant(&mut self, ty: u32, value: bool) -> u32 {
        self.simple(
            if value {
                Op::ConstantTrue
            } else {
                Op::ConstantFalse
            },
            &[ty, 0],
        )
    }

    pub(crate) fn name(&mut self, id: u32, words: &[u32]) {
        self.names
            .push(instruction(Op::Name as u32, words.len() + 1));
        self.names.push(id);
        self.names.extend_from_slice(words);
    }

    pub(crate) fn text_name(&mut self, id: u32, text: &str) {
        let at = self.names.len();
        self.names.push(0);
        self.names.push(id);
        super::class_module::push_string(&mut self.names, text);
        let len = self.names.len() - at - 1;
        if let Some(first) = self.names.get_mut(at) {
            *first = instruction(Op::Name as u32, len);
        }
    }

    pub(crate) fn member_name(&mut self, id: u32, member: u32, words: &[u32]) {
        self.names
            .push(instruction(Op::MemberName as u32, words.len() + 2));
        self.names.push(id);
        self.names.push(member);
        self.names.extend_from_slice(words);
    }

    pub(crate) fn decorate(&mut self, id: u32, words: &[u32]) {
        self.decorations
            .push(instruction(Op::Decorate as u32, words.len() + 1));
        self.decorations.push(id);
        self.decorations.extend_from_slice(words);
    }

    pub(crate) fn decorate_member(&mut self, id: u32, member: u32, words: &[u32]) {
        self.decorations
            .push(instruction(Op::MemberDecorate as u32, words.len() + 2));
        self.decorations.push(id);
        self.decorations.push(member);
        self.decorations.extend_from_slice(words);
    }
}

/// First word of an instruction with this many operand words.
pub(crate) fn instruction(op: u32, operands: usize) -> u32 {
    (operands as u32 + 1) << 16 | op
}
