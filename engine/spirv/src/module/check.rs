//! Whether instructions have the operands that they need, and ids that are in bounds.
//!
//! Words left over are let pass: later versions of SPIR-V append operands.

use smallvec::SmallVec;
use spirv::Op;

use super::Kind;
use super::read::Reader;
use crate::error::Error;
use crate::operands::{Grammar, Outline, Rest, has_zero_byte};
use crate::words::Instruction;

impl Reader<'_> {
    #[inline]
    pub(super) fn is_id(&self, id: u32) -> bool {
        id.wrapping_sub(1) < self.last_id
    }

    #[inline]
    pub(super) fn is_in_bounds(&self, instruction: Instruction<'_>, id: u32) -> Result<(), Error> {
        if self.is_id(id) {
            Ok(())
        } else {
            Err(self.out_of_bounds(instruction, id))
        }
    }

    #[cold]
    fn out_of_bounds(&self, instruction: Instruction<'_>, id: u32) -> Error {
        Error::IdOutOfBounds {
            word: instruction.offset,
            id,
            bound: self.words.bound(),
        }
    }

    /// Every id is in bounds, every known instruction has the operands that it needs. `mentions` says whether it belongs to the
    /// code of a function.
    #[inline(always)]
    pub(super) fn check(
        &mut self,
        grammar: &Grammar,
        instruction: Instruction<'_>,
        outline: &Outline,
        mentions: bool,
    ) -> Result<(), Error> {
        let Some(more) = self.ids_after(grammar, instruction, outline) else {
            return self.check_all(instruction, outline, mentions);
        };
        let mut is_fine = true;
        let mut leading = outline.ids;
        while leading != 0 {
            let place = leading.trailing_zeros() as usize;
            leading &= leading - 1;
            let id = instruction.operands.get(place).copied().unwrap_or(0);
            is_fine &= self.is_id(id);
            if mentions {
                self.mention(id);
            }
        }
        for id in more {
            is_fine &= self.is_id(*id);
            if mentions {
                self.mention(*id);
            }
        }
        if is_fine {
            Ok(())
        } else {
            self.check_all(instruction, outline, mentions)
        }
    }

    /// Ids after the leading operands; `None` if that takes a closer look.
    #[inline(always)]
    fn ids_after<'w>(
        &self,
        grammar: &Grammar,
        instruction: Instruction<'w>,
        outline: &Outline,
    ) -> Option<&'w [u32]> {
        let leading = usize::from(outline.leading);
        if outline.rest == Rest::Nothing {
            return (instruction.operands.len() >= leading).then_some(&[]);
        }
        let rest = instruction.operands.get(leading..)?;
        match outline.rest {
            Rest::Nothing => Some(&[]),
            Rest::Ids => Some(rest),
            Rest::OptionalId => Some(rest.get(..1).unwrap_or_default()),
            Rest::Pattern if rest.is_empty() && !outline.needs_more => Some(&[]),
            Rest::Text if rest.iter().any(|word| has_zero_byte(*word)) => Some(&[]),
            Rest::TextAndIds => {
                let end = rest.iter().position(|word| has_zero_byte(*word))?;
                rest.get(end + 1..)
            }
            Rest::Decoration if grammar.has_literals(0, rest) => Some(&[]),
            Rest::ExecutionMode if grammar.has_literals(1, rest) => Some(&[]),
            Rest::Literal => {
                let ty = instruction.operands.first();
                let is_number = ty.is_some_and(|ty| self.kind_of(*ty) == Kind::Number);
                (is_number && rest.len() == 1).then_some(&[])
            }
            Rest::Pattern | Rest::Text | Rest::Decoration | Rest::ExecutionMode => None,
        }
    }

    /// The same for instructions whose ids are not seen at once, and for what is wrong.
    #[inline(never)]
    fn check_all(
        &mut self,
        instruction: Instruction<'_>,
        outline: &Outline,
        mentions: bool,
    ) -> Result<(), Error> {
        let operands = instruction.operands;
        if operands.len() < usize::from(outline.leading) {
            return Err(instruction.malformed("lacks an operand".to_owned()));
        }
        let leading = operands.iter().enumerate().take(16);
        let mut found: SmallVec<[u32; 16]> = leading
            .filter(|(place, _)| outline.ids >> place & 1 != 0)
            .map(|(_, id)| *id)
            .collect();
        let outcome = self.walk(instruction, outline, &mut found);
        for id in found {
            self.is_in_bounds(instruction, id)?;
            if mentions {
                self.mention(id);
            }
        }
        outcome
    }

    /// Finds the ids after the leading operands of an instruction.
    fn walk(
        &self,
        instruction: Instruction<'_>,
        outline: &Outline,
        found: &mut SmallVec<[u32; 16]>,
    ) -> Result<(), Error> {
        let definition = |id: u32| {
            let row = self.rows.get(self.slots.of(id)?)?;
            let offset = row.definition as usize;
            self.words.at(Some(offset).filter(|offset| *offset != 0)?)
        };
        let literal_words = |id: u32, is_type: bool| {
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
