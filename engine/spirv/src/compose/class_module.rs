//! A class's SPIR-V, taken apart so that composing has only to copy and renumber.

use std::collections::HashMap;
use std::ops::Range;

use spirv::{Decoration as Deco, Op, StorageClass};

use super::link::Role;
use super::specs::SpecSource;

/// Most ids that a module may have, the limit that the specification sets.
pub(crate) const MAX_BOUND: u32 = 0x3f_ffff;

/// Stands for the whole type where a member is expected.
pub(crate) const WHOLE: u32 = u32::MAX;

/// What an id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Def {
    None,
    Global(u32),
    Function(u32),
    Local,
}

/// Words of the module, as a range.
pub(crate) type Span = Range<u32>;

pub(crate) fn part<'a, T>(all: &'a [T], span: &Span) -> &'a [T] {
    all.get(span.start as usize..span.end as usize)
        .unwrap_or_default()
}

/// Whose a private or shared variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// The class alone.
    Own,
    /// That class's interface.
    Interface(usize),
    /// The whole effect.
    Root,
}

/// An instruction outside of functions that defines an id.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub(crate) op: u32,
    pub(crate) id: u32,
    /// Words after the first.
    pub(crate) operands: Span,
    /// Position of the own id among the operands.
    pub(crate) result_at: u32,
    /// Positions of ids among the module's words, the own id left out: in [`ClassModule::id_positions`].
    pub(crate) ids: Span,
    pub(crate) decorations: Span,
    /// The name's words; empty if there is none.
    pub(crate) name: Span,
    pub(crate) member_names: Span,
    /// Pointers that are declared before what they point to.
    pub(crate) forward: bool,
    /// Hash of the type without decorations: equal for structs of one shape.
    pub(crate) shape: u64,
    /// The same with decorations.
    pub(crate) layout: u64,
    pub(crate) owner: Owner,
    /// A resource whose binding composing numbers.
    pub(crate) automatic: bool,
    /// A struct that a pointer leads to that was declared before it.
    pub(crate) referenced: bool,
    /// Bytes in memory; of a matrix without its stride.
    pub(crate) size: u32,
}

/// A decoration.
#[derive(Clone, Debug)]
pub(crate) struct Decoration {
    pub(crate) target: u32,
    pub(crate) member: u32,
    pub(crate) op: u32,
    /// The decoration and its parameters.
    pub(crate) words: Span,
}

/// A stretch of code: a function, or initialisers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    /// In [`ClassModule::code`].
    pub(crate) words: Span,
    /// Positions in the code that are ids, in [`ClassModule::code_ids`].
    pub(crate) ids: Span,
    /// Called functions.
    pub(crate) calls: Vec<u32>,
    /// Variables of the module.
    pub(crate) variables: Vec<u32>,
    /// Ids that have a name or decoration, in order.
    pub(crate) named: Vec<u32>,
    /// Operations that not every stage has.
    pub(crate) restricted: Vec<(u32, u32)>,
    pub(crate) lines: Span,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) id: u32,
    pub(crate) ty: u32,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) code: Stretch,
    /// Stands for another function, and nothing has said which.
    pub(crate) unresolved: bool,
}

/// Code at the head of `main` that gives variables their first values.
#[derive(Clone, Debug)]
pub(crate) struct Initialiser {
    /// Globals that it stores to.
    pub(crate) stores: Vec<u32>,
    pub(crate) code: Stretch,
    /// Label that the code begins in.
    pub(crate) label: u32,
    /// Local variables, each a stretch of the code.
    pub(crate) locals: Stretch,
}

