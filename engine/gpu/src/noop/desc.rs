//! What a no-op driver pretends to be.

use ash::vk;

const GIB: u64 = 1 << 30;

/// Everything that a [`NoopDriver`](super::NoopDriver) pretends to be. The default is one discrete device that offers all
/// that the engine requires and all that it uses when there.
#[derive(Clone, Debug)]
pub struct NoopDesc {
    /// The version that `vkEnumerateInstanceVersion` reports.
    pub api_version: u32,
    /// Layers to pretend; none by default. A layer does nothing but be listed and enabled.
    pub layers: Vec<NoopLayer>,
    /// Instance extensions offered by the implementation itself.
    pub instance_extensions: Vec<String>,
    /// The physical devices, in order of enumeration. May be empty.
    pub devices: Vec<NoopDevice>,
    /// Keep each command with a copy of its arguments. When off, a `vkCmd*` function returns at once, so that what is
    /// measured is the caller's cost alone.
    pub record: bool,
    /// When on, a submission stays pending until something waits for it (or the device idles), so that an object destroyed
    /// too early is an error. When off, a submission has finished when `vkQueueSubmit2` returns. Needs `record` for the
    /// check of what a submission uses.
    pub defer: bool,
    /// Calls that fail, see [`Failure`].
    pub failures: Vec<Failure>,
    /// What `vkGetDeviceFaultInfoEXT` reports: kinds of access that failed, and their addresses.
    pub faults: Vec<(vk::DeviceFaultAddressTypeEXT, u64)>,
}

impl Default for NoopDesc {
    fn default() -> Self {
        NoopDesc {
            api_version: vk::API_VERSION_1_3,
            layers: Vec::new(),
            instance_extensions: strings(&[
                "VK_KHR_surface",
                "VK_KHR_get_surface_capabilities2",
                "VK_EXT_surface_maintenance1",
                "VK_EXT_headless_surface",
                "VK_EXT_debug_utils",
            ]),
            devices: vec![NoopDevice::default()],
            record: true,
            defer: false,
            failures: Vec::new(),
            faults: Vec::new(),
        }
    }
}

impl NoopDesc {
    /// The default, without recording: for measurements of the caller's own cost.
    #[must_use]
    pub fn quiet() -> Self {
        NoopDesc {
            record: false,
            ..NoopDesc::default()
        }
    }

    /// The default with a change to its one device: `NoopDesc::with(|device| device.lacks("meshShader"))`.
    #[must_use]
    pub fn with(change: impl FnOnce(&mut NoopDevice)) -> Self {
        let mut device = NoopDevice::default();
        change(&mut device);
        NoopDesc {
            devices: vec![device],
            ..NoopDesc::default()
        }
    }
}

/// A layer to pretend.
#[derive(Clone, Debug)]
pub struct NoopLayer {
    /// For example `VK_LAYER_KHRONOS_validation`.
    pub name: String,
    /// Version of Vulkan that the layer knows.
    pub spec_version: u32,
    /// Extensions that the layer adds to the instance.
    pub extensions: Vec<String>,
}

/// A call that fails: the `first`th call (from 0, counted from the driver's start) of `function` and the `count - 1` calls
/// after it give `result`.
///
/// An error code, `TIMEOUT`, `NOT_READY` and `INCOMPLETE` come instead of the call's effect. `SUBOPTIMAL_KHR` comes with it.
/// A failed `vkQueuePresentKHR` still waits for its semaphores, as the specification demands of `OUT_OF_DATE` and its like.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Name of a function that returns `VkResult`: `vkAllocateMemory`.
    pub function: String,
    /// The first call that fails, from 0.
    pub first: u64,
    /// How many calls in a row fail.
    pub count: u64,
    /// What they return.
    pub result: vk::Result,
}

