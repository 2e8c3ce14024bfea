//! Properties of physical devices, of memory, queues and formats.

use super::desc::NoopDevice;
use super::features::physical_device;
use super::format;
use super::handle::{self, PhysicalDevice, chain, enumerate, enumerate_with, fixed};
use super::loader::functions;
use ash::vk;

fn properties(device: &NoopDevice) -> vk::PhysicalDeviceProperties {
    vk::PhysicalDeviceProperties {
        api_version: device.api_version,
        driver_version: device.driver_version,
        vendor_id: device.vendor_id,
        device_id: device.device_id,
        device_type: device.kind,
        device_name: fixed(&device.name),
        pipeline_cache_uuid: device.uuid,
        limits: device.limits,
        sparse_properties: vk::PhysicalDeviceSparseProperties::default(),
    }
}

/// Subgroup operations that shaders of the engine may use.
fn subgroup_operations() -> vk::SubgroupFeatureFlags {
    use vk::SubgroupFeatureFlags as F;
    F::BASIC
        | F::VOTE
        | F::ARITHMETIC
        | F::BALLOT
        | F::SHUFFLE
        | F::SHUFFLE_RELATIVE
        | F::CLUSTERED
        | F::QUAD
}

/// Descriptors of one kind in update-after-bind sets.
const MANY: u32 = 1 << 20;

