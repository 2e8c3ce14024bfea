//! An index over a module: definitions, names, decorations, entry points, functions.
//!
//! Tolerant on purpose: instructions that this build does not know are skipped, unknown enumerants are numbers, debug
//! instructions are ignored wherever they stand. Memory is linear in the size of the file, whatever the header's bound says.

mod check;
mod lookup;
mod read;

use std::collections::HashMap;

use crate::interface::Numbers;
use crate::words::Words;

pub(crate) use lookup::Decorated;

/// Stands for "the whole type" where a member number is expected; sorts before the members.
const WHOLE: u64 = 0;

/// A function of a module.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) id: u32,
    /// Word offset of `OpFunction`.
    start: usize,
    pub(crate) parameters: Numbers,
    /// Its part of [`Module::steps`].
    steps: std::ops::Range<usize>,
    /// Its part of [`Module::mentioned`].
    mentioned: std::ops::Range<usize>,
}

/// What an id stands for, as far as static use is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing below.
    #[default]
    Other,
    /// A variable that is not local to a function.
    GlobalVariable,
    /// A specialisation constant, or a constant made of such.
    SpecConstant,
    /// A pointer type of physical storage.
    PhysicalPointer,
    /// The import of GLSL's extended instructions.
    GlslImport,
    /// The import of instructions that are for debugging only.
    DebugImport,
}

/// What is known about an id.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Word offset of the instruction that defines it; 0 if there is none.
    definition: u32,
    /// Word offset of its first `OpName`; 0 if there is none.
    name: u32,
    /// Number of its first row in [`Module::decorations`], plus 1; 0 if it has none.
    decorations: u32,
    kind: Kind,
}

impl Row {
    /// What is not defined yet may turn out to be of any kind.
    fn may_be_of_interest(&self) -> bool {
        match self.kind {
            Kind::GlobalVariable | Kind::SpecConstant | Kind::PhysicalPointer => true,
            Kind::Other => self.definition == 0,
            Kind::GlslImport | Kind::DebugImport => false,
        }
    }
}

/// Positions in tables by id. Ids of compiled modules are dense, so they are their own positions. A header whose bound is out
/// of proportion must not make tables of that size.
#[derive(Debug, Default)]
enum Slots {
    #[default]
    Dense,
    Sparse(HashMap<u32, u32>),
}

/// A value per id; ids for which none was set have the default. Takes no memory until one is set.
#[derive(Debug, Default)]
pub(crate) struct IdTable<T> {
    values: Vec<T>,
}

impl<T: Copy + Default> IdTable<T> {
    /// Gives all ids the default again. To be called before the table is used for another module, too.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }

    #[inline]
    pub(crate) fn get(&self, module: &Module, id: u32) -> T {
        module
            .slot(id)
            .and_then(|slot| self.values.get(slot))
            .copied()
            .unwrap_or_default()
    }

    #[inline]
    pub(crate) fn set(&mut self, module: &Module, id: u32, value: T) {
        if self.values.is_empty() {
            self.values.resize(module.rows.len(), T::default());
        }
        if let Some(place) = module.slot(id).and_then(|slot| self.values.get_mut(slot)) {
            *place = value;
        }
    }
}

/// One decoration: sorted by id, then member, then offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DecorationRow {
    id: u32,
    /// [`WHOLE`], or the member's number plus 1.
    member: u64,
    offset: u32,
    decoration: u32,
}

/// Words of the largest module whose tables are kept for the next one.
const MAX_SPARE: usize = 16_384;

/// A module with its index.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) words: Words,
    slots: Slots,
    rows: Vec<Row>,
    /// Struct, member and word offset of each `OpMemberName`, sorted.
    member_names: Vec<(u32, u32, u32)>,
    decorations: Vec<DecorationRow>,
    /// Id, member and group, sorted.
    grouped: Vec<(u32, u64, u32)>,
    /// Word offsets of `OpEntryPoint`.
    pub(crate) entry_points: Vec<u32>,
    /// Entry point id and word offset of each `OpExecutionMode` and `OpExecutionModeId`.
    pub(crate) execution_modes: Vec<(u32, u32)>,
    /// Word offsets of global structs, arrays, vectors and matrices, in order.
    pub(crate) types: Vec<u32>,
    /// Word offsets of variables outside functions, in order.
    pub(crate) variables: Vec<u32>,
    /// Word offsets of specialisation constants and of composite constants outside functions, in order.
    pub(crate) constants: Vec<u32>,
    /// Word offsets of `OpCapability`, `OpExtension`, `OpMemoryModel`, `OpSource`.
    pub(crate) headers: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    /// Word offsets of the instructions in functions that may have to do with pointers and handles, in order.
    steps: Vec<u32>,
    /// Ids of global variables, specialisation constants and physical pointer types that functions mention, each once per
    /// function.
    mentioned: Vec<u32>,
    pub(crate) has_physical_pointers: bool,
    pub(crate) has_spec_constants: bool,
    /// Whether any function combines an image with a sampler.
    pub(crate) combines_samplers: bool,
    /// Whether any function calls another.
    pub(crate) has_calls: bool,
    /// Ids of the instruction being read that its leading operands do not tell.
    found: Vec<u32>,
}

impl Module {
    /// Makes its tables empty, for the next module: to allocate them anew takes a good part of the time that a small module
    /// takes. Says whether they are small enough to be kept.
    pub(crate) fn retire(&mut self) -> bool {
        if self.words.as_slice().len() > MAX_SPARE {
            return false;
        }
        self.slots = Slots::Dense;
        self.rows.clear();
        self.member_names.clear();
        self.decorations.clear();
        self.grouped.clear();
        self.entry_points.clear();
        self.execution_modes.clear();
        self.types.clear();
        self.variables.clear();
        self.constants.clear();
        self.headers.clear();
        self.functions.clear();
        self.steps.clear();
        self.mentioned.clear();
        self.has_physical_pointers = false;
        self.has_spec_constants = false;
        self.combines_samplers = false;
        self.has_calls = false;
        true
    }

    /// Position of an id in tables by id; `None` if the module says nothing about it.
    #[inline]
    pub(crate) fn slot(&self, id: u32) -> Option<usize> {
        match &self.slots {
            Slots::Dense => Some(id as usize),
            Slots::Sparse(slots) => slots.get(&id).map(|slot| *slot as usize),
        }
    }

    #[inline]
    fn row(&self, id: u32) -> Option<&Row> {
        self.rows.get(self.slot(id)?)
    }

    /// The row of an id, made if there is none.
    #[inline(always)]
    fn row_mut(&mut self, id: u32) -> Option<&mut Row> {
        let slot = match &mut self.slots {
            Slots::Dense => id as usize,
            Slots::Sparse(slots) => sparse_slot(slots, &mut self.rows, id),
        };
        self.rows.get_mut(slot)
    }
}

#[cold]
fn sparse_slot(slots: &mut HashMap<u32, u32>, rows: &mut Vec<Row>, id: u32) -> usize {
    let next = rows.len() as u32;
    let slot = *slots.entry(id).or_insert(next);
    if slot == next {
        rows.push(Row::default());
    }
    slot as usize
}
