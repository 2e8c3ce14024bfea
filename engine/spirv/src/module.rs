//! An index over a module: definitions, names, decorations, entry points, functions.
//!
//! Tolerant on purpose: instructions that this build does not know are skipped, unknown enumerants are numbers, debug
//! instructions are ignored wherever they stand. Memory is linear in the size of the file, whatever the header's bound says.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use smol_str::SmolStr;
use spirv::{Decoration, Op, StorageClass};

use crate::error::Error;
use crate::operands::{Outline, Role, instruction_info, outlines};
use crate::words::{Instruction, Words};

/// Stands for "the whole type" where a member number is expected; sorts before the members.
const WHOLE: u64 = 0;

/// A function of a module.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) id: u32,
    /// Word offset of `OpFunction`.
    start: usize,
    pub(crate) parameters: Vec<u32>,
    /// Its part of [`Module::steps`].
    steps: std::ops::Range<usize>,
    /// Its part of [`Module::mentioned`].
    mentioned: std::ops::Range<usize>,
}

/// A decoration of an id or a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decorated<'a> {
    pub(crate) decoration: u32,
    pub(crate) instruction: Instruction<'a>,
    /// Position of the first parameter among the instruction's operands.
    pub(crate) first: usize,
}

impl<'a> Decorated<'a> {
    pub(crate) fn parameters(&self) -> &'a [u32] {
        self.instruction.rest(self.first)
    }

    pub(crate) fn literal(&self) -> Option<u32> {
        self.parameters().first().copied()
    }

    pub(crate) fn string(&self) -> Option<SmolStr> {
        self.instruction.text(self.first).ok()
    }
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
        self.kind != Kind::Other || self.definition == 0
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

/// A value per id; ids that the module neither defines nor names have the default.
#[derive(Debug)]
pub(crate) struct IdTable<T> {
    values: Vec<T>,
}

impl<T: Copy + Default> IdTable<T> {
    pub(crate) fn new(module: &Module) -> Self {
        Self {
            values: vec![T::default(); module.rows.len()],
        }
    }

