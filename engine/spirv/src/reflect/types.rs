//! The type table: types that blocks, inputs, outputs and payloads are made of.

use std::collections::HashMap;

use spirv::{Decoration, Op};

use super::constants::Constants;
use crate::error::Error;
use crate::interface::{Dim, Member, StructType, Type, TypeId, TypeTable};
use crate::layout::{MAX_DEPTH, MatrixLayout, Sizes};
use crate::module::Module;
use crate::words::Instruction;

/// Checks that no type contains itself or nests too deep, in one pass without recursion: a type may only be made of types
/// defined before it, pointers excepted.
pub(super) fn check_types(module: &Module) -> Result<(), Error> {
    let mut depths: HashMap<u32, usize> = HashMap::new();
    for offset in &module.globals {
        let Some(instruction) = module.words.at(*offset) else {
            continue;
        };
        let parts = match Op::from_u32(instruction.opcode) {
            Some(Op::TypeStruct) => instruction.rest(1),
            Some(Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix) => {
                instruction.operands.get(1..2).unwrap_or_default()
            }
            _ => continue,
        };
        let id = instruction.operand(0)?;
        let mut depth = 0;
        for part in parts {
            let definition = module.require(*part, instruction, "a type")?;
            if matches!(
                Op::from_u32(definition.opcode),
                Some(Op::TypePointer | Op::TypeUntypedPointerKHR)
            ) {
                continue;
            }
            if definition.offset >= instruction.offset {
                return Err(Error::CyclicType {
                    word: instruction.offset,
                    id,
                });
            }
            depth = depth.max(depths.get(part).copied().unwrap_or(0) + 1);
        }
        if depth >= MAX_DEPTH {
            return Err(Error::TooDeep {
                word: instruction.offset,
                what: "type",
                id,
                limit: MAX_DEPTH,
            });
        }
        depths.insert(id, depth);
    }
    Ok(())
}

/// Array dimensions that any module may have, besides one for each of its words.
const MAX_DIMENSIONS: usize = 100_000;

/// What an array type holds in the end, its dimensions, and their strides, outermost first.
type ArrayShape = (u32, Vec<Dim>, Vec<Option<u32>>);

/// Fills a [`TypeTable`] with types and all that they are made of or point at.
pub(crate) struct TypeBuilder<'m> {
    pub(crate) module: &'m Module,
    pub(crate) table: TypeTable,
    pub(crate) constants: Constants,
    /// Array dimensions made so far: arrays of arrays share inner types, but not dimensions.
    made_dimensions: usize,
}

