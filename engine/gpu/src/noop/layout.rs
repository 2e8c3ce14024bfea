//! Set layouts, pipeline layouts, update templates, descriptor pools and sets.

use super::descriptor::{DescriptorValue, DescriptorWrite, read_template, read_write};
use super::handle::{self, chain, slice};
use super::loader::functions;
use ash::vk::{self, Handle};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Arc;

/// A set layout's definition: two layouts are identically defined when these are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetLayout {
    /// Flags, `PUSH_DESCRIPTOR_KHR` among them.
    pub flags: vk::DescriptorSetLayoutCreateFlags,
    /// Bindings, sorted by number.
    pub bindings: Vec<LayoutBinding>,
}

/// One binding of a [`SetLayout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutBinding {
    /// Number.
    pub binding: u32,
    /// Type of its descriptors.
    pub kind: vk::DescriptorType,
    /// Length of the array.
    pub count: u32,
    /// Stages that see it.
    pub stages: vk::ShaderStageFlags,
    /// Flags, `PARTIALLY_BOUND` and the like.
    pub flags: vk::DescriptorBindingFlags,
    /// Immutable samplers.
    pub samplers: Vec<vk::Sampler>,
}

/// A pipeline layout's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineLayout {
    /// Flags, `INDEPENDENT_SETS_EXT` among them.
    pub flags: vk::PipelineLayoutCreateFlags,
    /// Layouts of the sets, in order; a null layout is `None`.
    pub sets: Vec<Option<Arc<SetLayout>>>,
    /// Push constant ranges: stages, offset and size in bytes.
    pub push_ranges: Vec<(vk::ShaderStageFlags, u32, u32)>,
}

impl PipelineLayout {
    /// Whether the layouts are compatible for set `set` (Vulkan, "Pipeline Layout Compatibility"): equal set layouts from 0 to
    /// `set`, equal push constant ranges, and both or neither with independent sets.
    #[must_use]
    pub fn compatible_for_set(&self, other: &PipelineLayout, set: u32) -> bool {
        let sets = set as usize + 1;
        let same_sets = match (self.sets.get(..sets), other.sets.get(..sets)) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => false,
        };
        same_sets && self.push_ranges == other.push_ranges && self.flags == other.flags
    }
}

pub(super) struct Template {
    pub(super) entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    pub(super) bind_point: vk::PipelineBindPoint,
}

/// What a descriptor set holds, by binding and array element.
#[derive(Default)]
pub(super) struct DescriptorSet {
    pub(super) contents: HashMap<(u32, u32), (vk::DescriptorType, DescriptorValue)>,
}

impl DescriptorSet {
    fn apply(&mut self, writes: Vec<DescriptorWrite>) {
        for write in writes {
            self.contents
                .insert((write.binding, write.element), (write.kind, write.value));
        }
    }
}

