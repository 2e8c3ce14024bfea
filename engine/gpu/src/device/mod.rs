//! The device: chosen, checked, created, and owner of everything that is made from it.

mod choose;
mod features;
mod info;
mod instance;

pub use features::OptionalFeatures;
pub use info::{DeviceInfo, DeviceKind, Limits};
pub use instance::ValidationReport;
pub(crate) use instance::{Instance, Messages};

use crate::frame::{FaultReport, Recorder, TransferQueue};
use crate::memory::{DeletionQueue, IdPool, NewTextures, SamplerCache, Uploads};
use crate::pipeline::PipelineCache;
use crate::profile::Calibrator;
use crate::{Error, Result};
use ash::vk;
use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How to open a device.
#[derive(Clone, Debug)]
pub struct GpuDesc {
    /// Name of the program, for drivers and tools.
    pub app_name: String,
    /// Index or part of the name of the device; else `IMPEL_DEVICE`; else the best kind there is.
    pub device: Option<String>,
    /// Whether to load the validation layer with synchronization validation; also switched on by `IMPEL_VALIDATION=1`.
    pub validation: bool,
    /// How many frames the CPU may be ahead of the device.
    pub frames_in_flight: u32,
    /// Whether to use mesh shaders where the device has them.
    pub mesh_shaders: bool,
    /// Whether to time every pass on the device.
    pub timestamps: bool,
    /// Whether to count vertices, primitives and invocations of every pass, where the device has queries for it. It costs
    /// time on the device. [`Gpu::count_invocations`] switches it later.
    pub statistics: bool,
    /// Whether the device marks which passes it has begun and finished, so that [`Error::DeviceLost`] names just those that
    /// were under way; also switched on by `IMPEL_MARKERS=1`. It costs one or two commands a pass, and needs one of
    /// `VK_AMD_buffer_marker` and `VK_NV_device_diagnostic_checkpoints`: without them all passes are named that were handed to
    /// the device.
    pub markers: bool,
    /// Whether uploads to new buffers go to a queue of their own, where the device has one for copies alone.
    pub transfer_queue: bool,
    /// File in which compiled pipelines are kept between runs.
    pub pipeline_cache: Option<PathBuf>,
    /// Instance extensions of the surfaces of windows, see [`surface_extensions`](crate::surface_extensions); empty for a
    /// device that shows nothing.
    pub surface_extensions: Vec<&'static CStr>,
}

impl Default for GpuDesc {
    fn default() -> Self {
        GpuDesc {
            app_name: "impel".into(),
            device: None,
            validation: false,
            frames_in_flight: 2,
            mesh_shaders: true,
            timestamps: true,
            statistics: false,
            markers: false,
            transfer_queue: true,
            pipeline_cache: None,
            surface_extensions: Vec::new(),
        }
    }
}

/// An open device. Cheap to clone; the device closes when the last clone and the last resource are gone.
#[derive(Clone)]
pub struct Gpu {
    pub(crate) inner: Arc<Inner>,
}

/// Functions of extensions, where the device has them switched on.
#[derive(Clone, Copy)]
pub struct RawFunctions<'a> {
    /// Push descriptors.
    pub push_descriptor: &'a ash::khr::push_descriptor::Device,
    /// Mesh shaders.
    pub mesh_shader: Option<&'a ash::ext::mesh_shader::Device>,
    /// Debug labels and names.
    pub debug: Option<&'a ash::ext::debug_utils::Device>,
    /// The queue that frames are submitted to. Not to be used while a frame is being submitted.
    pub queue: vk::Queue,
}

