//! Operands of every SPIR-V instruction, from a table generated after Khronos' grammar: which words are ids, and of what kind.
//!
//! Reflection needs it to find what unknown code does; whoever copies code from one module to another needs it to renumber
//! ids exactly.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperandKind {
    /// Id of the result's type.
    ResultType,
    /// Id that the instruction defines.
    Result,
    /// Any other id.
    Id,
    /// Id of a constant that is a scope.
    ScopeId,
    /// Id of a constant that holds memory semantics.
    MemorySemanticsId,
    /// Literal number of one word, or, in constants and switches, of as many as its type has.
    Literal,
    /// Literal string, terminated by a zero byte.
    String,
    /// Number of an extended instruction.
    ExtendedInstruction,
    /// Opcode of an `OpSpecConstantOp`.
    Opcode,
    /// Storage class.
    StorageClass,
    /// Decoration.
    Decoration,
    /// Execution mode.
    ExecutionMode,
    /// Any other enumerant or mask.
    Enumerant,
}

impl OperandKind {
    /// Whether the word is an id (a definition or a use).
    #[must_use]
    pub fn is_id(self) -> bool {
        matches!(
            self,
            Self::ResultType | Self::Result | Self::Id | Self::ScopeId | Self::MemorySemanticsId
        )
    }
}

/// One operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Kind.
    pub kind: OperandKind,
    /// First word, counted from the first operand word.
    pub start: usize,
    /// Number of words.
    pub len: usize,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionInfo {
    /// Name without `Op`.
    pub name: &'static str,
    /// Whether the first operand is a result type.
    pub has_type: bool,
    /// Whether it defines an id.
    pub has_result: bool,
    pattern: &'static [u8],
}

struct Table {
    instructions: Vec<Option<InstructionInfo>>,
    parameters: HashMap<(u8, u32), &'static [u8]>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table {
            instructions: Vec::new(),
            parameters: HashMap::new(),
        };
        for line in include_str!("operands/table.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            let mut parts = line.split(' ');
            let (Some(section), Some(number), Some(name)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let Ok(number) = number.parse::<u32>() else {
                continue;
            };
            let pattern = parts.next().unwrap_or("").as_bytes();
            if section == "op" {
                let index = number as usize;
                if table.instructions.len() <= index {
                    table.instructions.resize(index + 1, None);
                }
                let has_type = pattern.first() == Some(&b'T');
                table.instructions[index] = Some(InstructionInfo {
                    name,
                    has_type,
                    has_result: pattern.contains(&b'R'),
                    pattern,
                });
            } else if let Some(letter) = section.bytes().next() {
                table.parameters.insert((letter, number), pattern);
            }
        }
        table
    })
}

/// The row of an opcode; `None` for opcodes that this build does not know.
#[must_use]
pub fn instruction_info(opcode: u32) -> Option<&'static InstructionInfo> {
    table().instructions.get(opcode as usize)?.as_ref()
}

/// Name of an opcode without `Op`, or its number.
#[must_use]
pub fn opcode_name(opcode: u32) -> String {
    instruction_info(opcode).map_or_else(|| opcode.to_string(), |info| info.name.to_owned())
}

/// Calls `visit` for each operand of an instruction, in order.
///
/// `words` are the words after the first. `literal_words` says how many words a literal of a type has: it is asked with the
/// result type of `OpConstant` and `OpSpecConstant` (`true`), and with the selector of an `OpSwitch` (`false`).
///
/// # Errors
///
/// What does not fit the grammar, in words: a missing operand, words left over, an unterminated string, an unknown opcode.
pub fn for_each_operand(
    opcode: u32,
    words: &[u32],
    literal_words: &dyn Fn(u32, bool) -> Option<usize>,
    visit: &mut dyn FnMut(Operand),
) -> Result<(), &'static str> {
    let info = instruction_info(opcode).ok_or("unknown opcode")?;
    let mut walk = Walk {
        words,
        at: 0,
        literal_words,
        visit,
    };
    walk.pattern(info.pattern)?;
    if walk.at < words.len() {
        return Err("has words left over");
    }
    Ok(())
}

