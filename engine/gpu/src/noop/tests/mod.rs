//! Tests of the no-op driver with `ash` and `vk-mem` alone.

mod commands;
mod device;
mod disturb;
mod functions;
mod memory;
mod surface;
mod sync;
mod threads;

use super::{NoopDesc, NoopDriver};
use ash::vk;

/// An instance and a device with all features that a test may need.
pub(super) struct Context {
    pub(super) driver: NoopDriver,
    pub(super) instance: ash::Instance,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) device: ash::Device,
    pub(super) queue: vk::Queue,
    pub(super) pool: vk::CommandPool,
}

pub(super) const INSTANCE_EXTENSIONS: [&std::ffi::CStr; 4] = [
    ash::ext::debug_utils::NAME,
    ash::khr::surface::NAME,
    ash::ext::headless_surface::NAME,
    ash::khr::get_surface_capabilities2::NAME,
];

pub(super) const DEVICE_EXTENSIONS: [&std::ffi::CStr; 4] = [
    ash::khr::push_descriptor::NAME,
    ash::ext::mesh_shader::NAME,
    ash::khr::swapchain::NAME,
    ash::ext::calibrated_timestamps::NAME,
];

impl Context {
    pub(super) fn new(desc: NoopDesc) -> Self {
        Context::try_new(desc).unwrap_or_else(|(result, _)| panic!("no device: {result}"))
    }

    pub(super) fn try_new(desc: NoopDesc) -> Result<Self, (vk::Result, NoopDriver)> {
        let driver = NoopDriver::new(desc);
        // SAFETY: the structures are valid while they are used.
        unsafe {
            let extensions = INSTANCE_EXTENSIONS.map(std::ffi::CStr::as_ptr);
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&extensions);
            let instance = driver.entry().create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(0)
                .queue_priorities(&[1.0])];
            let extensions = DEVICE_EXTENSIONS.map(std::ffi::CStr::as_ptr);
            let mut features12 = vk::PhysicalDeviceVulkan12Features::default()
                .timeline_semaphore(true)
                .buffer_device_address(true)
                .host_query_reset(true);
            let mut features13 = vk::PhysicalDeviceVulkan13Features::default()
                .synchronization2(true)
                .dynamic_rendering(true);
            let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
                .mesh_shader(true)
                .task_shader(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(&mut features12)
                .push_next(&mut features13)
                .push_next(&mut mesh);
            let device = match instance.create_device(physical, &info, None) {
                Ok(device) => device,
                Err(result) => {
                    instance.destroy_instance(None);
                    return Err((result, driver));
                }
            };
            let queue = device.get_device_queue(0, 0);
            let pool = device
                .create_command_pool(&vk::CommandPoolCreateInfo::default(), None)
                .unwrap();
            Ok(Context {
                driver,
                instance,
                physical,
                device,
                queue,
                pool,
            })
        }
    }

    /// A buffer with memory bound by hand.
    pub(super) fn buffer(&self, size: u64) -> (vk::Buffer, vk::DeviceMemory) {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        // SAFETY: all valid.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let buffer = self.device.create_buffer(&info, None).unwrap();
            let size = self.device.get_buffer_memory_requirements(buffer).size;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(size)
                .memory_type_index(1);
            let memory = self.device.allocate_memory(&info, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            (buffer, memory)
        }
    }

    /// A command buffer, recorded by `record` and ended.
    pub(super) fn record(&self, record: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        // SAFETY: all valid.
        unsafe {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .command_buffer_count(1);
            let buffer = self.device.allocate_command_buffers(&info).unwrap()[0];
            self.device
                .begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default())
                .unwrap();
            record(buffer);
            self.device.end_command_buffer(buffer).unwrap();
            buffer
        }
    }

    /// Submits a command buffer, signaling `signal` with a value.
    pub(super) fn submit(&self, buffer: vk::CommandBuffer, signal: Option<(vk::Semaphore, u64)>) {
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(buffer)];
        let signals: Vec<_> = signal
            .iter()
            .map(|&(semaphore, value)| {
                vk::SemaphoreSubmitInfo::default()
                    .semaphore(semaphore)
                    .value(value)
            })
            .collect();
        let submit = vk::SubmitInfo2::default()
            .command_buffer_infos(&buffers)
            .signal_semaphore_infos(&signals);
        // SAFETY: all valid.
        unsafe {
            self.device
                .queue_submit2(self.queue, &[submit], vk::Fence::null())
                .unwrap();
        };
    }

    pub(super) fn timeline(&self) -> vk::Semaphore {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: all valid.
        unsafe { self.device.create_semaphore(&info, None).unwrap() }
    }

    /// Destroys device and instance, and gives the driver to look at.
    pub(super) fn end(self) -> NoopDriver {
        // SAFETY: nothing of them is used afterwards.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
        self.driver
    }

    /// [`Context::end`], when all should have gone well.
    pub(super) fn end_clean(self) {
        let driver = self.end();
        assert_eq!(driver.errors(), Vec::<String>::new());
        assert_eq!(driver.leaks(), Vec::new());
    }
}
