//! Operands of every SPIR-V instruction, from a table generated after Khronos' grammar: which words are ids, and of what kind.
//!
//! Reflection needs it to find what unknown code does; whoever copies code from one module to another needs it to renumber
//! ids exactly.

use std::collections::HashMap;
use std::sync::OnceLock;

use spirv::Op;

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

/// What follows the leading operands of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing.
    Nothing,
    /// Ids, as many as there are words.
    Ids,
    /// One id or none.
    OptionalId,
    /// One string.
    Text,
    /// One string, then ids.
    TextAndIds,
    /// A decoration with its parameters.
    Decoration,
    /// An execution mode with its parameters.
    ExecutionMode,
    /// A literal, as many words as its type says.
    Literal,
    /// Anything else.
    Pattern,
}

/// What the index of a module does with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing.
    Other,
    /// Nothing: it says nothing of what code does.
    Remark,
    /// An extended instruction, which may be a remark.
    Extended,
    /// What makes one of an image and a sampler.
    Combination,
    Call,
    Name,
    MemberName,
    Decoration,
    MemberDecoration,
    GroupDecoration,
    GroupMemberDecoration,
    EntryPoint,
    ExecutionMode,
    /// What is told of the module as a whole.
    Header,
    Import,
    /// A struct, array, vector or matrix.
    Type,
    /// A type of integers or floating-point numbers.
    Number,
    Pointer,
    Variable,
    SpecConstant,
    /// A literal constant.
    Constant,
    /// A constant made of others.
    Composite,
    Function,
    Parameter,
    FunctionEnd,
}

/// What reading a module needs of a row: so small that the rows of all usual instructions fit into a few cache lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// Which of the leading operands are ids, one bit each; the one that is defined is left out.
    pub(crate) ids: u16,
    /// Number of leading operands, which have one word each.
    pub(crate) leading: u8,
    pub(crate) rest: Rest,
    /// Whether the rest may not be left out.
    pub(crate) needs_more: bool,
    pub(crate) role: Role,
    pub(crate) has_type: bool,
    pub(crate) has_result: bool,
    /// Whether it only computes with plain numbers or directs control flow: pointers and handles neither come out of it nor
    /// are read or written through.
    pub(crate) is_inert: bool,
}

/// An instruction that this build does not know is passed over.
const UNKNOWN: Outline = Outline {
    ids: 0,
    leading: 0,
    rest: Rest::Nothing,
    needs_more: false,
    role: Role::Other,
    has_type: false,
    has_result: false,
    is_inert: true,
};

struct Table {
    instructions: Vec<Option<InstructionInfo>>,
    outlines: Vec<Outline>,
    ops: Vec<Option<Op>>,
    /// Parameters of decorations and of execution modes.
    parameters: [Vec<&'static [u8]>; 2],
    /// The same, as far as they are plain.
    literals: [Vec<Parameters>; 2],
    /// Parameters of the bits of masks, by the masks' letters.
    masks: HashMap<u8, [&'static [u8]; 32]>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table {
            instructions: Vec::new(),
            outlines: Vec::new(),
            ops: Vec::new(),
            parameters: [Vec::new(), Vec::new()],
            literals: [Vec::new(), Vec::new()],
            masks: HashMap::new(),
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
                    table.outlines.resize(index + 1, UNKNOWN);
                    table.ops.resize(index + 1, None);
                }
                let has_type = pattern.first() == Some(&b'T');
                let op = Op::from_u32(number);
                let info = InstructionInfo {
                    name,
                    has_type,
                    has_result: pattern.contains(&b'R'),
                    pattern,
                };
                table.ops[index] = op;
                table.outlines[index] = outline(&info, op);
                table.instructions[index] = Some(info);
            } else if let Some(letter) = section.bytes().next() {
                if let b'D' | b'x' = letter {
                    let list = &mut table.parameters[usize::from(letter == b'x')];
                    let index = number as usize;
                    if list.len() <= index {
                        list.resize(index + 1, &[]);
                    }
                    list[index] = pattern;
                } else if number.is_power_of_two() {
                    let bits = table.masks.entry(letter).or_insert([&[]; 32]);
                    bits[number.trailing_zeros() as usize] = pattern;
                }
            }
        }
        table.literals = table
            .parameters
            .each_ref()
            .map(|list| list.iter().map(|pattern| parameters(pattern)).collect());
        table
    })
}

