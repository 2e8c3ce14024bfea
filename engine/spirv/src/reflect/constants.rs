//! Constants of a module as expressions over its specialisation constants.

use std::collections::BTreeMap;

use crate::interface::Name;
use spirv::{Decoration, Op};

use crate::evaluate::{Value, evaluate_node, length, operands as node_operands};
use crate::interface::{
    Dim, Expression, ExpressionNode, Numbers, ScalarType, SpecConstant, SpecValue, TypeTable,
};
use crate::module::{IdTable, Module};
use crate::words::Instruction;

/// Composites with more members are no part of sizes; leaving them out bounds the work of evaluation.
const MAX_COMPOSITE: usize = 64;

/// Expressions made so far, by the id of the constant.
#[derive(Default)]
pub(crate) struct Constants {
    known: IdTable<Option<Expression>>,
    /// Per node: its value with the defaults, and whether it depends on a SpecId. Kept so that no expression is evaluated
    /// twice: modules may have as many array types as nodes.
    defaults: Vec<(Value, bool)>,
}

impl Constants {
    /// The expression of a constant. Its nodes go to the table's arena.
    pub(super) fn expression(
        &mut self,
        module: &Module,
        table: &mut TypeTable,
        id: u32,
    ) -> Expression {
        if module.definition(id).is_none() {
            return self.node(table, ExpressionNode::Unknown);
        }
        // Operands first, without recursion: chains of operations may be as long as the module.
        let mut stack = vec![(id, false)];
        while let Some((id, visited)) = stack.pop() {
            if self.known.get(module, id).is_some() {
                continue;
            }
            let Some(instruction) = module.definition(id) else {
                continue;
            };
            let operands = constant_operands(module, instruction);
            if visited || operands.is_empty() {
                let operands: Option<Vec<Expression>> = operands
                    .iter()
                    .map(|operand| self.known.get(module, *operand))
                    .collect();
                let node = operands.map_or(ExpressionNode::Unknown, |operands| {
                    constant_node(module, instruction, operands)
                });
                self.push(module, table, id, node);
            } else {
                stack.push((id, true));
                stack.extend(operands.into_iter().map(|operand| (operand, false)));
            }
        }
        self.known.get(module, id).unwrap_or(Expression(0))
    }

    fn push(&mut self, module: &Module, table: &mut TypeTable, id: u32, node: ExpressionNode) {
        let expression = self.node(table, node);
        self.known.set(module, id, Some(expression));
    }

    pub(super) fn node(&mut self, table: &mut TypeTable, node: ExpressionNode) -> Expression {
        let value = evaluate_node(
            &node,
            &|operand| {
                self.defaults
                    .get(operand.0 as usize)
                    .map_or(Value::Unknown, |known| known.0.clone())
            },
            &[],
        );
        let depends = matches!(node, ExpressionNode::Spec { .. })
            || node_operands(&node).iter().any(|operand| {
                self.defaults
                    .get(operand.0 as usize)
                    .is_some_and(|known| known.1)
            });
        self.defaults.push((value, depends));
        table.expressions.nodes.push(node);
        Expression(table.expressions.nodes.len() as u32 - 1)
    }

    /// Value of an expression with the defaults, as a length.
    pub(super) fn default_length(&self, expression: Expression) -> Option<u64> {
        match self.defaults.get(expression.0 as usize) {
            Some((Value::Scalar(value), _)) => Some(length(*value)),
            _ => None,
        }
    }

    pub(super) fn depends_on_spec(&self, expression: Expression) -> bool {
        self.defaults
            .get(expression.0 as usize)
            .is_some_and(|known| known.1)
    }

    /// The length of an array.
    pub(crate) fn dim(&mut self, module: &Module, table: &mut TypeTable, id: u32) -> Dim {
        if let Some(value) = index(module, id) {
            return Dim::Fixed(value);
        }
        let expression = self.expression(module, table, id);
        let default = clamp(self.default_length(expression).unwrap_or(0));
        if self.depends_on_spec(expression) {
            Dim::Spec {
                expression,
                default,
            }
        } else {
            Dim::Fixed(default)
        }
    }

    /// Node for a product of dimensions.
    pub(super) fn product(&mut self, table: &mut TypeTable, dims: &[Dim]) -> Expression {
        let mut factors = Vec::with_capacity(dims.len());
        for dim in dims {
            factors.push(match dim {
                Dim::Spec { expression, .. } => *expression,
                other => self.node(
                    table,
                    ExpressionNode::Literal(SpecValue::U32(other.default_length())),
                ),
            });
        }
        self.node(table, ExpressionNode::Product(factors))
    }
}