/// Fills one structure of a `VkPhysicalDeviceProperties2` chain; unknown ones stay as they are.
///
/// # Safety
/// `link` is a valid Vulkan structure.
unsafe fn fill(device: &NoopDevice, link: *mut vk::BaseOutStructure<'static>) {
    use vk::StructureType as S;
    // SAFETY: by the condition above.
    let kind = unsafe { (*link).s_type };
    /// The structure behind the link, by the type that its `sType` says.
    macro_rules! structure {
        ($name:ident) => {
            // SAFETY: the structure's type says that it is this one.
            unsafe { &mut *link.cast::<vk::$name<'static>>() }
        };
    }
    match kind {
        S::PHYSICAL_DEVICE_DRIVER_PROPERTIES => {
            let p = structure!(PhysicalDeviceDriverProperties);
            p.driver_id = vk::DriverId::from_raw(0);
            p.driver_name = fixed(&device.driver_name);
            p.driver_info = fixed("touches no device");
            p.conformance_version = vk::ConformanceVersion {
                major: 1,
                minor: 3,
                subminor: 0,
                patch: 0,
            };
        }
        S::PHYSICAL_DEVICE_ID_PROPERTIES => {
            let p = structure!(PhysicalDeviceIDProperties);
            p.device_uuid = device.uuid;
            p.driver_uuid = device.uuid;
            p.device_luid_valid = vk::FALSE;
        }
        S::PHYSICAL_DEVICE_SUBGROUP_PROPERTIES => {
            let p = structure!(PhysicalDeviceSubgroupProperties);
            p.subgroup_size = device.subgroup_size;
            p.supported_stages = vk::ShaderStageFlags::ALL;
            p.supported_operations = subgroup_operations();
            p.quad_operations_in_all_stages = vk::TRUE;
        }
        S::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES => {
            let p = structure!(PhysicalDeviceSubgroupSizeControlProperties);
            p.min_subgroup_size = device.subgroup_size;
            p.max_subgroup_size = device.subgroup_size;
            p.max_compute_workgroup_subgroups = 32;
            p.required_subgroup_size_stages = vk::ShaderStageFlags::ALL;
        }
        S::PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR
            if device.offers("VK_KHR_push_descriptor") =>
        {
            structure!(PhysicalDevicePushDescriptorPropertiesKHR).max_push_descriptors =
                device.max_push_descriptors;
        }
        S::PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES => {
            let p = structure!(PhysicalDeviceMaintenance3Properties);
            p.max_per_set_descriptors = 8 * MANY;
            p.max_memory_allocation_size = 1 << 40;
        }
        S::PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES => {
            structure!(PhysicalDeviceMaintenance4Properties).max_buffer_size = 1 << 40;
        }
        S::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES => {
            structure!(PhysicalDeviceTimelineSemaphoreProperties)
                .max_timeline_semaphore_value_difference = u64::MAX >> 1;
        }
        S::PHYSICAL_DEVICE_SAMPLER_FILTER_MINMAX_PROPERTIES => {
            let p = structure!(PhysicalDeviceSamplerFilterMinmaxProperties);
            p.filter_minmax_single_component_formats = vk::TRUE;
            p.filter_minmax_image_component_mapping = vk::TRUE;
        }
        S::PHYSICAL_DEVICE_ROBUSTNESS_2_PROPERTIES_EXT if device.offers("VK_EXT_robustness2") => {
            let p = structure!(PhysicalDeviceRobustness2PropertiesEXT);
            p.robust_storage_buffer_access_size_alignment = 4;
            p.robust_uniform_buffer_access_size_alignment = 16;
        }
        S::PHYSICAL_DEVICE_MESH_SHADER_PROPERTIES_EXT if device.offers("VK_EXT_mesh_shader") => {
            mesh_shader(structure!(PhysicalDeviceMeshShaderPropertiesEXT));
        }
        S::PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES => {
            let p = structure!(PhysicalDeviceDescriptorIndexingProperties);
            p.max_update_after_bind_descriptors_in_all_pools = 8 * MANY;
            p.max_per_stage_update_after_bind_resources = 8 * MANY;
            p.max_per_stage_descriptor_update_after_bind_samplers = MANY;
            p.max_per_stage_descriptor_update_after_bind_uniform_buffers = MANY;
            p.max_per_stage_descriptor_update_after_bind_storage_buffers = MANY;
            p.max_per_stage_descriptor_update_after_bind_sampled_images = MANY;
            p.max_per_stage_descriptor_update_after_bind_storage_images = MANY;
            p.max_descriptor_set_update_after_bind_samplers = MANY;
            p.max_descriptor_set_update_after_bind_uniform_buffers = MANY;
            p.max_descriptor_set_update_after_bind_storage_buffers = MANY;
            p.max_descriptor_set_update_after_bind_sampled_images = MANY;
            p.max_descriptor_set_update_after_bind_storage_images = MANY;
        }
        S::PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES => {
            let p = structure!(PhysicalDeviceVulkan11Properties);
            p.device_uuid = device.uuid;
            p.driver_uuid = device.uuid;
            p.subgroup_size = device.subgroup_size;
            p.subgroup_supported_stages = vk::ShaderStageFlags::ALL;
            p.subgroup_supported_operations = subgroup_operations();
            p.subgroup_quad_operations_in_all_stages = vk::TRUE;
            p.max_multiview_view_count = 6;
            p.max_multiview_instance_index = u32::MAX >> 5;
            p.max_per_set_descriptors = 8 * MANY;
            p.max_memory_allocation_size = 1 << 40;
        }
        S::PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES => {
            vulkan12(device, structure!(PhysicalDeviceVulkan12Properties));
        }
        S::PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES => {
            let p = structure!(PhysicalDeviceVulkan13Properties);
            p.min_subgroup_size = device.subgroup_size;
            p.max_subgroup_size = device.subgroup_size;
            p.max_compute_workgroup_subgroups = 32;
            p.required_subgroup_size_stages = vk::ShaderStageFlags::ALL;
            p.max_inline_uniform_block_size = 256;
            p.max_per_stage_descriptor_inline_uniform_blocks = 4;
            p.max_descriptor_set_inline_uniform_blocks = 4;
            p.max_inline_uniform_total_size = 256;
            p.storage_texel_buffer_offset_alignment_bytes = 16;
            p.uniform_texel_buffer_offset_alignment_bytes = 16;
            p.max_buffer_size = 1 << 40;
        }
        _ => {}
    }
}

fn vulkan12(device: &NoopDevice, p: &mut vk::PhysicalDeviceVulkan12Properties<'_>) {
    p.driver_name = fixed(&device.driver_name);
    p.driver_info = fixed("touches no device");
    p.conformance_version = vk::ConformanceVersion {
        major: 1,
        minor: 3,
        subminor: 0,
        patch: 0,
    };
    p.denorm_behavior_independence = vk::ShaderFloatControlsIndependence::ALL;
    p.rounding_mode_independence = vk::ShaderFloatControlsIndependence::ALL;
    p.shader_signed_zero_inf_nan_preserve_float32 = vk::TRUE;
    p.max_update_after_bind_descriptors_in_all_pools = 8 * MANY;
    p.max_per_stage_descriptor_update_after_bind_samplers = MANY;
    p.max_per_stage_descriptor_update_after_bind_uniform_buffers = MANY;
    p.max_per_stage_descriptor_update_after_bind_storage_buffers = MANY;
    p.max_per_stage_descriptor_update_after_bind_sampled_images = MANY;
    p.max_per_stage_descriptor_update_after_bind_storage_images = MANY;
    p.max_per_stage_update_after_bind_resources = 8 * MANY;
    p.max_descriptor_set_update_after_bind_samplers = MANY;
    p.max_descriptor_set_update_after_bind_uniform_buffers = MANY;
    p.max_descriptor_set_update_after_bind_storage_buffers = MANY;
    p.max_descriptor_set_update_after_bind_sampled_images = MANY;
    p.max_descriptor_set_update_after_bind_storage_images = MANY;
    p.supported_depth_resolve_modes = vk::ResolveModeFlags::SAMPLE_ZERO;
    p.supported_stencil_resolve_modes = vk::ResolveModeFlags::SAMPLE_ZERO;
    p.filter_minmax_single_component_formats = vk::TRUE;
    p.filter_minmax_image_component_mapping = vk::TRUE;
    p.max_timeline_semaphore_value_difference = u64::MAX >> 1;
    p.framebuffer_integer_color_sample_counts = vk::SampleCountFlags::TYPE_1;
}

fn mesh_shader(p: &mut vk::PhysicalDeviceMeshShaderPropertiesEXT<'_>) {
    p.max_task_work_group_total_count = 1 << 22;
    p.max_task_work_group_count = [65535; 3];
    p.max_task_work_group_invocations = 128;
    p.max_task_work_group_size = [128; 3];
    p.max_task_payload_size = 16384;
    p.max_task_shared_memory_size = 32768;
    p.max_task_payload_and_shared_memory_size = 32768;
    p.max_mesh_work_group_total_count = 1 << 22;
    p.max_mesh_work_group_count = [65535; 3];
    p.max_mesh_work_group_invocations = 128;
    p.max_mesh_work_group_size = [128; 3];
    p.max_mesh_shared_memory_size = 28672;
    p.max_mesh_payload_and_shared_memory_size = 28672;
    p.max_mesh_output_memory_size = 32768;
    p.max_mesh_payload_and_output_memory_size = 49152;
    p.max_mesh_output_components = 128;
    p.max_mesh_output_vertices = 256;
    p.max_mesh_output_primitives = 256;
    p.max_mesh_output_layers = 8;
    p.max_mesh_multiview_view_count = 1;
    p.mesh_output_per_vertex_granularity = 32;
    p.mesh_output_per_primitive_granularity = 32;
    p.max_preferred_task_work_group_invocations = 32;
    p.max_preferred_mesh_work_group_invocations = 32;
}

fn memory_properties(device: &NoopDevice) -> vk::PhysicalDeviceMemoryProperties {
    let mut properties = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: device.memory_types.len().min(vk::MAX_MEMORY_TYPES) as u32,
        memory_heap_count: device.memory_heaps.len().min(vk::MAX_MEMORY_HEAPS) as u32,
        ..Default::default()
    };
    for (slot, &(property_flags, heap_index)) in
        properties.memory_types.iter_mut().zip(&device.memory_types)
    {
        *slot = vk::MemoryType {
            property_flags,
            heap_index,
        };
    }
    for (slot, &(size, local)) in properties.memory_heaps.iter_mut().zip(&device.memory_heaps) {
        let flags = if local {
            vk::MemoryHeapFlags::DEVICE_LOCAL
        } else {
            vk::MemoryHeapFlags::empty()
        };
        *slot = vk::MemoryHeap { size, flags };
    }
    properties
}