fn outline(info: &InstructionInfo, op: Option<Op>) -> Outline {
    // Letters of operands with one word and no parameters.
    let is_plain = |letter: &u8| b"TRISMLFXce".contains(letter);
    let mut leading = info
        .pattern
        .iter()
        .take(16)
        .take_while(|letter| is_plain(letter))
        .count();
    if matches!(info.pattern.get(leading), Some(b'?' | b'*')) {
        leading -= 1;
    }
    let ids = (0..leading)
        .filter(|at| b"TISM".contains(&info.pattern[*at]))
        .fold(0, |ids, at| ids | 1 << at);
    Outline {
        ids,
        leading: leading as u8,
        rest: match &info.pattern[leading..] {
            // What may be left out and has no ids matters to nobody.
            b"" | b"L*" | b"L?" | b"e?" => Rest::Nothing,
            b"I*" => Rest::Ids,
            b"I?" => Rest::OptionalId,
            b"s" => Rest::Text,
            b"sI*" => Rest::TextAndIds,
            b"D" => Rest::Decoration,
            b"x" => Rest::ExecutionMode,
            b"C" => Rest::Literal,
            _ => Rest::Pattern,
        },
        needs_more: !info.pattern[leading..]
            .chunks(2)
            .all(|part| matches!(part, [_, b'?' | b'*'])),
        role: op.map_or(Role::Other, role),
        has_type: info.has_type,
        has_result: info.has_result,
        is_inert: op.is_some_and(is_inert),
    }
}

fn role(op: Op) -> Role {
    match op {
        Op::Line | Op::NoLine | Op::Nop => Role::Remark,
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => Role::Extended,
        Op::SampledImage => Role::Combination,
        Op::FunctionCall => Role::Call,
        Op::Name => Role::Name,
        Op::MemberName => Role::MemberName,
        Op::Decorate | Op::DecorateId | Op::DecorateString => Role::Decoration,
        Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT => {
            Role::MemberDecoration
        }
        Op::GroupDecorate => Role::GroupDecoration,
        Op::GroupMemberDecorate => Role::GroupMemberDecoration,
        Op::EntryPoint => Role::EntryPoint,
        Op::ExecutionMode | Op::ExecutionModeId => Role::ExecutionMode,
        Op::Capability | Op::Extension | Op::MemoryModel | Op::Source => Role::Header,
        Op::ExtInstImport => Role::Import,
        Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix => {
            Role::Type
        }
        Op::TypeInt | Op::TypeFloat => Role::Number,
        Op::TypePointer | Op::TypeUntypedPointerKHR => Role::Pointer,
        Op::Variable | Op::UntypedVariableKHR => Role::Variable,
        Op::SpecConstant
        | Op::SpecConstantTrue
        | Op::SpecConstantFalse
        | Op::SpecConstantOp
        | Op::SpecConstantComposite => Role::SpecConstant,
        Op::Constant => Role::Constant,
        Op::ConstantComposite => Role::Composite,
        Op::Function => Role::Function,
        Op::FunctionParameter => Role::Parameter,
        Op::FunctionEnd => Role::FunctionEnd,
        _ => Role::Other,
    }
}

/// Parameters of a decoration or an execution mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameters {
    /// So many literals of one word each.
    Literals(u8),
    /// Anything else.
    Pattern,
}

fn parameters(pattern: &[u8]) -> Parameters {
    if pattern.iter().all(|letter| b"LeF".contains(letter)) {
        Parameters::Literals(pattern.len() as u8)
    } else {
        Parameters::Pattern
    }
}

/// What reading a module needs of the table.
#[derive(Clone, Copy)]
pub(crate) struct Grammar {
    outlines: &'static [Outline],
    /// Of decorations and of execution modes.
    parameters: [&'static [Parameters]; 2],
}

pub(crate) fn grammar() -> Grammar {
    let table = table();
    Grammar {
        outlines: &table.outlines,
        parameters: table.literals.each_ref().map(Vec::as_slice),
    }
}

impl Grammar {
    #[inline]
    pub(crate) fn outline(&self, opcode: u32) -> &'static Outline {
        self.outlines.get(opcode as usize).unwrap_or(&UNKNOWN)
    }

    /// Whether these words are a decoration (0) or an execution mode (1) with all its parameters, which are literals.
    #[inline]
    pub(crate) fn has_literals(&self, list: usize, words: &[u32]) -> bool {
        let Some((value, given)) = words.split_first() else {
            return false;
        };
        match self
            .parameters
            .get(list)
            .and_then(|list| list.get(*value as usize))
        {
            None => true,
            Some(Parameters::Literals(count)) => given.len() >= usize::from(*count),
            Some(Parameters::Pattern) => false,
        }
    }
}