pub(super) fn clamp(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Scalar type with this id.
pub(super) fn scalar_type(module: &Module, ty: u32) -> Option<ScalarType> {
    let ty = module.definition(ty)?;
    if ty.is(Op::TypeFloat) {
        ScalarType::float(*ty.operands.get(1)?)
    } else if ty.is(Op::TypeInt) {
        ScalarType::int(*ty.operands.get(1)?, *ty.operands.get(2)? != 0)
    } else {
        ty.is(Op::TypeBool).then_some(ScalarType::Bool)
    }
}

/// Scalar type and number of components of a scalar or vector type.
fn shape(module: &Module, ty: u32) -> Option<(ScalarType, u32)> {
    if let Some(scalar) = scalar_type(module, ty) {
        return Some((scalar, 1));
    }
    let ty = module.definition(ty)?;
    match ty.op()? {
        Op::TypeVector => Some((
            scalar_type(module, *ty.operands.get(1)?)?,
            *ty.operands.get(2)?,
        )),
        _ => None,
    }
}

/// Value of a constant that is a plain scalar literal (spec constants are not).
pub(super) fn literal(module: &Module, id: u32) -> Option<SpecValue> {
    let instruction = module.definition(id)?;
    let ty = scalar_type(module, *instruction.operands.first()?)?;
    match instruction.op()? {
        Op::Constant => Some(SpecValue::from_bits(ty, bits(instruction.rest(2)))),
        Op::ConstantTrue => Some(SpecValue::Bool(true)),
        Op::ConstantFalse => Some(SpecValue::Bool(false)),
        Op::ConstantNull => Some(SpecValue::from_bits(ty, 0)),
        _ => None,
    }
}

/// Value of a constant that is an integer of 32 bits, as indices are.
pub(super) fn index(module: &Module, id: u32) -> Option<u32> {
    let constant = module.definition(id)?;
    if constant.is(Op::Constant)
        && let [ty, _, value] = constant.operands
        && let Some(ty) = module.definition(*ty)
        && ty.is(Op::TypeInt)
        && ty.operands.get(1) == Some(&32)
    {
        return Some(*value);
    }
    literal(module, id).map(|value| clamp(value.bits()))
}

fn bits(words: &[u32]) -> u64 {
    let word = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
    word(0) | word(1) << 32
}

/// Default of a scalar specialisation constant.
fn spec_default(module: &Module, instruction: Instruction<'_>) -> Option<SpecValue> {
    let ty = scalar_type(module, *instruction.operands.first()?)?;
    match instruction.op()? {
        Op::SpecConstant => Some(SpecValue::from_bits(ty, bits(instruction.rest(2)))),
        Op::SpecConstantTrue => Some(SpecValue::Bool(true)),
        Op::SpecConstantFalse => Some(SpecValue::Bool(false)),
        _ => None,
    }
}

/// Ids that a constant is made of; all defined before it, or none.
fn constant_operands(module: &Module, instruction: Instruction<'_>) -> Vec<u32> {
    let operands: Vec<u32> = match instruction.op() {
        Some(Op::ConstantComposite | Op::SpecConstantComposite)
            if instruction.operands.len() <= MAX_COMPOSITE + 2 =>
        {
            instruction.rest(2).to_vec()
        }
        Some(Op::SpecConstantOp) => {
            let (ids, _) = operation_operands(instruction);
            instruction.rest(3).get(..ids).unwrap_or_default().to_vec()
        }
        _ => Vec::new(),
    };
    let earlier = |id: &u32| {
        module
            .definition(*id)
            .is_some_and(|operand| operand.offset < instruction.offset)
    };
    if operands.iter().all(earlier) {
        operands
    } else {
        Vec::new()
    }
}

/// How many operands of an `OpSpecConstantOp` are ids; literals follow them.
fn operation_operands(instruction: Instruction<'_>) -> (usize, Option<u32>) {
    let all = instruction.rest(3).len();
    let opcode = instruction.operands.get(2).copied();
    let ids = match opcode.and_then(Op::from_u32) {
        Some(Op::CompositeExtract) => 1,
        Some(Op::CompositeInsert | Op::VectorShuffle) => 2,
        _ => all.min(3),
    };
    (ids.min(all), opcode)
}

fn constant_node(
    module: &Module,
    instruction: Instruction<'_>,
    operands: Vec<Expression>,
) -> ExpressionNode {
    let id = instruction.operands.get(1).copied().unwrap_or(0);
    if let Some(value) = literal(module, id) {
        return ExpressionNode::Literal(value);
    }
    if let Some(default) = spec_default(module, instruction) {
        return match module.literal(id, Decoration::SpecId) {
            Some(id) => ExpressionNode::Spec { id, default },
            None => ExpressionNode::Literal(default),
        };
    }
    match instruction.op() {
        Some(Op::ConstantComposite | Op::SpecConstantComposite) if !operands.is_empty() => {
            ExpressionNode::Composite(operands)
        }
        Some(Op::SpecConstantOp) if !operands.is_empty() => {
            let (ids, opcode) = operation_operands(instruction);
            let Some((ty, components)) = instruction
                .operands
                .first()
                .and_then(|ty| shape(module, *ty))
            else {
                return ExpressionNode::Unknown;
            };
            let literals = instruction.rest(3).get(ids..).unwrap_or_default().to_vec();
            ExpressionNode::Operation {
                opcode: opcode.unwrap_or(0),
                ty,
                components,
                operands,
                literals,
            }
        }
        _ => ExpressionNode::Unknown,
    }
}

/// All specialisation constants of a module, one per SpecId.
pub(super) fn spec_constants(module: &Module) -> Vec<SpecConstant> {
    let mut found: BTreeMap<u32, SpecConstant> = BTreeMap::new();
    for offset in &module.constants {
        let Some(instruction) = module.words.at(*offset as usize) else {
            continue;
        };
        let Some(default) = spec_default(module, instruction) else {
            continue;
        };
        let Some(spirv_id) = instruction.operands.get(1).copied() else {
            continue;
        };
        let Some(id) = module.literal(spirv_id, Decoration::SpecId) else {
            continue;
        };
        let entry = found.entry(id).or_insert_with(|| SpecConstant {
            id,
            spirv_ids: Numbers::new(),
            name: Name::default(),
            ty: default.scalar_type(),
            default,
            sizes: Vec::new(),
        });
        entry.spirv_ids.push(spirv_id);
        if entry.name.is_empty() {
            entry.name = module.name(spirv_id);
        }
    }
    let mut list: Vec<SpecConstant> = found.into_values().collect();
    for constant in &mut list {
        constant.spirv_ids.sort_unstable();
    }
    list
}
