//! SPIRV-Reflect of 2019, as `spirv-reflect` wraps it.

use super::stage;
use crate::facts::Facts;
use spirv_reflect::ShaderModule;
use spirv_reflect::types::{ReflectDescriptorType, ReflectInterfaceVariable};

pub(super) fn facts(module: &[u8]) -> Result<Facts, String> {
    let module = ShaderModule::load_u8_data(module)?;
    let mut facts = Facts::default();
    for entry in module.enumerate_entry_points()? {
        let path = facts.entry_point(&entry.name, stage(entry.spirv_execution_model as u32));
        for (direction, variables) in [
            ("input", &entry.input_variables),
            ("output", &entry.output_variables),
        ] {
            for location in variables.iter().filter_map(location) {
                facts.location(&path, direction, location);
            }
        }
    }
    for binding in module.enumerate_descriptor_bindings(None)? {
        let path = facts.binding(binding.set, binding.binding, name(binding.descriptor_type));
        facts.add(format!("{path}/count"), &binding.count);
        // It gives storage buffers no size.
        if binding.descriptor_type == ReflectDescriptorType::UniformBuffer {
            facts.add(format!("{path}/padded size"), &binding.block.padded_size);
        }
    }
    for block in module.enumerate_push_constant_blocks(None)? {
        let offset = block.members.iter().map(|member| member.offset).min();
        let end = block
            .members
            .iter()
            .map(|member| member.offset + member.size);
        let offset = offset.unwrap_or(0);
        facts.push_constants(offset, end.max().map(|end| end.saturating_sub(offset)));
    }
    Ok(facts)
}

/// It says `u32::MAX` for what has no location.
fn location(variable: &ReflectInterfaceVariable) -> Option<u32> {
    (variable.location != u32::MAX).then_some(variable.location)
}

fn name(descriptor_type: ReflectDescriptorType) -> &'static str {
    match descriptor_type {
        ReflectDescriptorType::Undefined => "undefined",
        ReflectDescriptorType::Sampler => "sampler",
        ReflectDescriptorType::CombinedImageSampler => "combined_image_sampler",
        ReflectDescriptorType::SampledImage => "sampled_image",
        ReflectDescriptorType::StorageImage => "storage_image",
        ReflectDescriptorType::UniformTexelBuffer => "uniform_texel_buffer",
        ReflectDescriptorType::StorageTexelBuffer => "storage_texel_buffer",
        ReflectDescriptorType::UniformBuffer => "uniform_buffer",
        ReflectDescriptorType::StorageBuffer => "storage_buffer",
        ReflectDescriptorType::UniformBufferDynamic => "uniform_buffer_dynamic",
        ReflectDescriptorType::StorageBufferDynamic => "storage_buffer_dynamic",
        ReflectDescriptorType::InputAttachment => "input_attachment",
        ReflectDescriptorType::AccelerationStructureNV => "acceleration_structure",
    }
}
