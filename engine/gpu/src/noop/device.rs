//! Devices and queues, and the ends of their lives.

use super::features;
use super::handle::{self, Device, Header, PhysicalDevice, Queue, dispatchable, slice, string};
use super::loader::functions;
use ash::vk::{self, Handle};
use std::sync::{Mutex, PoisonError};

/// What a device was created with; for tests.
#[derive(Clone, Debug, Default)]
pub struct EnabledDevice {
    /// Name of the physical device.
    pub name: String,
    /// Extensions switched on.
    pub extensions: Vec<String>,
    /// Features switched on, by their names in the specification.
    pub features: Vec<String>,
    /// Queues made: family and count.
    pub queues: Vec<(u32, u32)>,
}

pub(super) mod physical {
    use super::*;

    functions! { Instance, None;
        result fn create_device as PFN_vkCreateDevice(
            physical: vk::PhysicalDevice,
            info: *const vk::DeviceCreateInfo<'_>,
            _allocator: *const vk::AllocationCallbacks<'_>,
            device: *mut vk::Device,
        ) {
            let index = handle::object::<PhysicalDevice>(physical).index;
            let driver = handle::shared(physical);
            let desc = &driver.desc.devices[index];
            let info = &*info;
            let extensions: Vec<String> = slice(
                info.pp_enabled_extension_names,
                info.enabled_extension_count,
            )
            .iter()
            .map(|&name| string(name))
            .collect();
            if let Some(unknown) = extensions.iter().find(|name| !desc.offers(name)) {
                driver.state().error(format!(
                    "vkCreateDevice: extension {unknown} is not offered"
                ));
                return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            }
            let (features, missing) =
                features::requested(desc, info.p_next, info.p_enabled_features);
            if !missing.is_empty() {
                driver.state().error(format!(
                    "vkCreateDevice: features not offered: {}",
                    missing.join(", ")
                ));
                return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
            }
            let wanted: Vec<(u32, u32)> =
                slice(info.p_queue_create_infos, info.queue_create_info_count)
                    .iter()
                    .map(|queue| (queue.queue_family_index, queue.queue_count))
                    .collect();
            for &(family, count) in &wanted {
                if desc
                    .queue_families
                    .get(family as usize)
                    .is_none_or(|family| family.queue_count < count)
                {
                    driver.state().error(format!("vkCreateDevice: {count} queues of family {family} asked for, which are not there"));
                    return Err(vk::Result::ERROR_INITIALIZATION_FAILED);
                }
            }
            let instance = handle::object::<PhysicalDevice>(physical)
                .instance
                .load(std::sync::atomic::Ordering::Relaxed);
            let handle: vk::Device = dispatchable(
                driver,
                instance,
                0,
                Device {
                    header: Header::new(driver),
                    index,
                    extensions: extensions.iter().cloned().collect(),
                    instance_extensions: handle::object::<handle::Instance>(
                        vk::Instance::from_raw(instance),
                    )
                    .extensions
                    .clone(),
                    queues: Mutex::default(),
                },
            );
            let mut queues = vec![Vec::new(); desc.queue_families.len()];
            for &(family, count) in &wanted {
                let valid_bits = desc.queue_families[family as usize].timestamp_valid_bits;
                for _ in 0..count {
                    let queue = Queue {
                        header: Header::new(driver),
                        device: handle.as_raw(),
                        family,
                        valid_bits,
                    };
                    queues[family as usize].push(
                        dispatchable::<vk::Queue, _>(driver, handle.as_raw(), 0, queue).as_raw(),
                    );
                }
            }
            *handle::object::<Device>(handle)
                .queues
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = queues;
            driver.state().enabled.push(EnabledDevice {
                name: desc.name.clone(),
                extensions,
                features,
                queues: wanted,
            });
            device.write(handle);
            Ok(())
        }
    }
}

functions! { Device, None;
    call fn destroy_device as PFN_vkDestroyDevice(
        device: vk::Device,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        if !device.is_null() {
            let mut state = handle::shared(device).state();
            state.finish_all(device.as_raw());
            state.end_children(device.as_raw());
            state.destroy(device, "vkDestroyDevice");
        }
    }
    call fn get_device_queue as PFN_vkGetDeviceQueue(
        device: vk::Device,
        family: u32,
        index: u32,
        queue: *mut vk::Queue,
    ) {
        queue.write(find_queue(device, family, index));
    }
    call fn get_device_queue2 as PFN_vkGetDeviceQueue2(
        device: vk::Device,
        info: *const vk::DeviceQueueInfo2<'_>,
        queue: *mut vk::Queue,
    ) {
        queue.write(find_queue(
            device,
            (*info).queue_family_index,
            (*info).queue_index,
        ));
    }
    call fn get_peer_memory_features as PFN_vkGetDeviceGroupPeerMemoryFeatures(
        _device: vk::Device,
        _heap: u32,
        _local: u32,
        _remote: u32,
        features: *mut vk::PeerMemoryFeatureFlags,
    ) {
        features.write(vk::PeerMemoryFeatureFlags::empty());
    }
}

/// # Safety
/// `device` is a live device.
unsafe fn find_queue(device: vk::Device, family: u32, index: u32) -> vk::Queue {
    // SAFETY: by the condition above.
    let (driver, object) = unsafe { (handle::shared(device), handle::object::<Device>(device)) };
    let queues = object.queues.lock().unwrap_or_else(PoisonError::into_inner);
    let found = queues
        .get(family as usize)
        .and_then(|family| family.get(index as usize));
    if found.is_none() {
        driver.state().error(format!(
            "vkGetDeviceQueue: queue {index} of family {family} was not created"
        ));
    }
    vk::Queue::from_raw(found.copied().unwrap_or(0))
}
