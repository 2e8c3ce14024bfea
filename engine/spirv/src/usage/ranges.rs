//! From touched places to bytes of blocks and to members of structs.

use spirv::{Decoration, Op};

use super::places::{PlaceId, Places, Step};
use super::walk::{Budget, Touched};
use crate::error::Error;
use crate::interface::{ByteRange, ByteRanges, Dim, TypeId};
use crate::layout::{MatrixLayout, join_ranges};
use crate::module::{IdTable, Module};
use crate::reflect::TypeBuilder;

/// Most ranges that one block is told apart into; beyond, one range covers them all.
const MAX_RANGES: usize = 4096;

/// What ranges are computed from.
pub(crate) struct RangeContext<'a, 'm> {
    pub(crate) types: &'a mut TypeBuilder<'m>,
    pub(crate) places: &'a Places,
    pub(crate) budget: &'a mut Budget,
    pub(crate) scratch: &'a mut RangeScratch,
}

/// Lists that are used again for each place.
#[derive(Debug, Default)]
pub(crate) struct RangeScratch {
    path: Vec<PlaceId>,
    loops: Vec<(u64, u64)>,
    parts: Vec<ByteRange>,
    ranges: Vec<ByteRange>,
    stack: Vec<(u32, MatrixLayout, u64)>,
}

/// Bytes of a block that the touched places, all of its variable, cover. In runtime arrays that are indexed dynamically, element 0
/// stands for all elements.
pub(crate) fn active_ranges(
    context: &mut RangeContext<'_, '_>,
    touched: &[Touched],
) -> Result<ByteRanges, Error> {
    let mut ranges = std::mem::take(&mut context.scratch.ranges);
    ranges.clear();
    for found in touched {
        context.place(found.place, &mut ranges)?;
        if ranges.len() > 4 * MAX_RANGES {
            join(&mut ranges);
        }
        if ranges.len() > 4 * MAX_RANGES {
            cover(&mut ranges);
        }
    }
    join(&mut ranges);
    if ranges.len() > MAX_RANGES {
        cover(&mut ranges);
    }
    let active = ByteRanges::from_slice(&ranges);
    context.scratch.ranges = ranges;
    Ok(active)
}

fn join(ranges: &mut Vec<ByteRange>) {
    let left = join_ranges(ranges);
    ranges.truncate(left);
}

fn cover(ranges: &mut Vec<ByteRange>) {
    let start = ranges.iter().map(|range| range.offset).min().unwrap_or(0);
    let end = ranges.iter().map(|range| range.end()).max().unwrap_or(0);
    *ranges = vec![ByteRange {
        offset: start,
        size: end - start,
    }];
}

/// Adds `parts` for each element of nested arrays. There are at most [`MAX_RANGES`] elements.
fn repeat(base: u64, loops: &[(u64, u64)], parts: &[ByteRange], ranges: &mut Vec<ByteRange>) {
    let total: u64 = loops.iter().map(|(_, count)| count).product();
    for number in 0..total {
        let (mut rest, mut offset) = (number, base);
        for (stride, count) in loops.iter().rev() {
            offset = offset.saturating_add(stride.saturating_mul(rest % count));
            rest /= count;
        }
        ranges.extend(parts.iter().map(|part| ByteRange {
            offset: offset.saturating_add(part.offset),
            size: part.size,
        }));
        if ranges.len() > 4 * MAX_RANGES {
            join(ranges);
            if ranges.len() > 2 * MAX_RANGES {
                cover(ranges);
            }
        }
    }
}

impl RangeContext<'_, '_> {
    fn place(&mut self, place: PlaceId, ranges: &mut Vec<ByteRange>) -> Result<(), Error> {
        let mut path = std::mem::take(&mut self.scratch.path);
        self.places.path(place, &mut path);
        let mut loops = std::mem::take(&mut self.scratch.loops);
        loops.clear();
        let outcome = self.place_on(&path, &mut loops, ranges);
        self.scratch.path = path;
        self.scratch.loops = loops;
        outcome
    }

