//! Listings of modules, in the assembly language of the Khronos tools: `spirv-as` reads them.

mod enumerants;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use spirv::Op;

use crate::Error;
use crate::operands::{OperandKind, for_each_operand, instruction_info, opcode_name};
use crate::words::{Instruction, Words};

/// How a listing calls ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListingStyle {
    /// `%12`.
    Ids,
    /// By their `OpName`, `%tint`; names that several ids have get a suffix, `%tint_0`. Ids without one stay numbers.
    #[default]
    Names,
    /// As [`Self::Names`], with the number of the instruction before each, from 1, as the validator counts.
    Numbers,
}

/// Column that definitions are aligned to.
const INDENT: usize = 18;

/// The listing of a module.
///
/// # Errors
/// The words are no module. Instructions that this build does not know are listed by their number.
pub fn disassemble(bytes: &[u8], style: ListingStyle) -> Result<String, Error> {
    let words = Words::parse(bytes)?;
    let printer = Printer::new(&words, style != ListingStyle::Ids);
    let mut text = header(&words);
    for (index, instruction) in words.iter().enumerate() {
        if style == ListingStyle::Numbers {
            let _ = write!(text, "{:>5}: ", index + 1);
        }
        text.push_str(&printer.line(instruction));
        text.push('\n');
    }
    Ok(text)
}

fn header(words: &Words) -> String {
    let (major, minor) = words.version();
    let generator = words.generator();
    let schema = words.as_slice().get(4).copied().unwrap_or_default();
    format!(
        "; SPIR-V\n; Version: {major}.{minor}\n; Generator: {}; {}\n; Bound: {}\n; Schema: {schema}\n",
        generator >> 16,
        generator & 0xffff,
        words.bound()
    )
}

#[derive(Clone, Copy)]
enum Number {
    Int { width: u32, signed: bool },
    Float { width: u32 },
}

/// Prints instructions of one module.
pub(crate) struct Printer {
    names: HashMap<u32, String>,
    numbers: HashMap<u32, Number>,
    /// Type of each value.
    types: HashMap<u32, u32>,
    glsl: HashSet<u32>,
    /// Added to ids that have no name.
    pub(crate) offset: u32,
}

impl Printer {
    pub(crate) fn new(words: &Words, named: bool) -> Self {
        let mut printer = Self {
            names: HashMap::new(),
            numbers: HashMap::new(),
            types: HashMap::new(),
            glsl: HashSet::new(),
            offset: 0,
        };
        let mut taken: HashSet<String> = HashSet::new();
        for instruction in words.iter() {
            let operand = |at: usize| instruction.operands.get(at).copied().unwrap_or_default();
            match Op::from_u32(instruction.opcode) {
                Some(Op::Name) if named => {
                    let id = operand(0);
                    let name = sanitised(&instruction.string(1).unwrap_or_default());
                    if !name.is_empty() && !printer.names.contains_key(&id) {
                        printer.names.insert(id, unique(&mut taken, name));
                    }
                }
                Some(Op::TypeInt) => {
                    let number = Number::Int {
                        width: operand(1),
                        signed: operand(2) == 1,
                    };
                    printer.numbers.insert(operand(0), number);
                }
                Some(Op::TypeFloat) => {
                    printer
                        .numbers
                        .insert(operand(0), Number::Float { width: operand(1) });
                }
                Some(Op::ExtInstImport)
                    if instruction
                        .string(1)
                        .is_ok_and(|name| name == "GLSL.std.450") =>
                {
                    printer.glsl.insert(operand(0));
                }
                _ => {}
            }
            if let Some(info) =
                instruction_info(instruction.opcode).filter(|info| info.has_type && info.has_result)
            {
                let _ = info;
                printer.types.insert(operand(1), operand(0));
            }
        }
        printer
    }

    fn id(&self, id: u32) -> String {
        match self.names.get(&id) {
            Some(name) => format!("%{name}"),
            None => format!("%{}", id.saturating_add(self.offset)),
        }
    }

