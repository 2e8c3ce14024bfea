//! What the engine asks of a device: required, optional, and how each is asked for and switched on.

use ash::vk;
use std::ffi::CStr;

/// Extensions that must be there.
pub(crate) const REQUIRED_EXTENSIONS: [&CStr; 1] = [ash::khr::push_descriptor::NAME];

/// Extensions that are nothing but leave for shaders to declare something; compilers of HLSL and Slang do.
pub(crate) const SHADER_EXTENSIONS: [&CStr; 3] = [
    ash::google::decorate_string::NAME,
    ash::google::hlsl_functionality1::NAME,
    ash::google::user_type::NAME,
];

/// Optional capabilities of a device that change what the engine does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionalFeatures {
    /// Task and mesh shaders. Without: the vertex path.
    pub mesh_shaders: bool,
    /// Mesh shader queries. Without: mesh statistics are left out.
    pub mesh_shader_queries: bool,
    /// 64-bit atomics on buffers. Without: no visibility-buffer path.
    pub buffer_int64_atomics: bool,
    /// Samplers with minimum and maximum reduction. Without: four fetches.
    pub sampler_minmax: bool,
    /// Pipeline statistics queries. Without: left out of the statistics.
    pub pipeline_statistics: bool,
    /// Anisotropic filtering.
    pub sampler_anisotropy: bool,
    /// Line rasterisation of triangles, for wireframe views.
    pub fill_mode_non_solid: bool,
    /// Memory budget readings. Without: VMA's own estimate.
    pub memory_budget: bool,
    /// Calibrated timestamps. Without: GPU times are aligned at submit.
    pub calibrated_timestamps: bool,
    /// The driver's report on the fault after a lost device.
    pub device_fault: bool,
    /// Markers of passes begun and finished, which [`GpuDesc::markers`](crate::GpuDesc::markers) switches on. Without: a lost
    /// device's error names all passes handed over.
    pub markers: bool,
    /// A queue for copies alone, which [`GpuDesc::transfer_queue`](crate::GpuDesc::transfer_queue) switches on. Without: all uploads
    /// go to the queue of the frames.
    pub transfer_queue: bool,
}

impl OptionalFeatures {
    /// One line per missing capability with what is done instead.
    pub fn fallbacks(&self) -> Vec<&'static str> {
        let table = [
            (
                self.mesh_shaders,
                "no mesh shaders: the vertex path is used",
            ),
            (
                self.mesh_shader_queries,
                "no mesh shader queries: mesh statistics are left out",
            ),
            (
                self.buffer_int64_atomics,
                "no 64-bit buffer atomics: no visibility-buffer path",
            ),
            (
                self.sampler_minmax,
                "no min/max samplers: four fetches instead",
            ),
            (self.pipeline_statistics, "no pipeline statistics"),
            (
                self.memory_budget,
                "no memory budget: the allocator's estimate is used",
            ),
            (
                self.calibrated_timestamps,
                "no calibrated timestamps: GPU times are aligned at submit",
            ),
            (
                self.device_fault,
                "no device fault reports: the error of a lost device names passes only",
            ),
            (
                self.markers,
                "no markers: the error of a lost device names all passes handed over",
            ),
            (
                self.transfer_queue,
                "no transfer queue: uploads go to the queue of the frames",
            ),
        ];
        table
            .iter()
            .filter(|(there, _)| !there)
            .map(|&(_, text)| text)
            .collect()
    }
}

/// The feature structures of one device, linked for a query or for device creation.
#[derive(Default)]
pub(crate) struct FeatureChain {
    pub(crate) core: vk::PhysicalDeviceFeatures,
    pub(crate) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(crate) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(crate) v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub(crate) mesh: vk::PhysicalDeviceMeshShaderFeaturesEXT<'static>,
    /// Vulkan's names of the features that are switched on.
    pub(crate) names: Vec<String>,
}

impl FeatureChain {
    /// Calls `f` with the structures linked to a `VkPhysicalDeviceFeatures2`, then unlinks them again. The mesh
    /// structure takes part only where the device has the extension.
    pub(crate) fn linked<R>(
        &mut self,
        mesh: bool,
        f: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> R,
    ) -> R {
        let mut features = vk::PhysicalDeviceFeatures2::default().features(self.core);
        features = features
            .push_next(&mut self.v11)
            .push_next(&mut self.v12)
            .push_next(&mut self.v13);
        if mesh {
            features = features.push_next(&mut self.mesh);
        }
        let result = f(&mut features);
        self.core = features.features;
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        self.mesh.p_next = std::ptr::null_mut();
        result
    }

    /// Reads what a physical device offers.
    pub(crate) fn offered(
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        mesh: bool,
    ) -> FeatureChain {
        let mut chain = FeatureChain::default();
        chain.linked(mesh, |features| {
            // SAFETY: the physical device comes from this instance, and the linked structures live through the call.
            unsafe { instance.get_physical_device_features2(device, features) }
        });
        chain
    }
}

/// Walks over all required features, as (name, offered, field to switch on).
macro_rules! required_features {
    ($offered:expr, $enabled:expr, $missing:expr; $($part:ident: $($field:ident)*;)*) => {
        $($(
            if $offered.$part.$field == vk::TRUE {
                $enabled.$part.$field = vk::TRUE;
                $enabled.names.push(vulkan_name(stringify!($field)));
            } else {
                $missing.push(format!("feature {}", vulkan_name(stringify!($field))));
            }
        )*)*
    };
}

