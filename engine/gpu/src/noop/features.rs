//! Features: which structures of a `pNext` chain are known, and which of their members the device has.

use super::desc::NoopDevice;
use super::handle::{self, PhysicalDevice, chain};
use super::loader::functions;
use ash::vk;
use std::ffi::c_void;

/// One feature of one structure.
struct Feature<'a> {
    /// In the snake case of the field.
    name: &'static str,
    value: &'a mut vk::Bool32,
}

/// Lists the features of a structure: `visit` calls back with each member of the structures named here.
macro_rules! feature_structures {
    ($($structure:ident $extension:expr => { $($field:ident)* })*) => {
        /// Calls `visit` with each feature in a structure of a chain, if the structure is known and its extension offered.
        ///
        /// # Safety
        /// `link` is a valid Vulkan structure.
        unsafe fn visit_link(device: &NoopDevice, link: *mut vk::BaseOutStructure<'static>, visit: &mut dyn FnMut(Feature<'_>)) {
            // SAFETY: by the condition above.
            let kind = unsafe { (*link).s_type };
            $(
                let extension: Option<&str> = $extension;
                if kind == <vk::$structure as vk::TaggedStructure>::STRUCTURE_TYPE {
                    if extension.is_none_or(|extension| device.offers(extension)) {
                        // SAFETY: the structure's type says that it is this one.
                        let structure = unsafe { &mut *link.cast::<vk::$structure<'static>>() };
                        $(visit(Feature { name: stringify!($field), value: &mut structure.$field });)*
                    }
                    return;
                }
            )*
        }
    };
}

