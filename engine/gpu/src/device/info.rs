//! What is known of the chosen device.

use super::features::OptionalFeatures;
use ash::vk;

/// The kind of a device, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// A graphics card.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU seen through a hypervisor.
    Virtual,
    /// A driver that runs on the CPU.
    Cpu,
}

impl DeviceKind {
    pub(crate) fn of(kind: vk::PhysicalDeviceType) -> DeviceKind {
        match kind {
            vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
            vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
            _ => DeviceKind::Virtual,
        }
    }

    /// Lower-case name, as reports use it.
    pub fn as_str(self) -> &'static str {
        match self {
            DeviceKind::Discrete => "discrete",
            DeviceKind::Integrated => "integrated",
            DeviceKind::Virtual => "virtual",
            DeviceKind::Cpu => "cpu",
        }
    }
}

/// Limits that the engine checks against.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most descriptors that can be pushed, arrays counted by element.
    pub max_push_descriptors: u32,
    /// Bytes of push constants.
    pub max_push_constants: u32,
    /// Most bytes of one storage buffer binding.
    pub max_storage_buffer_range: u64,
    /// Most bytes of one uniform buffer binding.
    pub max_uniform_buffer_range: u64,
    /// Alignment of a storage buffer binding's offset, in bytes.
    pub storage_buffer_alignment: u64,
    /// Alignment of a uniform buffer binding's offset, in bytes.
    pub uniform_buffer_alignment: u64,
    /// Most texels along an edge of a 2D texture.
    pub max_texture_size: u32,
    /// Most workgroups per dispatch, by dimension.
    pub max_workgroups: [u32; 3],
    /// Most threads of a compute workgroup, by dimension.
    pub max_workgroup_size: [u32; 3],
    /// Most threads of a compute workgroup in all.
    pub max_workgroup_threads: u32,
    /// Most task workgroups per draw, by dimension; zero without mesh shaders.
    pub max_task_workgroups: [u32; 3],
    /// Most task workgroups per draw in all.
    pub max_task_workgroups_total: u32,
    /// Most mesh workgroups per draw, by dimension; zero without mesh shaders.
    pub max_mesh_workgroups: [u32; 3],
    /// Most mesh workgroups per draw in all.
    pub max_mesh_workgroups_total: u32,
    /// Most draws of one indirect call.
    pub max_draw_indirect_count: u32,
    /// Nanoseconds per timestamp tick.
    pub timestamp_period: f64,
    /// Bits of a timestamp that count; zero when the queue has no timestamps.
    pub timestamp_bits: u32,
    /// Invocations in a subgroup.
    pub subgroup_size: u32,
    /// Alignment to which non-coherent memory must be flushed, in bytes.
    pub non_coherent_atom: u64,
}

/// Name, driver, limits and features of a device.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Name, as the driver gives it.
    pub name: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Driver name and version.
    pub driver: String,
    /// Vulkan version of the device, e.g. `1.4.305`.
    pub api: String,
    /// Limits.
    pub limits: Limits,
    /// What optional features are on.
    pub features: OptionalFeatures,
    /// Vulkan's names of all features that are switched on, and of the extensions that shaders may need.
    pub enabled: Vec<String>,
    /// Names the device and driver build, for caches.
    pub(crate) cache_key: [u8; 32],
}

pub(crate) fn name_of(properties: &vk::PhysicalDeviceProperties) -> String {
    properties.device_name_as_c_str().map_or_else(
        |_| "unnamed".into(),
        |name| name.to_string_lossy().into_owned(),
    )
}

impl DeviceInfo {
    pub(crate) fn read(
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        timestamp_bits: u32,
        features: OptionalFeatures,
        enabled: Vec<String>,
    ) -> DeviceInfo {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut mesh = vk::PhysicalDeviceMeshShaderPropertiesEXT::default();
        let mut chain = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut driver)
            .push_next(&mut push)
            .push_next(&mut v11);
        if features.mesh_shaders {
            chain = chain.push_next(&mut mesh);
        }
        // SAFETY: the device belongs to the instance, the linked structures live through the call.
        unsafe { instance.get_physical_device_properties2(device, &mut chain) };
        let properties = chain.properties;
        let text = |string: Result<&std::ffi::CStr, _>| {
            string.map_or_else(
                |_: std::ffi::FromBytesUntilNulError| String::new(),
                |s| s.to_string_lossy().into_owned(),
            )
        };
        let version = properties.api_version;
        let limits = properties.limits;
        let mut cache_key = [0; 32];
        cache_key[..16].copy_from_slice(&properties.pipeline_cache_uuid);
        cache_key[16..].copy_from_slice(&v11.driver_uuid);
        DeviceInfo {
            name: name_of(&properties),
            kind: DeviceKind::of(properties.device_type),
            driver: format!(
                "{} {}",
                text(driver.driver_name_as_c_str()),
                text(driver.driver_info_as_c_str())
            )
            .trim()
            .to_owned(),
            api: format!(
                "{}.{}.{}",
                vk::api_version_major(version),
                vk::api_version_minor(version),
                vk::api_version_patch(version)
            ),
            limits: Limits {
                max_push_descriptors: push.max_push_descriptors,
                max_push_constants: limits.max_push_constants_size,
                max_storage_buffer_range: u64::from(limits.max_storage_buffer_range),
                max_uniform_buffer_range: u64::from(limits.max_uniform_buffer_range),
                storage_buffer_alignment: limits.min_storage_buffer_offset_alignment.max(1),
                uniform_buffer_alignment: limits.min_uniform_buffer_offset_alignment.max(1),
                max_texture_size: limits.max_image_dimension2_d,
                max_workgroups: limits.max_compute_work_group_count,
                max_workgroup_size: limits.max_compute_work_group_size,
                max_workgroup_threads: limits.max_compute_work_group_invocations,
                max_task_workgroups: mesh.max_task_work_group_count,
                max_task_workgroups_total: mesh.max_task_work_group_total_count,
                max_mesh_workgroups: mesh.max_mesh_work_group_count,
                max_mesh_workgroups_total: mesh.max_mesh_work_group_total_count,
                max_draw_indirect_count: limits.max_draw_indirect_count,
                timestamp_period: f64::from(limits.timestamp_period),
                timestamp_bits,
                subgroup_size: v11.subgroup_size,
                non_coherent_atom: limits.non_coherent_atom_size.max(1),
            },
            features,
            enabled,
            cache_key,
        }
    }
}
