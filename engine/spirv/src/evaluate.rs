//! Evaluation of expressions over specialisation constants, as a driver does it when it makes a pipeline.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use spirv::Op;

use crate::interface::{Expression, ExpressionNode, ScalarType, SpecValue, SpecValues, TypeTable};

/// A scalar, or a composite of values. Shared, so that long chains of inserts stay cheap.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar(SpecValue),
    /// With its depth of nesting: values nested without bound would exhaust the stack when they are dropped.
    Composite(Rc<Vec<Value>>, u16),
    Unknown,
}

impl TypeTable {
    /// Value of an expression with these values of spec constants, defaults for the others; `None` if it is no scalar, or
    /// nothing that can be known without a driver. A value of another width or kind than the constant's is converted by its bits.
    #[must_use]
    pub fn evaluate(&self, expression: Expression, values: SpecValues<'_>) -> Option<SpecValue> {
        let nodes = &self.expressions.nodes;
        let mut needed = BTreeSet::from([expression]);
        let mut work = vec![expression];
        while let Some(at) = work.pop() {
            for operand in operands(nodes.get(at.0 as usize)?) {
                // Operands stand before their users; a damaged arena that says otherwise has no value.
                if *operand >= at {
                    return None;
                }
                if needed.insert(*operand) {
                    work.push(*operand);
                }
            }
        }
        let mut results: HashMap<Expression, Value> = HashMap::with_capacity(needed.len());
        for at in needed {
            let value = evaluate_node(
                nodes.get(at.0 as usize)?,
                &|operand| results.get(&operand).cloned().unwrap_or(Value::Unknown),
                values,
            );
            results.insert(at, value);
        }
        match results.remove(&expression) {
            Some(Value::Scalar(value)) => Some(value),
            _ => None,
        }
    }

    /// Value of an expression that is a length or a count; negative ones count as 0.
    #[must_use]
    pub fn evaluate_length(&self, expression: Expression, values: SpecValues<'_>) -> Option<u64> {
        self.evaluate(expression, values).map(length)
    }

    /// SpecIds that an expression depends on, sorted.
    #[must_use]
    pub fn spec_ids(&self, expression: Expression) -> Vec<u32> {
        self.spec_ids_counted(expression).0
    }

    /// The same, and the number of nodes that were looked at.
    pub(crate) fn spec_ids_counted(&self, expression: Expression) -> (Vec<u32>, usize) {
        let mut ids = BTreeSet::new();
        let mut seen = HashSet::from([expression]);
        let mut work = vec![expression];
        while let Some(node) = work
            .pop()
            .map(|at| self.expressions.nodes.get(at.0 as usize))
        {
            let Some(node) = node else { continue };
            if let ExpressionNode::Spec { id, .. } = node {
                ids.insert(*id);
            }
            work.extend(
                operands(node)
                    .iter()
                    .filter(|operand| seen.insert(**operand)),
            );
        }
        (ids.into_iter().collect(), seen.len())
    }
}

pub(crate) fn operands(node: &ExpressionNode) -> &[Expression] {
    match node {
        ExpressionNode::Composite(list)
        | ExpressionNode::Product(list)
        | ExpressionNode::Operation { operands: list, .. } => list,
        _ => &[],
    }
}

/// A value as a length: negative ones are 0.
pub(crate) fn length(value: SpecValue) -> u64 {
    match value {
        SpecValue::I8(_) | SpecValue::I16(_) | SpecValue::I32(_) | SpecValue::I64(_) => {
            u64::try_from(signed(value)).unwrap_or(0)
        }
        SpecValue::F16(_) | SpecValue::F32(_) | SpecValue::F64(_) => float(value) as u64,
        other => other.bits(),
    }
}

/// Value of a node, whose operands have the values that `operand` gives.
pub(crate) fn evaluate_node(
    node: &ExpressionNode,
    operand: &dyn Fn(Expression) -> Value,
    values: SpecValues<'_>,
) -> Value {
    let get = |expression: &Expression| operand(*expression);
    match node {
        ExpressionNode::Literal(value) => Value::Scalar(*value),
        ExpressionNode::Spec { id, default } => {
            let given = values
                .iter()
                .find(|(given, _)| given == id)
                .map(|(_, value)| SpecValue::from_bits(default.scalar_type(), value.bits()));
            Value::Scalar(given.unwrap_or(*default))
        }
        ExpressionNode::Composite(list) => nested(list.iter().map(get).collect()),
        ExpressionNode::Product(list) => {
            let product = list
                .iter()
                .try_fold(1u64, |product, factor| match get(factor) {
                    Value::Scalar(value) => Some(product.saturating_mul(length(value))),
                    _ => None,
                });
            product.map_or(Value::Unknown, |n| Value::Scalar(SpecValue::U64(n)))
        }
        ExpressionNode::Operation {
            opcode,
            ty,
            components,
            operands,
            literals,
        } => {
            let operands: Vec<Value> = operands.iter().map(get).collect();
            operation(Op::from_u32(*opcode), *ty, *components, &operands, literals)
        }
        ExpressionNode::Unknown => Value::Unknown,
    }
}