/// # Safety
/// `info` is valid.
unsafe fn set_layout(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> SetLayout {
    // SAFETY: the arrays of a valid structure.
    unsafe {
        let mut flags: &[vk::DescriptorBindingFlags] = &[];
        for link in chain(info.p_next) {
            if (*link).s_type == vk::StructureType::DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO
            {
                let link = &*link.cast::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>();
                flags = slice(link.p_binding_flags, link.binding_count);
            }
        }
        let bindings = slice(info.p_bindings, info.binding_count)
            .iter()
            .enumerate()
            .map(|(index, binding)| LayoutBinding {
                binding: binding.binding,
                kind: binding.descriptor_type,
                count: binding.descriptor_count,
                stages: binding.stage_flags,
                flags: flags.get(index).copied().unwrap_or_default(),
                samplers: slice(binding.p_immutable_samplers, binding.descriptor_count).to_vec(),
            });
        let mut bindings: Vec<_> = bindings.collect();
        bindings.sort_by_key(|binding| binding.binding);
        SetLayout {
            flags: info.flags,
            bindings,
        }
    }
}

functions! { Device, None;
    result fn create_set_layout as PFN_vkCreateDescriptorSetLayout(
        device: vk::Device,
        info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        layout: *mut vk::DescriptorSetLayout,
    ) {
        let data = set_layout(&*info);
        let (driver, index) = (
            handle::shared(device),
            handle::object::<handle::Device>(device).index,
        );
        let mut state = driver.state();
        let pushed = data
            .flags
            .contains(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
        let descriptors: u32 = data.bindings.iter().map(|binding| binding.count).sum();
        let limit = driver.desc.devices[index].max_push_descriptors;
        if pushed && descriptors > limit {
            state.error(format!(
                "vkCreateDescriptorSetLayout: {descriptors} push descriptors, the limit is {limit}"
            ));
        }
        if data
            .bindings
            .windows(2)
            .any(|pair| pair[0].binding == pair[1].binding)
        {
            state.error("vkCreateDescriptorSetLayout: a binding occurs twice".to_owned());
        }
        layout.write(state.create(device, Arc::new(data)));
        Ok(())
    }
    call fn destroy_set_layout as PFN_vkDestroyDescriptorSetLayout(
        device: vk::Device,
        layout: vk::DescriptorSetLayout,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(layout, "vkDestroyDescriptorSetLayout");
    }
    call fn get_layout_support as PFN_vkGetDescriptorSetLayoutSupport(
        _device: vk::Device,
        _info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
        support: *mut vk::DescriptorSetLayoutSupport<'_>,
    ) {
        (*support).supported = vk::TRUE;
    }
    result fn create_pipeline_layout as PFN_vkCreatePipelineLayout(
        device: vk::Device,
        info: *const vk::PipelineLayoutCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        layout: *mut vk::PipelineLayout,
    ) {
        let (driver, index) = (
            handle::shared(device),
            handle::object::<handle::Device>(device).index,
        );
        let mut state = driver.state();
        let info = &*info;
        let mut sets = Vec::new();
        for &set in slice(info.p_set_layouts, info.set_layout_count) {
            sets.push(if set.is_null() {
                None
            } else {
                state
                    .data::<Arc<SetLayout>>(set, "vkCreatePipelineLayout")
                    .cloned()
            });
        }
        let ranges = slice(info.p_push_constant_ranges, info.push_constant_range_count);
        let limit = driver.desc.devices[index].limits.max_push_constants_size;
        if let Some(range) = ranges
            .iter()
            .find(|range| range.offset.saturating_add(range.size) > limit)
        {
            state.error(format!(
                "vkCreatePipelineLayout: push constants {range:?} go beyond {limit} bytes"
            ));
        }
        let pushed = |set: &&Option<Arc<SetLayout>>| {
            set.as_ref().is_some_and(|set| {
                set.flags
                    .contains(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
            })
        };
        if sets.iter().filter(pushed).count() > 1 {
            state.error("vkCreatePipelineLayout: more than one set of push descriptors".to_owned());
        }
        let push_ranges = ranges
            .iter()
            .map(|range| (range.stage_flags, range.offset, range.size))
            .collect();
        layout.write(state.create(
            device,
            Arc::new(PipelineLayout {
                flags: info.flags,
                sets,
                push_ranges,
            }),
        ));
        Ok(())
    }
    call fn destroy_pipeline_layout as PFN_vkDestroyPipelineLayout(
        device: vk::Device,
        layout: vk::PipelineLayout,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(layout, "vkDestroyPipelineLayout");
    }
    result fn create_template as PFN_vkCreateDescriptorUpdateTemplate(
        device: vk::Device,
        info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        template: *mut vk::DescriptorUpdateTemplate,
    ) {
        let mut state = handle::shared(device).state();
        let info = &*info;
        let entries = slice(
            info.p_descriptor_update_entries,
            info.descriptor_update_entry_count,
        )
        .to_vec();
        if entries.is_empty() {
            state.error("vkCreateDescriptorUpdateTemplate: a template needs an entry".to_owned());
        }
        if info.template_type == vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR {
            state.check(info.pipeline_layout, "vkCreateDescriptorUpdateTemplate");
        } else {
            state.check(
                info.descriptor_set_layout,
                "vkCreateDescriptorUpdateTemplate",
            );
        }
        template.write(state.create(
            device,
            Template {
                entries,
                bind_point: info.pipeline_bind_point,
            },
        ));
        Ok(())
    }
    call fn destroy_template as PFN_vkDestroyDescriptorUpdateTemplate(
        device: vk::Device,
        template: vk::DescriptorUpdateTemplate,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(template, "vkDestroyDescriptorUpdateTemplate");
    }
    result fn create_descriptor_pool as PFN_vkCreateDescriptorPool(
        device: vk::Device,
        _info: *const vk::DescriptorPoolCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pool: *mut vk::DescriptorPool,
    ) {
        pool.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    call fn destroy_descriptor_pool as PFN_vkDestroyDescriptorPool(
        device: vk::Device,
        pool: vk::DescriptorPool,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(pool, "vkDestroyDescriptorPool");
    }
    result fn reset_descriptor_pool as PFN_vkResetDescriptorPool(
        device: vk::Device,
        pool: vk::DescriptorPool,
        _flags: vk::DescriptorPoolResetFlags,
    ) {
        let mut state = handle::shared(device).state();
        state.check(pool, "vkResetDescriptorPool");
        state.end_owned(pool.as_raw());
        Ok(())
    }
    result fn allocate_sets as PFN_vkAllocateDescriptorSets(
        device: vk::Device,
        info: *const vk::DescriptorSetAllocateInfo<'_>,
        sets: *mut vk::DescriptorSet,
    ) {
        let mut state = handle::shared(device).state();
        let info = &*info;
        state.check(info.descriptor_pool, "vkAllocateDescriptorSets");
        for (index, &layout) in slice(info.p_set_layouts, info.descriptor_set_count)
            .iter()
            .enumerate()
        {
            state.check(layout, "vkAllocateDescriptorSets");
            sets.add(index).write(state.create_owned(
                device,
                info.descriptor_pool.as_raw(),
                DescriptorSet::default(),
            ));
        }
        Ok(())
    }
    result fn free_sets as PFN_vkFreeDescriptorSets(
        device: vk::Device,
        _pool: vk::DescriptorPool,
        count: u32,
        sets: *const vk::DescriptorSet,
    ) {
        let mut state = handle::shared(device).state();
        for &set in slice(sets, count) {
            state.destroy(set, "vkFreeDescriptorSets");
        }
        Ok(())
    }
    call fn update_sets as PFN_vkUpdateDescriptorSets(
        device: vk::Device,
        write_count: u32,
        writes: *const vk::WriteDescriptorSet<'_>,
        copy_count: u32,
        copies: *const vk::CopyDescriptorSet<'_>,
    ) {
        let mut state = handle::shared(device).state();
        for write in slice(writes, write_count) {
            if let Some(set) = state.data::<DescriptorSet>(write.dst_set, "vkUpdateDescriptorSets")
            {
                set.apply(read_write(write));
            }
        }
        for copy in slice(copies, copy_count) {
            for element in 0..copy.descriptor_count {
                let from = (copy.src_binding, copy.src_array_element + element);
                let value = state
                    .data::<DescriptorSet>(copy.src_set, "vkUpdateDescriptorSets")
                    .and_then(|set| set.contents.get(&from).cloned());
                if let (Some(value), Some(set)) = (
                    value,
                    state.data::<DescriptorSet>(copy.dst_set, "vkUpdateDescriptorSets"),
                ) {
                    set.contents
                        .insert((copy.dst_binding, copy.dst_array_element + element), value);
                }
            }
        }
    }
    call fn update_with_template as PFN_vkUpdateDescriptorSetWithTemplate(
        device: vk::Device,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
    ) {
        let mut state = handle::shared(device).state();
        let entries = state
            .data::<Template>(template, "vkUpdateDescriptorSetWithTemplate")
            .map(|template| template.entries.clone());
        if let (Some(entries), Some(set)) = (
            entries,
            state.data::<DescriptorSet>(set, "vkUpdateDescriptorSetWithTemplate"),
        ) {
            set.apply(read_template(&entries, data));
        }
    }
}