    pub(crate) fn get(&self, module: &Module, id: u32) -> T {
        module
            .slot(id)
            .and_then(|slot| self.values.get(slot))
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn set(&mut self, module: &Module, id: u32, value: T) {
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

thread_local! {
    /// Tables of the module before, empty: to allocate them anew takes a good part of the time that a small module takes.
    static SPARE: Cell<Option<Module>> = const { Cell::new(None) };
}

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
    non_semantic: BTreeSet<u32>,
    glsl: BTreeSet<u32>,
}

impl Module {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut module = SPARE.take().unwrap_or_default();
        let words = Words::parse_with(bytes, std::mem::take(&mut module.words))?;
        let bound = words.bound() as usize;
        let length = words.as_slice().len();
        // Two words at least define an id, so that more ids than words are no compiler's work.
        if bound <= length + 256 {
            module.rows.resize(bound, Row::default());
        } else {
            module.slots = Slots::Sparse(HashMap::new());
        }
        let outlines = outlines();
        let mut mentioned = std::mem::take(&mut module.mentioned);
        let mut in_function = false;
        for instruction in words.iter() {
            let Some(outline) = outlines
                .get(instruction.opcode as usize)
                .filter(|outline| outline.is_known)
            else {
                continue;
            };
            if outline.has_result {
                module.define(&words, instruction, outline)?;
            }
            if outline.role == Role::Function && instruction.op() == Some(Op::Function) {
                module.close(&mut in_function, &mut mentioned);
                module.open(instruction, mentioned.len())?;
                in_function = true;
            }
            if in_function && !module.is_debug(instruction) {
                module.check(&words, instruction, outline, |id| {
                    if module.row(id).is_some_and(Row::may_be_of_interest) {
                        mentioned.push(id);
                    }
                })?;
                if !outline.is_inert {
                    module.steps.push(instruction.offset as u32);
                    module.combines_samplers |= outline.role == Role::Combination;
                }
            } else {
                module.check(&words, instruction, outline, |_| {})?;
            }
            match outline.role {
                Role::Other | Role::Combination => {}
                Role::Function if instruction.op() == Some(Op::FunctionEnd) => {
                    module.close(&mut in_function, &mut mentioned);
                }
                _ => module.index(instruction, in_function)?,
            }
        }
        module.close(&mut in_function, &mut mentioned);
        module.words = words;
        module.mentioned = mentioned;
        module.sort();
        Ok(module)
    }

    /// Keeps the tables for the next module.
    pub(crate) fn retire(mut self) {
        if self.words.as_slice().len() > MAX_SPARE {
            return;
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
        self.non_semantic.clear();
        self.glsl.clear();
        SPARE.set(Some(self));
    }

    /// Position of an id in tables by id; `None` if the module says nothing about it.
    pub(crate) fn slot(&self, id: u32) -> Option<usize> {
        match &self.slots {
            Slots::Dense => Some(id as usize),
            Slots::Sparse(slots) => slots.get(&id).map(|slot| *slot as usize),
        }
    }

    fn row(&self, id: u32) -> Option<&Row> {
        self.rows.get(self.slot(id)?)
    }

    /// The row of an id, made if there is none.
    fn row_mut(&mut self, id: u32) -> Option<&mut Row> {
        let slot = match &mut self.slots {
            Slots::Dense => id as usize,
            Slots::Sparse(slots) => {
                let next = self.rows.len() as u32;
                let slot = *slots.entry(id).or_insert(next);
                if slot == next {
                    self.rows.push(Row::default());
                }
                slot as usize
            }
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
        check_id(words, instruction, id)?;
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
        &self,
        words: &Words,
        instruction: Instruction<'_>,
        outline: &Outline,
        mut visit: impl FnMut(u32),
    ) -> Result<(), Error> {
        let bound = words.bound();
        let mut bad = None;
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
        let outcome = outline.for_each_id(
            instruction.opcode,
            instruction.operands,
            &literal_words,
            &mut |id: u32| {
                if id.wrapping_sub(1) < bound.saturating_sub(1) {
                    visit(id);
                } else {
                    bad = bad.or(Some(id));
                }
            },
        );
        if let Some(id) = bad {
            return Err(Error::IdOutOfBounds {
                word: instruction.offset,
                id,
                bound,
            });
        }
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
                if name.starts_with("NonSemantic.")
                    || name.starts_with("OpenCL.DebugInfo")
                    || name.starts_with("DebugInfo")
                {
                    self.non_semantic.insert(instruction.operand(0)?);
                } else if name == "GLSL.std.450" {
                    self.glsl.insert(instruction.operand(0)?);
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
            parameters: Vec::new(),
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

    /// The instruction that defines an id.
    pub(crate) fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        let offset = self.row(id)?.definition as usize;
        if offset == 0 {
            return None;
        }
        self.words.at(offset)
    }

    /// The instruction that defines an id that `user` names.
    pub(crate) fn require(
        &self,
        id: u32,
        user: Instruction<'_>,
        expected: &'static str,
    ) -> Result<Instruction<'_>, Error> {
        self.definition(id).ok_or(Error::WrongId {
            word: user.offset,
            id,
            expected,
        })
    }

    /// Result type of the instruction that defines a value.
    pub(crate) fn type_of(&self, id: u32) -> Option<u32> {
        let definition = self.definition(id)?;
        instruction_info(definition.opcode).filter(|info| info.has_type)?;
        definition.operands.first().copied()
    }

    pub(crate) fn opcode_of(&self, id: u32) -> Option<Op> {
        self.definition(id)?.op()
    }

    pub(crate) fn kind_of(&self, id: u32) -> Kind {
        self.row(id).map(|row| row.kind).unwrap_or_default()
    }

    /// Position of the function with this id.
    pub(crate) fn function_index(&self, id: u32) -> Option<usize> {
        let start = self.row(id)?.definition as usize;
        self.functions
            .binary_search_by_key(&start, |function| function.start)
            .ok()
    }

    /// Instructions of a function that may have to do with pointers and handles, debug ones left out.
    pub(crate) fn steps(&self, function: &Function) -> impl Iterator<Item = Instruction<'_>> {
        self.steps
            .get(function.steps.clone())
            .unwrap_or_default()
            .iter()
            .filter_map(|offset| self.words.at(*offset as usize))
    }

    /// Global variables, specialisation constants and physical pointer types that a function mentions, each once.
    pub(crate) fn mentioned(&self, function: &Function) -> &[u32] {
        self.mentioned
            .get(function.mentioned.clone())
            .unwrap_or_default()
    }

    /// Whether an id is the import of GLSL's extended instructions.
    pub(crate) fn is_glsl_set(&self, id: u32) -> bool {
        self.glsl.contains(&id)
    }

    fn is_debug(&self, instruction: Instruction<'_>) -> bool {
        match instruction.op() {
            Some(Op::ExtInst | Op::ExtInstWithForwardRefsKHR) => instruction
                .operands
                .get(2)
                .is_some_and(|set| self.non_semantic.contains(set)),
            Some(Op::Line | Op::NoLine | Op::Nop) => true,
            _ => false,
        }
    }

    pub(crate) fn name(&self, id: u32) -> SmolStr {
        let found = self
            .row(id)
            .map(|row| row.name as usize)
            .filter(|offset| *offset != 0)
            .and_then(|offset| self.words.at(offset));
        found
            .and_then(|instruction| instruction.text(1).ok())
            .unwrap_or_default()
    }

    pub(crate) fn member_name(&self, id: u32, member: u32) -> SmolStr {
        let start = self
            .member_names
            .partition_point(|row| (row.0, row.1) < (id, member));
        let found = self
            .member_names
            .get(start)
            .filter(|row| (row.0, row.1) == (id, member))
            .and_then(|row| self.words.at(row.2 as usize));
        found
            .and_then(|instruction| instruction.text(2).ok())
            .unwrap_or_default()
    }

    fn decorations_at(&self, id: u32, member: u64) -> impl Iterator<Item = Decorated<'_>> {
        let first = self.row(id).map_or(0, |row| row.decorations) as usize;
        let own = first
            .checked_sub(1)
            .and_then(|first| self.decorations.get(first..))
            .unwrap_or_default();
        // The whole comes first.
        let start = if member == WHOLE {
            0
        } else {
            own.partition_point(|row| (row.id, row.member) < (id, member))
        };
        let operand = if member == WHOLE { 1 } else { 2 };
        own.get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(move |row| row.id == id && row.member == member)
            .filter_map(move |row| {
                let instruction = self.words.at(row.offset as usize)?;
                Some(Decorated {
                    decoration: *instruction.operands.get(operand)?,
                    instruction,
                    first: operand + 1,
                })
            })
    }

    fn all_decorations(&self, id: u32, member: u64) -> impl Iterator<Item = Decorated<'_>> {
        let groups = if self.grouped.is_empty() {
            &[]
        } else {
            let start = self
                .grouped
                .partition_point(|row| (row.0, row.1) < (id, member));
            self.grouped.get(start..).unwrap_or_default()
        };
        let groups = groups
            .iter()
            .take_while(move |row| (row.0, row.1) == (id, member));
        self.decorations_at(id, member)
            .chain(groups.flat_map(|row| self.decorations_at(row.2, WHOLE)))
    }

    /// Decorations of an id, those of its groups included.
    pub(crate) fn decorations(&self, id: u32) -> impl Iterator<Item = Decorated<'_>> {
        self.all_decorations(id, WHOLE)
    }

    /// Decorations of a member, those of its groups included.
    pub(crate) fn member_decorations(
        &self,
        id: u32,
        member: u32,
    ) -> impl Iterator<Item = Decorated<'_>> {
        self.all_decorations(id, u64::from(member) + 1)
    }

    pub(crate) fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.decorations(id)
            .any(|found| found.decoration == decoration as u32)
    }

    pub(crate) fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.decorations(id)
            .find(|found| found.decoration == decoration as u32)?
            .literal()
    }

    pub(crate) fn member_has(&self, id: u32, member: u32, decoration: Decoration) -> bool {
        self.member_decorations(id, member)
            .any(|found| found.decoration == decoration as u32)
    }
}

fn check_id(words: &Words, instruction: Instruction<'_>, id: u32) -> Result<(), Error> {
    if id == 0 || id >= words.bound() {
        return Err(Error::IdOutOfBounds {
            word: instruction.offset,
            id,
            bound: words.bound(),
        });
    }
    Ok(())
}
