//! Whether types are made of types before them, and of not too many layers.

use spirv::Op;

use super::Module;
use crate::error::Error;
use crate::layout::MAX_DEPTH;

impl Module {
    /// Checks that no type contains itself or nests too deep, in one pass without recursion: a type may only be made of types
    /// defined before it, pointers excepted.
    pub(super) fn check_types(&mut self) -> Result<(), Error> {
        for offset in &self.types {
            let Some(instruction) = self.words.at(*offset as usize) else {
                continue;
            };
            let parts = if instruction.is(Op::TypeStruct) {
                instruction.rest(1)
            } else {
                instruction.operands.get(1..2).unwrap_or_default()
            };
            let id = instruction.operand(0)?;
            let mut depth = 0;
            for part in parts {
                let row = self.slots.of(*part).and_then(|slot| self.rows.get(slot));
                let Some(row) = row.filter(|row| row.definition != 0) else {
                    return Err(Error::WrongId {
                        word: instruction.offset,
                        id: *part,
                        expected: "a type",
                    });
                };
                let opcode = row.head & 0xffff;
                if opcode == Op::TypePointer as u32 || opcode == Op::TypeUntypedPointerKHR as u32 {
                    continue;
                }
                if row.definition as usize >= instruction.offset {
                    return Err(Error::CyclicType {
                        word: instruction.offset,
                        id,
                    });
                }
                depth = depth.max(row.depth + 1);
            }
            if usize::from(depth) >= MAX_DEPTH {
                return Err(Error::TooDeep {
                    word: instruction.offset,
                    what: "type",
                    id,
                    limit: MAX_DEPTH,
                });
            }
            if let Some(row) = self.slots.of(id).and_then(|slot| self.rows.get_mut(slot)) {
                row.depth = depth;
            }
        }
        Ok(())
    }
}
