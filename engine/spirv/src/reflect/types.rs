//! The type table: types that blocks, inputs, outputs and payloads are made of.

use smallvec::SmallVec;
use spirv::{Decoration, Op};

use super::constants::Constants;
use crate::error::Error;
use crate::interface::{Dim, Member, StructType, Type, TypeId, TypeTable};
use crate::layout::{MAX_DEPTH, MatrixLayout, Sizes, aligned};
use crate::module::{IdTable, Module};
use crate::words::Instruction;

/// Array dimensions that any module may have, besides one for each of its words.
const MAX_DIMENSIONS: usize = 100_000;

/// What an array type holds in the end, its dimensions, and their strides, outermost first.
type ArrayShape = (u32, SmallVec<[Dim; 1]>, SmallVec<[Option<u32>; 2]>);

/// Ids of the types that a table is to have.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    ids: Vec<u32>,
    /// Their places in the table, plus 1; before it is made, any other number than 0.
    places: IdTable<u32>,
}

/// Where types of a module are in the table: found at once, without a search.
#[derive(Clone, Copy)]
pub(crate) struct TypePlaces<'a> {
    module: &'a Module,
    places: &'a IdTable<u32>,
}

impl TypePlaces<'_> {
    pub(crate) fn of(self, id: TypeId) -> Option<usize> {
        let place = self.places.get(self.module, id.0).checked_sub(1)?;
        Some(place as usize)
    }
}

/// Fills a [`TypeTable`] with types and all that they are made of or point at.
pub(crate) struct TypeBuilder<'m> {
    pub(crate) module: &'m Module,
    pub(crate) table: TypeTable,
    pub(crate) constants: Constants,
    wanted: &'m mut Wanted,
    /// Array dimensions made so far: arrays of arrays share inner types, but not dimensions.
    made_dimensions: usize,
}

impl<'m> TypeBuilder<'m> {
    /// `wanted` is of a module that is no longer needed.
    pub(super) fn new(module: &'m Module, wanted: &'m mut Wanted) -> Self {
        wanted.ids.clear();
        wanted.places.clear();
        Self {
            module,
            table: TypeTable::default(),
            constants: Constants::default(),
            wanted,
            made_dimensions: 0,
        }
    }

    /// Asks for a type and everything reachable from it. The table has them after [`Self::build`].
    pub(super) fn add(&mut self, id: u32) -> TypeId {
        if self.wanted.places.get(self.module, id) == 0 && self.module.defined_by(id).is_some() {
            self.wanted.places.set(self.module, id, u32::MAX);
            self.wanted.ids.push(id);
        }
        TypeId(id)
    }

    /// Makes the types that were asked for.
    pub(super) fn build(&mut self) -> Result<(), Error> {
        let module = self.module;
        let mut next = 0;
        while let Some(id) = self.wanted.ids.get(next).copied() {
            next += 1;
            let Some(definition) = module.definition(id) else {
                continue;
            };
            let part = |position: usize| definition.operands.get(position).copied().unwrap_or(0);
            match definition.op() {
                Some(Op::TypeVector) => {
                    self.add(part(1));
                }
                Some(Op::TypeMatrix) => {
                    let column = module.definition(part(1));
                    let component = column.and_then(|column| column.operands.get(1));
                    self.add(component.copied().unwrap_or(0));
                }
                Some(Op::TypeArray | Op::TypeRuntimeArray) => {
                    let element = array_element(module, id);
                    self.add(element);
                }
                Some(Op::TypePointer) => {
                    self.add(part(2));
                }
                Some(Op::TypeStruct) => {
                    for member in definition.rest(1) {
                        self.add(*member);
                    }
                }
                _ => {}
            }
        }
        let mut wanted = std::mem::take(&mut self.wanted.ids);
        wanted.sort_unstable();
        self.table.types.reserve_exact(wanted.len());
        for id in wanted.iter().copied() {
            if let Some(instruction) = module.definition(id) {
                let ty = self.convert(id, instruction)?;
                self.table.types.push((TypeId(id), ty));
                let place = self.table.types.len() as u32;
                self.wanted.places.set(module, id, place);
            }
        }
        self.wanted.ids = wanted;
        Ok(())
    }