impl<'m> TypeBuilder<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self {
            module,
            table: TypeTable::default(),
            constants: Constants::default(),
            made_dimensions: 0,
        }
    }

    /// Adds a type and everything reachable from it.
    pub(super) fn add(&mut self, id: u32) -> Result<TypeId, Error> {
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if self.table.types.contains_key(&TypeId(id)) {
                continue;
            }
            let Some(instruction) = self.module.definition(id) else {
                continue;
            };
            let ty = self.convert(id, instruction)?;
            match &ty {
                Type::Vector { component, .. } | Type::Matrix { component, .. } => {
                    work.push(component.0);
                }
                Type::Array { element, .. } => work.push(element.0),
                Type::Pointer { pointee, .. } => work.push(pointee.0),
                Type::Struct(found) => work.extend(found.members.iter().map(|member| member.ty.0)),
                _ => {}
            }
            self.table.types.insert(TypeId(id), ty);
        }
        Ok(TypeId(id))
    }

    fn convert(&mut self, id: u32, instruction: Instruction<'_>) -> Result<Type, Error> {
        Ok(match Op::from_u32(instruction.opcode) {
            Some(Op::TypeBool) => Type::Bool,
            Some(Op::TypeInt) => Type::Int {
                width: instruction.operand(1)?,
                signed: instruction.operand(2)? != 0,
            },
            Some(Op::TypeFloat) => Type::Float {
                width: instruction.operand(1)?,
            },
            Some(Op::TypeVector) => Type::Vector {
                component: TypeId(instruction.operand(1)?),
                length: instruction.operand(2)?,
            },
            Some(Op::TypeMatrix) => {
                let column =
                    self.module
                        .require(instruction.operand(1)?, instruction, "a vector type")?;
                if Op::from_u32(column.opcode) != Some(Op::TypeVector) {
                    return Err(Error::WrongId {
                        word: instruction.offset,
                        id: instruction.operand(1)?,
                        expected: "a vector type",
                    });
                }
                Type::Matrix {
                    component: TypeId(column.operand(1)?),
                    columns: instruction.operand(2)?,
                    rows: column.operand(2)?,
                }
            }
            Some(Op::TypeArray | Op::TypeRuntimeArray) => self.array(id)?,
            Some(Op::TypeStruct) => Type::Struct(self.structure(id, instruction)),
            Some(Op::TypePointer) => Type::Pointer {
                pointee: TypeId(instruction.operand(2)?),
                alignment: self.module.literal(id, Decoration::Alignment),
            },
            _ => Type::Opaque(instruction.opcode),
        })
    }

    fn array(&mut self, id: u32) -> Result<Type, Error> {
        let (element, dims, strides) = self.dimensions(id)?;
        Ok(Type::Array {
            element: TypeId(element),
            dims,
            strides,
        })
    }

    /// What an array type holds in the end, its dimensions (outermost first) and their strides. No dimensions if it is no array.
    pub(super) fn dimensions(&mut self, id: u32) -> Result<ArrayShape, Error> {
        let (mut dims, mut strides, mut at) = (Vec::new(), Vec::new(), id);
        while let Some(instruction) = self.module.definition(at) {
            let dim = match Op::from_u32(instruction.opcode) {
                Some(Op::TypeArray) => {
                    self.constants
                        .dim(self.module, &mut self.table, instruction.operand(2)?)
                }
                Some(Op::TypeRuntimeArray) => Dim::Runtime,
                _ => break,
            };
            if dims.len() >= MAX_DEPTH {
                return Err(Error::TooDeep {
                    word: instruction.offset,
                    what: "array type",
                    id,
                    limit: MAX_DEPTH,
                });
            }
            self.made_dimensions += 1;
            let words = self.module.words.as_slice().len();
            if self.made_dimensions > MAX_DIMENSIONS + words {
                return Err(Error::TooLarge {
                    what: "the types".to_owned(),
                    bytes: words * 4,
                    limit: MAX_DIMENSIONS + words,
                    unit: "array dimensions",
                });
            }
            dims.push(dim);
            strides.push(self.module.literal(at, Decoration::ArrayStride));
            at = instruction.operand(1)?;
        }
        Ok((at, dims, strides))
    }

    fn structure(&self, id: u32, instruction: Instruction<'_>) -> StructType {
        let mut members = Vec::with_capacity(instruction.rest(1).len());
        for (number, ty) in instruction.rest(1).iter().enumerate() {
            let number = number as u32;
            let mut member = Member {
                name: self.module.member_name(id, number),
                ty: TypeId(*ty),
                ..Member::default()
            };
            let mut row_major = false;
            for found in self.module.member_decorations(id, number) {
                match Decoration::from_u32(found.decoration) {
                    Some(Decoration::Offset) => member.offset = found.literal(),
                    Some(Decoration::MatrixStride) => member.matrix_stride = found.literal(),
                    Some(Decoration::RowMajor) => row_major = true,
                    Some(Decoration::NonWritable) => member.non_writable = true,
                    Some(Decoration::NonReadable) => member.non_readable = true,
                    Some(Decoration::UserSemantic) => member.semantic = found.string(),
                    _ => {}
                }
            }
            member.row_major = self.holds_matrix(*ty).then_some(row_major);
            members.push(member);
        }
        StructType {
            name: self.module.name(id),
            block: self.module.has(id, Decoration::Block),
            buffer_block: self.module.has(id, Decoration::BufferBlock),
            members,
            ..StructType::default()
        }
    }

    /// Whether a type is a matrix or an array of matrices.
    fn holds_matrix(&self, ty: u32) -> bool {
        let mut at = ty;
        for _ in 0..MAX_DEPTH {
            let Some(definition) = self.module.definition(at) else {
                return false;
            };
            match (Op::from_u32(definition.opcode), definition.operands.get(1)) {
                (Some(Op::TypeMatrix), _) => return true,
                (Some(Op::TypeArray | Op::TypeRuntimeArray), Some(element)) => at = *element,
                _ => return false,
            }
        }
        false
    }
}

