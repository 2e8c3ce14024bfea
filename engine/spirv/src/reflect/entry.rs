//! Entry points: stage, execution modes, payload, built-ins.

use std::collections::BTreeSet;

use smallvec::SmallVec;
use spirv::{Decoration, ExecutionMode as Mode, Op, StorageClass};

use super::Reflection;
use super::constants::{clamp, literal};
use crate::error::Error;
use crate::interface::{
    Access, EntryPoint, ExecutionMode, Expression, ExpressionNode, LocalSize, MeshLimits, Numbers,
    ScalarType, Stage, Topology, TypeId,
};
use crate::usage::{READ, WRITE};
use crate::words::Instruction;

impl Reflection<'_> {
    pub(super) fn find_entry_points(&mut self) -> Result<(), Error> {
        let module = self.module;
        self.interface
            .entry_points
            .reserve_exact(module.entry_points.len().min(4));
        for (position, offset) in module.entry_points.iter().enumerate() {
            let Some(instruction) = module.words.at(*offset as usize) else {
                continue;
            };
            let name = instruction.text(2)?;
            let function = instruction.operand(1)?;
            let stage = Stage::from_execution_model(instruction.operand(0)?);
            let interface = instruction.rest(2 + instruction.string_words(2));
            self.budget
                .keep(1 + name.len() / 128 + interface.len() / 8)?;
            let mut entry = EntryPoint {
                name,
                stage,
                spirv_id: function,
                local_size: None,
                mesh: None,
                payload_size: None,
                payload: None,
                invocations: None,
                execution_modes: SmallVec::new(),
                bindings: SmallVec::new(),
                push_constants: None,
                inputs: Vec::new(),
                outputs: Vec::new(),
                built_ins: SmallVec::new(),
                spec_ids: Numbers::new(),
                uses_physical_pointers: false,
                physical_access: Access::None,
            };
            self.execution_modes(&mut entry)?;
            if let Stage::Task | Stage::Mesh = entry.stage {
                self.payload(&mut entry, interface, position);
            }
            self.stage_interface(&mut entry, interface, position)?;
            for list in [&entry.inputs, &entry.outputs] {
                let used = list.iter().filter(|variable| variable.used);
                entry
                    .built_ins
                    .extend(used.filter_map(|variable| variable.built_in));
            }
            if entry.built_ins.len() > 1 {
                entry.built_ins.sort_unstable();
                entry.built_ins.dedup();
            }
            if let Some(usage) = self.usages.get(position) {
                let flags = usage.physical_flags;
                entry.uses_physical_pointers = usage.physical || flags != 0;
                entry.physical_access = Access::new(flags & READ != 0, flags & WRITE != 0);
            }
            if module.has_spec_constants {
                entry.spec_ids = self.spec_ids(&entry, position)?;
            }
            self.interface.entry_points.push(entry);
        }
        Ok(())
    }

    fn execution_modes(&mut self, entry: &mut EntryPoint) -> Result<(), Error> {
        let module = self.module;
        let (mut vertices, mut primitives, mut topology) = (0, 0, None);
        let mut by_id = false;
        for (target, offset) in &module.execution_modes {
            if *target != entry.spirv_id {
                continue;
            }
            let Some(instruction) = module.words.at(*offset as usize) else {
                continue;
            };
            let mode = instruction.operand(1)?;
            let value = || instruction.operand(2);
            match Mode::from_u32(mode) {
                Some(Mode::LocalSize) => {
                    if !by_id {
                        let axis = |position: usize| {
                            Ok::<_, Error>(LocalSize {
                                value: instruction.operand(position)?,
                                spec_id: None,
                                expression: None,
                            })
                        };
                        entry.local_size = Some([axis(2)?, axis(3)?, axis(4)?]);
                    }
                }
                Some(Mode::LocalSizeId) => {
                    by_id = true;
                    entry.local_size = Some([
                        self.axis(instruction.operand(2)?),
                        self.axis(instruction.operand(3)?),
                        self.axis(instruction.operand(4)?),
                    ]);
                }
                Some(Mode::OutputVertices) if entry.stage == Stage::Mesh => vertices = value()?,
                Some(Mode::OutputPrimitivesEXT) => primitives = value()?,
                Some(Mode::OutputPoints) if entry.stage == Stage::Mesh => {
                    topology = Some(Topology::Points);
                }
                Some(Mode::OutputLinesEXT) => topology = Some(Topology::Lines),
                Some(Mode::OutputTrianglesEXT) => topology = Some(Topology::Triangles),
                Some(Mode::Invocations) if entry.stage == Stage::Geometry => {
                    entry.invocations = Some(value()?);
                }
                _ => {
                    self.budget.keep(1)?;
                    entry.execution_modes.push(ExecutionMode {
                        mode,
                        operands: Numbers::from_slice(instruction.rest(2)),
                    });
                }
            }
        }
        if entry.stage == Stage::Mesh {
            // A mesh stage that names no topology makes triangles in neither form; the mode is mandatory.
            entry.mesh = topology.map(|topology| MeshLimits {
                max_vertices: vertices,
                max_primitives: primitives,
                topology,
            });
        }
        if matches!(
            entry.stage,
            Stage::Compute | Stage::Task | Stage::Mesh | Stage::Unknown(_)
        ) && let Some(size) = self.workgroup_size()?
        {
            entry.local_size = Some(size);
        }
        Ok(())
    }

    /// One axis given as a constant.
    #[inline(never)]
    fn axis(&mut self, id: u32) -> LocalSize {
        if let Some(value) = literal(self.module, id) {
            return LocalSize {
                value: clamp(value.bits()),
                spec_id: None,
                expression: None,
            };
        }
        let expression = self
            .types
            .constants
            .expression(self.module, &mut self.types.table, id);
        self.axis_of(expression)
    }

    fn axis_of(&self, expression: Expression) -> LocalSize {
        let value = clamp(self.types.constants.default_length(expression).unwrap_or(0));
        if !self.types.constants.depends_on_spec(expression) {
            return LocalSize {
                value,
                spec_id: None,
                expression: None,
            };
        }
        let spec_id = match self
            .types
            .table
            .expressions
            .nodes
            .get(expression.0 as usize)
        {
            Some(ExpressionNode::Spec { id, .. }) => Some(*id),
            _ => None,
        };
        LocalSize {
            value,
            spec_id,
            expression: Some(expression),
        }
    }

    /// Local size from the constant that is decorated with the `WorkgroupSize` built-in.
    #[inline(never)]
    fn workgroup_size(&mut self) -> Result<Option<[LocalSize; 3]>, Error> {
        let module = self.module;
        let is_size = |id: u32| {
            module.literal(id, Decoration::BuiltIn) == Some(spirv::BuiltIn::WorkgroupSize as u32)
        };
        let constant = module
            .constants
            .iter()
            .filter_map(|offset| module.words.at(*offset as usize))
            .find(|instruction| {
                matches!(
                    instruction.op(),
                    Some(Op::ConstantComposite | Op::SpecConstantComposite | Op::SpecConstantOp)
                ) && instruction.operands.get(1).copied().is_some_and(is_size)
            });
        let Some(constant) = constant else {
            return Ok(None);
        };
        if constant.op() != Some(Op::SpecConstantOp) {
            return Ok(Some([
                self.axis(constant.operand(2)?),
                self.axis(constant.operand(3)?),
                self.axis(constant.operand(4)?),
            ]));
        }
        let whole =
            self.types
                .constants
                .expression(module, &mut self.types.table, constant.operand(1)?);
        let mut axes = [LocalSize {
            value: 0,
            spec_id: None,
            expression: None,
        }; 3];
        for (index, axis) in (0..).zip(&mut axes) {
            let node = ExpressionNode::Operation {
                opcode: Op::CompositeExtract as u32,
                ty: ScalarType::U32,
                components: 1,
                operands: vec![whole],
                literals: vec![index],
            };
            let part = self.types.constants.node(&mut self.types.table, node);
            *axis = self.axis_of(part);
        }
        Ok(Some(axes))
    }

    /// The payload between task and mesh stage, in EXT and NV form.
    #[inline(never)]
    fn payload(&mut self, entry: &mut EntryPoint, interface: &[u32], position: usize) {
        let module = self.module;
        for id in interface {
            let Some(definition) = module
                .definition(*id)
                .filter(|definition| definition.op() == Some(Op::Variable))
            else {
                continue;
            };
            let ty = crate::usage::variable_type(module, definition);
            let class = definition
                .operands
                .get(2)
                .copied()
                .and_then(StorageClass::from_u32);
            let is_payload = match class {
                Some(StorageClass::TaskPayloadWorkgroupEXT) => true,
                Some(StorageClass::Input | StorageClass::Output) => {
                    module.has(*id, Decoration::PerTaskNV)
                        || module.member_has(ty, 0, Decoration::PerTaskNV)
                }
                _ => false,
            };
            if is_payload {
                let added = self.types.add(ty);
                entry.payload.get_or_insert(added);
                self.payloads.push((position, added));
            }
        }
    }

    /// Sizes of payloads, once all types are there.
    pub(super) fn measure_payloads(&mut self) {
        for (position, ty) in &self.payloads {
            if let Some(entry) = self.interface.entry_points.get_mut(*position) {
                let size = entry.payload_size.get_or_insert(0);
                *size = size.saturating_add(self.types.table.fixed_size(*ty));
            }
        }
    }

    #[inline(never)]
    fn spec_ids(&mut self, entry: &EntryPoint, position: usize) -> Result<Numbers, Error> {
        let mut expressions: BTreeSet<Expression> = entry
            .local_size
            .iter()
            .flatten()
            .filter_map(|axis| axis.expression)
            .collect();
        let constants: Vec<u32> = self
            .usages
            .get(position)
            .map(|usage| usage.constants.clone())
            .unwrap_or_default();
        for id in constants {
            expressions.insert(self.types.constants.expression(
                self.module,
                &mut self.types.table,
                id,
            ));
        }
        let variables = self
            .usages
            .get(position)
            .map(|usage| usage.variables.clone())
            .unwrap_or_default();
        for id in variables {
            self.type_lengths(self.module.definition(id), &mut expressions)?;
        }
        let mut ids = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work: Vec<Expression> = expressions.into_iter().collect();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            self.budget.step()?;
            if let Some(node) = self.types.table.expressions.nodes.get(at.0 as usize) {
                if let ExpressionNode::Spec { id, .. } = node {
                    ids.insert(*id);
                }
                work.extend(crate::evaluate::operands(node));
            }
        }
        self.budget.keep(ids.len() / 8)?;
        Ok(ids.into_iter().collect())
    }

    /// Expressions of array lengths in the type of a variable.
    fn type_lengths(
        &mut self,
        variable: Option<Instruction<'_>>,
        expressions: &mut BTreeSet<Expression>,
    ) -> Result<(), Error> {
        let module = self.module;
        let Some(variable) = variable else {
            return Ok(());
        };
        let mut seen: BTreeSet<TypeId> = BTreeSet::new();
        let mut work = vec![crate::usage::variable_type(module, variable)];
        while let Some(ty) = work.pop() {
            if !seen.insert(TypeId(ty)) {
                continue;
            }
            self.budget.step()?;
            let Some(definition) = module.definition(ty) else {
                continue;
            };
            match definition.op() {
                Some(Op::TypeArray) => {
                    let length = definition.operand(2)?;
                    if literal(module, length).is_none() {
                        expressions.insert(self.types.constants.expression(
                            module,
                            &mut self.types.table,
                            length,
                        ));
                    }
                    work.push(definition.operand(1)?);
                }
                Some(Op::TypeRuntimeArray) => work.push(definition.operand(1)?),
                Some(Op::TypeStruct) => work.extend(definition.rest(1)),
                _ => {}
            }
        }
        Ok(())
    }
}