macro_rules! core_features {
    ($($field:ident)*) => {
        fn visit_core(features: &mut vk::PhysicalDeviceFeatures, visit: &mut dyn FnMut(Feature<'_>)) {
            $(visit(Feature { name: stringify!($field), value: &mut features.$field });)*
        }
    };
}

core_features! {
    robust_buffer_access full_draw_index_uint32 image_cube_array independent_blend geometry_shader
    tessellation_shader sample_rate_shading dual_src_blend logic_op multi_draw_indirect
    draw_indirect_first_instance depth_clamp depth_bias_clamp fill_mode_non_solid depth_bounds wide_lines
    large_points alpha_to_one multi_viewport sampler_anisotropy texture_compression_etc2
    texture_compression_astc_ldr texture_compression_bc occlusion_query_precise pipeline_statistics_query
    vertex_pipeline_stores_and_atomics fragment_stores_and_atomics shader_tessellation_and_geometry_point_size
    shader_image_gather_extended shader_storage_image_extended_formats shader_storage_image_multisample
    shader_storage_image_read_without_format shader_storage_image_write_without_format
    shader_uniform_buffer_array_dynamic_indexing shader_sampled_image_array_dynamic_indexing
    shader_storage_buffer_array_dynamic_indexing shader_storage_image_array_dynamic_indexing shader_clip_distance
    shader_cull_distance shader_float64 shader_int64 shader_int16 shader_resource_residency shader_resource_min_lod
    sparse_binding sparse_residency_buffer sparse_residency_image2_d sparse_residency_image3_d
    sparse_residency2_samples sparse_residency4_samples sparse_residency8_samples sparse_residency16_samples
    sparse_residency_aliased variable_multisample_rate inherited_queries
}

feature_structures! {
    PhysicalDeviceVulkan11Features None => {
        storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
        storage_input_output16 multiview multiview_geometry_shader multiview_tessellation_shader
        variable_pointers_storage_buffer variable_pointers protected_memory sampler_ycbcr_conversion
        shader_draw_parameters
    }
    PhysicalDeviceVulkan12Features None => {
        sampler_mirror_clamp_to_edge draw_indirect_count storage_buffer8_bit_access
        uniform_and_storage_buffer8_bit_access storage_push_constant8 shader_buffer_int64_atomics
        shader_shared_int64_atomics shader_float16 shader_int8 descriptor_indexing
        shader_input_attachment_array_dynamic_indexing shader_uniform_texel_buffer_array_dynamic_indexing
        shader_storage_texel_buffer_array_dynamic_indexing shader_uniform_buffer_array_non_uniform_indexing
        shader_sampled_image_array_non_uniform_indexing shader_storage_buffer_array_non_uniform_indexing
        shader_storage_image_array_non_uniform_indexing shader_input_attachment_array_non_uniform_indexing
        shader_uniform_texel_buffer_array_non_uniform_indexing
        shader_storage_texel_buffer_array_non_uniform_indexing descriptor_binding_uniform_buffer_update_after_bind
        descriptor_binding_sampled_image_update_after_bind descriptor_binding_storage_image_update_after_bind
        descriptor_binding_storage_buffer_update_after_bind
        descriptor_binding_uniform_texel_buffer_update_after_bind
        descriptor_binding_storage_texel_buffer_update_after_bind descriptor_binding_update_unused_while_pending
        descriptor_binding_partially_bound descriptor_binding_variable_descriptor_count runtime_descriptor_array
        sampler_filter_minmax scalar_block_layout imageless_framebuffer uniform_buffer_standard_layout
        shader_subgroup_extended_types separate_depth_stencil_layouts host_query_reset timeline_semaphore
        buffer_device_address buffer_device_address_capture_replay buffer_device_address_multi_device
        vulkan_memory_model vulkan_memory_model_device_scope vulkan_memory_model_availability_visibility_chains
        shader_output_viewport_index shader_output_layer subgroup_broadcast_dynamic_id
    }
    PhysicalDeviceVulkan13Features None => {
        robust_image_access inline_uniform_block descriptor_binding_inline_uniform_block_update_after_bind
        pipeline_creation_cache_control private_data shader_demote_to_helper_invocation shader_terminate_invocation
        subgroup_size_control compute_full_subgroups synchronization2 texture_compression_astc_hdr
        shader_zero_initialize_workgroup_memory dynamic_rendering shader_integer_dot_product maintenance4
    }
    PhysicalDevice16BitStorageFeatures None => {
        storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
        storage_input_output16
    }
    PhysicalDevice8BitStorageFeatures None => {
        storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access storage_push_constant8
    }
    PhysicalDeviceBufferDeviceAddressFeatures None => {
        buffer_device_address buffer_device_address_capture_replay buffer_device_address_multi_device
    }
    PhysicalDeviceDescriptorIndexingFeatures None => {
        shader_input_attachment_array_dynamic_indexing shader_uniform_texel_buffer_array_dynamic_indexing
        shader_storage_texel_buffer_array_dynamic_indexing shader_uniform_buffer_array_non_uniform_indexing
        shader_sampled_image_array_non_uniform_indexing shader_storage_buffer_array_non_uniform_indexing
        shader_storage_image_array_non_uniform_indexing shader_input_attachment_array_non_uniform_indexing
        shader_uniform_texel_buffer_array_non_uniform_indexing
        shader_storage_texel_buffer_array_non_uniform_indexing descriptor_binding_uniform_buffer_update_after_bind
        descriptor_binding_sampled_image_update_after_bind descriptor_binding_storage_image_update_after_bind
        descriptor_binding_storage_buffer_update_after_bind
        descriptor_binding_uniform_texel_buffer_update_after_bind
        descriptor_binding_storage_texel_buffer_update_after_bind descriptor_binding_update_unused_while_pending
        descriptor_binding_partially_bound descriptor_binding_variable_descriptor_count runtime_descriptor_array
    }
    PhysicalDeviceDynamicRenderingFeatures None => {
        dynamic_rendering
    }
    PhysicalDeviceHostQueryResetFeatures None => {
        host_query_reset
    }
    PhysicalDeviceMaintenance4Features None => {
        maintenance4
    }
    PhysicalDeviceScalarBlockLayoutFeatures None => {
        scalar_block_layout
    }
    PhysicalDeviceShaderAtomicInt64Features None => {
        shader_buffer_int64_atomics shader_shared_int64_atomics
    }
    PhysicalDeviceShaderDrawParametersFeatures None => {
        shader_draw_parameters
    }
    PhysicalDeviceShaderFloat16Int8Features None => {
        shader_float16 shader_int8
    }
    PhysicalDeviceSubgroupSizeControlFeatures None => {
        subgroup_size_control compute_full_subgroups
    }
    PhysicalDeviceSynchronization2Features None => {
        synchronization2
    }
    PhysicalDeviceTimelineSemaphoreFeatures None => {
        timeline_semaphore
    }
    PhysicalDeviceVulkanMemoryModelFeatures None => {
        vulkan_memory_model vulkan_memory_model_device_scope vulkan_memory_model_availability_visibility_chains
    }
    PhysicalDeviceAddressBindingReportFeaturesEXT Some("VK_EXT_device_address_binding_report") => {
        report_address_binding
    }
    PhysicalDeviceFaultFeaturesEXT Some("VK_EXT_device_fault") => {
        device_fault device_fault_vendor_binary
    }
    PhysicalDeviceFragmentShaderBarycentricFeaturesKHR Some("VK_KHR_fragment_shader_barycentric") => {
        fragment_shader_barycentric
    }
    PhysicalDeviceMemoryPriorityFeaturesEXT Some("VK_EXT_memory_priority") => {
        memory_priority
    }
    PhysicalDeviceMeshShaderFeaturesEXT Some("VK_EXT_mesh_shader") => {
        task_shader mesh_shader multiview_mesh_shader primitive_fragment_shading_rate_mesh_shader
        mesh_shader_queries
    }
    PhysicalDeviceMutableDescriptorTypeFeaturesEXT Some("VK_EXT_mutable_descriptor_type") => {
        mutable_descriptor_type
    }
    PhysicalDeviceRobustness2FeaturesEXT Some("VK_EXT_robustness2") => {
        robust_buffer_access2 robust_image_access2 null_descriptor
    }
    PhysicalDeviceShaderAtomicFloatFeaturesEXT Some("VK_EXT_shader_atomic_float") => {
        shader_buffer_float32_atomics shader_buffer_float32_atomic_add shader_buffer_float64_atomics
        shader_buffer_float64_atomic_add shader_shared_float32_atomics shader_shared_float32_atomic_add
        shader_shared_float64_atomics shader_shared_float64_atomic_add shader_image_float32_atomics
        shader_image_float32_atomic_add sparse_image_float32_atomics sparse_image_float32_atomic_add
    }
    PhysicalDeviceShaderImageAtomicInt64FeaturesEXT Some("VK_EXT_shader_image_atomic_int64") => {
        shader_image_int64_atomics sparse_image_int64_atomics
    }
    PhysicalDeviceSwapchainMaintenance1FeaturesEXT Some("VK_EXT_swapchain_maintenance1") => {
        swapchain_maintenance1
    }
}

/// Features that no device of this driver has: those that would bring functions that it lacks.
const NEVER: &[&str] = &[
    "protectedMemory",
    "sparseBinding",
    "bufferDeviceAddressMultiDevice",
];

/// Compares a field's name with a specification's name (`shader_int8`, `shaderInt8`).
fn same_name(field: &str, name: &str) -> bool {
    let letters = |text: &str| {
        text.bytes()
            .filter(|&b| b != b'_')
            .map(|b| b.to_ascii_lowercase())
            .collect::<Vec<_>>()
    };
    letters(field) == letters(name)
}

/// `buffer_device_address` as the specification writes it.
fn specification_name(field: &str) -> String {
    let mut name = String::new();
    let mut upper = false;
    for letter in field.chars() {
        if letter == '_' {
            upper = true;
        } else {
            name.extend(if upper {
                letter.to_uppercase().next()
            } else {
                Some(letter)
            });
            upper = false;
        }
    }
    name
}

fn has(device: &NoopDevice, field: &str) -> bool {
    let missing = device.missing_features.iter().map(String::as_str);
    !missing
        .chain(NEVER.iter().copied())
        .any(|name| same_name(field, name))
}

/// The names of all features that a chain of structures switches on, and those among them that the device lacks.
///
/// # Safety
/// `next` begins a valid chain, `core` is null or valid.
pub(super) unsafe fn requested(
    device: &NoopDevice,
    next: *const c_void,
    core: *const vk::PhysicalDeviceFeatures,
) -> (Vec<String>, Vec<String>) {
    let (mut enabled, mut missing) = (Vec::new(), Vec::new());
    let mut visit = |feature: Feature<'_>| {
        if *feature.value != vk::FALSE {
            let name = specification_name(feature.name);
            if !has(device, feature.name) {
                missing.push(name.clone());
            }
            enabled.push(name);
        }
    };
    // SAFETY: by the condition above. The structures are only read: `visit` writes nothing.
    unsafe {
        if let Some(core) = core.as_ref() {
            visit_core(&mut { *core }, &mut visit);
        }
        for link in chain(next) {
            if (*link).s_type == vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 {
                visit_core(
                    &mut { (*link.cast::<vk::PhysicalDeviceFeatures2<'_>>()).features },
                    &mut visit,
                );
            } else {
                visit_link(device, link, &mut visit);
            }
        }
    }
    (enabled, missing)
}

functions! { Instance, None;
    call fn get_features as PFN_vkGetPhysicalDeviceFeatures(
        physical: vk::PhysicalDevice,
        features: *mut vk::PhysicalDeviceFeatures,
    ) {
        let device = physical_device(physical);
        visit_core(&mut *features, &mut |feature| {
            *feature.value = has(device, feature.name).into();
        });
    }
    call fn get_features2 as PFN_vkGetPhysicalDeviceFeatures2(
        physical: vk::PhysicalDevice,
        features: *mut vk::PhysicalDeviceFeatures2<'_>,
    ) {
        let device = physical_device(physical);
        let mut offer = |feature: Feature<'_>| *feature.value = has(device, feature.name).into();
        visit_core(&mut (*features).features, &mut offer);
        for link in chain((*features).p_next) {
            visit_link(device, link, &mut offer);
        }
    }
}

/// The description of a physical device.
///
/// # Safety
/// `physical` is a physical device of a no-op driver.
pub(super) unsafe fn physical_device<'a>(physical: vk::PhysicalDevice) -> &'a NoopDevice {
    // SAFETY: by the condition above.
    let (driver, object) = unsafe {
        (
            handle::shared(physical),
            handle::object::<PhysicalDevice>(physical),
        )
    };
    &driver.desc.devices[object.index]
}
