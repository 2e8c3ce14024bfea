//! Evaluates operations on constants, as `OpSpecConstantOp` has them.

use spirv::Op;

use super::output::Output;

/// Most components that are folded.
const MAX_COMPONENTS: u32 = 4;

/// Type and bits of a scalar constant of 32 bits or a bool.
pub(crate) fn scalar(out: &Output, id: u32) -> Option<(u32, u32)> {
    let (op, words) = out.definition(id)?;
    match Op::from_u32(op)? {
        Op::ConstantTrue => Some((*words.first()?, 1)),
        Op::ConstantFalse => Some((*words.first()?, 0)),
        Op::ConstantNull => Some((*words.first()?, 0)).filter(|(ty, _)| is_scalar(out, *ty)),
        Op::Constant if words.len() == 3 => Some((*words.first()?, *words.get(2)?)),
        _ => None,
    }
}

fn is_scalar(out: &Output, ty: u32) -> bool {
    out.definition(ty).is_some_and(|(op, _)| {
        matches!(
            Op::from_u32(op),
            Some(Op::TypeBool | Op::TypeInt | Op::TypeFloat)
        )
    })
}

/// Whether a type is a signed integer.
pub(crate) fn is_signed(out: &Output, ty: u32) -> bool {
    out.definition(ty)
        .is_some_and(|(op, words)| op == Op::TypeInt as u32 && words.get(2) == Some(&1))
}

/// Whether an id is a constant that no specialisation can change.
pub(crate) fn is_frozen(out: &Output, id: u32) -> bool {
    out.definition(id).is_some_and(|(op, _)| {
        matches!(
            Op::from_u32(op),
            Some(
                Op::ConstantTrue
                    | Op::ConstantFalse
                    | Op::Constant
                    | Op::ConstantComposite
                    | Op::ConstantNull
            )
        )
    })
}

fn component(out: &Output, id: u32, index: u32) -> Option<u32> {
    let (op, words) = out.definition(id)?;
    (op == Op::ConstantComposite as u32).then(|| words.get(2 + index as usize).copied())?
}

/// The constant that an operation gives; `None` if it is not known yet, or nothing that is folded.
pub(crate) fn operation(out: &mut Output, ty: u32, op: u32, operands: &[u32]) -> Option<u32> {
    let op = Op::from_u32(op)?;
    if op == Op::CompositeExtract {
        let (&composite, indices) = operands.split_first()?;
        let mut at = composite;
        for index in indices {
            at = component(out, at, *index)?;
        }
        return Some(at);
    }
    let (kind, words) = out.definition(ty)?;
    if kind == Op::TypeVector as u32 {
        let (element, count) = (*words.get(1)?, *words.get(2)?);
        if count > MAX_COMPONENTS || matches!(op, Op::VectorShuffle | Op::CompositeInsert) {
            return None;
        }
        let mut parts = vec![ty, 0];
        for index in 0..count {
            let mut of_part = Vec::with_capacity(operands.len());
            for operand in operands {
                of_part.push(if scalar(out, *operand).is_some() {
                    *operand
                } else {
                    component(out, *operand, index)?
                });
            }
            parts.push(operation(out, element, op as u32, &of_part)?);
        }
        return Some(out.simple(Op::ConstantComposite, &parts));
    }
    if op == Op::Select {
        let [condition, yes, no] = operands else {
            return None;
        };
        let (_, value) = scalar(out, *condition)?;
        let chosen = if value != 0 { *yes } else { *no };
        return is_frozen(out, chosen).then_some(chosen);
    }
    let (of, a) = scalar(out, *operands.first()?)?;
    let b = match operands.get(1) {
        Some(second) => Some(scalar(out, *second)?.1),
        None => None,
    };
    // Only 32-bit integers and bools are folded; anything else stays an operation on constants, which is valid, too.
    let narrow = |out: &Output, ty: u32| {
        out.definition(ty).is_some_and(|(kind, words)| {
            kind == Op::TypeBool as u32 || kind == Op::TypeInt as u32 && words.get(1) == Some(&32)
        })
    };
    if !narrow(out, of) || !narrow(out, ty) {
        return None;
    }
    let value = evaluate(op, a, b)?;
    let boolean = out
        .definition(ty)
        .is_some_and(|(kind, _)| kind == Op::TypeBool as u32);
    Some(if boolean {
        out.bool_constant(ty, value != 0)
    } else {
        out.constant(ty, value)
    })
}

fn evaluate(op: Op, a: u32, b: Option<u32>) -> Option<u32> {
    let (x, y) = (a as i32, b.unwrap_or_default() as i32);
    if b.is_none() {
        return Some(match op {
            Op::SNegate => a.wrapping_neg(),
            Op::Not => !a,
            Op::LogicalNot => u32::from(a == 0),
            Op::UConvert | Op::SConvert => a,
            _ => return None,
        });
    }
    let b = b?;
    Some(match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b)?,
        Op::SDiv => x.checked_div(y)? as u32,
        Op::UMod => a.checked_rem(b)?,
        Op::SRem => x.checked_rem(y)? as u32,
        Op::SMod => {
            let rest = x.checked_rem(y)?;
            (if rest != 0 && (rest < 0) != (y < 0) {
                rest + y
            } else {
                rest
            }) as u32
        }
        Op::ShiftLeftLogical => a.checked_shl(b)?,
        Op::ShiftRightLogical => a.checked_shr(b)?,
        Op::ShiftRightArithmetic => x.checked_shr(b)? as u32,
        Op::BitwiseOr => a | b,
        Op::BitwiseAnd => a & b,
        Op::BitwiseXor => a ^ b,
        Op::LogicalOr => u32::from(a != 0 || b != 0),
        Op::LogicalAnd => u32::from(a != 0 && b != 0),
        Op::LogicalEqual => u32::from((a != 0) == (b != 0)),
        Op::LogicalNotEqual => u32::from((a != 0) != (b != 0)),
        Op::IEqual => u32::from(a == b),
        Op::INotEqual => u32::from(a != b),
        Op::ULessThan => u32::from(a < b),
        Op::ULessThanEqual => u32::from(a <= b),
        Op::UGreaterThan => u32::from(a > b),
        Op::UGreaterThanEqual => u32::from(a >= b),
        Op::SLessThan => u32::from(x < y),
        Op::SLessThanEqual => u32::from(x <= y),
        Op::SGreaterThan => u32::from(x > y),
        Op::SGreaterThanEqual => u32::from(x >= y),
        _ => return None,
    })
}