    /// `loops` are stride and length of the arrays on the way that are indexed dynamically, outermost first.
    fn place_on(
        &mut self,
        path: &[PlaceId],
        loops: &mut Vec<(u64, u64)>,
        ranges: &mut Vec<ByteRange>,
    ) -> Result<(), Error> {
        let mut base = 0u64;
        let mut repeats = 1u64;
        let mut matrix = MatrixLayout::default();
        let mut in_block = false;
        let mut at = 0;
        for part in path {
            self.budget.step()?;
            let part = self.places.get(*part);
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
                        base = base.saturating_add(u64::from(found.offset.unwrap_or(0)));
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
                    base = base.saturating_add(stride.saturating_mul(u64::from(index)));
                }
                Step::AnyElement => {
                    let stride = self.stride(holder, matrix)?;
                    // Element 0 stands for all those of a runtime array.
                    let count = u64::from(self.length(holder)?.unwrap_or(1));
                    if count.saturating_mul(repeats) > MAX_RANGES as u64 {
                        let all = ByteRange {
                            offset: 0,
                            size: stride.saturating_mul(count),
                        };
                        repeat(base, loops, &[all], ranges);
                        return Ok(());
                    }
                    repeats *= count;
                    loops.push((stride, count));
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
        let mut parts = std::mem::take(&mut self.scratch.parts);
        parts.clear();
        self.expand(at, matrix, &mut parts)?;
        // Elements without gaps between them are one range.
        while let (Some((stride, count)), [part]) = (loops.last(), parts.as_mut_slice()) {
            if part.size < *stride || *count == 0 {
                break;
            }
            part.size = part.size.saturating_add(stride.saturating_mul(count - 1));
            loops.pop();
        }
        repeat(base, loops, &parts, ranges);
        self.scratch.parts = parts;
        Ok(())
    }

    /// Leaves of a type, from its start.
    fn expand(
        &mut self,
        ty: u32,
        matrix: MatrixLayout,
        parts: &mut Vec<ByteRange>,
    ) -> Result<(), Error> {
        // Most are scalars and vectors.
        if !matches!(
            self.definition(ty),
            Some((Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray, _))
        ) {
            self.budget.step()?;
            let size = self.leaf_size(ty, matrix).filter(|size| *size > 0);
            parts.extend(size.map(|size| ByteRange { offset: 0, size }));
            return Ok(());
        }
        let mut stack = std::mem::take(&mut self.scratch.stack);
        stack.clear();
        stack.push((ty, matrix, 0));
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
        self.scratch.stack = stack;
        join(parts);
        Ok(())
    }

    fn definition(&self, ty: u32) -> Option<(Op, u32)> {
        let definition = self.types.module.definition(ty)?;
        Some((
            definition.op()?,
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
        if definition.op() != Some(Op::TypeArray) {
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
        match definition.op()? {
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

/// Members of structs that touched places lie in, hold or are. Can be cleared and used again at no cost.
#[derive(Debug, Default)]
pub(crate) struct UsedMembers {
    /// Struct and number, sorted.
    members: Vec<(u32, u32)>,
    /// By type: the round in which all of it came to be used.
    whole: IdTable<u32>,
    /// By place: the round in which it was passed.
    passed: Vec<u32>,
    round: u32,
    /// Types still to go through.
    work: Vec<u32>,
}

impl UsedMembers {
    /// Forgets everything, for another module.
    pub(crate) fn reset(&mut self) {
        self.members.clear();
        self.whole.clear();
        self.passed.clear();
        self.round = 1;
    }

    pub(crate) fn clear(&mut self) {
        self.members.clear();
        self.round += 1;
    }

    pub(crate) fn contains(&self, module: &Module, structure: u32, member: u32) -> bool {
        self.whole.get(module, structure) == self.round
            || self.members.binary_search(&(structure, member)).is_ok()
    }

    /// Adds those of more places. Gives the number of steps that it took.
    pub(crate) fn add(&mut self, module: &Module, places: &Places, touched: &[Touched]) -> usize {
        if self.passed.len() < places.len() {
            self.passed.resize(places.len(), 0);
        }
        let mut steps = touched.len();
        let mut work = std::mem::take(&mut self.work);
        for found in touched {
            // Upwards: the members on the way to it.
            let mut at = Some(found.place);
            while let Some(id) = at {
                steps += 1;
                match self.passed.get_mut(id.0 as usize) {
                    Some(passed) if *passed != self.round => *passed = self.round,
                    _ => break,
                }
                let part = places.get(id);
                if let (Step::Member(member), Some(parent)) = (part.step, part.parent) {
                    self.members.push((places.get(parent).ty, member));
                }
                at = part.parent;
            }
            // Downwards: everything in it.
            work.push(places.get(found.place).ty);
            while let Some(ty) = work.pop() {
                let Some(definition) = module.definition(ty) else {
                    continue;
                };
                if !matches!(
                    definition.op(),
                    Some(Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray)
                ) || self.whole.get(module, ty) == self.round
                {
                    continue;
                }
                self.whole.set(module, ty, self.round);
                if definition.op() == Some(Op::TypeStruct) {
                    steps += definition.operands.len();
                    work.extend(definition.rest(1));
                } else {
                    work.extend(definition.operands.get(1));
                }
            }
        }
        self.work = work;
        steps
    }

    /// To be called after the last places are added.
    pub(crate) fn sort(&mut self) {
        self.members.sort_unstable();
    }
}
