//! From touched places to bytes of blocks and to members of structs.

use std::collections::{BTreeMap, HashSet};

use spirv::{Decoration, Op};

use super::places::{PlaceId, Places, Root, Step};
use super::walk::Budget;
use crate::error::Error;
use crate::interface::{ByteRange, Dim, TypeId};
use crate::layout::{MatrixLayout, join_ranges};
use crate::module::Module;
use crate::reflect::TypeBuilder;

/// Most ranges that one block is told apart into; beyond, one range covers them all.
const MAX_RANGES: usize = 4096;

/// What ranges are computed from.
pub(crate) struct RangeContext<'a, 'm> {
    pub(crate) types: &'a mut TypeBuilder<'m>,
    pub(crate) places: &'a Places,
    pub(crate) budget: &'a mut Budget,
}

/// Bytes of a block that the touched places of its variable cover. In runtime arrays that are indexed dynamically, element 0
/// stands for all elements.
pub(crate) fn active_ranges(
    context: &mut RangeContext<'_, '_>,
    touched: &BTreeMap<PlaceId, u8>,
    variable: u32,
) -> Result<Vec<ByteRange>, Error> {
    let mut ranges = Vec::new();
    for place in touched
        .keys()
        .filter(|place| context.places.get(**place).root == Root::Variable(variable))
    {
        context.place(*place, &mut ranges)?;
        if ranges.len() > 4 * MAX_RANGES {
            join_ranges(&mut ranges);
        }
        if ranges.len() > 4 * MAX_RANGES {
            cover(&mut ranges);
        }
    }
    join_ranges(&mut ranges);
    if ranges.len() > MAX_RANGES {
        cover(&mut ranges);
    }
    Ok(ranges)
}

fn cover(ranges: &mut Vec<ByteRange>) {
    let start = ranges.iter().map(|range| range.offset).min().unwrap_or(0);
    let end = ranges.iter().map(|range| range.end()).max().unwrap_or(0);
    *ranges = vec![ByteRange {
        offset: start,
        size: end - start,
    }];
}

impl RangeContext<'_, '_> {
    fn place(&mut self, place: PlaceId, ranges: &mut Vec<ByteRange>) -> Result<(), Error> {
        let path = self.places.path(place);
        let mut bases = vec![0u64];
        let mut matrix = MatrixLayout::default();
        let mut in_block = false;
        let mut at = 0;
        for part in path {
            self.budget.step()?;
            let part = self.places.get(part);
            let holder = std::mem::replace(&mut at, part.ty);
            match part.step {
                Step::Root(_) | Step::View => {}
                Step::Member(member) => {
                    in_block = true;
                    let found = self
                        .types
                        .table
                        .get_struct(TypeId(holder))
                        .and_then(|found| found.members.get(member as usize));
                    if let Some(found) = found {
                        matrix = MatrixLayout::from(found);
                        let offset = u64::from(found.offset.unwrap_or(0));
                        bases
                            .iter_mut()
                            .for_each(|base| *base = base.saturating_add(offset));
                    }
                }
                Step::Element(_) | Step::AnyElement if self.is_leaf(holder) => {
                    // A component of a vector or a column of a matrix counts as the whole.
                    at = holder;
                    break;
                }
                // Indices before the block choose a descriptor.
                Step::Element(_) | Step::AnyElement
                    if !in_block && !self.is_inside_block(holder) => {}
                Step::Element(index) => {
                    let stride = self.stride(holder, matrix)?;
                    bases.iter_mut().for_each(|base| {
                        *base = base.saturating_add(stride.saturating_mul(u64::from(index)));
                    });
                }
                Step::AnyElement => {
                    let stride = self.stride(holder, matrix)?;
                    // Element 0 stands for all those of a runtime array.
                    let count = u64::from(self.length(holder)?.unwrap_or(1));
                    if count.saturating_mul(bases.len() as u64) > MAX_RANGES as u64 {
                        ranges.extend(bases.iter().map(|base| ByteRange {
                            offset: *base,
                            size: stride.saturating_mul(count),
                        }));
                        return Ok(());
                    }
                    bases = bases
                        .iter()
                        .flat_map(|base| {
                            (0..count)
                                .map(move |index| base.saturating_add(stride.saturating_mul(index)))
                        })
                        .collect();
                }
            }
        }
        // A descriptor array touched as a whole stands for its block.
        while !in_block && !self.is_inside_block(at) {
            match self.definition(at) {
                Some((Op::TypeArray | Op::TypeRuntimeArray, element)) => at = element,
                _ => break,
            }
        }
        let mut parts = Vec::new();
        self.expand(at, matrix, &mut parts)?;
        for base in bases {
            ranges.extend(parts.iter().map(|part| ByteRange {
                offset: base.saturating_add(part.offset),
                size: part.size,
            }));
            if ranges.len() > 4 * MAX_RANGES {
                join_ranges(ranges);
                if ranges.len() > 2 * MAX_RANGES {
                    cover(ranges);
                }
            }
        }
        Ok(())
    }

