//! An index over a module: definitions, names, decorations, entry points, functions.
//!
//! Tolerant on purpose: instructions that this build does not know are skipped, unknown enumerants are numbers, debug
//! instructions are ignored wherever they stand. Memory is linear in the size of the file, whatever the header's bound says.

mod check;
mod lookup;
mod nesting;
mod read;

use std::collections::HashMap;

use crate::interface::Numbers;
use crate::words::Words;

pub(crate) use lookup::Decorated;

/// What a decoration or a name is given to: an id (the upper half), and of it a member or the [`WHOLE`].
type Target = u64;

/// Stands for "the whole type" where a member is expected. Sorts after the members, as compilers write it.
const WHOLE: u32 = u32::MAX;

fn target(id: u32, member: u32) -> Target {
    u64::from(id) << 32 | u64::from(member)
}

/// Members beyond what any struct can have are not told apart.
fn member_target(id: u32, number: u32) -> Target {
    target(id, number.min(WHOLE - 1))
}

fn id_of(target: Target) -> u32 {
    (target >> 32) as u32
}

/// Number of the member, if it is one.
fn number_of(target: Target) -> Option<u32> {
    Some(target as u32).filter(|member| *member != WHOLE)
}

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
    LocalVariable,
    /// A specialisation constant, or a constant made of such.
    SpecConstant,
    /// A pointer type of physical storage.
    PhysicalPointer,
    /// A type of numbers that take one word.
    Number,
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
    /// The first word of that instruction.
    head: u32,
    /// Word offset of its first `OpName`; 0 if there is none.
    name: u32,
    /// Number of its first row in [`Module::decorations`], plus 1; 0 if it has none.
    decorations: u32,
    kind: Kind,
    /// How deep it nests, if it is a type made of others.
    depth: u16,
    /// Whether a function that mentions it need not be told of it: it is of no interest, or the function being read has it
    /// already.
    is_settled: bool,
}

impl Row {
    /// What is not defined yet may turn out to be of any kind.
    fn may_be_of_interest(&self) -> bool {
        match self.kind {
            Kind::GlobalVariable | Kind::SpecConstant | Kind::PhysicalPointer => true,
            Kind::Other => self.definition == 0,
            Kind::LocalVariable | Kind::Number | Kind::GlslImport | Kind::DebugImport => false,
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

impl Slots {
    /// Position of an id in tables by id; `None` if the module says nothing about it.
    #[inline]
    fn of(&self, id: u32) -> Option<usize> {
        match self {
            Self::Dense => Some(id as usize),
            Self::Sparse(slots) => slots.get(&id).map(|slot| *slot as usize),
        }
    }
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

/// One decoration: sorted by target, then offset.
#[derive(Clone, Copy, Debug)]
struct DecorationRow {
    target: Target,
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
    /// Member and word offset of each `OpMemberName`, sorted.
    member_names: Vec<(Target, u32)>,
    decorations: Vec<DecorationRow>,
    /// Target and group, sorted.
    grouped: Vec<(Target, u32)>,
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
    /// Whether any member, or any group, may be decorated as one that is only read, or only written.
    pub(crate) has_access_of_members: bool,
    /// Whether any function combines an image with a sampler.
    pub(crate) combines_samplers: bool,
    /// Whether any function calls another.
    pub(crate) has_calls: bool,
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
        self.has_access_of_members = false;
        self.combines_samplers = false;
        self.has_calls = false;
        true
    }

    #[inline]
    fn slot(&self, id: u32) -> Option<usize> {
        self.slots.of(id)
    }

    #[inline]
    fn row(&self, id: u32) -> Option<&Row> {
        self.rows.get(self.slot(id)?)
    }
}
