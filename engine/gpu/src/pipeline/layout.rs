//! Set layouts, pipeline layouts and update templates from merged reflection.

use super::constants::Values;
use super::slot::vk_type;
use super::{PushRange, SlotInfo};
use crate::binding::Binding;
use crate::device::{Gpu, Inner};
use crate::memory::Garbage;
use crate::shader::Shader;
use crate::{Error, Result};
use ash::vk;
use impel_spirv::{DescriptorType, MergeLimits, ProgramLayout, Slot, merge};

/// Layout, set layouts and template of a pipeline.
pub(crate) struct Layouts {
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) set_layouts: Vec<vk::DescriptorSetLayout>,
    pub(crate) template: vk::DescriptorUpdateTemplate,
    pub(crate) slots: Vec<SlotInfo>,
    pub(crate) push: Option<PushRange>,
    pub(crate) merged: ProgramLayout,
}

/// Merges the stages, within the limits of the device.
pub(crate) fn merge_stages(
    gpu: &Inner,
    shaders: &[&Shader],
    constants: &[Values],
) -> Result<ProgramLayout> {
    let stages: Vec<_> = shaders
        .iter()
        .zip(constants)
        .map(|(shader, constants)| shader.stage_input(constants))
        .collect();
    let limits = MergeLimits {
        max_push_descriptors: gpu.info.limits.max_push_descriptors,
        max_push_constants_size: gpu.info.limits.max_push_constants,
        ..Default::default()
    };
    let mut merged = merge(&stages, &limits)?;
    for slot in merged.slots.iter_mut().filter(|slot| slot.name.is_empty()) {
        slot.name = block_name(shaders, slot).unwrap_or_default();
    }
    Ok(merged)
}

/// The name of a slot's block, for blocks without an instance name.
fn block_name(shaders: &[&Shader], slot: &Slot) -> Option<String> {
    shaders.iter().find_map(|shader| {
        let interface = &shader.interface;
        let mut bindings = interface.bindings_at(slot.set, slot.binding);
        let block = interface
            .types
            .get_struct(bindings.find_map(|binding| binding.block)?)?;
        Some(block.name.to_string()).filter(|name| !name.is_empty())
    })
}

impl Layouts {
    pub(crate) fn new(
        gpu: &Inner,
        name: &str,
        merged: ProgramLayout,
        bind_point: vk::PipelineBindPoint,
    ) -> Result<Layouts> {
        let thing = || format!("pipeline {name:?}");
        if let Some(slot) = merged.slots.iter().find(|slot| slot.set != 0) {
            return Err(Error::invalid(
                thing(),
                format!(
                    "binding {:?} is in set {}; passes bind set 0 only",
                    slot.name, slot.set
                ),
            ));
        }
        let mut set_layouts = Vec::new();
        if !merged.slots.is_empty() {
            let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
            set_layouts.push(set_layout(gpu, name, &merged.slots, flags)?);
        }
        let push = merged.push_constants.as_ref().map(|range| PushRange {
            offset: range.offset,
            size: range.size,
            stages: vk::ShaderStageFlags::from_raw(range.stages.0),
        });
        let ranges: Vec<_> = push
            .iter()
            .map(|range| vk::PushConstantRange {
                stage_flags: range.stages,
                offset: range.offset,
                size: range.size,
            })
            .collect();
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: the set layouts were just made from this device; the range was checked by the merge.
        let layout = unsafe { gpu.device.create_pipeline_layout(&info, None) };
        let made = layout
            .map_err(Error::vulkan("vkCreatePipelineLayout", thing()))
            .and_then(|layout| {
                gpu.name(layout, name);
                template(gpu, name, &merged.slots, layout, bind_point)
            });
        let template = match made {
            Ok(template) => template,
            Err(error) => {
                let garbage = Garbage::PipelineLayout {
                    layout: layout.unwrap_or_default(),
                    set_layouts,
                    template: vk::DescriptorUpdateTemplate::null(),
                };
                gpu.deletions.push(gpu, garbage);
                return Err(error);
            }
        };
        let layout = layout.unwrap_or_default();
        let slots = merged
            .slots
            .iter()
            .flat_map(|slot| SlotInfo::of(slot, gpu.number, &gpu.info.limits))
            .collect();
        Ok(Layouts {
            layout,
            set_layouts,
            template,
            slots,
            push,
            merged,
        })
    }
}

fn set_layout(
    gpu: &Inner,
    name: &str,
    slots: &[Slot],
    flags: vk::DescriptorSetLayoutCreateFlags,
) -> Result<vk::DescriptorSetLayout> {
    let bindings: Vec<_> = slots
        .iter()
        .map(|slot| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(slot.binding)
                .descriptor_type(vk_type(slot.descriptor_type))
                .descriptor_count(slot.count)
                .stage_flags(vk::ShaderStageFlags::from_raw(slot.stages.0))
        })
        .collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(flags)
        .bindings(&bindings);
    // SAFETY: the bindings are distinct and within limits, which the merge has checked.
    let layout = unsafe { gpu.device.create_descriptor_set_layout(&info, None) }.map_err(
        Error::vulkan("vkCreateDescriptorSetLayout", format!("{name:?}")),
    )?;
    gpu.name(layout, name);
    Ok(layout)
}

