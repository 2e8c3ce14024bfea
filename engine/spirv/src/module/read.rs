//! One pass over a module that makes its index.

use std::collections::HashMap;

use spirv::{Op, StorageClass};

use super::check::{is_within, out_of_bounds};
use super::{DecorationRow, Function, Kind, Module, Row, Slots, WHOLE};
use crate::error::Error;
use crate::interface::Numbers;
use crate::operands::{Outline, Role, outlines};
use crate::words::{Instruction, Words};

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
                    decoration: instruction.operand(1)?,
                });
            }
            Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT => {
                self.decorations.push(DecorationRow {
                    id: instruction.operand(0)?,
                    member: u64::from(instruction.operand(1)?) + 1,
                    offset,
                    decoration: instruction.operand(2)?,
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
