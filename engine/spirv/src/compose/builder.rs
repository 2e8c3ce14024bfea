//! A module to build by hand: instructions are inserted, other modules merged, and all of it can be tried out first.

use std::collections::HashMap;
use std::fmt;

use spirv::Op;

use super::class_module::MAX_BOUND;
use super::error::{Code, Place};
use super::output::instruction;
use crate::Error;
use crate::disassemble::{ListingStyle, disassemble};
use crate::operands::{OperandKind, for_each_operand, instruction_info, opcode_name};
use crate::words::{Instruction, MAGIC, Words};

/// What became of an instruction of a merged module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is there already, or belongs to something that is.
    OpNop,
    /// Taken as it is.
    Keep,
    /// Taken with this added to its ids.
    KeepOffset(u32),
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpNop => f.write_str("OpNop"),
            Self::Keep => f.write_str("Keep"),
            Self::KeepOffset(offset) => write!(f, "Keep + {offset}"),
        }
    }
}

/// A module as instructions. Types, constants and imports (the context) are there once each; variables and functions are the
/// body. Its `Debug` form is its listing.
#[derive(Clone, Default)]
pub struct ModuleBuilder {
    version: u32,
    bound: u32,
    /// Section in a module's layout, and words.
    instructions: Vec<(u8, Vec<u32>)>,
    /// Ids of the context by what they are.
    known: HashMap<Vec<u32>, u32>,
}

const IMPORT: u8 = 2;
const DEBUG: u8 = 6;
const NAMES: u8 = 7;
const DECORATIONS: u8 = 9;
const GLOBALS: u8 = 10;
const FUNCTIONS: u8 = 11;

fn section(op: Option<Op>, in_function: bool) -> u8 {
    match op {
        Some(Op::Capability) => 0,
        Some(Op::Extension) => 1,
        Some(Op::ExtInstImport) => IMPORT,
        Some(Op::MemoryModel) => 3,
        Some(Op::EntryPoint) => 4,
        Some(Op::ExecutionMode | Op::ExecutionModeId) => 5,
        Some(Op::String | Op::Source | Op::SourceExtension | Op::SourceContinued) => DEBUG,
        Some(Op::Name | Op::MemberName) => NAMES,
        Some(Op::ModuleProcessed) => 8,
        _ if in_function => FUNCTIONS,
        Some(op) if is_annotation(op) => DECORATIONS,
        _ => GLOBALS,
    }
}

fn is_annotation(op: Op) -> bool {
    matches!(
        op,
        Op::Decorate
            | Op::MemberDecorate
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
    )
}

/// Whether an instruction outside of functions is one of the context: equal ones are one.
fn is_context(op: Option<Op>) -> bool {
    let number = op.map_or(0, |op| op as u32);
    let types = (Op::TypeVoid as u32..=Op::TypeFunction as u32).contains(&number);
    let constants = (Op::ConstantTrue as u32..=Op::ConstantNull as u32).contains(&number);
    types
        || constants
        || matches!(
            op,
            Some(Op::ExtInstImport | Op::String | Op::TypeAccelerationStructureKHR)
        )
}

/// Positions of ids among an instruction's operands: uses, and that of the own id.
fn id_positions(instruction: Instruction<'_>) -> Result<(Vec<usize>, Option<usize>), Error> {
    let (mut uses, mut own) = (Vec::new(), None);
    let unknown = |_: u32, _: bool| None;
    for_each_operand(
        instruction.opcode,
        instruction.operands,
        &unknown,
        &mut |operand| match operand.kind {
            OperandKind::Result => own = Some(operand.start),
            kind if kind.is_id() => uses.push(operand.start),
            _ => {}
        },
    )
    .map_err(|reason| {
        let message = format!(
            "word {}: Op{} {reason}",
            instruction.offset,
            opcode_name(instruction.opcode)
        );
        Place::default().error(Code::M22, "module", message)
    })?;
    Ok((uses, own))
}

impl ModuleBuilder {
    /// A module of this version without instructions.
    #[must_use]
    pub fn new(major: u8, minor: u8) -> Self {
        Self {
            version: u32::from(major) << 16 | u32::from(minor) << 8,
            bound: 1,
            ..Self::default()
        }
    }