/// Walks over all optional features that are switched on when offered.
macro_rules! optional_features {
    ($offered:expr, $enabled:expr; $($part:ident: $($field:ident)*;)*) => {
        $($(
            if $offered.$part.$field == vk::TRUE {
                $enabled.$part.$field = vk::TRUE;
                $enabled.names.push(vulkan_name(stringify!($field)));
            }
        )*)*
    };
}

/// The name of a feature in Vulkan's own spelling: `shader_int64` is `shaderInt64`.
fn vulkan_name(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(1);
        name + &head.to_uppercase() + tail
    })
}

/// Chooses the features to switch on. Names of required ones that are not offered are added to `missing`.
pub(crate) fn negotiate(
    offered: &FeatureChain,
    mesh_wanted: bool,
    missing: &mut Vec<String>,
) -> FeatureChain {
    let mut enabled = FeatureChain::default();
    required_features!(offered, enabled, missing;
        core: multi_draw_indirect draw_indirect_first_instance shader_int16 shader_int64 vertex_pipeline_stores_and_atomics
            fragment_stores_and_atomics;
        v11: storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access shader_draw_parameters;
        v12: draw_indirect_count storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access shader_int8
            shader_float16 scalar_block_layout buffer_device_address timeline_semaphore host_query_reset
            descriptor_indexing runtime_descriptor_array descriptor_binding_partially_bound
            descriptor_binding_sampled_image_update_after_bind descriptor_binding_storage_image_update_after_bind
            descriptor_binding_update_unused_while_pending shader_sampled_image_array_non_uniform_indexing
            vulkan_memory_model vulkan_memory_model_device_scope;
        v13: dynamic_rendering synchronization2 maintenance4;
    );
    // Whatever a shader may ask for costs nothing until one does. Robust access costs, so it stays off.
    optional_features!(offered, enabled;
        core: pipeline_statistics_query sampler_anisotropy fill_mode_non_solid independent_blend dual_src_blend depth_clamp
            depth_bias_clamp wide_lines large_points multi_viewport geometry_shader tessellation_shader sample_rate_shading
            image_cube_array shader_float64 shader_clip_distance shader_cull_distance shader_image_gather_extended
            shader_storage_image_extended_formats shader_storage_image_multisample
            shader_storage_image_read_without_format shader_storage_image_write_without_format
            shader_uniform_buffer_array_dynamic_indexing shader_sampled_image_array_dynamic_indexing
            shader_storage_buffer_array_dynamic_indexing shader_storage_image_array_dynamic_indexing
            shader_resource_residency shader_resource_min_lod;
        v11: multiview variable_pointers_storage_buffer variable_pointers storage_push_constant16 storage_input_output16;
        v12: shader_buffer_int64_atomics shader_shared_int64_atomics sampler_filter_minmax storage_push_constant8
            shader_input_attachment_array_dynamic_indexing shader_uniform_texel_buffer_array_dynamic_indexing
            shader_storage_texel_buffer_array_dynamic_indexing shader_uniform_buffer_array_non_uniform_indexing
            shader_storage_buffer_array_non_uniform_indexing shader_storage_image_array_non_uniform_indexing
            shader_input_attachment_array_non_uniform_indexing shader_uniform_texel_buffer_array_non_uniform_indexing
            shader_storage_texel_buffer_array_non_uniform_indexing descriptor_binding_variable_descriptor_count
            shader_output_viewport_index shader_output_layer shader_subgroup_extended_types
            vulkan_memory_model_availability_visibility_chains;
        v13: shader_demote_to_helper_invocation shader_terminate_invocation shader_integer_dot_product
            shader_zero_initialize_workgroup_memory subgroup_size_control compute_full_subgroups;
    );
    if mesh_wanted && offered.mesh.mesh_shader == vk::TRUE {
        enabled.mesh.mesh_shader = vk::TRUE;
        enabled.mesh.task_shader = offered.mesh.task_shader;
        enabled.mesh.mesh_shader_queries = offered.mesh.mesh_shader_queries;
        enabled.names.push("meshShader".into());
        if enabled.mesh.task_shader == vk::TRUE {
            enabled.names.push("taskShader".into());
        }
    }
    enabled
}

impl OptionalFeatures {
    /// Sums up what was switched on.
    pub(crate) fn of(enabled: &FeatureChain, extensions: &[&CStr]) -> OptionalFeatures {
        let on = |flag: vk::Bool32| flag == vk::TRUE;
        let has = |name: &CStr| extensions.contains(&name);
        OptionalFeatures {
            mesh_shaders: on(enabled.mesh.mesh_shader) && on(enabled.mesh.task_shader),
            mesh_shader_queries: on(enabled.mesh.mesh_shader_queries),
            buffer_int64_atomics: on(enabled.v12.shader_buffer_int64_atomics),
            sampler_minmax: on(enabled.v12.sampler_filter_minmax),
            pipeline_statistics: on(enabled.core.pipeline_statistics_query),
            sampler_anisotropy: on(enabled.core.sampler_anisotropy),
            fill_mode_non_solid: on(enabled.core.fill_mode_non_solid),
            memory_budget: has(ash::ext::memory_budget::NAME),
            calibrated_timestamps: has(ash::ext::calibrated_timestamps::NAME)
                || has(ash::khr::calibrated_timestamps::NAME),
            device_fault: has(ash::ext::device_fault::NAME),
            markers: false,
            transfer_queue: false,
        }
    }
}
