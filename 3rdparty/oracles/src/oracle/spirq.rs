//! `spirq`.

use super::{stage, words};
use crate::facts::Facts;
use spirq::prelude::{DescriptorType, ReflectConfig, Type, Variable};

pub(super) fn facts(module: &[u8]) -> Result<Facts, String> {
    let entries = ReflectConfig::new()
        .spv(words(module))
        .ref_all_rscs(true)
        .reflect()
        .map_err(|error| error.to_string())?;
    let mut facts = Facts::default();
    for entry in entries {
        let path = facts.entry_point(&entry.name, stage(entry.exec_model as u32));
        for variable in &entry.vars {
            match variable {
                Variable::Input { location, .. } => {
                    facts.location(&path, "input", location.loc());
                }
                Variable::Output { location, .. } => {
                    facts.location(&path, "output", location.loc());
                }
                Variable::Descriptor {
                    desc_bind,
                    desc_ty,
                    ty,
                    nbind,
                    ..
                } => {
                    let (set, binding) = desc_bind.into_inner();
                    let path = facts.binding(set, binding, name(desc_ty));
                    facts.add(format!("{path}/count"), &nbind);
                    if let Type::Struct(_) = ty
                        && let Some(size) = ty.nbyte()
                    {
                        facts.add(format!("{path}/block size"), &size);
                    }
                }
                Variable::PushConstant { ty, .. } => {
                    let Type::Struct(block) = ty else { continue };
                    let offsets = block.members.iter().filter_map(|member| member.offset);
                    let offset = offsets.min().unwrap_or(0);
                    let size = ty
                        .min_nbyte()
                        .map(|size| size.saturating_sub(offset) as u32);
                    facts.push_constants(offset as u32, size);
                }
                Variable::SpecConstant { spec_id, .. } => facts.spec_constant(*spec_id),
            }
        }
    }
    Ok(facts)
}

fn name(descriptor_type: &DescriptorType) -> &'static str {
    match descriptor_type {
        DescriptorType::Sampler() => "sampler",
        DescriptorType::CombinedImageSampler() => "combined_image_sampler",
        DescriptorType::SampledImage() => "sampled_image",
        DescriptorType::StorageImage(_) => "storage_image",
        DescriptorType::UniformTexelBuffer() => "uniform_texel_buffer",
        DescriptorType::StorageTexelBuffer(_) => "storage_texel_buffer",
        DescriptorType::UniformBuffer() => "uniform_buffer",
        DescriptorType::StorageBuffer(_) => "storage_buffer",
        DescriptorType::InputAttachment(_) => "input_attachment",
        DescriptorType::AccelStruct() => "acceleration_structure",
    }
}
