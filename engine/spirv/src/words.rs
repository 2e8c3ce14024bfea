//! The words of a module: header and instructions, in either byte order.

use crate::error::Error;
use crate::operands::opcode_name;

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
        let words: Vec<u32> = chunks
            .iter()
            .map(|chunk| {
                if swapped {
                    u32::from_be_bytes(*chunk)
                } else {
                    u32::from_le_bytes(*chunk)
                }
            })
            .collect();
        let version = words.get(1).copied().unwrap_or(0);
        if version & 0xff00_00ff != 0 || version >> 16 != 1 {
            return Err(Error::BadVersion { found: version });
        }
        let mut at = HEADER_WORDS;
        while let Some(&first) = words.get(at) {
            let (count, opcode) = ((first >> 16) as usize, first & 0xffff);
            if count == 0 {
                return Err(Error::ZeroWordCount { word: at, opcode });
            }
            if count > words.len() - at {
                return Err(Error::Truncated {
                    word: at,
                    name: opcode_name(opcode),
                    expected: count,
                    given: words.len() - at,
                });
            }
            at += count;
        }
        Ok(Self { words, swapped })
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
    pub fn at(&self, offset: usize) -> Option<Instruction<'_>> {
        let first = *self.words.get(offset)?;
        let operands = self
            .words
            .get(offset + 1..offset + (first >> 16) as usize)?;
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
    pub fn operand(&self, position: usize) -> Result<u32, Error> {
        self.operands.get(position).copied().ok_or_else(|| {
            self.malformed(format!(
                "has {} operand words, expected more than {position}",
                self.operands.len()
            ))
        })
    }

    /// The operands from this position on; none if there are fewer.
    #[must_use]
    pub fn rest(&self, position: usize) -> &'a [u32] {
        self.operands.get(position..).unwrap_or_default()
    }

    /// The string at this position. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if it has no terminator.
    pub fn string(&self, position: usize) -> Result<String, Error> {
        let words = self.rest(position);
        let mut bytes = Vec::new();
        for word in words {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Ok(String::from_utf8(bytes).unwrap_or_else(|error| {
                        String::from_utf8_lossy(error.as_bytes()).into_owned()
                    }));
                }
                bytes.push(byte);
            }
        }
        Err(self.malformed("has an unterminated string".to_owned()))
    }

    /// Number of words of the string at this position.
    #[must_use]
    pub fn string_words(&self, position: usize) -> usize {
        let words = self.rest(position);
        words
            .iter()
            .position(|word| word.to_le_bytes().contains(&0))
            .map_or(words.len(), |last| last + 1)
    }

    /// An error about this instruction.
    #[must_use]
    pub fn malformed(&self, reason: String) -> Error {
        Error::Malformed {
            word: self.offset,
            name: opcode_name(self.opcode),
            reason,
        }
    }
}