/// Counts the devices opened by this process.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// What all clones of a [`Gpu`] and all resources share.
pub(crate) struct Inner {
    /// Tells the resources of several open devices apart.
    pub(crate) number: u32,
    pub(crate) device: ash::Device,
    pub(crate) physical_device: vk::PhysicalDevice,
    pub(crate) queue: vk::Queue,
    /// Held while a queue is used: submits may come from one thread while another waits for the device to idle.
    pub(crate) queue_access: Mutex<()>,
    /// Held while the CPU writes to the memory of a mapped buffer, which several threads may ask for.
    pub(crate) mapped_access: Mutex<()>,
    pub(crate) queue_family: u32,
    /// The queue for uploads, where there is one.
    pub(crate) transfer: Option<TransferQueue>,
    /// Whether presentation takes a fence.
    pub(crate) swapchain_maintenance: bool,
    pub(crate) push_descriptor: ash::khr::push_descriptor::Device,
    pub(crate) mesh_shader: Option<ash::ext::mesh_shader::Device>,
    pub(crate) debug: Option<ash::ext::debug_utils::Device>,
    /// Says what went wrong when the device is lost, where the driver does.
    pub(crate) fault: Option<FaultReport>,
    /// The extension by which the device marks passes, when it is switched on.
    pub(crate) markers: Option<&'static CStr>,
    /// Reads the device's clock, where it can be read.
    pub(crate) calibrator: Option<Calibrator>,
    pub(crate) allocator: ManuallyDrop<vk_mem::Allocator>,
    pub(crate) info: DeviceInfo,
    /// Signalled with a frame's number when the device is done with it.
    pub(crate) timeline: vk::Semaphore,
    /// Number of the frame being recorded, or of the next one.
    pub(crate) frame_number: AtomicU64,
    pub(crate) deletions: DeletionQueue,
    pub(crate) ids: IdPool,
    pub(crate) samplers: SamplerCache,
    pub(crate) uploads: Mutex<Uploads>,
    pub(crate) new_textures: NewTextures,
    pub(crate) pipeline_cache: PipelineCache,
    /// Taken while a frame is being recorded.
    pub(crate) recorder: Mutex<Option<Box<Recorder>>>,
    /// Whether frames that begin from now on count invocations.
    pub(crate) statistics: AtomicBool,
    /// How long the device may take for what is waited for, nanoseconds; `u64::MAX` for as long as it likes.
    pub(crate) wait_limit: AtomicU64,
    /// A wait has been given up. What the device may still use is never destroyed.
    pub(crate) is_hung: AtomicBool,
    pub(crate) desc: GpuDesc,
    pub(crate) instance: ManuallyDrop<Instance>,
}

