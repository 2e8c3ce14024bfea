//! What the index says of ids: definitions, names, decorations, functions.

use crate::interface::Name;
use spirv::{Decoration, Op};

use super::{
    DecorationRow, Function, Kind, Module, Target, WHOLE, id_of, member_target, number_of, target,
};
use crate::error::Error;
use crate::operands::{instruction_info, op};
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

    /// Whether it is this one; for the few that most decorations are, before the long way through all of them.
    pub(crate) fn is(&self, decoration: Decoration) -> bool {
        self.decoration == decoration as u32
    }

    pub(crate) fn string(&self) -> Option<Box<str>> {
        let text = self.instruction.text(self.first).ok()?;
        Some(text.as_str().into())
    }
}

impl Module {
    /// The instruction that defines an id.
    #[inline]
    pub(crate) fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        let row = self.row(id)?;
        let (offset, head) = (row.definition as usize, row.head);
        if offset == 0 {
            return None;
        }
        let words = self.words.as_slice();
        Some(Instruction {
            offset,
            opcode: head & 0xffff,
            operands: words.get(offset + 1..offset + (head >> 16) as usize)?,
        })
    }

    /// Word offset and opcode of the instruction that defines an id.
    #[inline]
    pub(crate) fn defined_by(&self, id: u32) -> Option<(usize, u32)> {
        let row = self.row(id)?;
        (row.definition != 0).then_some((row.definition as usize, row.head & 0xffff))
    }

    /// Whether an instruction with this opcode defines an id.
    #[inline]
    pub(crate) fn is_defined_by(&self, id: u32, expected: Op) -> bool {
        self.defined_by(id)
            .is_some_and(|(_, opcode)| opcode == expected as u32)
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
        op(self.defined_by(id)?.1)
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

    pub(crate) fn name(&self, id: u32) -> Name {
        let found = self
            .row(id)
            .map(|row| row.name as usize)
            .filter(|offset| *offset != 0)
            .and_then(|offset| self.words.at(offset));
        found
            .and_then(|instruction| instruction.text(1).ok())
            .unwrap_or_default()
    }

    pub(crate) fn member_name(&self, id: u32, member: u32) -> Name {
        let target = member_target(id, member);
        let start = self.member_names.partition_point(|row| row.0 < target);
        let found = self
            .member_names
            .get(start)
            .filter(|row| row.0 == target)
            .and_then(|row| self.words.at(row.1 as usize));
        found
            .and_then(|instruction| instruction.text(2).ok())
            .unwrap_or_default()
    }

    /// Names of a struct's members, each with its number, in order.
    pub(crate) fn member_names(&self, id: u32) -> impl Iterator<Item = (u32, Name)> {
        let start = target(id, 0);
        let start = self.member_names.partition_point(|row| row.0 < start);
        let own = self.member_names.get(start..).unwrap_or_default();
        let mut before = None;
        own.iter()
            .take_while(move |row| id_of(row.0) == id)
            .filter(move |row| before.replace(row.0) != Some(row.0))
            .filter_map(|row| {
                let name = self.words.at(row.1 as usize)?.text(2).ok()?;
                Some((number_of(row.0)?, name))
            })
    }

    /// Decorations of all members of a struct, each with the member's number; for one member in order, those of groups last.
    pub(crate) fn decorations_of_members(
        &self,
        id: u32,
    ) -> impl Iterator<Item = (u32, Decorated<'_>)> {
        let own = self
            .rows_of(id)
            .iter()
            .take_while(move |row| id_of(row.target) == id)
            .filter_map(move |row| Some((number_of(row.target)?, self.decorated(row)?)));
        let groups = self.groups_from(target(id, 0)).iter();
        let groups = groups.take_while(move |row| id_of(row.0) == id);
        own.chain(groups.flat_map(move |row| {
            let found = number_of(row.0).map(|number| {
                self.decorations_at(target(row.1, WHOLE))
                    .map(move |found| (number, found))
            });
            found.into_iter().flatten()
        }))
    }

    /// Members of groups, from a target on.
    fn groups_from(&self, target: Target) -> &[(Target, u32)] {
        if self.grouped.is_empty() {
            return &[];
        }
        let start = self.grouped.partition_point(|row| row.0 < target);
        self.grouped.get(start..).unwrap_or_default()
    }

    /// Rows from the first of an id on.
    fn rows_of(&self, id: u32) -> &[DecorationRow] {
        let first = self.row(id).map_or(0, |row| row.decorations) as usize;
        first
            .checked_sub(1)
            .and_then(|first| self.decorations.get(first..))
            .unwrap_or_default()
    }

    /// Rows of the decorations of an id or a member, those of groups left out.
    fn rows_at(&self, target: Target) -> impl Iterator<Item = &DecorationRow> {
        let own = self.rows_of(id_of(target));
        // Most have no members.
        let start = match own.first() {
            Some(row) if row.target < target => own.partition_point(|row| row.target < target),
            _ => 0,
        };
        own.get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(move |row| row.target == target)
    }

    fn decorated(&self, row: &DecorationRow) -> Option<Decorated<'_>> {
        Some(Decorated {
            decoration: row.decoration,
            instruction: self.words.at(row.offset as usize)?,
            first: if number_of(row.target).is_none() {
                2
            } else {
                3
            },
        })
    }

    fn decorations_at(&self, target: Target) -> impl Iterator<Item = Decorated<'_>> {
        self.rows_at(target).filter_map(|row| self.decorated(row))
    }

    fn all_decorations(&self, of: Target) -> impl Iterator<Item = Decorated<'_>> {
        let groups = self.groups_from(of).iter();
        let groups = groups.take_while(move |row| row.0 == of);
        self.decorations_at(of)
            .chain(groups.flat_map(|row| self.decorations_at(target(row.1, WHOLE))))
    }

    /// Decorations of an id, those of its groups included.
    pub(crate) fn decorations(&self, id: u32) -> impl Iterator<Item = Decorated<'_>> {
        self.all_decorations(target(id, WHOLE))
    }

    /// Decorations of a member, those of its groups included.
    pub(crate) fn member_decorations(
        &self,
        id: u32,
        member: u32,
    ) -> impl Iterator<Item = Decorated<'_>> {
        self.all_decorations(member_target(id, member))
    }

    /// The first decoration of a kind.
    fn find(&self, of: Target, decoration: Decoration) -> Option<Decorated<'_>> {
        let row = self
            .rows_at(of)
            .find(|row| row.decoration == decoration as u32);
        match row {
            Some(row) => self.decorated(row),
            None if self.grouped.is_empty() => None,
            None => self
                .all_decorations(of)
                .find(|found| found.decoration == decoration as u32),
        }
    }

    pub(crate) fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.find(target(id, WHOLE), decoration).is_some()
    }

    pub(crate) fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.find(target(id, WHOLE), decoration)?.literal()
    }

    pub(crate) fn member_has(&self, id: u32, member: u32, decoration: Decoration) -> bool {
        self.find(member_target(id, member), decoration).is_some()
    }
}