/// One physical device of a [`NoopDesc`].
#[derive(Clone, Debug)]
pub struct NoopDevice {
    /// Device name, at most 255 bytes.
    pub name: String,
    /// Discrete, integrated, virtual, CPU or other.
    pub kind: vk::PhysicalDeviceType,
    /// The version of Vulkan that the device reports.
    pub api_version: u32,
    /// The driver's own version number.
    pub driver_version: u32,
    /// The driver's name, at most 255 bytes.
    pub driver_name: String,
    /// Vendor of the device.
    pub vendor_id: u32,
    /// Identity of the device for that vendor.
    pub device_id: u32,
    /// UUID of device, driver and pipeline caches.
    pub uuid: [u8; 16],
    /// The limits of Vulkan 1.0.
    pub limits: vk::PhysicalDeviceLimits,
    /// `maxPushDescriptors`.
    pub max_push_descriptors: u32,
    /// Lanes of a subgroup.
    pub subgroup_size: u32,
    /// Device extensions offered. Features and properties of an extension are there only when it is offered.
    pub extensions: Vec<String>,
    /// Features that the device has not, by their names in the specification (`bufferDeviceAddress`). All others that the
    /// driver knows are offered.
    pub missing_features: Vec<String>,
    /// Queue families.
    pub queue_families: Vec<vk::QueueFamilyProperties>,
    /// Sizes of the memory heaps in bytes, and whether each is device-local.
    pub memory_heaps: Vec<(u64, bool)>,
    /// Memory types: flags and heap index.
    pub memory_types: Vec<(vk::MemoryPropertyFlags, u32)>,
    /// Formats without any support.
    pub missing_formats: Vec<vk::Format>,
    /// The device's clock at the driver's start, in ticks; makes a wrap of the timestamps' valid bits come soon.
    pub timestamp_origin: u64,
}

impl NoopDevice {
    /// Takes a feature away by its name in the specification, or a device extension by its name.
    pub fn lacks(&mut self, name: &str) {
        if name.starts_with("VK_") {
            self.extensions.retain(|extension| extension != name);
        } else {
            self.missing_features.push(name.to_owned());
        }
    }

    pub(super) fn offers(&self, extension: &str) -> bool {
        self.extensions.iter().any(|offered| offered == extension)
    }
}

