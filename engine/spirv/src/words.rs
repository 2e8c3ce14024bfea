//! The words of a module: header and instructions, in either byte order.

use crate::interface::Name;
use spirv::Op;

use crate::error::Error;
use crate::operands::{has_zero_byte, op, opcode_name};

/// SPIR-V's magic number.
pub const MAGIC: u32 = 0x0723_0203;

/// Words of the header.
pub const HEADER_WORDS: usize = 5;

/// A module as words in the machine's byte order. Every instruction lies within it and has at least one word.
#[derive(Clone, Debug, Default)]
pub struct Words {
    words: Vec<u32>,
    swapped: bool,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    /// Word offset in the module.
    pub offset: usize,
    /// Opcode.
    pub opcode: u32,
    /// Words after the first.
    pub operands: &'a [u32],
}

impl Words {
    /// Reads a module.
    ///
    /// # Errors
    ///
    /// Bad magic number, bad version, truncated words, word count 0, all with the word offset.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let words = Self::parse_header(bytes, Self::default())?;
        words.check()?;
        Ok(words)
    }

    /// Reads the words, in the memory of a module that is no longer needed. Only the header is looked at.
    pub(crate) fn parse_header(bytes: &[u8], spare: Self) -> Result<Self, Error> {
        let (chunks, rest) = bytes.as_chunks::<4>();
        if let Some(first) = chunks.first().map(|chunk| u32::from_le_bytes(*chunk))
            && first != MAGIC
            && first.swap_bytes() != MAGIC
        {
            return Err(Error::BadMagic { found: first });
        }
        if !rest.is_empty() || chunks.len() < HEADER_WORDS {
            return Err(Error::BadLength { bytes: bytes.len() });
        }
        let swapped = chunks
            .first()
            .is_some_and(|chunk| u32::from_le_bytes(*chunk) != MAGIC);
        let mut words = spare.words;
        words.clear();
        if swapped {
            words.extend(chunks.iter().map(|chunk| u32::from_be_bytes(*chunk)));
        } else {
            words.extend(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)));
        }
        let version = words.get(1).copied().unwrap_or(0);
        if version & 0xff00_00ff != 0 || version >> 16 != 1 {
            return Err(Error::BadVersion { found: version });
        }
        Ok(Self { words, swapped })
    }

    /// Whether every instruction lies within the module and has at least one word.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut at = HEADER_WORDS;
        while let Some(&first) = self.words.get(at) {
            let (count, opcode) = ((first >> 16) as usize, first & 0xffff);
            let left = self.words.len() - at;
            if count == 0 {
                return Err(Error::ZeroWordCount { word: at, opcode });
            }
            if count > left {
                return Err(Error::Truncated {
                    word: at,
                    name: opcode_name(opcode),
                    expected: count,
                    given: left,
                });
            }
            at += count;
        }
        Ok(())
    }

    /// Major and minor version.
    #[must_use]
    pub fn version(&self) -> (u8, u8) {
        let word = self.header(1);
        ((word >> 16) as u8, (word >> 8) as u8)
    }

    /// Generator word.
    #[must_use]
    pub fn generator(&self) -> u32 {
        self.header(2)
    }

    /// Bound: all ids are below it.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.header(3)
    }

    fn header(&self, word: usize) -> u32 {
        self.words.get(word).copied().unwrap_or(0)
    }

    /// Whether the file was in the other byte order than little-endian.
    #[must_use]
    pub fn was_big_endian(&self) -> bool {
        self.swapped
    }

    /// All words, header included.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.words
    }

    /// The instruction at a word offset, which must be one that [`Self::iter`] gave.
    #[must_use]
    #[inline]
    pub fn at(&self, offset: usize) -> Option<Instruction<'_>> {
        let (first, after) = self.words.get(offset..)?.split_first()?;
        let operands = after.get(..((first >> 16) as usize).wrapping_sub(1))?;
        Some(Instruction {
            offset,
            opcode: first & 0xffff,
            operands,
        })
    }

    /// All instructions, in order.
    pub fn iter(&self) -> impl Iterator<Item = Instruction<'_>> {
        let mut at = HEADER_WORDS;
        std::iter::from_fn(move || {
            let instruction = self.at(at)?;
            at += instruction.operands.len() + 1;
            Some(instruction)
        })
    }
}

impl<'a> Instruction<'a> {
    /// The operand at this position.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if there is none.
    #[inline]
    pub fn operand(&self, position: usize) -> Result<u32, Error> {
        match self.operands.get(position) {
            Some(operand) => Ok(*operand),
            None => Err(self.lacks_operand(position)),
        }
    }

    #[cold]
    fn lacks_operand(&self, position: usize) -> Error {
        self.malformed(format!(
            "has {} operand words, expected more than {position}",
            self.operands.len()
        ))
    }

    /// The operands from this position on; none if there are fewer.
    #[must_use]
    pub fn rest(&self, position: usize) -> &'a [u32] {
        self.operands.get(position..).unwrap_or_default()
    }

    /// Whether this is its opcode.
    #[inline]
    pub(crate) fn is(&self, op: Op) -> bool {
        self.opcode == op as u32
    }

    /// Whether its opcode is one of these.
    #[inline]
    pub(crate) fn is_any<const N: usize>(&self, ops: [Op; N]) -> bool {
        ops.iter().any(|op| self.is(*op))
    }

    /// The opcode as an enumerant; `None` for opcodes that this build does not know.
    pub(crate) fn op(&self) -> Option<Op> {
        op(self.opcode)
    }

    /// The string at this position. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if it has no terminator.
    pub fn string(&self, position: usize) -> Result<String, Error> {
        Ok(self.text(position)?.to_string())
    }

    /// The same, without an allocation if it is short.
    pub(crate) fn text(&self, position: usize) -> Result<Name, Error> {
        let words = self.rest(position);
        let Some((words, (last, before))) = words
            .iter()
            .position(|word| has_zero_byte(*word))
            .and_then(|end| words.get(..=end))
            .and_then(|words| Some((words, words.split_last()?)))
        else {
            return Err(self.malformed("has an unterminated string".to_owned()));
        };
        // The zero byte that is first in the string is the lowest.
        let tail =
            (last.wrapping_sub(0x0101_0101) & !last & 0x8080_8080).trailing_zeros() as usize / 8;
        let length = before.len() * 4 + tail;
        if let Some(name) = Name::in_words(words, length) {
            return Ok(name);
        }
        let words: Vec<u32> = words.iter().map(|word| word.to_le()).collect();
        let bytes = bytemuck::cast_slice(&words)
            .get(..length)
            .unwrap_or_default();
        Ok(Name::from(&*String::from_utf8_lossy(bytes)))
    }

    /// Number of words of the string at this position.
    #[must_use]
    pub fn string_words(&self, position: usize) -> usize {
        let words = self.rest(position);
        words
            .iter()
            .position(|word| has_zero_byte(*word))
            .map_or(words.len(), |last| last + 1)
    }

    /// An error about this instruction.
    #[must_use]
    #[cold]
    pub fn malformed(&self, reason: String) -> Error {
        Error::Malformed {
            word: self.offset,
            name: opcode_name(self.opcode),
            reason,
        }
    }
}
