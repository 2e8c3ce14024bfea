//! An index over a module: definitions, names, decorations, entry points, functions.
//!
//! Tolerant on purpose: instructions that this build does not know are skipped, unknown enumerants are numbers, debug
//! instructions are ignored wherever they stand. Memory is linear in the size of the file, whatever the header's bound says.

use std::collections::{HashMap, HashSet};

use spirv::{Decoration, Op};

use crate::error::Error;
use crate::operands::{for_each_operand, instruction_info};
use crate::words::{Instruction, Words};

/// Stands for "the whole type" where a member number is expected.
const WHOLE: u32 = u32::MAX;

/// A function of a module.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) id: u32,
    /// Word offset of `OpFunction`.
    pub(crate) start: usize,
    /// Word offset behind `OpFunctionEnd`.
    pub(crate) end: usize,
    pub(crate) parameters: Vec<u32>,
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

    pub(crate) fn string(&self) -> Option<String> {
        self.instruction.string(self.first).ok()
    }
}

/// Word offset of the instruction that defines each id.
#[derive(Debug)]
enum Definitions {
    Dense(Vec<u32>),
    Sparse(HashMap<u32, u32>),
}

impl Definitions {
    fn get(&self, id: u32) -> Option<usize> {
        let offset = match self {
            Self::Dense(offsets) => *offsets.get(id as usize)?,
            Self::Sparse(offsets) => *offsets.get(&id)?,
        };
        (offset != 0).then_some(offset as usize)
    }

    fn insert(&mut self, id: u32, offset: u32) {
        match self {
            Self::Dense(offsets) => {
                if let Some(slot) = offsets.get_mut(id as usize) {
                    *slot = offset;
                }
            }
            Self::Sparse(offsets) => {
                offsets.insert(id, offset);
            }
        }
    }
}

/// A module with its index.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) words: Words,
    definitions: Definitions,
    names: HashMap<u32, u32>,
    member_names: HashMap<(u32, u32), u32>,
    decorations: Vec<(u32, u32, u32)>,
    grouped: Vec<(u32, u32, u32)>,
    /// Word offsets of `OpEntryPoint`.
    pub(crate) entry_points: Vec<usize>,
    /// Entry point id and word offset of each `OpExecutionMode` and `OpExecutionModeId`.
    pub(crate) execution_modes: Vec<(u32, usize)>,
    /// Word offsets of global instructions that define an id, in order.
    pub(crate) globals: Vec<usize>,
    /// Word offsets of `OpCapability`, `OpExtension`, `OpMemoryModel`, `OpSource`.
    pub(crate) headers: Vec<usize>,
    pub(crate) functions: Vec<Function>,
    pub(crate) function_index: HashMap<u32, usize>,
    non_semantic: HashSet<u32>,
    glsl: HashSet<u32>,
}