functions! { Instance, None;
    call fn get_properties as PFN_vkGetPhysicalDeviceProperties(
        physical: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceProperties,
    ) {
        out.write(properties(physical_device(physical)));
    }
    call fn get_properties2 as PFN_vkGetPhysicalDeviceProperties2(
        physical: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceProperties2<'_>,
    ) {
        let device = physical_device(physical);
        (*out).properties = properties(device);
        for link in chain((*out).p_next) {
            fill(device, link);
        }
    }
    call fn get_memory_properties as PFN_vkGetPhysicalDeviceMemoryProperties(
        physical: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceMemoryProperties,
    ) {
        out.write(memory_properties(physical_device(physical)));
    }
    call fn get_memory_properties2 as PFN_vkGetPhysicalDeviceMemoryProperties2(
        physical: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceMemoryProperties2<'_>,
    ) {
        let device = physical_device(physical);
        (*out).memory_properties = memory_properties(device);
        for link in chain((*out).p_next) {
            if (*link).s_type == vk::StructureType::PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT {
                let budget = &mut *link.cast::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>();
                let index = handle::object::<PhysicalDevice>(physical).index;
                let state = handle::shared(physical).state();
                for (heap, &(size, _)) in device
                    .memory_heaps
                    .iter()
                    .take(vk::MAX_MEMORY_HEAPS)
                    .enumerate()
                {
                    budget.heap_budget[heap] = size;
                    budget.heap_usage[heap] = state
                        .heap_used
                        .get(&(index, heap as u32))
                        .copied()
                        .unwrap_or(0);
                }
            }
        }
    }
    call fn get_queue_families as PFN_vkGetPhysicalDeviceQueueFamilyProperties(
        physical: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::QueueFamilyProperties,
    ) {
        let _ = enumerate(&physical_device(physical).queue_families, count, out);
    }
    call fn get_queue_families2 as PFN_vkGetPhysicalDeviceQueueFamilyProperties2(
        physical: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::QueueFamilyProperties2<'_>,
    ) {
        let _ = enumerate_with(
            &physical_device(physical).queue_families,
            count,
            out,
            |family, slot| {
                // SAFETY: `enumerate_with` gives valid places.
                unsafe { (*slot).queue_family_properties = *family };
            },
        );
    }
    call fn get_format_properties as PFN_vkGetPhysicalDeviceFormatProperties(
        physical: vk::PhysicalDevice,
        format: vk::Format,
        out: *mut vk::FormatProperties,
    ) {
        out.write(format::properties(physical_device(physical), format));
    }
    call fn get_format_properties2 as PFN_vkGetPhysicalDeviceFormatProperties2(
        physical: vk::PhysicalDevice,
        format: vk::Format,
        out: *mut vk::FormatProperties2<'_>,
    ) {
        let known = format::properties(physical_device(physical), format);
        (*out).format_properties = known;
        for link in chain((*out).p_next) {
            if (*link).s_type == vk::StructureType::FORMAT_PROPERTIES_3 {
                let wide = |flags: vk::FormatFeatureFlags| {
                    vk::FormatFeatureFlags2::from_raw(flags.as_raw().into())
                };
                let out = &mut *link.cast::<vk::FormatProperties3<'_>>();
                out.linear_tiling_features = wide(known.linear_tiling_features);
                out.optimal_tiling_features = wide(known.optimal_tiling_features);
                out.buffer_features = wide(known.buffer_features);
            }
        }
    }
    result fn get_image_format_properties as PFN_vkGetPhysicalDeviceImageFormatProperties(
        physical: vk::PhysicalDevice,
        format: vk::Format,
        kind: vk::ImageType,
        _tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags,
        _flags: vk::ImageCreateFlags,
        out: *mut vk::ImageFormatProperties,
    ) {
        out.write(format::image_properties(
            physical_device(physical),
            format,
            kind,
            usage,
        )?);
        Ok(())
    }
    result fn get_image_format_properties2 as PFN_vkGetPhysicalDeviceImageFormatProperties2(
        physical: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        out: *mut vk::ImageFormatProperties2<'_>,
    ) {
        let info = &*info;
        (*out).image_format_properties =
            format::image_properties(physical_device(physical), info.format, info.ty, info.usage)?;
        Ok(())
    }
    call fn get_sparse_properties as PFN_vkGetPhysicalDeviceSparseImageFormatProperties(
        _physical: vk::PhysicalDevice,
        _format: vk::Format,
        _kind: vk::ImageType,
        _samples: vk::SampleCountFlags,
        _usage: vk::ImageUsageFlags,
        _tiling: vk::ImageTiling,
        count: *mut u32,
        _out: *mut vk::SparseImageFormatProperties,
    ) {
        count.write(0);
    }
    call fn get_sparse_properties2 as PFN_vkGetPhysicalDeviceSparseImageFormatProperties2(
        _physical: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
        count: *mut u32,
        _out: *mut vk::SparseImageFormatProperties2<'_>,
    ) {
        count.write(0);
    }
    call fn get_external_buffer as PFN_vkGetPhysicalDeviceExternalBufferProperties(
        _physical: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
        out: *mut vk::ExternalBufferProperties<'_>,
    ) {
        (*out).external_memory_properties = vk::ExternalMemoryProperties::default();
    }
    call fn get_external_fence as PFN_vkGetPhysicalDeviceExternalFenceProperties(
        _physical: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceExternalFenceInfo<'_>,
        out: *mut vk::ExternalFenceProperties<'_>,
    ) {
        (*out).external_fence_features = vk::ExternalFenceFeatureFlags::empty();
    }
    call fn get_external_semaphore as PFN_vkGetPhysicalDeviceExternalSemaphoreProperties(
        _physical: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
        out: *mut vk::ExternalSemaphoreProperties<'_>,
    ) {
        (*out).external_semaphore_features = vk::ExternalSemaphoreFeatureFlags::empty();
    }
}