impl Outline {
    /// Calls `visit` for each id after the leading operands; errors as for [`for_each_operand`], but words left over are none.
    #[inline(never)]
    pub(crate) fn for_each_id_after<L, V>(
        &self,
        opcode: u32,
        words: &[u32],
        literal_words: &L,
        visit: &mut V,
    ) -> Result<(), &'static str>
    where
        L: Fn(u32, bool) -> Option<usize>,
        V: FnMut(u32),
    {
        let Some(info) = instruction_info(opcode) else {
            return Ok(());
        };
        let leading = usize::from(self.leading);
        let mut walk = Walk {
            words,
            at: leading,
            literal_words,
            visit: &mut |operand: Operand| {
                if operand.kind.is_id() {
                    visit(words.get(operand.start).copied().unwrap_or(0));
                }
            },
        };
        walk.pattern(info.pattern.get(leading..).unwrap_or_default())
    }
}

/// The row of an opcode; `None` for opcodes that this build does not know.
#[must_use]
pub fn instruction_info(opcode: u32) -> Option<&'static InstructionInfo> {
    table().instructions.get(opcode as usize)?.as_ref()
}

/// The enumerant of an opcode; much faster than [`Op::from_u32`].
pub(crate) fn op(opcode: u32) -> Option<Op> {
    *table().ops.get(opcode as usize)?
}

/// See [`Outline::is_inert`].
fn is_inert(op: Op) -> bool {
    // Conversions but for those of pointers, vectors, arithmetic and comparisons, derivatives: whole runs of the numbering.
    matches!(op as u32, 77..=79 | 109..=116 | 126..=168 | 170..=215)
        || matches!(
            op,
            Op::Nop
                | Op::Line
                | Op::NoLine
                | Op::Undef
                | Op::Transpose
                | Op::ArrayLength
                | Op::UntypedArrayLengthKHR
                | Op::ImageQuerySize
                | Op::ImageQuerySizeLod
                | Op::ImageQueryLevels
                | Op::ImageQueryLod
                | Op::ImageQuerySamples
                | Op::ImageQueryFormat
                | Op::ImageQueryOrder
                | Op::TensorQuerySizeARM
                | Op::PtrEqual
                | Op::PtrNotEqual
                | Op::PtrDiff
                | Op::ConvertPtrToU
                | Op::ConvertUToPtr
                | Op::Function
                | Op::FunctionParameter
                | Op::FunctionEnd
                | Op::Label
                | Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::SelectionMerge
                | Op::LoopMerge
                | Op::Return
                | Op::Kill
                | Op::TerminateInvocation
                | Op::DemoteToHelperInvocation
                | Op::Unreachable
                | Op::LifetimeStart
                | Op::LifetimeStop
                | Op::ControlBarrier
                | Op::MemoryBarrier
                | Op::EmitVertex
                | Op::EndPrimitive
        )
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
pub fn for_each_operand<L, V>(
    opcode: u32,
    words: &[u32],
    literal_words: &L,
    visit: &mut V,
) -> Result<(), &'static str>
where
    L: Fn(u32, bool) -> Option<usize> + ?Sized,
    V: FnMut(Operand) + ?Sized,
{
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

struct Walk<'a, L: ?Sized, V: ?Sized> {
    words: &'a [u32],
    at: usize,
    literal_words: &'a L,
    visit: &'a mut V,
}

impl<L, V> Walk<'_, L, V>
where
    L: Fn(u32, bool) -> Option<usize> + ?Sized,
    V: FnMut(Operand) + ?Sized,
{
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

    #[inline]
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

    #[inline]
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
                    .position(|word| has_zero_byte(*word))
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
                let lists = &table().parameters;
                let list = if letter == b'D' { &lists[0] } else { &lists[1] };
                match list.get(value as usize) {
                    Some(parameters) => self.pattern(parameters),
                    None => Ok(()),
                }
            }
            b'i' | b'l' | b'm' | b'a' | b't' => {
                let mask = self.take(K::Enumerant, 1)?;
                let Some(bits) = table().masks.get(&letter).filter(|_| mask != 0) else {
                    return Ok(());
                };
                for (bit, parameters) in bits.iter().enumerate() {
                    if mask >> bit & 1 != 0 {
                        self.pattern(parameters)?;
                    }
                }
                Ok(())
            }
            _ => self.take(K::Enumerant, 1).map(drop),
        }
    }
}

/// Whether a string ends in this word.
pub(crate) fn has_zero_byte(word: u32) -> bool {
    word.wrapping_sub(0x0101_0101) & !word & 0x8080_8080 != 0
}