fn operation(
    opcode: Option<Op>,
    ty: ScalarType,
    components: u32,
    operands: &[Value],
    literals: &[u32],
) -> Value {
    match opcode {
        Some(Op::CompositeExtract) => {
            let mut at = operands.first().cloned().unwrap_or(Value::Unknown);
            for index in literals {
                at = match at {
                    Value::Composite(list, _) => {
                        list.get(*index as usize).cloned().unwrap_or(Value::Unknown)
                    }
                    _ => Value::Unknown,
                };
            }
            at
        }
        Some(Op::CompositeInsert) => match operands {
            [object, composite] => insert(object, composite, literals),
            _ => Value::Unknown,
        },
        Some(Op::VectorShuffle) => match operands {
            [Value::Composite(a, _), Value::Composite(b, _)] => {
                let pick = |index: &u32| {
                    a.get(*index as usize)
                        .or_else(|| b.get((*index as usize).checked_sub(a.len())?))
                        .cloned()
                };
                nested(
                    literals
                        .iter()
                        .map(|index| pick(index).unwrap_or(Value::Unknown))
                        .collect(),
                )
            }
            _ => Value::Unknown,
        },
        // The condition may be one bool for all components, and the objects may be composites of any kind.
        Some(Op::Select) if matches!(operands, [Value::Scalar(_), _, _]) => match operands {
            [Value::Scalar(condition), yes, no] => {
                if condition.bits() != 0 { yes } else { no }.clone()
            }
            _ => Value::Unknown,
        },
        Some(opcode) if components > 1 => {
            let component = |index: usize| {
                let scalars: Option<Vec<SpecValue>> = operands
                    .iter()
                    .map(|operand| match operand {
                        Value::Composite(list, _) => match list.get(index) {
                            Some(Value::Scalar(value)) => Some(*value),
                            _ => None,
                        },
                        _ => None,
                    })
                    .collect();
                scalars
                    .and_then(|scalars| scalar_operation(opcode, ty, &scalars))
                    .map_or(Value::Unknown, Value::Scalar)
            };
            nested((0..components.min(16) as usize).map(component).collect())
        }
        Some(opcode) => {
            let scalars: Option<Vec<SpecValue>> = operands
                .iter()
                .map(|operand| {
                    if let Value::Scalar(value) = operand {
                        Some(*value)
                    } else {
                        None
                    }
                })
                .collect();
            scalars
                .and_then(|scalars| scalar_operation(opcode, ty, &scalars))
                .map_or(Value::Unknown, Value::Scalar)
        }
        None => Value::Unknown,
    }
}

/// A composite; unknown if it nests deeper than SPIR-V permits.
fn nested(list: Vec<Value>) -> Value {
    let depth = list
        .iter()
        .map(|value| {
            if let Value::Composite(_, depth) = value {
                *depth
            } else {
                0
            }
        })
        .max()
        .unwrap_or(0);
    if depth < 255 {
        Value::Composite(Rc::new(list), depth + 1)
    } else {
        Value::Unknown
    }
}

fn insert(object: &Value, composite: &Value, literals: &[u32]) -> Value {
    // SPIR-V nests types at most 255 deep; a longer path cannot be valid.
    let Some((first, rest)) = literals.split_first() else {
        return object.clone();
    };
    match composite {
        Value::Composite(list, _) if literals.len() <= 255 => {
            let mut list = list.as_ref().clone();
            if let Some(slot) = list.get_mut(*first as usize) {
                *slot = insert(object, slot, rest);
            }
            nested(list)
        }
        _ => Value::Unknown,
    }
}

/// The value as a signed number, by the sign bit of its width, whatever its type says.
fn signed(value: SpecValue) -> i64 {
    let bits = value.bits();
    match value.scalar_type().width() {
        8 => i64::from(bits as i8),
        16 => i64::from(bits as i16),
        32 => i64::from(bits as i32),
        _ => bits as i64,
    }
}

fn float(value: SpecValue) -> f64 {
    match value {
        SpecValue::F16(bits) => f64::from(crate::interface::half_to_f32(bits)),
        SpecValue::F32(v) => f64::from(v),
        SpecValue::F64(v) => v,
        other => other.bits() as f64,
    }
}

fn from_float(ty: ScalarType, value: f64) -> SpecValue {
    match ty {
        ScalarType::F16 => SpecValue::F16(f32_to_half(value as f32)),
        ScalarType::F32 => SpecValue::F32(value as f32),
        _ => SpecValue::F64(value),
    }
}