/// One entry per binding, striding over the array of [`Binding`]s that a pass pushes.
fn template(
    gpu: &Inner,
    name: &str,
    slots: &[Slot],
    layout: vk::PipelineLayout,
    bind_point: vk::PipelineBindPoint,
) -> Result<vk::DescriptorUpdateTemplate> {
    let mut offset = 0;
    let entries: Vec<_> = slots
        .iter()
        .map(|slot| {
            let entry = vk::DescriptorUpdateTemplateEntry {
                dst_binding: slot.binding,
                dst_array_element: 0,
                descriptor_count: slot.count,
                descriptor_type: vk_type(slot.descriptor_type),
                offset,
                stride: size_of::<Binding>(),
            };
            offset += slot.count as usize * size_of::<Binding>();
            entry
        })
        .collect();
    if entries.is_empty() {
        return Ok(vk::DescriptorUpdateTemplate::null());
    }
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(bind_point)
        .pipeline_layout(layout)
        .set(0);
    // SAFETY: the entries name bindings of the layout's set 0.
    unsafe { gpu.device.create_descriptor_update_template(&info, None) }.map_err(Error::vulkan(
        "vkCreateDescriptorUpdateTemplate",
        format!("pipeline {name:?}"),
    ))
}

/// What [`create_set_layouts`] cannot know from the shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetLayoutsDesc {
    /// Descriptors of a runtime array (`textures[]` in GLSL), at most as many as the device permits for its type. 0 refuses
    /// such arrays.
    pub runtime_count: u32,
}

/// Makes plain descriptor set layouts (not for pushing) for all sets that the shaders use, for work outside of the
/// executor: one per set number from 0 on, empty ones for numbers in between. The caller destroys them.
///
/// # Errors
/// Those of the merge; [`Error::Invalid`] for a runtime array without a count; [`Error::Vulkan`].
pub fn create_set_layouts(
    gpu: &Gpu,
    shaders: &[&Shader],
    desc: &SetLayoutsDesc,
) -> Result<Vec<vk::DescriptorSetLayout>> {
    let stages: Vec<_> = shaders
        .iter()
        .map(|shader| shader.stage_input(&[]))
        .collect();
    let limits = MergeLimits {
        max_push_constants_size: gpu.inner.info.limits.max_push_constants,
        ..MergeLimits::default().any_sets()
    };
    let mut merged = merge(&stages, &limits)?;
    for slot in merged.slots.iter_mut().filter(|slot| slot.count == 0) {
        slot.count = desc
            .runtime_count
            .min(most_descriptors(&gpu.inner, slot.descriptor_type));
        if slot.count == 0 {
            return Err(Error::invalid(
                format!(
                    "binding {} {:?} of set {}",
                    slot.binding, slot.name, slot.set
                ),
                "is a runtime array; a plain set layout needs the number of its descriptors (SetLayoutsDesc::runtime_count)",
            ));
        }
    }
    let sets = merged
        .slots
        .iter()
        .map(|slot| slot.set + 1)
        .max()
        .unwrap_or(0);
    let mut layouts = Vec::new();
    for set in 0..sets {
        let slots: Vec<_> = merged
            .slots
            .iter()
            .filter(|slot| slot.set == set)
            .cloned()
            .collect();
        let made = set_layout(
            &gpu.inner,
            &format!("set {set}"),
            &slots,
            vk::DescriptorSetLayoutCreateFlags::empty(),
        );
        match made {
            Ok(layout) => layouts.push(layout),
            Err(error) => {
                for layout in layouts {
                    // SAFETY: just made, known to nobody.
                    unsafe { gpu.inner.device.destroy_descriptor_set_layout(layout, None) };
                }
                return Err(error);
            }
        }
    }
    Ok(layouts)
}

/// Most descriptors of a type that one stage may have.
fn most_descriptors(gpu: &Inner, descriptor_type: DescriptorType) -> u32 {
    // SAFETY: the physical device is that of this device.
    let limits = unsafe {
        gpu.instance
            .raw
            .get_physical_device_properties(gpu.physical_device)
            .limits
    };
    use DescriptorType as D;
    let of_type = match descriptor_type {
        D::Sampler => limits.max_per_stage_descriptor_samplers,
        D::CombinedImageSampler => limits
            .max_per_stage_descriptor_samplers
            .min(limits.max_per_stage_descriptor_sampled_images),
        D::SampledImage | D::UniformTexelBuffer => limits.max_per_stage_descriptor_sampled_images,
        D::StorageImage | D::StorageTexelBuffer => limits.max_per_stage_descriptor_storage_images,
        D::UniformBuffer => limits.max_per_stage_descriptor_uniform_buffers,
        D::StorageBuffer => limits.max_per_stage_descriptor_storage_buffers,
        D::InputAttachment => limits.max_per_stage_descriptor_input_attachments,
        // Of these Vulkan promises this many wherever there are any.
        _ => 16,
    };
    of_type.min(limits.max_per_stage_resources)
}
