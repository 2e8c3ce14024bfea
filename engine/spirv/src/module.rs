//! An index over a module: definitions, names, decorations, entry points, functions.
//!
//! Tolerant on purpose: instructions that this build does not know are skipped, unknown enumerants are numbers, debug
//! instructions are ignored wherever they stand. Memory is linear in the size of the file, whatever the header's bound says.

mod lookup;

use std::collections::HashMap;

use spirv::{Op, StorageClass};

use crate::error::Error;
use crate::interface::Numbers;
use crate::operands::{Ids, Outline, Role, outlines};
use crate::words::{Instruction, Words};

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
    /// Reads a self. To be called on one that is new or retired.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let words = Words::parse_with(bytes, std::mem::take(&mut self.words))?;
        let bound = words.bound() as usize;
        let length = words.as_slice().len();
        // Two words at least define an id, so that more ids than words are no compiler's work.
        if bound <= length + 256 {
            self.rows.resize(bound, Row::default());
        } else {
            self.slots = Slots::Sparse(HashMap::new());
        }
        let outlines = outlines();
        let mut mentioned = std::mem::take(&mut self.mentioned);
        let mut in_function = false;
        for instruction in words.iter() {
            let Some(outline) = outlines
                .get(instruction.opcode as usize)
                .filter(|outline| outline.is_known)
            else {
                continue;
            };
            if outline.has_result {
                self.define(&words, instruction, outline)?;
            }
            if outline.role == Role::Function && instruction.is(Op::Function) {
                self.close(&mut in_function, &mut mentioned);
                self.open(instruction, mentioned.len())?;
                in_function = true;
            }
            if in_function && !self.is_debug(instruction) {
                self.check(&words, instruction, outline, |module, id| {
                    if module.row(id).is_some_and(Row::may_be_of_interest) {
                        mentioned.push(id);
                    }
                })?;
                if !outline.is_inert {
                    self.steps.push(instruction.offset as u32);
                    self.combines_samplers |= outline.role == Role::Combination;
                    self.has_calls |= outline.role == Role::Call;
                }
            } else {
                self.check(&words, instruction, outline, |_, _| {})?;
            }
            match outline.role {
                Role::Other | Role::Combination | Role::Call => {}
                Role::Function if instruction.is(Op::FunctionEnd) => {
                    self.close(&mut in_function, &mut mentioned);
                }
                _ => self.index(instruction, in_function)?,
            }
        }
        self.close(&mut in_function, &mut mentioned);
        self.words = words;
        self.mentioned = mentioned;
        self.sort();
        Ok(())
    }

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

    fn define(
        &mut self,
        words: &Words,
        instruction: Instruction<'_>,
        outline: &Outline,
    ) -> Result<(), Error> {
        let id = instruction.operand(usize::from(outline.has_type))?;
        if !is_within(id, words.bound()) {
            return Err(out_of_bounds(words, instruction, id));
        }
        let op = if outline.role == Role::Global {
            instruction.op()
        } else {
            None
        };
        let kind = match op {
            Some(Op::Variable | Op::UntypedVariableKHR)
                if instruction.operands.get(2) != Some(&(StorageClass::Function as u32)) =>
            {
                Kind::GlobalVariable
            }
            Some(
                Op::SpecConstant
                | Op::SpecConstantTrue
                | Op::SpecConstantFalse
                | Op::SpecConstantOp
                | Op::SpecConstantComposite,
            ) => Kind::SpecConstant,
            Some(Op::TypePointer | Op::TypeUntypedPointerKHR)
                if instruction.operands.get(1)
                    == Some(&(StorageClass::PhysicalStorageBuffer as u32)) =>
            {
                Kind::PhysicalPointer
            }
            _ => Kind::Other,
        };
        self.has_physical_pointers |= kind == Kind::PhysicalPointer;
        self.has_spec_constants |= kind == Kind::SpecConstant;
        let Some(row) = self.row_mut(id) else {
            return Ok(());
        };
        if row.definition != 0 {
            return Err(Error::IdDefinedTwice {
                word: instruction.offset,
                id,
                first: row.definition as usize,
            });
        }
        row.definition = instruction.offset as u32;
        row.kind = kind;
        Ok(())
    }

    /// Every id is in bounds, every known instruction has the operands that it needs. Words left over are let pass: later
    /// versions of SPIR-V append operands. `visit` gets each id.
    #[inline]
    fn check(
        &mut self,
        words: &Words,
        instruction: Instruction<'_>,
        outline: &Outline,
        mut visit: impl FnMut(&Self, u32),
    ) -> Result<(), Error> {
        let ids = match outline.ids(instruction.operands) {
            Ok(ids) => ids,
            Err(reason) => return Err(instruction.malformed(reason.to_owned())),
        };
        let (mut leading, more) = match ids {
            Ids::Plain(leading, more) => (leading, more),
            Ids::Literal(leading) if self.is_narrow(words, instruction) => (leading, &[][..]),
            Ids::Literal(leading) | Ids::Walk(leading) => {
                return self.check_all(words, instruction, outline, leading, visit);
            }
        };
        let bound = words.bound();
        while leading != 0 {
            let place = leading.trailing_zeros() as usize;
            leading &= leading - 1;
            let id = instruction.operands.get(place).copied().unwrap_or(0);
            if !is_within(id, bound) {
                return Err(out_of_bounds(words, instruction, id));
            }
            visit(self, id);
        }
        for id in more {
            if !is_within(*id, bound) {
                return Err(out_of_bounds(words, instruction, *id));
            }
            visit(self, *id);
        }
        Ok(())
    }

    /// Whether the result type is a number of one word.
    fn is_narrow(&self, words: &Words, instruction: Instruction<'_>) -> bool {
        let row = instruction.operands.first().and_then(|ty| self.row(*ty));
        row.filter(|row| row.definition != 0)
            .and_then(|row| words.at(row.definition as usize))
            .is_some_and(|ty| {
                (ty.is(Op::TypeInt) || ty.is(Op::TypeFloat))
                    && ty.operands.get(1).is_some_and(|width| *width <= 32)
            })
    }

    /// The same for instructions whose ids are not seen at once: `leading` are those of the leading operands.
    #[inline(never)]
    fn check_all(
        &mut self,
        words: &Words,
        instruction: Instruction<'_>,
        outline: &Outline,
        mut leading: u16,
        mut visit: impl FnMut(&Self, u32),
    ) -> Result<(), Error> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        while leading != 0 {
            found.extend(instruction.operands.get(leading.trailing_zeros() as usize));
            leading &= leading - 1;
        }
        let outcome = self.walk(words, instruction, outline, &mut found);
        for id in &found {
            if !is_within(*id, words.bound()) {
                return Err(out_of_bounds(words, instruction, *id));
            }
            visit(self, *id);
        }
        self.found = found;
        outcome
    }

    /// Finds the ids after the leading operands of an instruction.
    fn walk(
        &self,
        words: &Words,
        instruction: Instruction<'_>,
        outline: &Outline,
        found: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let literal_words = |id: u32, is_type: bool| {
            let definition = |id: u32| {
                let offset = self.row(id)?.definition as usize;
                words.at(Some(offset).filter(|offset| *offset != 0)?)
            };
            let ty = if is_type {
                id
            } else {
                *definition(id)?.operands.first()?
            };
            let ty = definition(ty)?;
            let width = *ty.operands.get(1)?;
            matches!(ty.op(), Some(Op::TypeInt | Op::TypeFloat))
                .then_some(width.div_ceil(32) as usize)
        };
        let outcome = outline.for_each_id_after(
            instruction.opcode,
            instruction.operands,
            &literal_words,
            &mut |id| found.push(id),
        );
        match outcome {
            Err(reason) if reason.starts_with("lacks") || reason.contains("unterminated") => {
                Err(instruction.malformed(reason.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn index(&mut self, instruction: Instruction<'_>, in_function: bool) -> Result<(), Error> {
        let offset = instruction.offset as u32;
        let Some(op) = instruction.op() else {
            return Ok(());
        };
        match op {
            Op::Name => {
                if let Some(row) = self.row_mut(instruction.operand(0)?)
                    && row.name == 0
                {
                    row.name = offset;
                }
            }
            Op::MemberName => {
                let (id, member) = (instruction.operand(0)?, instruction.operand(1)?);
                self.member_names.push((id, member, offset));
            }
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                self.decorations.push(DecorationRow {
                    id: instruction.operand(0)?,
                    member: WHOLE,
                    offset,
                });
            }
            Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT => {
                self.decorations.push(DecorationRow {
                    id: instruction.operand(0)?,
                    member: u64::from(instruction.operand(1)?) + 1,
                    offset,
                });
            }
            Op::GroupDecorate => {
                let group = instruction.operand(0)?;
                let targets = instruction.rest(1).iter();
                self.grouped
                    .extend(targets.map(|target| (*target, WHOLE, group)));
            }
            Op::GroupMemberDecorate => {
                let group = instruction.operand(0)?;
                let targets = instruction.rest(1).as_chunks::<2>().0.iter();
                self.grouped.extend(
                    targets.map(|[target, member]| (*target, u64::from(*member) + 1, group)),
                );
            }
            Op::EntryPoint => self.entry_points.push(offset),
            Op::ExecutionMode | Op::ExecutionModeId => {
                let target = instruction.operand(0)?;
                self.execution_modes.push((target, offset));
            }
            Op::Capability | Op::Extension | Op::MemoryModel | Op::Source => {
                self.headers.push(offset);
            }
            Op::ExtInstImport => {
                let name = instruction.text(1)?;
                let kind = if name == "GLSL.std.450" {
                    Kind::GlslImport
                } else if name.starts_with("NonSemantic.")
                    || name.starts_with("OpenCL.DebugInfo")
                    || name.starts_with("DebugInfo")
                {
                    Kind::DebugImport
                } else {
                    Kind::Other
                };
                if let Some(row) = self.row_mut(instruction.operand(0)?) {
                    row.kind = kind;
                }
            }
            Op::FunctionParameter => {
                if let Some(function) = self.functions.last_mut().filter(|_| in_function) {
                    function.parameters.push(instruction.operand(1)?);
                }
            }
            _ if in_function => {}
            Op::TypeStruct
            | Op::TypeArray
            | Op::TypeRuntimeArray
            | Op::TypeVector
            | Op::TypeMatrix => self.types.push(offset),
            Op::Variable | Op::UntypedVariableKHR => self.variables.push(offset),
            Op::SpecConstant
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstantOp
            | Op::SpecConstantComposite
            | Op::ConstantComposite => self.constants.push(offset),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, instruction: Instruction<'_>, mentioned: usize) -> Result<(), Error> {
        self.functions.push(Function {
            id: instruction.operand(1)?,
            start: instruction.offset,
            parameters: Numbers::new(),
            steps: self.steps.len()..self.steps.len(),
            mentioned: mentioned..mentioned,
        });
        Ok(())
    }

    /// Ends the function that is open, if one is: of what it mentions, each id is kept once.
    fn close(&mut self, in_function: &mut bool, mentioned: &mut Vec<u32>) {
        if !std::mem::take(in_function) {
            return;
        }
        let start = self
            .functions
            .last()
            .map_or(0, |function| function.mentioned.start);
        if let Some(own) = mentioned.get_mut(start..) {
            own.sort_unstable();
        }
        let mut end = start;
        for index in start..mentioned.len() {
            let id = mentioned.get(index).copied().unwrap_or(0);
            let is_new = end == start || mentioned.get(end - 1) != Some(&id);
            // What was not defined when it was mentioned is by now, if it is of the function's own.
            if is_new && self.row(id).is_some_and(Row::may_be_of_interest) {
                mentioned.swap(end, index);
                end += 1;
            }
        }
        mentioned.truncate(end);
        if let Some(function) = self.functions.last_mut() {
            function.steps.end = self.steps.len();
            function.mentioned.end = end;
        }
    }

    fn sort(&mut self) {
        self.decorations.sort_unstable();
        self.grouped.sort_unstable();
        self.member_names.sort_unstable();
        let mut before = 0;
        let decorations = std::mem::take(&mut self.decorations);
        for (number, found) in (1..).zip(&decorations) {
            if std::mem::replace(&mut before, found.id) != found.id
                && let Some(slot) = self.slot(found.id)
                && let Some(row) = self.rows.get_mut(slot)
            {
                row.decorations = number;
            }
        }
        self.decorations = decorations;
    }

    /// Whether an instruction in a function says nothing of what the function does.
    fn is_debug(&self, instruction: Instruction<'_>) -> bool {
        const LINE: u32 = Op::Line as u32;
        const NO_LINE: u32 = Op::NoLine as u32;
        const NOP: u32 = Op::Nop as u32;
        const EXTENDED: u32 = Op::ExtInst as u32;
        const EXTENDED_FORWARD: u32 = Op::ExtInstWithForwardRefsKHR as u32;
        match instruction.opcode {
            EXTENDED | EXTENDED_FORWARD => instruction
                .operands
                .get(2)
                .is_some_and(|set| self.kind_of(*set) == Kind::DebugImport),
            LINE | NO_LINE | NOP => true,
            _ => false,
        }
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

fn is_within(id: u32, bound: u32) -> bool {
    id.wrapping_sub(1) < bound.saturating_sub(1)
}

#[cold]
fn out_of_bounds(words: &Words, instruction: Instruction<'_>, id: u32) -> Error {
    Error::IdOutOfBounds {
        word: instruction.offset,
        id,
        bound: words.bound(),
    }
}