    /// Leaves of a type, from its start.
    fn expand(
        &mut self,
        ty: u32,
        matrix: MatrixLayout,
        parts: &mut Vec<ByteRange>,
    ) -> Result<(), Error> {
        let mut stack = vec![(ty, matrix, 0u64)];
        while let Some((ty, matrix, offset)) = stack.pop() {
            self.budget.step()?;
            match self.definition(ty) {
                Some((Op::TypeStruct, _)) => {
                    if let Some(found) = self.types.table.get_struct(TypeId(ty)) {
                        if stack.len() + parts.len() > MAX_RANGES {
                            parts.push(ByteRange {
                                offset,
                                size: found.size,
                            });
                            continue;
                        }
                        let members = found.members.iter().rev();
                        stack.extend(members.map(|member| {
                            (
                                member.ty.0,
                                MatrixLayout::from(member),
                                offset.saturating_add(u64::from(member.offset.unwrap_or(0))),
                            )
                        }));
                    }
                }
                Some((Op::TypeArray | Op::TypeRuntimeArray, element)) => {
                    let stride = self.stride(ty, matrix)?;
                    let count = u64::from(self.length(ty)?.unwrap_or(1));
                    if self.leaf_size(element, matrix) == Some(stride)
                        || count.saturating_add((stack.len() + parts.len()) as u64)
                            > MAX_RANGES as u64
                    {
                        parts.push(ByteRange {
                            offset,
                            size: stride.saturating_mul(count),
                        });
                    } else {
                        stack.extend((0..count).rev().map(|index| {
                            (
                                element,
                                matrix,
                                offset.saturating_add(stride.saturating_mul(index)),
                            )
                        }));
                    }
                }
                _ => parts.extend(
                    self.leaf_size(ty, matrix)
                        .map(|size| ByteRange { offset, size }),
                ),
            }
        }
        join_ranges(parts);
        Ok(())
    }

    fn definition(&self, ty: u32) -> Option<(Op, u32)> {
        let definition = self.types.module.definition(ty)?;
        Some((
            Op::from_u32(definition.opcode)?,
            definition.operands.get(1).copied().unwrap_or(0),
        ))
    }

    fn is_leaf(&self, ty: u32) -> bool {
        matches!(
            self.definition(ty),
            Some((Op::TypeVector | Op::TypeMatrix, _))
        )
    }

    /// Whether a type can only lie inside a block: it is no array of structs without a stride.
    fn is_inside_block(&self, ty: u32) -> bool {
        !matches!(
            self.definition(ty),
            Some((Op::TypeArray | Op::TypeRuntimeArray, _))
        ) || self.types.module.has(ty, Decoration::ArrayStride) && !self.holds_block(ty)
    }

    fn holds_block(&self, ty: u32) -> bool {
        let mut at = ty;
        for _ in 0..crate::layout::MAX_DEPTH {
            match self.definition(at) {
                Some((Op::TypeArray | Op::TypeRuntimeArray, element)) => at = element,
                _ => break,
            }
        }
        self.types.module.has(at, Decoration::Block)
            || self.types.module.has(at, Decoration::BufferBlock)
    }

