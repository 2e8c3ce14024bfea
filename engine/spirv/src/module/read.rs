//! One pass over a module that makes its index.

use std::collections::HashMap;

use spirv::{Decoration, StorageClass};

use super::{
    DecorationRow, Function, Kind, Module, Row, Slots, Target, WHOLE, id_of, member_target, target,
};
use crate::error::Error;
use crate::interface::Numbers;
use crate::operands::{Grammar, Outline, Role, grammar, has_zero_byte};
use crate::words::{HEADER_WORDS, Instruction, Words};

/// The state of the pass. What it writes down most often is taken out of the module.
pub(super) struct Reader<'a> {
    pub(super) words: &'a Words,
    pub(super) slots: &'a Slots,
    pub(super) rows: &'a mut [Row],
    module: &'a mut Module,
    /// Ids are above 0, and at most this.
    pub(super) last_id: u32,
    in_function: bool,
}

impl Module {
    /// Reads a module. To be called on one that is new or retired.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let words = Words::parse_header(bytes, std::mem::take(&mut self.words))?;
        let (slots, count) = slots(&words);
        let mut rows = std::mem::take(&mut self.rows);
        rows.resize(count, Row::default());
        let reader = Reader {
            words: &words,
            slots: &slots,
            rows: &mut rows,
            module: self,
            last_id: words.bound().saturating_sub(1),
            in_function: false,
        };
        if let Err(error) = reader.run() {
            // Where instructions do not fit together, all else is noise.
            words.check()?;
            return Err(error);
        }
        (self.words, self.slots, self.rows) = (words, slots, rows);
        self.sort();
        self.check_types()
    }

    fn sort(&mut self) {
        // Most compilers write them in order.
        if !self.decorations.is_sorted_by_key(|row| row.target) {
            self.decorations
                .sort_unstable_by_key(|row| (row.target, row.offset));
        }
        if !self.member_names.is_sorted() {
            self.member_names.sort_unstable();
        }
        self.grouped.sort_unstable();
        let mut before = 0;
        for (number, found) in (1..).zip(&self.decorations) {
            let id = id_of(found.target);
            if std::mem::replace(&mut before, id) != id
                && let Some(slot) = self.slots.of(id)
                && let Some(row) = self.rows.get_mut(slot)
            {
                row.decorations = number;
            }
        }
    }
}

/// Where the rows of ids are, and how many there are.
fn slots(words: &Words) -> (Slots, usize) {
    let bound = words.bound();
    let all = words.as_slice();
    // Two words at least define an id, so that more ids than words are no compiler's work.
    if bound as usize <= all.len() + 256 {
        return (Slots::Dense, bound as usize);
    }
    let mut slots = HashMap::new();
    for word in all.iter().filter(|word| **word < bound) {
        let next = slots.len() as u32;
        slots.entry(*word).or_insert(next);
    }
    let count = slots.len();
    (Slots::Sparse(slots), count)
}

impl Row {
    #[inline]
    fn define(&mut self, instruction: Instruction<'_>, kind: Kind) {
        self.definition = instruction.offset as u32;
        self.head = (instruction.operands.len() as u32 + 1) << 16 | instruction.opcode;
        self.kind = kind;
        self.is_settled = matches!(kind, Kind::Other | Kind::LocalVariable | Kind::Number);
    }
}

/// Whether a string that is the last operand has its end where it should be.
fn ends_text(words: &[u32]) -> bool {
    words.last().is_some_and(|word| has_zero_byte(*word))
}