    /// A new id.
    pub fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }

    /// Inserts a type, constant or import, or finds the equal one that is there; gives its id. `operands` are those without
    /// the own id.
    ///
    /// # Errors
    /// [`Code::M22`] for an opcode that defines nothing, or is not one of a context.
    pub fn insert_context(&mut self, op: Op, operands: &[u32]) -> Result<u32, Error> {
        let own = instruction_info(op as u32)
            .filter(|info| info.has_result)
            .map(|info| usize::from(info.has_type));
        let Some(own) = own.filter(|at| is_context(Some(op)) && *at <= operands.len()) else {
            return Err(Place::default().error(
                Code::M22,
                format!("Op{op:?}"),
                "is no type, constant or import",
            ));
        };
        let mut words = operands.to_vec();
        words.insert(own, 0);
        let mut key = vec![op as u32];
        key.extend_from_slice(&words);
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        let id = self.id();
        self.known.insert(key, id);
        if let Some(slot) = words.get_mut(own) {
            *slot = id;
        }
        self.push(section(Some(op), false), op as u32, &words);
        Ok(id)
    }

    /// Inserts an instruction of the body, or any other that stands outside of the context, as it is; `in_function` says
    /// whether it is one of a function.
    pub fn insert(&mut self, op: Op, operands: &[u32], in_function: bool) {
        self.push(section(Some(op), in_function), op as u32, operands);
    }

    fn push(&mut self, section: u8, op: u32, operands: &[u32]) {
        let mut words = vec![instruction(op, operands.len())];
        words.extend_from_slice(operands);
        self.instructions.push((section, words));
    }

    /// Works on a copy, which takes this module's place if that succeeds.
    ///
    /// # Errors
    /// Those of the work; then nothing has changed.
    pub fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut copy = self.clone();
        let value = work(&mut copy)?;
        *self = copy;
        Ok(value)
    }

    /// Adds another module: its ids are moved behind those of this one, and what the context has already is left out. Gives
    /// what became of each of its instructions.
    ///
    /// # Errors
    /// [`Code::M22`] for what is no module or has unknown instructions, [`Code::M17`] for an entry point that is there,
    /// [`Code::M15`] for another memory model, [`Code::M25`] for too many ids. Then nothing has changed.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<Vec<Fate>, Error> {
        self.attempt(|builder| builder.merge_in_place(bytes))
    }

    fn merge_in_place(&mut self, bytes: &[u8]) -> Result<Vec<Fate>, Error> {
        let refuse = |code: Code, message: String| Place::default().error(code, "module", message);
        let words = Words::parse(bytes).map_err(|error| refuse(Code::M22, error.to_string()))?;
        let offset = if self.instructions.is_empty() {
            0
        } else {
            self.bound
        };
        let bound = offset.saturating_add(words.bound());
        if words.bound() > MAX_BOUND || bound > MAX_BOUND {
            return Err(refuse(
                Code::M25,
                format!("the id bound is {bound}, expected at most {MAX_BOUND}"),
            ));
        }
        self.version = self
            .version
            .max(words.as_slice().get(1).copied().unwrap_or_default());
        let mut map: Vec<u32> = (0..words.bound()).map(|id| id + offset).collect();
        let mut gone = vec![false; map.len()];
        self.find_known(&words, &mut map, &mut gone)?;
        let mut fates = Vec::new();
        let mut in_function = false;
        for found in words.iter() {
            let op = Op::from_u32(found.opcode);
            in_function |= op == Some(Op::Function);
            let (uses, own) = id_positions(found)?;
            let mut operands = found.operands.to_vec();
            for at in uses.iter().copied().chain(own) {
                if let Some(word) = operands.get_mut(at) {
                    *word = map.get(*word as usize).copied().ok_or_else(|| {
                        refuse(
                            Code::M22,
                            format!("word {}: id {word} is not below the bound", found.offset),
                        )
                    })?;
                }
            }
            let target =
                if section(op, in_function) == NAMES || section(op, in_function) == DECORATIONS {
                    found.operands.first()
                } else {
                    own.and_then(|at| found.operands.get(at))
                };
            let is_gone =
                target.is_some_and(|id| gone.get(*id as usize).copied().unwrap_or_default());
            let keep = !is_gone && self.is_new(op, &operands)?;
            if keep {
                self.push(section(op, in_function), found.opcode, &operands);
            }
            fates.push(match (keep, offset) {
                (false, _) => Fate::OpNop,
                (true, 0) => Fate::Keep,
                (true, offset) => Fate::KeepOffset(offset),
            });
            in_function &= op != Some(Op::FunctionEnd);
        }
        self.bound = bound.max(self.bound);
        Ok(fates)
    }

    /// Finds what the context has already: equal in operands, decorations and, for structs, names.
    fn find_known(
        &mut self,
        words: &Words,
        map: &mut [u32],
        gone: &mut [bool],
    ) -> Result<(), Error> {
        let mut extra: HashMap<u32, Vec<u32>> = HashMap::new();
        for found in words.iter() {
            let op = Op::from_u32(found.opcode);
            let decorates = op.is_some_and(is_annotation);
            if let (true, Some((target, rest))) = (
                decorates || matches!(op, Some(Op::Name | Op::MemberName)),
                found.operands.split_first(),
            ) {
                let of_target = extra.entry(*target).or_default();
                of_target.push(instruction(found.opcode, rest.len()));
                of_target.extend_from_slice(rest);
            }
        }
        let mut in_function = false;
        for found in words.iter() {
            let op = Op::from_u32(found.opcode);
            in_function |= op == Some(Op::Function);
            if in_function || !is_context(op) {
                continue;
            }
            let (uses, own) = id_positions(found)?;
            let (Some(own), mut key) = (own, vec![found.opcode]) else {
                continue;
            };
            let id = found.operands.get(own).copied().unwrap_or_default();
            for (at, word) in found.operands.iter().enumerate() {
                key.push(if at == own {
                    0
                } else if uses.contains(&at) {
                    map.get(*word as usize).copied().unwrap_or_default()
                } else {
                    *word
                });
            }
            let named = op == Some(Op::TypeStruct);
            if let Some(words) = extra.get(&id) {
                // Names tell structs apart and nothing else.
                let mut rest = words.as_slice();
                while let Some((first, after)) = rest.split_first() {
                    let count = (first >> 16) as usize - 1;
                    let (operands, next) = after.split_at_checked(count).unwrap_or((after, &[]));
                    let is_name = matches!(
                        Op::from_u32(first & 0xffff),
                        Some(Op::Name | Op::MemberName)
                    );
                    if named || !is_name {
                        key.push(*first);
                        key.extend_from_slice(operands);
                    }
                    rest = next;
                }
            }
            let (Some(slot), Some(gone)) = (map.get_mut(id as usize), gone.get_mut(id as usize))
            else {
                continue;
            };
            match self.known.get(&key) {
                Some(known) => (*slot, *gone) = (*known, true),
                None => {
                    self.known.insert(key, *slot);
                }
            }
        }
        Ok(())
    }

    /// Whether an instruction that defines nothing has to be added.
    fn is_new(&self, op: Option<Op>, operands: &[u32]) -> Result<bool, Error> {
        let there = |wanted: Op| {
            self.instructions
                .iter()
                .map(|(_, words)| words)
                .filter(move |words| {
                    words
                        .first()
                        .is_some_and(|first| first & 0xffff == wanted as u32)
                })
        };
        match op {
            Some(op @ (Op::Capability | Op::Extension)) => {
                Ok(!there(op).any(|words| words.get(1..) == Some(operands)))
            }
            Some(Op::MemoryModel) => match there(Op::MemoryModel).next() {
                Some(words) if words.get(1..) == Some(operands) => Ok(false),
                Some(_) => Err(Place::default().error(
                    Code::M15,
                    "module",
                    "has another memory model than the one before it",
                )),
                None => Ok(true),
            },
            Some(Op::EntryPoint) => {
                let what = |words: &[u32]| {
                    (
                        words.first().copied(),
                        super::class_module::string(words.get(2..).unwrap_or_default()),
                    )
                };
                if there(Op::EntryPoint)
                    .any(|words| what(words.get(1..).unwrap_or_default()) == what(operands))
                {
                    return Err(Place::default().error(
                        Code::M17,
                        what(operands).1,
                        "is an entry point of this stage already",
                    ));
                }
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    /// Instructions of the context: imports, types and constants.
    pub fn context(&self) -> impl Iterator<Item = &[u32]> {
        self.part(true)
    }

    /// Instructions of the body: variables and functions.
    pub fn body(&self) -> impl Iterator<Item = &[u32]> {
        self.part(false)
    }

    fn part(&self, context: bool) -> impl Iterator<Item = &[u32]> {
        self.instructions
            .iter()
            .filter(|(section, _)| [IMPORT, DEBUG, GLOBALS, FUNCTIONS].contains(section))
            .filter(move |(section, words)| {
                let op = words.first().and_then(|first| Op::from_u32(first & 0xffff));
                (*section != FUNCTIONS && is_context(op)) == context
            })
            .map(|(_, words)| words.as_slice())
    }

    /// The module in the layout of the specification, with its ids numbered anew so that none is left out.
    ///
    /// # Errors
    /// [`Code::M22`] for instructions that were inserted and do not fit their grammar.
    pub fn finish(&self) -> Result<Vec<u32>, Error> {
        let mut sorted: Vec<&(u8, Vec<u32>)> = self.instructions.iter().collect();
        sorted.sort_by_key(|(section, _)| *section);
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut out = vec![MAGIC, self.version, 0, 0, 0];
        for (_, words) in sorted {
            let Some((first, operands)) = words.split_first() else {
                continue;
            };
            let (uses, own) = id_positions(Instruction {
                offset: out.len(),
                opcode: first & 0xffff,
                operands,
            })?;
            let begin = out.len() + 1;
            out.extend_from_slice(words);
            for at in uses.into_iter().chain(own) {
                if let Some(word) = out.get_mut(begin + at) {
                    let next = numbers.len() as u32 + 1;
                    *word = *numbers.entry(*word).or_insert(next);
                }
            }
        }
        if let Some(bound) = out.get_mut(3) {
            *bound = numbers.len() as u32 + 1;
        }
        Ok(out)
    }
}

impl fmt::Debug for ModuleBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted: Vec<&(u8, Vec<u32>)> = self.instructions.iter().collect();
        sorted.sort_by_key(|(section, _)| *section);
        let header = [MAGIC, self.version, 0, self.bound, 0];
        let words = header
            .iter()
            .chain(sorted.into_iter().flat_map(|(_, words)| words));
        let bytes: Vec<u8> = words.flat_map(|word| word.to_ne_bytes()).collect();
        match disassemble(&bytes, ListingStyle::Names) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "; {error}"),
        }
    }
}