/// Rounds to the nearest half, ties to even.
fn f32_to_half(value: f32) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = f64::from(value.abs());
    let bits = if value.is_nan() {
        0x7e00
    } else if magnitude >= 65520.0 {
        0x7c00
    } else if magnitude < 2f64.powi(-14) {
        (magnitude * 2f64.powi(24)).round_ties_even() as u16
    } else {
        let exponent = magnitude.log2().floor() as i32;
        // Rounding up to the next power of two carries into the exponent, as it should.
        let mantissa = (magnitude / 2f64.powi(exponent) * 1024.0).round_ties_even() as u16 - 1024;
        (((exponent + 15) as u16) << 10) + mantissa
    };
    sign | bits
}

fn scalar_operation(opcode: Op, ty: ScalarType, operands: &[SpecValue]) -> Option<SpecValue> {
    let bits = |bits: u64| Some(SpecValue::from_bits(ty, bits));
    let truth = |truth: bool| Some(SpecValue::from_bits(ty, u64::from(truth)));
    match *operands {
        [a] => {
            let (s, u) = (signed(a), a.bits());
            match opcode {
                Op::SConvert => bits(s as u64),
                Op::UConvert | Op::Bitcast | Op::CopyObject | Op::CopyLogical => bits(u),
                Op::SNegate => bits(s.wrapping_neg() as u64),
                Op::Not => bits(!u),
                Op::LogicalNot => truth(u == 0),
                Op::FConvert => Some(from_float(ty, float(a))),
                Op::QuantizeToF16 => Some(from_float(
                    ty,
                    f64::from(crate::interface::half_to_f32(f32_to_half(float(a) as f32))),
                )),
                Op::FNegate => Some(from_float(ty, -float(a))),
                Op::ConvertFToS => bits(float(a) as i64 as u64),
                Op::ConvertFToU => bits(float(a) as u64),
                Op::ConvertSToF => Some(from_float(ty, s as f64)),
                Op::ConvertUToF => Some(from_float(ty, u as f64)),
                _ => None,
            }
        }
        [a, b] => {
            let (sa, sb, ua, ub) = (signed(a), signed(b), a.bits(), b.bits());
            let (fa, fb) = (float(a), float(b));
            let width = u64::from(a.scalar_type().width());
            let shift = u32::try_from(ub)
                .ok()
                .filter(|shift| u64::from(*shift) < width);
            match opcode {
                Op::IAdd => bits(ua.wrapping_add(ub)),
                Op::ISub => bits(ua.wrapping_sub(ub)),
                Op::IMul => bits(ua.wrapping_mul(ub)),
                Op::UDiv => bits(ua.checked_div(ub)?),
                Op::UMod => bits(ua.checked_rem(ub)?),
                Op::SDiv => bits(sa.checked_div(sb)? as u64),
                Op::SRem => bits(sa.checked_rem(sb)? as u64),
                // The result takes the sign of the divisor.
                Op::SMod => bits(sa.checked_rem(sb).map(|rem| {
                    if rem != 0 && (rem < 0) != (sb < 0) {
                        rem + sb
                    } else {
                        rem
                    }
                })? as u64),
                Op::ShiftLeftLogical => bits(shift.map_or(0, |shift| ua << shift)),
                Op::ShiftRightLogical => bits(shift.map_or(0, |shift| ua >> shift)),
                Op::ShiftRightArithmetic => bits((sa >> shift.unwrap_or(63)) as u64),
                Op::BitwiseOr => bits(ua | ub),
                Op::BitwiseXor => bits(ua ^ ub),
                Op::BitwiseAnd => bits(ua & ub),
                Op::LogicalOr => truth(ua != 0 || ub != 0),
                Op::LogicalAnd => truth(ua != 0 && ub != 0),
                Op::LogicalEqual => truth((ua != 0) == (ub != 0)),
                Op::LogicalNotEqual => truth((ua != 0) != (ub != 0)),
                Op::IEqual => truth(ua == ub),
                Op::INotEqual => truth(ua != ub),
                Op::ULessThan => truth(ua < ub),
                Op::ULessThanEqual => truth(ua <= ub),
                Op::UGreaterThan => truth(ua > ub),
                Op::UGreaterThanEqual => truth(ua >= ub),
                Op::SLessThan => truth(sa < sb),
                Op::SLessThanEqual => truth(sa <= sb),
                Op::SGreaterThan => truth(sa > sb),
                Op::SGreaterThanEqual => truth(sa >= sb),
                Op::FAdd => Some(from_float(ty, fa + fb)),
                Op::FSub => Some(from_float(ty, fa - fb)),
                Op::FMul => Some(from_float(ty, fa * fb)),
                Op::FDiv => Some(from_float(ty, fa / fb)),
                Op::FRem => Some(from_float(ty, fa % fb)),
                Op::FMod => Some(from_float(ty, fa - fb * (fa / fb).floor())),
                _ => None,
            }
        }
        [condition, yes, no] if opcode == Op::Select => {
            Some(if condition.bits() != 0 { yes } else { no })
        }
        _ => None,
    }
}