impl Reader<'_> {
    fn run(mut self) -> Result<(), Error> {
        let grammar = grammar();
        let mut rest = self
            .words
            .as_slice()
            .get(HEADER_WORDS..)
            .unwrap_or_default();
        // Declarations: nothing of what is to be done in functions.
        while let Some((instruction, next)) = self.next(rest)? {
            let outline = grammar.outline(instruction.opcode);
            if outline.role == Role::Function {
                break;
            }
            rest = next;
            if self.read_common(&grammar, instruction, outline.role) {
                continue;
            }
            if outline.has_result {
                self.define(instruction, outline, false)?;
            }
            self.check(&grammar, instruction, outline, false)?;
            self.index(instruction, outline, false)?;
        }
        while let Some((instruction, next)) = self.next(rest)? {
            rest = next;
            let outline = grammar.outline(instruction.opcode);
            if outline.has_result {
                self.define(instruction, outline, self.in_function)?;
            }
            if outline.role == Role::Function {
                self.close();
                self.open(instruction)?;
            }
            let is_code = self.in_function && !self.is_remark(instruction, outline);
            self.check(&grammar, instruction, outline, is_code)?;
            if is_code && !outline.is_inert {
                self.module.steps.push(instruction.offset as u32);
            }
            self.index(instruction, outline, self.in_function)?;
        }
        self.close();
        Ok(())
    }

    /// The next instruction, and what follows it.
    #[inline(always)]
    fn next<'w>(&self, rest: &'w [u32]) -> Result<Option<(Instruction<'w>, &'w [u32])>, Error> {
        let Some((first, after)) = rest.split_first() else {
            return Ok(None);
        };
        let count = ((first >> 16) as usize).wrapping_sub(1);
        let Some((operands, next)) = after.split_at_checked(count) else {
            self.words.check()?;
            return Ok(None);
        };
        let instruction = Instruction {
            offset: self.words.as_slice().len() - rest.len(),
            opcode: first & 0xffff,
            operands,
        };
        Ok(Some((instruction, next)))
    }

    /// Declarations as most are, each seen to in one go, since a processor foresees few of the branches of the long way. False
    /// for all others, and for what is wrong; then nothing was done.
    #[inline(always)]
    fn read_common(&mut self, grammar: &Grammar, instruction: Instruction<'_>, role: Role) -> bool {
        let offset = instruction.offset as u32;
        match (role, instruction.operands) {
            (Role::Decoration, [id, given @ ..])
                if self.is_id(*id) && grammar.has_literals(0, given) =>
            {
                self.module.decorations.push(DecorationRow {
                    target: target(*id, WHOLE),
                    offset,
                    decoration: given.first().copied().unwrap_or(0),
                });
                true
            }
            (Role::Name, [id, text @ ..]) if self.is_id(*id) && ends_text(text) => {
                match self.row_mut(*id) {
                    Some(row) if row.name == 0 => row.name = offset,
                    _ => {}
                }
                true
            }
            (Role::Pointer, [id, class, pointee]) if self.is_id(*pointee) => {
                *class != StorageClass::PhysicalStorageBuffer as u32
                    && self.declare(instruction, *id, Kind::Other)
            }
            (Role::Variable, [ty, id, class])
                if self.is_id(*ty) && *class != StorageClass::Function as u32 =>
            {
                let is_new = self.declare(instruction, *id, Kind::GlobalVariable);
                if is_new {
                    self.module.variables.push(offset);
                }
                is_new
            }
            (Role::Constant, [ty, id, _]) if self.kind_of(*ty) == Kind::Number => {
                self.declare(instruction, *id, Kind::Other)
            }
            (Role::MemberDecoration, [id, member, given @ ..])
                if self.is_id(*id) && grammar.has_literals(0, given) =>
            {
                let decoration = given.first().copied().unwrap_or(0);
                self.decorate_member(member_target(*id, *member), decoration, offset);
                true
            }
            (Role::MemberName, [id, member, text @ ..]) if self.is_id(*id) && ends_text(text) => {
                let member = member_target(*id, *member);
                self.module.member_names.push((member, offset));
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn decorate_member(&mut self, target: Target, decoration: u32, offset: u32) {
        self.module.has_access_of_members |= decoration == Decoration::NonWritable as u32
            || decoration == Decoration::NonReadable as u32;
        self.module.decorations.push(DecorationRow {
            target,
            offset,
            decoration,
        });
    }

    /// Notes a definition; false if the id is none, or is defined already.
    #[inline]
    fn declare(&mut self, instruction: Instruction<'_>, id: u32, kind: Kind) -> bool {
        let is_id = self.is_id(id);
        match self.row_mut(id) {
            Some(row) if is_id && row.definition == 0 => {
                row.define(instruction, kind);
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn row_mut(&mut self, id: u32) -> Option<&mut Row> {
        self.rows.get_mut(self.slots.of(id)?)
    }

    pub(super) fn kind_of(&self, id: u32) -> Kind {
        let row = self.slots.of(id).and_then(|slot| self.rows.get(slot));
        row.map(|row| row.kind).unwrap_or_default()
    }

    #[inline(always)]
    fn define(
        &mut self,
        instruction: Instruction<'_>,
        outline: &Outline,
        in_function: bool,
    ) -> Result<(), Error> {
        let id = instruction.operand(usize::from(outline.has_type))?;
        self.is_in_bounds(instruction, id)?;
        let operands = instruction.operands;
        let kind = match outline.role {
            Role::Variable if operands.get(2) == Some(&(StorageClass::Function as u32)) => {
                Kind::LocalVariable
            }
            Role::Variable => Kind::GlobalVariable,
            Role::SpecConstant => {
                self.module.has_spec_constants = true;
                Kind::SpecConstant
            }
            Role::Pointer
                if operands.get(1) == Some(&(StorageClass::PhysicalStorageBuffer as u32)) =>
            {
                self.module.has_physical_pointers = true;
                Kind::PhysicalPointer
            }
            Role::Number if operands.get(1).is_some_and(|width| *width <= 32) => Kind::Number,
            _ => Kind::Other,
        };
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
        row.define(instruction, kind);
        if !row.is_settled && in_function {
            self.mention(id);
        }
        Ok(())
    }

    /// Tells the function being read of an id, if it may be of interest.
    #[inline]
    pub(super) fn mention(&mut self, id: u32) {
        if let Some(row) = self.row_mut(id)
            && !row.is_settled
        {
            row.is_settled = true;
            self.module.mentioned.push(id);
        }
    }

    #[inline(always)]
    fn index(
        &mut self,
        instruction: Instruction<'_>,
        outline: &Outline,
        in_function: bool,
    ) -> Result<(), Error> {
        let offset = instruction.offset as u32;
        match outline.role {
            Role::Other
            | Role::Remark
            | Role::Extended
            | Role::Number
            | Role::Pointer
            | Role::Constant => {}
            Role::Combination => self.module.combines_samplers |= in_function,
            Role::Call => self.module.has_calls |= in_function,
            Role::Name => {
                if let Some(row) = self.row_mut(instruction.operand(0)?)
                    && row.name == 0
                {
                    row.name = offset;
                }
            }
            Role::MemberName => {
                let (id, member) = (instruction.operand(0)?, instruction.operand(1)?);
                let member = member_target(id, member);
                self.module.member_names.push((member, offset));
            }
            Role::Decoration => self.module.decorations.push(DecorationRow {
                target: target(instruction.operand(0)?, WHOLE),
                offset,
                decoration: instruction.operand(1)?,
            }),
            Role::MemberDecoration => {
                let member = member_target(instruction.operand(0)?, instruction.operand(1)?);
                self.decorate_member(member, instruction.operand(2)?, offset);
            }
            Role::GroupDecoration => {
                let group = instruction.operand(0)?;
                let targets = instruction.rest(1).iter();
                let grouped = targets.map(|id| (target(*id, WHOLE), group));
                self.module.grouped.extend(grouped);
            }
            Role::GroupMemberDecoration => {
                let group = instruction.operand(0)?;
                let targets = instruction.rest(1).as_chunks::<2>().0.iter();
                let grouped = targets.map(|[id, member]| (member_target(*id, *member), group));
                self.module.grouped.extend(grouped);
                self.module.has_access_of_members = true;
            }
            Role::EntryPoint => self.module.entry_points.push(offset),
            Role::ExecutionMode => {
                let target = instruction.operand(0)?;
                self.module.execution_modes.push((target, offset));
            }
            Role::Header => self.module.headers.push(offset),
            Role::Import => self.import(instruction)?,
            Role::Parameter => {
                let parameter = instruction.operand(1)?;
                if let Some(function) = self.module.functions.last_mut()
                    && in_function
                {
                    function.parameters.push(parameter);
                }
            }
            Role::Function => {}
            Role::FunctionEnd => self.close(),
            // What stands in a function is not for the whole module.
            _ if in_function => {}
            Role::Type => self.module.types.push(offset),
            Role::Variable => self.module.variables.push(offset),
            Role::SpecConstant | Role::Composite => self.module.constants.push(offset),
        }
        Ok(())
    }

    fn import(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
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
        Ok(())
    }

    fn open(&mut self, instruction: Instruction<'_>) -> Result<(), Error> {
        let (steps, mentioned) = (self.module.steps.len(), self.module.mentioned.len());
        self.module.functions.push(Function {
            id: instruction.operand(1)?,
            start: instruction.offset,
            parameters: Numbers::new(),
            steps: steps..steps,
            mentioned: mentioned..mentioned,
        });
        self.in_function = true;
        Ok(())
    }

    /// Ends the function that is open, if one is: of what it mentions, each id of interest is kept once.
    fn close(&mut self) {
        if !std::mem::take(&mut self.in_function) {
            return;
        }
        let Some(function) = self.module.functions.last_mut() else {
            return;
        };
        let mentioned = &mut self.module.mentioned;
        let start = function.mentioned.start;
        if let Some(own) = mentioned.get_mut(start..) {
            own.sort_unstable();
        }
        let mut end = start;
        for index in start..mentioned.len() {
            let id = mentioned.get(index).copied().unwrap_or(0);
            let row = self.slots.of(id).and_then(|slot| self.rows.get_mut(slot));
            let is_of_interest = row.is_some_and(|row| {
                let is_of_interest = row.may_be_of_interest();
                row.is_settled = !is_of_interest;
                is_of_interest
            });
            let is_new = end == start || mentioned.get(end - 1) != Some(&id);
            // What was not defined when it was mentioned is by now, if it is of the function's own.
            if is_new && is_of_interest {
                mentioned.swap(end, index);
                end += 1;
            }
        }
        mentioned.truncate(end);
        function.steps.end = self.module.steps.len();
        function.mentioned.end = end;
    }

    /// Whether an instruction in a function says nothing of what the function does.
    #[inline]
    fn is_remark(&self, instruction: Instruction<'_>, outline: &Outline) -> bool {
        match outline.role {
            Role::Remark => true,
            Role::Extended => {
                let set = instruction.operands.get(2);
                set.is_some_and(|set| self.kind_of(*set) == Kind::DebugImport)
            }
            _ => false,
        }
    }
}