    fn stride(&mut self, array: u32, matrix: MatrixLayout) -> Result<u64, Error> {
        if let Some(stride) = self.types.module.literal(array, Decoration::ArrayStride) {
            return Ok(u64::from(stride));
        }
        let element = self.definition(array).map_or(0, |(_, element)| element);
        Ok(self.leaf_size(element, matrix).unwrap_or(0))
    }

    /// Length of an array; `None` if it has none.
    fn length(&mut self, array: u32) -> Result<Option<u32>, Error> {
        let module = self.types.module;
        let Some(definition) = module.definition(array) else {
            return Ok(Some(0));
        };
        if Op::from_u32(definition.opcode) != Some(Op::TypeArray) {
            return Ok(None);
        }
        let dim = self
            .types
            .constants
            .dim(module, &mut self.types.table, definition.operand(2)?);
        Ok(match dim {
            Dim::Runtime => None,
            other => Some(other.default_length()),
        })
    }

    /// Bytes of a scalar, vector, matrix or pointer.
    fn leaf_size(&self, ty: u32, matrix: MatrixLayout) -> Option<u64> {
        let definition = self.types.module.definition(ty)?;
        let number = |position: usize| definition.operands.get(position).copied().map(u64::from);
        match Op::from_u32(definition.opcode)? {
            Op::TypeBool => Some(4),
            Op::TypeInt | Op::TypeFloat => Some(number(1)? / 8),
            Op::TypePointer | Op::TypeUntypedPointerKHR => Some(8),
            // Only scalars: a vector of vectors is malformed, and might be a long chain of them.
            Op::TypeVector => Some(
                u64::from(
                    *self
                        .types
                        .module
                        .definition(*definition.operands.get(1)?)?
                        .operands
                        .get(1)?,
                ) / 8
                    * number(2)?,
            ),
            Op::TypeMatrix => {
                let column = self.types.module.definition(*definition.operands.get(1)?)?;
                let rows = u64::from(*column.operands.get(2)?);
                let scalar = self.types.module.definition(*column.operands.get(1)?)?;
                let columns = number(2)?;
                Some(match matrix.stride {
                    Some(stride) => {
                        u64::from(stride) * if matrix.row_major { rows } else { columns }
                    }
                    None => (u64::from(*scalar.operands.get(1)?) / 8)
                        .saturating_mul(rows)
                        .saturating_mul(columns),
                })
            }
            _ => None,
        }
    }
}

/// Members of structs that touched places lie in, hold or are.
pub(crate) fn mark_members(
    module: &Module,
    places: &Places,
    touched: &BTreeMap<PlaceId, u8>,
    used: &mut HashSet<(u32, u32)>,
    whole: &mut HashSet<u32>,
) {
    let mut climbed: HashSet<PlaceId> = HashSet::new();
    for place in touched.keys() {
        // Upwards: the members on the way to it.
        let mut at = Some(*place);
        while let Some(id) = at.filter(|id| climbed.insert(*id)) {
            let part = places.get(id);
            if let (Step::Member(member), Some(parent)) = (part.step, part.parent) {
                used.insert((places.get(parent).ty, member));
            }
            at = part.parent;
        }
        // Downwards: everything in it.
        let mut work = vec![places.get(*place).ty];
        while let Some(ty) = work.pop() {
            let Some(definition) = module.definition(ty) else {
                continue;
            };
            match Op::from_u32(definition.opcode) {
                Some(Op::TypeStruct) if whole.insert(ty) => {
                    let members = definition.rest(1);
                    used.extend((0..members.len() as u32).map(|member| (ty, member)));
                    work.extend(members);
                }
                Some(Op::TypeArray | Op::TypeRuntimeArray) if whole.insert(ty) => {
                    work.extend(definition.operands.get(1));
                }
                _ => {}
            }
        }
    }
}