/// A line of the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Position in the code that it stands before.
    pub(crate) at: u32,
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A class module.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassModule {
    pub(crate) words: Vec<u32>,
    pub(crate) bound: u32,
    pub(crate) version: u32,
    pub(crate) addressing: u32,
    pub(crate) memory: u32,
    pub(crate) capabilities: Vec<u32>,
    /// Words of the names.
    pub(crate) extensions: Vec<Span>,
    pub(crate) globals: Vec<Global>,
    pub(crate) id_positions: Vec<u32>,
    pub(crate) defs: Vec<Def>,
    pub(crate) functions: Vec<Function>,
    pub(crate) code: Vec<u32>,
    pub(crate) code_ids: Vec<u32>,
    pub(crate) lines: Vec<Line>,
    pub(crate) names: HashMap<u32, Span>,
    pub(crate) member_names: Vec<(u32, u32, Span)>,
    pub(crate) decorations: Vec<Decoration>,
    /// Execution modes: the mode with its operands, and whether those are ids.
    pub(crate) modes: Vec<(Span, bool)>,
    pub(crate) initialisers: Vec<Initialiser>,
    /// Function of each member of the class.
    pub(crate) members: Vec<Option<u32>>,
    pub(crate) specs: Vec<(u32, SpecSource)>,
    pub(crate) entry: Option<u32>,
    /// Resources whose bindings are automatic: set and name.
    pub(crate) automatic: Vec<(u32, String)>,
    /// Sets and bindings that are given.
    pub(crate) explicit: Vec<(u32, u32)>,
    /// SpecIds that the class itself uses.
    pub(crate) explicit_specs: Vec<u32>,
}

impl ClassModule {
    pub(crate) fn name(&self, id: u32) -> String {
        self.names
            .get(&id)
            .map(|span| string(part(&self.words, span)))
            .unwrap_or_default()
    }

    pub(crate) fn global(&self, id: u32) -> Option<&Global> {
        match self.defs.get(id as usize)? {
            Def::Global(index) => self.globals.get(*index as usize),
            _ => None,
        }
    }

    pub(crate) fn operands(&self, global: &Global) -> &[u32] {
        part(&self.words, &global.operands)
    }

    pub(crate) fn storage_class(&self, global: &Global) -> Option<StorageClass> {
        StorageClass::from_u32(*self.operands(global).get(2)?)
    }

    pub(crate) fn decoration(&self, global: &Global, member: u32, wanted: Deco) -> Option<&[u32]> {
        part(&self.decorations, &global.decorations)
            .iter()
            .filter(|decoration| decoration.member == member)
            .map(|decoration| part(&self.words, &decoration.words))
            .find(|words| words.first() == Some(&(wanted as u32)))
            .map(|words| words.get(1..).unwrap_or_default())
    }

    /// What a specialisation constant stands for, if it is one of ours.
    pub(crate) fn spec_source(&self, global: &Global) -> Option<SpecSource> {
        let id = *self.decoration(global, WHOLE, Deco::SpecId)?.first()?;
        self.specs
            .iter()
            .find(|(other, _)| *other == id)
            .map(|(_, source)| *source)
    }

    /// Type behind the pointer of a variable, and that behind its arrays.
    pub(crate) fn pointee(&self, variable: &Global) -> Option<&Global> {
        let pointer = self.global(*self.operands(variable).first()?)?;
        self.global(*self.operands(pointer).get(2)?)
    }

    /// The block of a variable: what it points to, arrays taken off.
    pub(crate) fn block(&self, variable: &Global) -> Option<&Global> {
        let mut ty = self.pointee(variable)?;
        while ty.op == Op::TypeArray as u32 || ty.op == Op::TypeRuntimeArray as u32 {
            ty = self.global(*self.operands(ty).get(1)?)?;
        }
        (ty.op == Op::TypeStruct as u32).then_some(ty)
    }
}

/// A string of SPIR-V.
pub(crate) fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words of a string, with the terminator.
pub(crate) fn push_string(out: &mut Vec<u32>, text: &str) {
    for chunk in text.as_bytes().chunks(4) {
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(chunk) {
            *to = *from;
        }
        out.push(u32::from_le_bytes(bytes));
    }
    if text.len().is_multiple_of(4) {
        out.push(0);
    }
}

/// Opcode and operands of each instruction of a stretch of code.
pub(crate) fn instructions<'a>(
    code: &'a [u32],
    span: &Span,
) -> impl Iterator<Item = (u32, &'a [u32])> + use<'a> {
    let mut rest = part(code, span);
    std::iter::from_fn(move || {
        let (&first, after) = rest.split_first()?;
        let (operands, next) = after.split_at_checked((first >> 16).checked_sub(1)? as usize)?;
        rest = next;
        Some((first & 0xffff, operands))
    })
}
