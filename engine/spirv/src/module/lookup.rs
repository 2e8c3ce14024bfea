//! What the index says of ids: definitions, names, decorations, functions.

use smol_str::SmolStr;
use spirv::{Decoration, Op};

use super::{DecorationRow, Function, Kind, Module, WHOLE};
use crate::error::Error;
use crate::operands::instruction_info;
use crate::words::Instruction;

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

impl Module {
    /// The instruction that defines an id.
    #[inline]
    pub(crate) fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        match self.row(id)?.definition as usize {
            0 => None,
            offset => self.words.at(offset),
        }
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
        self.kind_of(id) == Kind::GlslImport
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

    /// Rows of the decorations of an id or a member, those of groups left out.
    fn rows_at(&self, id: u32, member: u64) -> impl Iterator<Item = &DecorationRow> {
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
        own.get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(move |row| row.id == id && row.member == member)
    }

    fn decorated(&self, row: &DecorationRow) -> Option<Decorated<'_>> {
        Some(Decorated {
            decoration: row.decoration,
            instruction: self.words.at(row.offset as usize)?,
            first: if row.member == WHOLE { 2 } else { 3 },
        })
    }

    fn decorations_at(&self, id: u32, member: u64) -> impl Iterator<Item = Decorated<'_>> {
        self.rows_at(id, member)
            .filter_map(|row| self.decorated(row))
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

    /// The first decoration of a kind.
    fn find(&self, id: u32, member: u64, decoration: Decoration) -> Option<Decorated<'_>> {
        let row = self
            .rows_at(id, member)
            .find(|row| row.decoration == decoration as u32);
        match row {
            Some(row) => self.decorated(row),
            None if self.grouped.is_empty() => None,
            None => self
                .all_decorations(id, member)
                .find(|found| found.decoration == decoration as u32),
        }
    }

    pub(crate) fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.find(id, WHOLE, decoration).is_some()
    }

    pub(crate) fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.find(id, WHOLE, decoration)?.literal()
    }

    pub(crate) fn member_has(&self, id: u32, member: u32, decoration: Decoration) -> bool {
        self.find(id, u64::from(member) + 1, decoration).is_some()
    }
}