/// Fills in what follows from the finished table: sizes, strides, absolute offsets. `blocks` are the outermost structs,
/// `uniform` those of uniform buffers.
pub(super) fn finish(table: &mut TypeTable, blocks: &[TypeId], uniform: &[TypeId]) {
    measure(table);
    place(table, blocks);
    pad(table, uniform);
}

fn measure(table: &mut TypeTable) {
    let mut measured = Vec::new();
    {
        let mut sizes = Sizes::new(table, &[]);
        for (id, ty) in &table.types {
            if let Type::Struct(found) = ty {
                let members: Vec<u64> = found
                    .members
                    .iter()
                    .map(|member| sizes.of(member.ty, MatrixLayout::from(member)))
                    .collect();
                measured.push((
                    *id,
                    sizes.of(*id, MatrixLayout::default()),
                    members,
                    table.runtime_array(*id).is_some(),
                ));
            }
        }
    }
    let strides: HashMap<TypeId, Option<u32>> = table
        .types
        .iter()
        .filter_map(|(id, ty)| {
            if let Type::Array { strides, .. } = ty {
                Some((*id, strides.first().copied().flatten()))
            } else {
                None
            }
        })
        .collect();
    for (id, size, members, has_runtime_array) in measured {
        if let Some(Type::Struct(found)) = table.types.get_mut(&id) {
            found.size = size;
            found.has_runtime_array = has_runtime_array;
            for (member, size) in found.members.iter_mut().zip(members) {
                member.size = size;
                member.padded_size = size;
                member.array_stride = strides.get(&member.ty).copied().flatten();
            }
        }
    }
}

/// Structs inside a type, through arrays but not through pointers.
fn inner_struct(table: &TypeTable, ty: TypeId) -> Option<TypeId> {
    let inner = match table.get(ty)? {
        Type::Array { element, .. } => *element,
        _ => ty,
    };
    table.get_struct(inner).map(|_| inner)
}

/// Absolute offsets. Each struct is placed once, where the first block (by id) that holds it has it.
fn place(table: &mut TypeTable, blocks: &[TypeId]) {
    let mut bases: HashMap<TypeId, u64> = HashMap::new();
    let pointees: Vec<TypeId> = table
        .types
        .values()
        .filter_map(|ty| {
            if let Type::Pointer { pointee, .. } = ty {
                inner_struct(table, *pointee)
            } else {
                None
            }
        })
        .collect();
    let mut work: Vec<(TypeId, u64)> = blocks
        .iter()
        .copied()
        .chain(pointees)
        .rev()
        .map(|block| (block, 0))
        .collect();
    while let Some((id, base)) = work.pop() {
        if bases.contains_key(&id) {
            continue;
        }
        bases.insert(id, base);
        let Some(found) = table.get_struct(id) else {
            continue;
        };
        for member in found.members.iter().rev() {
            if let (Some(offset), Some(inner)) = (member.offset, inner_struct(table, member.ty)) {
                work.push((inner, base.saturating_add(u64::from(offset))));
            }
        }
    }
    for (id, base) in bases {
        if let Some(Type::Struct(found)) = table.types.get_mut(&id) {
            for member in &mut found.members {
                member.absolute_offset = member
                    .offset
                    .map(|offset| base.saturating_add(u64::from(offset)));
            }
        }
    }
}

fn pad(table: &mut TypeTable, uniform: &[TypeId]) {
    let mut work = uniform.to_vec();
    let mut seen = std::collections::HashSet::new();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(found) = table.get_struct(id) else {
            continue;
        };
        work.extend(
            found
                .members
                .iter()
                .filter_map(|member| inner_struct(table, member.ty)),
        );
        let mut order: Vec<(u64, usize)> = found
            .members
            .iter()
            .enumerate()
            .map(|(index, member)| (u64::from(member.offset.unwrap_or(0)), index))
            .collect();
        order.sort_unstable();
        let end = found.size.next_multiple_of(16);
        if let Some(Type::Struct(found)) = table.types.get_mut(&id) {
            for (position, (offset, index)) in order.iter().enumerate() {
                let next = order.get(position + 1).map_or(end, |(next, _)| *next);
                if let Some(member) = found.members.get_mut(*index) {
                    member.padded_size = next.saturating_sub(*offset).max(member.size);
                }
            }
        }
    }
}