impl Gpu {
    /// Opens a device through the system's Vulkan loader. `IMPEL_DEVICE`, `IMPEL_VALIDATION` and `IMPEL_MARKERS` in the
    /// environment count where the description leaves things open.
    ///
    /// # Errors
    /// [`Error::NoLoader`], [`Error::NoDevice`], [`Error::DeviceNotFound`], or [`Error::MissingFeatures`] with all that
    /// the device lacks.
    pub fn new(desc: &GpuDesc) -> Result<Gpu> {
        let mut desc = desc.clone();
        let is_on = |name| std::env::var_os(name).is_some_and(|value| value == "1");
        desc.validation |= is_on("IMPEL_VALIDATION");
        desc.markers |= is_on("IMPEL_MARKERS");
        desc.device = desc.device.or_else(|| {
            std::env::var_os("IMPEL_DEVICE")
                .map(|name| name.to_string_lossy().into_owned())
                .filter(|name| !name.is_empty())
        });
        // SAFETY: loading the loader runs its initialisers, which is what it is for.
        let entry =
            unsafe { ash::Entry::load() }.map_err(|error| Error::NoLoader(error.to_string()))?;
        Gpu::with_entry(&desc, entry).map_err(|error| match error {
            Error::NoDevice { .. } => Error::NoDevice {
                only: ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?)))
                    .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
                    .collect(),
            },
            other => other,
        })
    }

    /// Opens a device through the given Vulkan entry points, such as those of the [no-op driver](crate::noop). The
    /// environment has no say in it.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_entry(desc: &GpuDesc, entry: ash::Entry) -> Result<Gpu> {
        let mut desc = desc.clone();
        desc.frames_in_flight = desc.frames_in_flight.clamp(1, 8);
        let instance = Instance::new(
            entry,
            &desc.app_name,
            desc.validation,
            &desc.surface_extensions,
        )?;
        let physical_device = choose::choose(&instance, desc.device.as_deref())?;
        let inner = Inner::open(desc, instance, physical_device)?;
        let gpu = Gpu {
            inner: Arc::new(inner),
        };
        let recorder = Recorder::new(&gpu.inner)?;
        *crate::lock(&gpu.inner.recorder) = Some(Box::new(recorder));
        Ok(gpu)
    }

    /// Name, limits and features of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.inner.info
    }

    /// What validation has said so far.
    pub fn validation(&self) -> ValidationReport {
        let instance = &self.inner.instance;
        ValidationReport {
            enabled: instance.layer.is_some(),
            layer: instance.layer.clone(),
            messages: instance.messages.count(),
        }
    }

    /// The texts of validation's messages; at most the first 200.
    pub fn validation_messages(&self) -> Vec<String> {
        self.inner.instance.messages.texts()
    }

    /// The raw device, for work outside of the executor. What is done to it directly is the caller's to synchronise.
    pub fn raw_device(&self) -> &ash::Device {
        &self.inner.device
    }

    /// The functions of the extensions that the executor records with, for work outside of it.
    pub fn raw_functions(&self) -> RawFunctions<'_> {
        RawFunctions {
            push_descriptor: &self.inner.push_descriptor,
            mesh_shader: self.inner.mesh_shader.as_ref(),
            debug: self.inner.debug.as_ref(),
            queue: self.inner.queue,
        }
    }

    /// Bytes of device memory that resources take now.
    pub fn allocated_bytes(&self) -> u64 {
        self.inner
            .allocator
            .calculate_statistics()
            .map_or(0, |stats| stats.total.statistics.allocationBytes)
    }

    /// Switches the counting of [`GpuDesc::statistics`] on or off, from the next frame on. Says whether it is on: devices
    /// without such queries count nothing.
    pub fn count_invocations(&self, on: bool) -> bool {
        let on = on && self.inner.info.features.pipeline_statistics;
        self.inner.statistics.store(on, Ordering::Relaxed);
        on
    }

    /// Whether frames that begin now count invocations.
    pub fn counts_invocations(&self) -> bool {
        self.inner.statistics.load(Ordering::Relaxed)
    }

    /// How long a wait for the device may take before it ends with [`Error::Hung`]; `None`, as at first, for as long as it
    /// likes. After that error nothing of this device is destroyed any more, since the device may still use it: a process that
    /// goes on leaks it, and one that ends does so by [`exit_at_once`](crate::exit_at_once). Not for devices with windows: waits
    /// of presentation do not end.
    pub fn limit_waits(&self, limit: Option<Duration>) {
        let nanoseconds = limit.map_or(u64::MAX, |limit| {
            u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
        });
        self.inner.wait_limit.store(nanoseconds, Ordering::Relaxed);
    }

    /// Waits until the device has done all that was submitted, and frees what was dropped.
    ///
    /// # Errors
    /// [`Error::Vulkan`] when the device is lost, [`Error::Hung`].
    pub fn wait_idle(&self) -> Result<()> {
        let inner = &self.inner;
        // This wait says so when it takes long.
        crate::frame::wait_for(inner, inner.frame_number.load(Ordering::Acquire) - 1)?;
        {
            let _queue = crate::lock(&inner.queue_access);
            // SAFETY: the device is alive; no other thread uses the queue, since that needs the lock.
            unsafe { inner.device.device_wait_idle() }
        }
        .map_err(Error::vulkan("vkDeviceWaitIdle", "the device"))
        .and_then(|()| {
            // SAFETY: the timeline semaphore lives as long as the device.
            unsafe { inner.device.get_semaphore_counter_value(inner.timeline) }.map_err(
                Error::vulkan("vkGetSemaphoreCounterValue", "the frame timeline"),
            )
        })
        .map_err(|error| inner.name_passes(error))
        .map(|done| {
            // While no frame is being recorded or under way and no upload waits for the next one, nothing that was
            // dropped can be used any more. Both locks are held so that it stays so.
            let recorder = crate::lock(&inner.recorder);
            let uploads = crate::lock(&inner.uploads);
            let next = inner.frame_number.load(Ordering::Acquire);
            let unused = recorder.is_some() && uploads.pending.is_empty() && done + 1 == next;
            inner
                .deletions
                .collect(inner, if unused { next } else { done });
        })
    }
}

impl Inner {
    fn open(
        desc: GpuDesc,
        instance: Instance,
        physical_device: vk::PhysicalDevice,
    ) -> Result<Inner> {
        let raw = &instance.raw;
        // SAFETY: the physical device belongs to the instance.
        let properties = unsafe { raw.get_physical_device_properties(physical_device) };
        let name = info::name_of(&properties);
        let mut missing = Vec::new();
        if properties.api_version < vk::API_VERSION_1_3 {
            missing.push(format!(
                "Vulkan 1.3 (it offers {}.{})",
                vk::api_version_major(properties.api_version),
                vk::api_version_minor(properties.api_version)
            ));
            return Err(Error::MissingFeatures {
                device: name,
                missing,
            });
        }
        let offered = choose::extensions(&instance, physical_device)?;
        let mesh = desc.mesh_shaders
            && offered
                .iter()
                .any(|e| e.as_c_str() == ash::ext::mesh_shader::NAME);
        let mut extensions = choose::select_extensions(
            &offered,
            mesh,
            !desc.surface_extensions.is_empty(),
            &mut missing,
        );
        let features = features::FeatureChain::offered(raw, physical_device, mesh);
        let mut enabled = features::negotiate(&features, mesh, &mut missing);
        // SAFETY: as above.
        let families = unsafe { raw.get_physical_device_queue_family_properties(physical_device) };
        let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(wanted));
        if family.is_none() {
            missing.push("a queue for graphics and compute".into());
        }
        let (Some(family), true) = (family, missing.is_empty()) else {
            return Err(Error::MissingFeatures {
                device: name,
                missing,
            });
        };
        let mesh = enabled.mesh.mesh_shader == vk::TRUE;
        if !mesh {
            extensions.retain(|&name| name != ash::ext::mesh_shader::NAME);
        }