    /// An instruction as one line, without the line break.
    pub(crate) fn line(&self, instruction: Instruction<'_>) -> String {
        let mut result = None;
        let mut operands = String::new();
        let literal_words = |id: u32, is_type: bool| {
            let ty = if is_type { id } else { *self.types.get(&id)? };
            match self.numbers.get(&ty)? {
                Number::Int { width, .. } | Number::Float { width } => {
                    Some(width.div_ceil(32) as usize)
                }
            }
        };
        let mut enumerants = 0;
        let mut decoration = None;
        let outcome = for_each_operand(
            instruction.opcode,
            instruction.operands,
            &literal_words,
            &mut |operand| {
                let words = instruction
                    .operands
                    .get(operand.start..operand.start + operand.len)
                    .unwrap_or_default();
                let word = words.first().copied().unwrap_or_default();
                let text = match operand.kind {
                    OperandKind::Result => {
                        result = Some(word);
                        return;
                    }
                    kind if kind.is_id() => self.id(word),
                    OperandKind::String => quoted(words),
                    OperandKind::Literal => self.literal(instruction, words),
                    OperandKind::ExtendedInstruction => self.extended(instruction, word),
                    OperandKind::Opcode => opcode_name(word),
                    OperandKind::Decoration => {
                        decoration = Some(word);
                        enumerants::decoration(word)
                    }
                    OperandKind::StorageClass => enumerants::storage_class(word),
                    OperandKind::ExecutionMode => enumerants::execution_mode(word),
                    _ => {
                        enumerants += 1;
                        enumerants::other(instruction.opcode, decoration, enumerants - 1, word)
                    }
                };
                let _ = write!(operands, " {text}");
            },
        );
        if outcome.is_err() {
            operands = instruction
                .operands
                .iter()
                .fold(String::new(), |text, word| text + &format!(" {word}"));
        }
        let name = match instruction_info(instruction.opcode) {
            Some(_) => format!("Op{}", opcode_name(instruction.opcode)),
            None => format!("; unknown opcode {}", instruction.opcode),
        };
        match result {
            Some(id) => format!("{:>INDENT$} = {name}{operands}", self.id(id)),
            None => format!("{:width$}{name}{operands}", "", width = INDENT + 3),
        }
    }

    fn literal(&self, instruction: Instruction<'_>, words: &[u32]) -> String {
        let word = words.first().copied().unwrap_or_default();
        let op = Op::from_u32(instruction.opcode);
        let ty = match op {
            Some(Op::Constant | Op::SpecConstant) => instruction.operands.first().copied(),
            Some(Op::Switch) => instruction
                .operands
                .first()
                .and_then(|id| self.types.get(id))
                .copied(),
            _ => None,
        };
        let long = words.get(1).map_or(u64::from(word), |high| {
            u64::from(*high) << 32 | u64::from(word)
        });
        match ty.and_then(|ty| self.numbers.get(&ty)) {
            Some(Number::Int {
                width,
                signed: true,
            }) if *width > 32 => (long as i64).to_string(),
            Some(Number::Int { signed: true, .. }) => (word as i32).to_string(),
            Some(Number::Float { width: 32 }) if f32::from_bits(word).is_finite() => {
                format!("{}", f32::from_bits(word))
            }
            Some(Number::Float { width: 64 }) if f64::from_bits(long).is_finite() => {
                format!("{}", f64::from_bits(long))
            }
            // What has no decimal form is given as words.
            Some(Number::Float { .. }) => words
                .iter()
                .map(|word| format!("!{word}"))
                .collect::<Vec<_>>()
                .join(" "),
            _ => long.to_string(),
        }
    }

    fn extended(&self, instruction: Instruction<'_>, number: u32) -> String {
        let set = instruction.operands.get(2).copied().unwrap_or_default();
        if self.glsl.contains(&set)
            && let Some(op) = spirv::GlslStd450Op::from_u32(number)
        {
            return format!("{op:?}");
        }
        number.to_string()
    }
}

/// A name as the assembler takes it.
fn sanitised(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn unique(taken: &mut HashSet<String>, name: String) -> String {
    // A name that is a number would be taken for an id.
    let name = if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    };
    if taken.insert(name.clone()) {
        return name;
    }
    let mut number = 0;
    loop {
        let other = format!("{name}_{number}");
        if taken.insert(other.clone()) {
            return other;
        }
        number += 1;
    }
}

fn quoted(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    let text = String::from_utf8_lossy(&bytes)
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_suffixes() {
        let mut taken = HashSet::new();
        let names: Vec<_> = ["a", "a", "a_0", "a", "1"]
            .map(|name| unique(&mut taken, name.to_owned()))
            .into();
        assert_eq!(names, ["a", "a_0", "a_0_0", "a_1", "_1"]);
        assert_eq!(sanitised("f(vf3;"), "f_vf3_");
    }
}
