//! Sizes and alignments of types in memory, as the decorations give them.

use std::collections::HashMap;

use spirv::{Decoration as Deco, Op};

use super::class_module::{ClassModule, Global, WHOLE};

fn literal(module: &ClassModule, ty: &Global, member: u32, kind: Deco) -> Option<u32> {
    module
        .decoration(ty, member, kind)
        .and_then(|words| words.first())
        .copied()
}

/// The next multiple; the greatest number where there is none.
pub(crate) fn aligned(at: u32, alignment: u32) -> u32 {
    at.checked_next_multiple_of(alignment.max(1))
        .unwrap_or(u32::MAX)
}

/// Bytes of a type, from the sizes of those that it is made of. A runtime array counts as empty.
pub(crate) fn size_of(module: &ClassModule, ty: &Global) -> u32 {
    let words = module.operands(ty);
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let inner = |at: usize| module.global(word(at)).map_or(0, |ty| ty.size);
    match Op::from_u32(ty.op) {
        Some(Op::TypeInt | Op::TypeFloat) => word(1).div_ceil(8),
        Some(Op::TypeBool) => 4,
        Some(Op::TypeVector | Op::TypeMatrix) => inner(1).saturating_mul(word(2)),
        Some(Op::TypeArray) => {
            let length = module
                .global(word(2))
                .and_then(|length| module.operands(length).get(2).copied());
            let stride = literal(module, ty, WHOLE, Deco::ArrayStride).unwrap_or_else(|| inner(1));
            stride.saturating_mul(length.unwrap_or_default())
        }
        Some(Op::TypeStruct) => (0..words.len().saturating_sub(1))
            .map(|member| {
                let offset = literal(module, ty, member as u32, Deco::Offset).unwrap_or_default();
                offset.saturating_add(member_size(module, ty, member))
            })
            .max()
            .unwrap_or_default(),
        Some(Op::TypePointer) => 8,
        _ => 0,
    }
}

/// Bytes of a member of a struct.
pub(crate) fn member_size(module: &ClassModule, block: &Global, member: usize) -> u32 {
    let Some(ty) = module
        .operands(block)
        .get(member + 1)
        .and_then(|id| module.global(*id))
    else {
        return 0;
    };
    let stride = literal(module, block, member as u32, Deco::MatrixStride);
    match (Op::from_u32(ty.op), stride) {
        (Some(Op::TypeMatrix), Some(stride)) => {
            let words = module.operands(ty);
            let columns = words.get(2).copied().unwrap_or_default();
            let rows = words
                .get(1)
                .and_then(|id| module.global(*id))
                .and_then(|column| module.operands(column).get(2).copied());
            let row_major = module
                .decoration(block, member as u32, Deco::RowMajor)
                .is_some();
            stride.saturating_mul(if row_major {
                rows.unwrap_or_default()
            } else {
                columns
            })
        }
        _ => ty.size,
    }
}

/// Offset and alignment of each member by the rules that its block seems to follow: std140 for uniform blocks as the front end
/// writes them, std430 for others. Strides tell the two apart: std140 rounds them up to 16.
pub(crate) fn natural_offsets(module: &ClassModule, block: &Global) -> Vec<(u32, u32)> {
    let mut known = HashMap::new();
    let mut at = 0_u32;
    let mut found = Vec::new();
    for (member, id) in module.operands(block).iter().skip(1).enumerate() {
        let stride = literal(module, block, member as u32, Deco::MatrixStride);
        let alignment = module
            .global(*id)
            .map_or(16, |ty| alignment(module, ty, stride, &mut known));
        let offset = aligned(at, alignment);
        found.push((offset, alignment));
        at = offset.saturating_add(member_size(module, block, member));
    }
    found
}

/// Alignment of a member, told from strides: one that is a multiple of 16 means 16.
fn alignment(
    module: &ClassModule,
    ty: &Global,
    matrix_stride: Option<u32>,
    known: &mut HashMap<(u32, Option<u32>), u32>,
) -> u32 {
    if let Some(found) = known.get(&(ty.id, matrix_stride)) {
        return *found;
    }
    let words = module.operands(ty);
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let inner = |at: usize| module.global(word(at));
    let of_stride = |stride: u32| {
        if stride.is_multiple_of(16) {
            16
        } else {
            stride & stride.wrapping_neg()
        }
    };
    let value = match Op::from_u32(ty.op) {
        Some(Op::TypeInt | Op::TypeFloat) => word(1).div_ceil(8),
        Some(Op::TypeVector) => inner(1).map_or(4, |ty| ty.size) * if word(2) == 2 { 2 } else { 4 },
        Some(Op::TypeMatrix) => matrix_stride.map_or(16, of_stride),
        Some(Op::TypeArray | Op::TypeRuntimeArray) => {
            let stride = literal(module, ty, WHOLE, Deco::ArrayStride);
            let element = inner(1).map_or(16, |ty| alignment(module, ty, matrix_stride, known));
            match inner(1).map(|ty| Op::from_u32(ty.op)) {
                Some(Some(Op::TypeStruct)) => element,
                _ => stride.map_or(element, |stride| of_stride(stride).max(element)),
            }
        }
        Some(Op::TypeStruct) => {
            let mut most = 16;
            for (member, id) in words.iter().skip(1).enumerate() {
                let stride = literal(module, ty, member as u32, Deco::MatrixStride);
                if let Some(inner) = module.global(*id) {
                    most = most.max(alignment(module, inner, stride, known));
                }
            }
            most
        }
        Some(Op::TypePointer) => 8,
        _ => 16,
    };
    known.insert((ty.id, matrix_stride), value);
    value
}