impl Module {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let words = Words::parse(bytes)?;
        let bound = words.bound() as usize;
        let dense = bound <= words.as_slice().len() * 4 + 1024;
        let mut module = Self {
            definitions: if dense {
                Definitions::Dense(vec![0; bound])
            } else {
                Definitions::Sparse(HashMap::new())
            },
            words: Words::default(),
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorations: Vec::new(),
            grouped: Vec::new(),
            entry_points: Vec::new(),
            execution_modes: Vec::new(),
            globals: Vec::new(),
            headers: Vec::new(),
            functions: Vec::new(),
            function_index: HashMap::new(),
            non_semantic: HashSet::new(),
            glsl: HashSet::new(),
        };
        let mut open: Option<Function> = None;
        for instruction in words.iter() {
            module.define(&words, instruction)?;
            module.check(&words, instruction)?;
            module.index(instruction, &mut open)?;
        }
        if let Some(function) = open {
            module.close(function, words.as_slice().len());
        }
        module.decorations.sort_unstable();
        module.grouped.sort_unstable();
        module.words = words;
        Ok(module)
    }

    fn define(&mut self, words: &Words, instruction: Instruction<'_>) -> Result<(), Error> {
        let Some(info) = instruction_info(instruction.opcode).filter(|info| info.has_result) else {
            return Ok(());
        };
        let id = instruction.operand(usize::from(info.has_type))?;
        check_id(words, instruction, id)?;
        if let Some(first) = self.definitions.get(id) {
            return Err(Error::IdDefinedTwice {
                word: instruction.offset,
                id,
                first,
            });
        }
        self.definitions.insert(id, instruction.offset as u32);
        Ok(())
    }

    /// Every id is in bounds, every known instruction has the operands that it needs. Words left over are let pass: later
    /// versions of SPIR-V append operands.
    fn check(&self, words: &Words, instruction: Instruction<'_>) -> Result<(), Error> {
        let mut bad = None;
        let literal_words = |id: u32, is_type: bool| {
            let ty = if is_type {
                id
            } else {
                *words.at(self.definitions.get(id)?)?.operands.first()?
            };
            let ty = words.at(self.definitions.get(ty)?)?;
            let width = *ty.operands.get(1)?;
            matches!(Op::from_u32(ty.opcode), Some(Op::TypeInt | Op::TypeFloat))
                .then_some(width.div_ceil(32) as usize)
        };
        let outcome = for_each_operand(
            instruction.opcode,
            instruction.operands,
            &literal_words,
            &mut |operand| {
                if operand.kind.is_id() {
                    let id = instruction
                        .operands
                        .get(operand.start)
                        .copied()
                        .unwrap_or(0);
                    if id == 0 || id >= words.bound() {
                        bad = bad.or(Some(id));
                    }
                }
            },
        );
        if let Some(id) = bad {
            return Err(Error::IdOutOfBounds {
                word: instruction.offset,
                id,
                bound: words.bound(),
            });
        }
        match outcome {
            Err(reason) if reason.starts_with("lacks") || reason.contains("unterminated") => {
                Err(instruction.malformed(reason.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn index(
        &mut self,
        instruction: Instruction<'_>,
        open: &mut Option<Function>,
    ) -> Result<(), Error> {
        let offset = instruction.offset as u32;
        match Op::from_u32(instruction.opcode) {
            Some(Op::Name) => {
                self.names.entry(instruction.operand(0)?).or_insert(offset);
            }
            Some(Op::MemberName) => {
                self.member_names
                    .entry((instruction.operand(0)?, instruction.operand(1)?))
                    .or_insert(offset);
            }
            Some(Op::Decorate | Op::DecorateId | Op::DecorateString) => {
                self.decorations
                    .push((instruction.operand(0)?, WHOLE, offset));
            }
            Some(Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT) => {
                self.decorations
                    .push((instruction.operand(0)?, instruction.operand(1)?, offset));
            }
            Some(Op::GroupDecorate) => {
                let group = instruction.operand(0)?;
                self.grouped.extend(
                    instruction
                        .rest(1)
                        .iter()
                        .map(|target| (*target, WHOLE, group)),
                );
            }
            Some(Op::GroupMemberDecorate) => {
                let group = instruction.operand(0)?;
                self.grouped.extend(
                    instruction
                        .rest(1)
                        .as_chunks::<2>()
                        .0
                        .iter()
                        .map(|[target, member]| (*target, *member, group)),
                );
            }
            Some(Op::EntryPoint) => self.entry_points.push(instruction.offset),
            Some(Op::ExecutionMode | Op::ExecutionModeId) => self
                .execution_modes
                .push((instruction.operand(0)?, instruction.offset)),
            Some(Op::Capability | Op::Extension | Op::MemoryModel | Op::Source) => {
                self.headers.push(instruction.offset);
            }
            Some(Op::ExtInstImport) => {
                let name = instruction.string(1)?;
                if name.starts_with("NonSemantic.")
                    || name.starts_with("OpenCL.DebugInfo")
                    || name.starts_with("DebugInfo")
                {
                    self.non_semantic.insert(instruction.operand(0)?);
                } else if name == "GLSL.std.450" {
                    self.glsl.insert(instruction.operand(0)?);
                }
            }
            Some(Op::Function) => {
                if let Some(function) = open.take() {
                    self.close(function, instruction.offset);
                }
                *open = Some(Function {
                    id: instruction.operand(1)?,
                    start: instruction.offset,
                    end: 0,
                    parameters: Vec::new(),
                });
            }
            Some(Op::FunctionParameter) => {
                if let Some(function) = open {
                    function.parameters.push(instruction.operand(1)?);
                }
            }
            Some(Op::FunctionEnd) => {
                if let Some(function) = open.take() {
                    self.close(
                        function,
                        instruction.offset + 1 + instruction.operands.len(),
                    );
                }
            }
            _ if open.is_none()
                && instruction_info(instruction.opcode).is_some_and(|info| info.has_result)
                && !self.is_debug(instruction) =>
            {
                self.globals.push(instruction.offset);
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, mut function: Function, end: usize) {
        function.end = end;
        self.function_index
            .insert(function.id, self.functions.len());
        self.functions.push(function);
    }

    /// The instruction that defines an id.
    pub(crate) fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        self.words.at(self.definitions.get(id)?)
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
        Op::from_u32(self.definition(id)?.opcode)
    }

    /// Instructions of a function, debug ones left out.
    pub(crate) fn body<'a>(
        &'a self,
        function: &Function,
    ) -> impl Iterator<Item = Instruction<'a>> + use<'a> {
        let (mut at, end) = (function.start, function.end);
        std::iter::from_fn(move || {
            while at < end {
                let instruction = self.words.at(at)?;
                at += instruction.operands.len() + 1;
                if !self.is_debug(instruction) {
                    return Some(instruction);
                }
            }
            None
        })
    }

    /// Whether an id is the import of GLSL's extended instructions.
    pub(crate) fn is_glsl_set(&self, id: u32) -> bool {
        self.glsl.contains(&id)
    }

    fn is_debug(&self, instruction: Instruction<'_>) -> bool {
        match Op::from_u32(instruction.opcode) {
            Some(Op::ExtInst | Op::ExtInstWithForwardRefsKHR) => instruction
                .operands
                .get(2)
                .is_some_and(|set| self.non_semantic.contains(set)),
            Some(Op::Line | Op::NoLine | Op::Nop) => true,
            _ => false,
        }
    }

    pub(crate) fn name(&self, id: u32) -> String {
        let found = self
            .names
            .get(&id)
            .and_then(|offset| self.words.at(*offset as usize));
        found
            .and_then(|instruction| instruction.string(1).ok())
            .unwrap_or_default()
    }

    pub(crate) fn member_name(&self, id: u32, member: u32) -> String {
        let found = self
            .member_names
            .get(&(id, member))
            .and_then(|offset| self.words.at(*offset as usize));
        found
            .and_then(|instruction| instruction.string(2).ok())
            .unwrap_or_default()
    }

    fn decorations_at(&self, id: u32, member: u32) -> impl Iterator<Item = Decorated<'_>> {
        let start = self
            .decorations
            .partition_point(|row| (row.0, row.1) < (id, member));
        self.decorations
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(move |row| (row.0, row.1) == (id, member))
            .filter_map(move |row| {
                let instruction = self.words.at(row.2 as usize)?;
                let at = if matches!(
                    Op::from_u32(instruction.opcode),
                    Some(Op::Decorate | Op::DecorateId | Op::DecorateString)
                ) {
                    1
                } else {
                    2
                };
                Some(Decorated {
                    decoration: *instruction.operands.get(at)?,
                    instruction,
                    first: at + 1,
                })
            })
    }

    fn all_decorations(&self, id: u32, member: u32) -> impl Iterator<Item = Decorated<'_>> {
        let start = self
            .grouped
            .partition_point(|row| (row.0, row.1) < (id, member));
        let groups = self
            .grouped
            .get(start..)
            .unwrap_or_default()
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
        self.all_decorations(id, member)
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
