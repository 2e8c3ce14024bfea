//! Whether instructions have the operands that they need, and ids that are in bounds.

use spirv::Op;

use super::Module;
use crate::error::Error;
use crate::operands::{Ids, Outline};
use crate::words::{Instruction, Words};

impl Module {
    /// Every id is in bounds, every known instruction has the operands that it needs. Words left over are let pass: later
    /// versions of SPIR-V append operands. `visit` gets each id.
    #[inline]
    pub(super) fn check(
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
}

pub(super) fn is_within(id: u32, bound: u32) -> bool {
    id.wrapping_sub(1) < bound.saturating_sub(1)
}

#[cold]
pub(super) fn out_of_bounds(words: &Words, instruction: Instruction<'_>, id: u32) -> Error {
    Error::IdOutOfBounds {
        word: instruction.offset,
        id,
        bound: words.bound(),
    }
}
