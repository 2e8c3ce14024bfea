//! `naga`'s SPIR-V front end.

use crate::facts::Facts;
use naga::front::spv::{Options, parse_u8_slice};
use naga::{
    AddressSpace, ArraySize, Binding, Handle, ImageClass, Module, ShaderStage, Type, TypeInner,
};

pub(super) fn facts(module: &[u8]) -> Result<Facts, String> {
    let module =
        parse_u8_slice(module, &Options::default()).map_err(|error| format!("{error:?}"))?;
    let mut facts = Facts::default();
    for entry in &module.entry_points {
        let path = facts.entry_point(&entry.name, stage(entry.stage));
        if entry.stage.compute_like() {
            facts.local_size(&path, entry.workgroup_size);
        }
        for argument in &entry.function.arguments {
            locations(
                &module,
                argument.ty,
                argument.binding.as_ref(),
                |location| {
                    facts.location(&path, "input", location);
                },
            );
        }
        if let Some(result) = &entry.function.result {
            locations(&module, result.ty, result.binding.as_ref(), |location| {
                facts.location(&path, "output", location);
            });
        }
    }
    for (_, variable) in module.global_variables.iter() {
        let inner = &module.types[variable.ty].inner;
        if variable.space == AddressSpace::Immediate
            && let TypeInner::Struct { members, .. } = inner
        {
            // Its sizes are rounded up to alignments.
            let offset = members.iter().map(|member| member.offset).min();
            facts.push_constants(offset.unwrap_or(0), None);
        }
        let Some(binding) = &variable.binding else {
            continue;
        };
        let (inner, count) = match inner {
            TypeInner::BindingArray { base, size } => {
                let count = match size {
                    ArraySize::Constant(count) => Some(count.get()),
                    ArraySize::Dynamic => Some(0),
                    ArraySize::Pending(_) => None,
                };
                (&module.types[*base].inner, count)
            }
            inner => (inner, Some(1)),
        };
        let kind = match (variable.space, inner) {
            (AddressSpace::Uniform, _) => "uniform_buffer",
            (AddressSpace::Storage { .. }, _) => "storage_buffer",
            (_, TypeInner::Sampler { .. }) => "sampler",
            (_, TypeInner::AccelerationStructure { .. }) => "acceleration_structure",
            (_, TypeInner::Image { class, .. }) => match class {
                ImageClass::Storage { .. } => "storage_image",
                _ => "sampled_image",
            },
            _ => "unknown",
        };
        let path = facts.binding(binding.group, binding.binding, kind);
        if let Some(count) = count {
            facts.add(format!("{path}/count"), &count);
        }
    }
    for (_, constant) in module.overrides.iter() {
        if let Some(id) = constant.id {
            facts.spec_constant(u32::from(id));
        }
    }
    Ok(facts)
}

/// The locations of an argument or result: its own, or those of its members.
fn locations(
    module: &Module,
    ty: Handle<Type>,
    binding: Option<&Binding>,
    mut found: impl FnMut(u32),
) {
    if let Some(Binding::Location { location, .. }) = binding {
        found(*location);
    }
    if let TypeInner::Struct { members, .. } = &module.types[ty].inner {
        for member in members {
            if let Some(Binding::Location { location, .. }) = &member.binding {
                found(*location);
            }
        }
    }
}

fn stage(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Task => "task",
        ShaderStage::Mesh => "mesh",
        ShaderStage::Fragment => "fragment",
        ShaderStage::Compute => "compute",
        ShaderStage::RayGeneration => "raygen",
        ShaderStage::Miss => "miss",
        ShaderStage::AnyHit => "any_hit",
        ShaderStage::ClosestHit => "closest_hit",
    }
}
