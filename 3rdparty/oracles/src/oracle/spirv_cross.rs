//! SPIRV-Cross, through `spirv-cross2`.

use super::{stage, words};
use crate::facts::Facts;
use spirv_cross2::reflect::{
    AllResources, ArrayDimension, ExecutionModeArguments, Resource, TypeInner,
};
use spirv_cross2::spirv::{Decoration, Dim, ExecutionMode};
use spirv_cross2::{Compiler, Module, SpirvCrossError, targets};

type Cross = Compiler<targets::None>;

pub(super) fn facts(module: &[u8]) -> Result<Facts, String> {
    read(&words(module)).map_err(|error| error.to_string())
}

fn read(words: &[u32]) -> Result<Facts, SpirvCrossError> {
    let mut compiler = Cross::new(Module::from_words(words))?;
    let mut facts = Facts::default();
    let entries: Vec<_> = compiler
        .entry_points()?
        .map(|entry| (entry.name.to_string(), entry.execution_model))
        .collect();
    for (name, model) in entries {
        compiler.set_entry_point(name.clone(), model)?;
        let path = facts.entry_point(&name, stage(model as u32));
        let size = compiler.execution_mode_arguments(ExecutionMode::LocalSize)?;
        if let Some(ExecutionModeArguments::LocalSize { x, y, z }) = size {
            facts.local_size(&path, [x, y, z]);
        }
        let resources = compiler.shader_resources()?.all_resources()?;
        for (direction, variables) in [
            ("input", &resources.stage_inputs),
            ("output", &resources.stage_outputs),
        ] {
            for variable in variables {
                if let Some(location) = literal(&compiler, variable, Decoration::Location)? {
                    facts.location(&path, direction, location);
                }
            }
        }
        descriptors(&compiler, &resources, &mut facts)?;
    }
    for constant in compiler.specialization_constants()? {
        facts.spec_constant(constant.constant_id);
    }
    Ok(facts)
}

fn descriptors(
    compiler: &Cross,
    resources: &AllResources<'_>,
    facts: &mut Facts,
) -> Result<(), SpirvCrossError> {
    let kinds = [
        (&resources.uniform_buffers, "uniform_buffer"),
        (&resources.storage_buffers, "storage_buffer"),
        (&resources.subpass_inputs, "input_attachment"),
        (&resources.storage_images, "storage_image"),
        (&resources.sampled_images, "combined_image_sampler"),
        (&resources.separate_images, "sampled_image"),
        (&resources.separate_samplers, "sampler"),
        (&resources.acceleration_structures, "acceleration_structure"),
    ];
    for (resources, kind) in kinds {
        for resource in resources {
            let set = literal(compiler, resource, Decoration::DescriptorSet)?;
            let binding = literal(compiler, resource, Decoration::Binding)?;
            let (Some(set), Some(binding)) = (set, binding) else {
                continue;
            };
            let base = compiler.type_description(resource.base_type_id).ok();
            let base = base.map(|base| base.inner);
            let texels =
                matches!(&base, Some(TypeInner::Image(image)) if image.dimension == Dim::DimBuffer);
            let kind = match kind {
                "storage_image" if texels => "storage_texel_buffer",
                "sampled_image" | "combined_image_sampler" if texels => "uniform_texel_buffer",
                kind => kind,
            };
            let path = facts.binding(set, binding, kind);
            if let Some(count) = count(compiler, resource) {
                facts.add(format!("{path}/count"), &count);
            }
            if let Some(TypeInner::Struct(block)) = base {
                facts.add(format!("{path}/block size"), &block.size);
            }
        }
    }
    for resource in &resources.push_constant_buffers {
        let block = compiler.type_description(resource.base_type_id)?;
        if let TypeInner::Struct(block) = block.inner {
            let offset = block.members.iter().map(|member| member.offset).min();
            let offset = offset.unwrap_or(0);
            facts.push_constants(offset, Some((block.size as u32).saturating_sub(offset)));
        }
    }
    Ok(())
}

/// Number of descriptors, 0 for a runtime array; `None` if spec constants decide it.
fn count(compiler: &Cross, resource: &Resource<'_>) -> Option<u32> {
    match compiler.type_description(resource.type_id).ok()?.inner {
        TypeInner::Array { dimensions, .. } => {
            dimensions
                .iter()
                .try_fold(1u32, |count, dimension| match dimension {
                    ArrayDimension::Literal(length) => count.checked_mul(*length),
                    ArrayDimension::Constant(_) => None,
                })
        }
        _ => Some(1),
    }
}

fn literal(
    compiler: &Cross,
    resource: &Resource<'_>,
    decoration: Decoration,
) -> Result<Option<u32>, SpirvCrossError> {
    let value = compiler.decoration(resource.id, decoration)?;
    Ok(value.and_then(|value| value.as_literal()))
}