impl Default for NoopDevice {
    fn default() -> Self {
        use vk::MemoryPropertyFlags as M;
        let family = |queue_flags, queue_count| vk::QueueFamilyProperties {
            queue_flags,
            queue_count,
            timestamp_valid_bits: 64,
            min_image_transfer_granularity: vk::Extent3D {
                width: 1,
                height: 1,
                depth: 1,
            },
        };
        NoopDevice {
            name: "Impel no-op device".to_owned(),
            kind: vk::PhysicalDeviceType::DISCRETE_GPU,
            api_version: vk::API_VERSION_1_3,
            driver_version: 1,
            driver_name: "impel no-op".to_owned(),
            vendor_id: 0x1_0000,
            device_id: 1,
            uuid: *b"impel-noop-uuid\0",
            limits: default_limits(),
            max_push_descriptors: 32,
            subgroup_size: 32,
            extensions: strings(&[
                "VK_KHR_push_descriptor",
                "VK_KHR_swapchain",
                "VK_KHR_calibrated_timestamps",
                "VK_KHR_fragment_shader_barycentric",
                "VK_EXT_calibrated_timestamps",
                "VK_EXT_device_address_binding_report",
                "VK_EXT_device_fault",
                "VK_EXT_memory_budget",
                "VK_EXT_memory_priority",
                "VK_EXT_mesh_shader",
                "VK_EXT_mutable_descriptor_type",
                "VK_EXT_robustness2",
                "VK_EXT_shader_atomic_float",
                "VK_EXT_shader_image_atomic_int64",
                "VK_EXT_swapchain_maintenance1",
            ]),
            missing_features: Vec::new(),
            queue_families: vec![
                family(
                    vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER,
                    1,
                ),
                family(vk::QueueFlags::TRANSFER, 1),
            ],
            memory_heaps: vec![(8 * GIB, true), (16 * GIB, false)],
            memory_types: vec![
                (M::DEVICE_LOCAL, 0),
                (M::HOST_VISIBLE | M::HOST_COHERENT, 1),
                (M::HOST_VISIBLE | M::HOST_COHERENT | M::HOST_CACHED, 1),
                (M::DEVICE_LOCAL | M::HOST_VISIBLE | M::HOST_COHERENT, 0),
            ],
            missing_formats: Vec::new(),
            timestamp_origin: 0,
        }
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Limits like those of a common desktop device, but with the smallest `maxStorageBufferRange` that Vulkan allows, so that
/// whoever goes beyond it is found out here.
fn default_limits() -> vk::PhysicalDeviceLimits {
    let samples = vk::SampleCountFlags::TYPE_1
        | vk::SampleCountFlags::TYPE_2
        | vk::SampleCountFlags::TYPE_4
        | vk::SampleCountFlags::TYPE_8;
    let many = 1 << 20;
    vk::PhysicalDeviceLimits {
        max_image_dimension1_d: 16384,
        max_image_dimension2_d: 16384,
        max_image_dimension3_d: 2048,
        max_image_dimension_cube: 16384,
        max_image_array_layers: 2048,
        max_texel_buffer_elements: 1 << 27,
        max_uniform_buffer_range: 65536,
        max_storage_buffer_range: 1 << 27,
        max_push_constants_size: 256,
        max_memory_allocation_count: 4096,
        max_sampler_allocation_count: 4000,
        buffer_image_granularity: 1024,
        sparse_address_space_size: 0,
        max_bound_descriptor_sets: 8,
        max_per_stage_descriptor_samplers: many,
        max_per_stage_descriptor_uniform_buffers: many,
        max_per_stage_descriptor_storage_buffers: many,
        max_per_stage_descriptor_sampled_images: many,
        max_per_stage_descriptor_storage_images: many,
        max_per_stage_descriptor_input_attachments: 8,
        max_per_stage_resources: 8 * many,
        max_descriptor_set_samplers: many,
        max_descriptor_set_uniform_buffers: many,
        max_descriptor_set_uniform_buffers_dynamic: 15,
        max_descriptor_set_storage_buffers: many,
        max_descriptor_set_storage_buffers_dynamic: 16,
        max_descriptor_set_sampled_images: many,
        max_descriptor_set_storage_images: many,
        max_descriptor_set_input_attachments: 8,
        max_vertex_input_attributes: 32,
        max_vertex_input_bindings: 32,
        max_vertex_input_attribute_offset: 2047,
        max_vertex_input_binding_stride: 2048,
        max_vertex_output_components: 128,
        max_tessellation_generation_level: 64,
        max_tessellation_patch_size: 32,
        max_tessellation_control_per_vertex_input_components: 128,
        max_tessellation_control_per_vertex_output_components: 128,
        max_tessellation_control_per_patch_output_components: 120,
        max_tessellation_control_total_output_components: 4216,
        max_tessellation_evaluation_input_components: 128,
        max_tessellation_evaluation_output_components: 128,
        max_geometry_shader_invocations: 32,
        max_geometry_input_components: 128,
        max_geometry_output_components: 128,
        max_geometry_output_vertices: 1024,
        max_geometry_total_output_components: 1024,
        max_fragment_input_components: 128,
        max_fragment_output_attachments: 8,
        max_fragment_dual_src_attachments: 1,
        max_fragment_combined_output_resources: 16,
        max_compute_shared_memory_size: 49152,
        max_compute_work_group_count: [u32::MAX >> 1, 65535, 65535],
        max_compute_work_group_invocations: 1024,
        max_compute_work_group_size: [1024, 1024, 64],
        sub_pixel_precision_bits: 8,
        sub_texel_precision_bits: 8,
        mipmap_precision_bits: 8,
        max_draw_indexed_index_value: u32::MAX,
        max_draw_indirect_count: u32::MAX,
        max_sampler_lod_bias: 15.0,
        max_sampler_anisotropy: 16.0,
        max_viewports: 16,
        max_viewport_dimensions: [16384, 16384],
        viewport_bounds_range: [-32768.0, 32768.0],
        viewport_sub_pixel_bits: 8,
        min_memory_map_alignment: 64,
        min_texel_buffer_offset_alignment: 16,
        min_uniform_buffer_offset_alignment: 64,
        min_storage_buffer_offset_alignment: 16,
        min_texel_offset: -8,
        max_texel_offset: 7,
        min_texel_gather_offset: -32,
        max_texel_gather_offset: 31,
        min_interpolation_offset: -0.5,
        max_interpolation_offset: 0.4375,
        sub_pixel_interpolation_offset_bits: 4,
        max_framebuffer_width: 16384,
        max_framebuffer_height: 16384,
        max_framebuffer_layers: 2048,
        framebuffer_color_sample_counts: samples,
        framebuffer_depth_sample_counts: samples,
        framebuffer_stencil_sample_counts: samples,
        framebuffer_no_attachments_sample_counts: samples,
        max_color_attachments: 8,
        sampled_image_color_sample_counts: samples,
        sampled_image_integer_sample_counts: samples,
        sampled_image_depth_sample_counts: samples,
        sampled_image_stencil_sample_counts: samples,
        storage_image_sample_counts: samples,
        max_sample_mask_words: 1,
        timestamp_compute_and_graphics: vk::TRUE,
        timestamp_period: 1.0,
        max_clip_distances: 8,
        max_cull_distances: 8,
        max_combined_clip_and_cull_distances: 8,
        discrete_queue_priorities: 2,
        point_size_range: [1.0, 64.0],
        line_width_range: [1.0, 1.0],
        point_size_granularity: 1.0,
        line_width_granularity: 0.0,
        strict_lines: vk::TRUE,
        standard_sample_locations: vk::TRUE,
        optimal_buffer_copy_offset_alignment: 1,
        optimal_buffer_copy_row_pitch_alignment: 1,
        non_coherent_atom_size: 64,
    }
}