struct Walk<'a> {
    words: &'a [u32],
    at: usize,
    literal_words: &'a dyn Fn(u32, bool) -> Option<usize>,
    visit: &'a mut dyn FnMut(Operand),
}

impl Walk<'_> {
    fn pattern(&mut self, pattern: &[u8]) -> Result<(), &'static str> {
        let mut at = 0;
        while let Some(&letter) = pattern.get(at) {
            at += 1;
            match pattern.get(at) {
                Some(b'?') => {
                    at += 1;
                    if self.at < self.words.len() {
                        self.operand(letter)?;
                    }
                }
                Some(b'*') => {
                    at += 1;
                    while self.at < self.words.len() {
                        self.operand(letter)?;
                    }
                }
                _ => self.operand(letter)?,
            }
        }
        Ok(())
    }

    fn take(&mut self, kind: OperandKind, len: usize) -> Result<u32, &'static str> {
        let first = *self.words.get(self.at).ok_or("lacks an operand")?;
        if self.words.len() - self.at < len {
            return Err("lacks words of a literal");
        }
        (self.visit)(Operand {
            kind,
            start: self.at,
            len,
        });
        self.at += len;
        Ok(first)
    }

    fn operand(&mut self, letter: u8) -> Result<(), &'static str> {
        use OperandKind as K;
        match letter {
            b'T' => self.take(K::ResultType, 1).map(drop),
            b'R' => self.take(K::Result, 1).map(drop),
            b'I' => self.take(K::Id, 1).map(drop),
            b'S' => self.take(K::ScopeId, 1).map(drop),
            b'M' => self.take(K::MemorySemanticsId, 1).map(drop),
            b'L' | b'F' => self.take(K::Literal, 1).map(drop),
            b'X' => self.take(K::ExtendedInstruction, 1).map(drop),
            b'c' => self.take(K::StorageClass, 1).map(drop),
            b's' => {
                let rest = self.words.get(self.at..).unwrap_or_default();
                let end = rest
                    .iter()
                    .position(|word| word.to_le_bytes().contains(&0))
                    .ok_or("has an unterminated string")?;
                self.take(K::String, end + 1).map(drop)
            }
            b'C' => {
                let ty = *self.words.first().ok_or("lacks an operand")?;
                let len = (self.literal_words)(ty, true)
                    .unwrap_or(self.words.len().saturating_sub(self.at))
                    .max(1);
                self.take(K::Literal, len).map(drop)
            }
            b'O' => {
                // The operands after the opcode are those of that instruction, without result type and result.
                let opcode = self.take(K::Opcode, 1)?;
                let pattern = instruction_info(opcode)
                    .ok_or("names an unknown opcode")?
                    .pattern;
                if pattern.contains(&b'O') {
                    return Err("names itself as its operation");
                }
                self.pattern(pattern.strip_prefix(b"TR").unwrap_or(pattern))
            }
            b'P' => {
                let selector = *self.words.first().ok_or("lacks an operand")?;
                let len = (self.literal_words)(selector, false).unwrap_or(1).max(1);
                self.take(K::Literal, len)?;
                self.take(K::Id, 1).map(drop)
            }
            b'Q' => {
                self.take(K::Id, 1)?;
                self.take(K::Literal, 1).map(drop)
            }
            b'B' => {
                self.take(K::Id, 1)?;
                self.take(K::Id, 1).map(drop)
            }
            b'D' | b'x' => {
                let value = self.take(
                    if letter == b'D' {
                        K::Decoration
                    } else {
                        K::ExecutionMode
                    },
                    1,
                )?;
                match table().parameters.get(&(letter, value)) {
                    Some(parameters) => self.pattern(parameters),
                    None => Ok(()),
                }
            }
            b'i' | b'l' | b'm' | b'a' | b't' => {
                let mask = self.take(K::Enumerant, 1)?;
                for bit in (0..32).map(|bit| 1u32 << bit).filter(|bit| mask & bit != 0) {
                    if let Some(parameters) = table().parameters.get(&(letter, bit)) {
                        self.pattern(parameters)?;
                    }
                }
                Ok(())
            }
            _ => self.take(K::Enumerant, 1).map(drop),
        }
    }
}