        let mut maintenance = choose::swapchain_maintenance(&instance, physical_device, &offered);
        if maintenance.is_some() {
            extensions.push(ash::ext::swapchain_maintenance1::NAME);
        }
        let mut fault = choose::device_fault(&instance, physical_device, &offered);
        if fault.is_some() {
            extensions.push(ash::ext::device_fault::NAME);
            enabled.names.push("deviceFault".into());
        }
        for name in features::SHADER_EXTENSIONS {
            if extensions.contains(&name) {
                enabled.names.push(name.to_string_lossy().into_owned());
            }
        }
        let markers = choose::markers(&offered);
        let marking = markers.filter(|_| desc.markers);
        extensions.extend(marking);
        let queue_family = family as u32;
        let transfer_family = choose::transfer_family(&families).filter(|_| desc.transfer_queue);
        let queues: Vec<_> = [Some(queue_family), transfer_family]
            .into_iter()
            .flatten()
            .map(|family| {
                vk::DeviceQueueCreateInfo::default()
                    .queue_family_index(family)
                    .queue_priorities(&[1.0])
            })
            .collect();
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let device = enabled
            .linked(mesh, |features| {
                let mut info = vk::DeviceCreateInfo::default()
                    .queue_create_infos(&queues)
                    .enabled_extension_names(&names)
                    .push_next(features);
                if let Some(maintenance) = &mut maintenance {
                    info = info.push_next(maintenance);
                }
                if let Some(fault) = &mut fault {
                    info = info.push_next(fault);
                }
                // SAFETY: all extensions and features asked for are offered, and the linked structures live through the call.
                unsafe { raw.create_device(physical_device, &info, None) }
            })
            .map_err(Error::vulkan("vkCreateDevice", name.as_str()))?;
        let mut guard = DeviceGuard {
            device,
            timelines: Vec::new(),
        };
        let device = guard.device.clone();
        let device = &device;