    /// Fills in what follows from the finished table: sizes, strides, absolute offsets. `blocks` are the outermost structs,
    /// `uniform` those of uniform buffers.
    pub(super) fn finish(&mut self, blocks: &[TypeId], uniform: &[TypeId]) {
        let places = TypePlaces {
            module: self.module,
            places: &self.wanted.places,
        };
        measure(&mut self.table, places);
        place(&mut self.table, places, blocks);
        pad(&mut self.table, places, uniform);
    }

    fn convert(&mut self, id: u32, instruction: Instruction<'_>) -> Result<Type, Error> {
        Ok(match instruction.op() {
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
                if column.op() != Some(Op::TypeVector) {
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
        let (mut dims, mut strides, mut at) = (SmallVec::new(), SmallVec::new(), id);
        while let Some(instruction) = self.module.definition(at) {
            let dim = if instruction.is(Op::TypeArray) {
                let length = instruction.operand(2)?;
                self.constants.dim(self.module, &mut self.table, length)
            } else if instruction.is(Op::TypeRuntimeArray) {
                Dim::Runtime
            } else {
                break;
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
        let types = instruction.rest(1).iter();
        let mut members: Vec<Member> = types
            .map(|ty| Member {
                ty: TypeId(*ty),
                row_major: self.holds_matrix(*ty).then_some(false),
                ..Member::default()
            })
            .collect();
        for (number, name) in self.module.member_names(id) {
            if let Some(member) = members.get_mut(number as usize) {
                member.name = name;
            }
        }
        for (number, found) in self.module.decorations_of_members(id) {
            let Some(member) = members.get_mut(number as usize) else {
                continue;
            };
            if found.is(Decoration::Offset) {
                member.offset = found.literal();
                continue;
            }
            match Decoration::from_u32(found.decoration) {
                Some(Decoration::MatrixStride) => member.matrix_stride = found.literal(),
                Some(Decoration::RowMajor) => {
                    member.row_major = member.row_major.map(|_| true);
                }
                Some(Decoration::NonWritable) => member.non_writable = true,
                Some(Decoration::NonReadable) => member.non_readable = true,
                Some(Decoration::UserSemantic) => member.semantic = found.string(),
                _ => {}
            }
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
            match definition.operands.get(1) {
                Some(element) if definition.is_any([Op::TypeArray, Op::TypeRuntimeArray]) => {
                    at = *element;
                }
                _ => return definition.is(Op::TypeMatrix),
            }
        }
        false
    }
}

fn measure(table: &mut TypeTable, places: TypePlaces<'_>) {
    // Of each struct its own size and whether it ends in a runtime array; of each member its size and stride.
    let mut structs: SmallVec<[_; 16]> = SmallVec::new();
    let mut members: SmallVec<[_; 32]> = SmallVec::new();
    let mut sizes = Sizes::with_places(table, places);
    for (id, ty) in table.iter() {
        if let Type::Struct(found) = ty {
            structs.push((
                sizes.of(id, MatrixLayout::default()),
                table.runtime_array(id).is_some(),
            ));
            members.extend(found.members.iter().map(|member| {
                let ty = places.of(member.ty).and_then(|at| table.types.get(at));
                let stride = match ty {
                    Some((_, Type::Array { strides, .. })) => strides.first().copied().flatten(),
                    _ => None,
                };
                (sizes.of(member.ty, MatrixLayout::from(member)), stride)
            }));
        }
    }
    let (mut structs, mut measured) = (structs.iter().copied(), members.iter().copied());
    for (_, ty) in &mut table.types {
        if let Type::Struct(found) = ty {
            (found.size, found.has_runtime_array) = structs.next().unwrap_or_default();
            for (member, (size, stride)) in found.members.iter_mut().zip(&mut measured) {
                member.size = size;
                member.padded_size = size;
                member.array_stride = stride;
            }
        }
    }
}

/// Place in the table of the struct inside a type, through arrays but not through pointers.
fn inner_struct(table: &TypeTable, places: TypePlaces<'_>, ty: TypeId) -> Option<usize> {
    let mut position = places.of(ty)?;
    if let (_, Type::Array { element, .. }) = table.types.get(position)? {
        position = places.of(*element)?;
    }
    matches!(table.types.get(position), Some((_, Type::Struct(_)))).then_some(position)
}

fn struct_at(table: &TypeTable, position: usize) -> Option<&StructType> {
    match table.types.get(position) {
        Some((_, Type::Struct(found))) => Some(found),
        _ => None,
    }
}

/// Absolute offsets. Each struct is placed once, where the first block (by id) that holds it has it.
fn place(table: &mut TypeTable, places: TypePlaces<'_>, blocks: &[TypeId]) {
    let mut bases: SmallVec<[Option<u64>; 32]> = SmallVec::from_elem(None, table.types.len());
    let pointees = table.types.iter().filter_map(|(_, ty)| match ty {
        Type::Pointer { pointee, .. } => inner_struct(table, places, *pointee),
        _ => None,
    });
    let mut work: SmallVec<[(usize, u64); 16]> = blocks
        .iter()
        .filter_map(|block| places.of(*block))
        .chain(pointees)
        .map(|block| (block, 0))
        .collect();
    work.reverse();
    while let Some((position, base)) = work.pop() {
        match bases.get_mut(position) {
            Some(known @ None) => *known = Some(base),
            _ => continue,
        }
        let Some(found) = struct_at(table, position) else {
            continue;
        };
        for member in found.members.iter().rev() {
            if let Some(offset) = member.offset
                && let Some(inner) = inner_struct(table, places, member.ty)
            {
                work.push((inner, base.saturating_add(u64::from(offset))));
            }
        }
    }
    for ((_, ty), base) in table.types.iter_mut().zip(&bases) {
        if let (Type::Struct(found), Some(base)) = (ty, *base) {
            for member in &mut found.members {
                member.absolute_offset = member
                    .offset
                    .map(|offset| base.saturating_add(u64::from(offset)));
            }
        }
    }
}

fn pad(table: &mut TypeTable, places: TypePlaces<'_>, uniform: &[TypeId]) {
    let mut work: SmallVec<[usize; 16]> = uniform
        .iter()
        .filter_map(|block| places.of(*block))
        .collect();
    if work.is_empty() {
        return;
    }
    let mut seen: SmallVec<[bool; 64]> = SmallVec::from_elem(false, table.types.len());
    let mut order: SmallVec<[(u64, usize); 16]> = SmallVec::new();
    while let Some(position) = work.pop() {
        match seen.get_mut(position) {
            Some(seen @ false) => *seen = true,
            _ => continue,
        }
        let Some(found) = struct_at(table, position) else {
            continue;
        };
        let members = found.members.iter();
        work.extend(members.filter_map(|member| inner_struct(table, places, member.ty)));
        order.clear();
        let offsets = found.members.iter().enumerate();
        order.extend(offsets.map(|(index, member)| (u64::from(member.offset.unwrap_or(0)), index)));
        order.sort_unstable();
        let end = aligned(found.size, 16);
        if let Some((_, Type::Struct(found))) = table.types.get_mut(position) {
            for (position, (offset, index)) in order.iter().enumerate() {
                let next = order.get(position + 1).map_or(end, |(next, _)| *next);
                if let Some(member) = found.members.get_mut(*index) {
                    member.padded_size = next.saturating_sub(*offset).max(member.size);
                }
            }
        }
    }
}

/// What an array holds in the end.
pub(super) fn array_element(module: &Module, array: u32) -> u32 {
    let mut at = array;
    for _ in 0..=MAX_DEPTH {
        let Some(definition) = module.definition(at) else {
            break;
        };
        match definition.operands.get(1) {
            Some(element) if definition.is_any([Op::TypeArray, Op::TypeRuntimeArray]) => {
                at = *element;
            }
            _ => break,
        }
    }
    at
}