        let optional = OptionalFeatures {
            markers: markers.is_some(),
            transfer_queue: transfer_family.is_some(),
            ..OptionalFeatures::of(&enabled, &extensions)
        };
        let info = DeviceInfo::read(
            raw,
            physical_device,
            families[family].timestamp_valid_bits,
            optional,
            std::mem::take(&mut enabled.names),
        );
        let mut flags = vk_mem::AllocatorCreateFlags::BUFFER_DEVICE_ADDRESS
            | vk_mem::AllocatorCreateFlags::KHR_MAINTENANCE4;
        if optional.memory_budget {
            flags |= vk_mem::AllocatorCreateFlags::EXT_MEMORY_BUDGET;
        }
        let mut create = vk_mem::AllocatorCreateInfo::new(raw, device, physical_device);
        create.vulkan_api_version = vk::API_VERSION_1_3;
        create.flags = flags;
        // SAFETY: instance, device and physical device belong together and outlive the allocator (see `drop`).
        let allocator = unsafe { vk_mem::Allocator::new(create) }
            .map_err(Error::vulkan("vmaCreateAllocator", name.as_str()))?;
        let timeline = guard.timeline("the frame timeline")?;
        // SAFETY: the families have at least one queue each, and they were asked for above.
        let queue = |family| unsafe { device.get_device_queue(family, 0) };
        let transfer = match transfer_family {
            Some(family) => Some(TransferQueue {
                queue: queue(family),
                family,
                timeline: guard.timeline("the transfer timeline")?,
            }),
            None => None,
        };
        let queue = queue(queue_family);
        let pipeline_cache = PipelineCache::open(device, desc.pipeline_cache.clone(), &info)?;
        let device = guard.release();
        Ok(Inner {
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            push_descriptor: ash::khr::push_descriptor::Device::new(raw, &device),
            mesh_shader: optional
                .mesh_shaders
                .then(|| ash::ext::mesh_shader::Device::new(raw, &device)),
            debug: instance
                .debug_utils
                .then(|| ash::ext::debug_utils::Device::new(raw, &device)),
            fault: fault.map(|_| FaultReport::new(raw, &device)),
            markers: marking,
            calibrator: Calibrator::new(raw, &device, &extensions),
            device,
            physical_device,
            queue,
            queue_access: Mutex::new(()),
            mapped_access: Mutex::new(()),
            queue_family,
            transfer,
            swapchain_maintenance: maintenance.is_some(),
            allocator: ManuallyDrop::new(allocator),
            info,
            timeline,
            frame_number: AtomicU64::new(1),
            deletions: DeletionQueue::default(),
            ids: IdPool::default(),
            samplers: SamplerCache::default(),
            uploads: Mutex::default(),
            new_textures: NewTextures::default(),
            pipeline_cache,
            recorder: Mutex::new(None),
            statistics: AtomicBool::new(desc.statistics && optional.pipeline_statistics),
            wait_limit: AtomicU64::new(u64::MAX),
            is_hung: AtomicBool::new(false),
            desc,
            instance: ManuallyDrop::new(instance),
        })
    }

    /// Turns the loss of the device into an error that names the passes under way, where no frame is being recorded.
    pub(crate) fn name_passes(&self, error: Error) -> Error {
        match crate::lock(&self.recorder).as_ref() {
            Some(recorder) => recorder.name_passes(self, error),
            None => error,
        }
    }

    /// What the device is at, where no frame is being recorded.
    pub(crate) fn stalled(&self) -> String {
        match crate::lock(&self.recorder).as_ref() {
            Some(recorder) => recorder.stalled(self),
            None => "another one is being recorded".into(),
        }
    }

    /// Gives an object a name that debuggers, captures and validation messages show.
    pub(crate) fn name<H: vk::Handle>(&self, handle: H, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = std::ffi::CString::new(name.replace('\0', " ")).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(handle)
            .object_name(&name);
        // SAFETY: the handle was made from this device. A name that could not be set is no reason to fail.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }
}

/// Destroys the device if opening it fails half-way.
struct DeviceGuard {
    device: ash::Device,
    timelines: Vec<vk::Semaphore>,
}

impl DeviceGuard {
    fn timeline(&mut self, what: &str) -> Result<vk::Semaphore> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: timeline semaphores are a required feature.
        let timeline = unsafe { self.device.create_semaphore(&info, None) }
            .map_err(Error::vulkan("vkCreateSemaphore", what))?;
        self.timelines.push(timeline);
        Ok(timeline)
    }

    fn release(mut self) -> ash::Device {
        self.timelines = Vec::new();
        let device = self.device.clone();
        std::mem::forget(self);
        device
    }
}

impl Drop for DeviceGuard {
    fn drop(&mut self) {
        // SAFETY: opening failed, so nothing made from the device is in use.
        unsafe {
            for timeline in &self.timelines {
                self.device.destroy_semaphore(*timeline, None);
            }
            self.device.destroy_device(None);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Waiting would not end, and what the device still uses must stay.
        if *self.is_hung.get_mut() {
            log::debug!("a device that hangs is left as it is");
            return;
        }
        // SAFETY: every resource holds a reference to `self`, so none is left; the device is idle before its objects go.
        // The order is that of dependence: objects, allocator, device, instance.
        unsafe {
            let _ = self.device.device_wait_idle();
            if let Some(mut recorder) = crate::lock(&self.recorder).take() {
                recorder.destroy(self);
            }
            self.deletions.collect(self, u64::MAX);
            let mut uploads = std::mem::take(&mut *crate::lock(&self.uploads));
            uploads.destroy(self);
            self.samplers.destroy(&self.device);
            self.pipeline_cache.save_and_destroy(&self.device);
            self.device.destroy_semaphore(self.timeline, None);
            if let Some(transfer) = &self.transfer {
                self.device.destroy_semaphore(transfer.timeline, None);
            }
            let left = self
                .allocator
                .calculate_statistics()
                .map_or(0, |stats| stats.total.statistics.allocationCount);
            if left != 0 {
                self.instance
                    .messages
                    .add(format!("{left} device memory allocations were not freed"));
            }
            ManuallyDrop::drop(&mut self.allocator);
            self.device.destroy_device(None);
            ManuallyDrop::drop(&mut self.instance);
        }
    }
}
