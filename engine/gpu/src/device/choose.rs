//! Which physical device to use.

use super::features::{REQUIRED_EXTENSIONS, SHADER_EXTENSIONS};
use super::info::{DeviceKind, name_of};
use super::instance::Instance;
use crate::{Error, Result};
use ash::vk;
use std::ffi::{CStr, CString};

/// Picks a device: by index or part of its name (any case) if one was asked for, else discrete before integrated,
/// virtual and CPU devices.
pub(crate) fn choose(instance: &Instance, asked: Option<&str>) -> Result<vk::PhysicalDevice> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .map_err(Error::vulkan("vkEnumeratePhysicalDevices", "the instance"))?;
    let described: Vec<(vk::PhysicalDevice, String, DeviceKind)> = devices
        .into_iter()
        .map(|device| {
            // SAFETY: the device was just enumerated from this instance.
            let properties = unsafe { instance.raw.get_physical_device_properties(device) };
            (
                device,
                name_of(&properties),
                DeviceKind::of(properties.device_type),
            )
        })
        .collect();
    if described.is_empty() {
        return Err(Error::NoDevice { only: Vec::new() });
    }
    let Some(asked) = asked else {
        let best = described
            .iter()
            .min_by_key(|(_, _, kind)| *kind)
            .map(|(device, ..)| *device);
        return best.ok_or(Error::NoDevice { only: Vec::new() });
    };
    let wanted = asked.to_lowercase();
    let found = match wanted.parse::<usize>() {
        Ok(index) => described.get(index),
        Err(_) => described
            .iter()
            .find(|(_, name, _)| name.to_lowercase().contains(&wanted)),
    };
    found
        .map(|(device, ..)| *device)
        .ok_or_else(|| Error::DeviceNotFound {
            asked: asked.to_owned(),
            found: described
                .iter()
                .enumerate()
                .map(|(i, (_, name, _))| format!("{i} {name:?}"))
                .collect::<Vec<_>>()
                .join(", "),
        })
}

/// The first family of queues that can copy and nothing else.
pub(crate) fn transfer_family(families: &[vk::QueueFamilyProperties]) -> Option<u32> {
    let more = vk::QueueFlags::GRAPHICS
        | vk::QueueFlags::COMPUTE
        | vk::QueueFlags::VIDEO_DECODE_KHR
        | vk::QueueFlags::VIDEO_ENCODE_KHR
        | vk::QueueFlags::OPTICAL_FLOW_NV;
    let found = families.iter().position(|family| {
        family.queue_flags.contains(vk::QueueFlags::TRANSFER)
            && !family.queue_flags.intersects(more)
    });
    found.map(|family| family as u32)
}

/// The extensions a device offers.
pub(crate) fn extensions(instance: &Instance, device: vk::PhysicalDevice) -> Result<Vec<CString>> {
    // SAFETY: the device belongs to this instance.
    let properties =
        unsafe { instance.raw.enumerate_device_extension_properties(device) }.map_err(
            Error::vulkan("vkEnumerateDeviceExtensionProperties", "the device"),
        )?;
    Ok(properties
        .iter()
        .filter_map(|p| p.extension_name_as_c_str().ok().map(CStr::to_owned))
        .collect())
}

/// Splits the extensions to switch on from the required ones that are missing.
pub(crate) fn select_extensions(
    offered: &[CString],
    mesh_wanted: bool,
    swapchain_wanted: bool,
    missing: &mut Vec<String>,
) -> Vec<&'static CStr> {
    let has = |name: &CStr| offered.iter().any(|offer| offer.as_c_str() == name);
    let mut enabled = Vec::new();
    let swapchain = swapchain_wanted.then_some(ash::khr::swapchain::NAME);
    for name in REQUIRED_EXTENSIONS.into_iter().chain(swapchain) {
        if has(name) {
            enabled.push(name);
        } else {
            missing.push(format!("extension {}", name.to_string_lossy()));
        }
    }
    let calibrated = [
        ash::khr::calibrated_timestamps::NAME,
        ash::ext::calibrated_timestamps::NAME,
    ];
    enabled.extend(calibrated.into_iter().find(|name| has(name)));
    enabled.extend(SHADER_EXTENSIONS.into_iter().filter(|name| has(name)));
    if mesh_wanted && has(ash::ext::mesh_shader::NAME) {
        enabled.push(ash::ext::mesh_shader::NAME);
    }
    if has(ash::ext::memory_budget::NAME) {
        enabled.push(ash::ext::memory_budget::NAME);
    }
    enabled
}

/// The feature by which presentation takes a fence, switched on; `None` where instance or device do not have it.
pub(crate) fn swapchain_maintenance(
    instance: &Instance,
    device: vk::PhysicalDevice,
    offered: &[CString],
) -> Option<vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT<'static>> {
    let name = ash::ext::swapchain_maintenance1::NAME;
    if !instance.surface_maintenance || !offered.iter().any(|offer| offer.as_c_str() == name) {
        return None;
    }
    let mut feature = vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut feature);
    // SAFETY: the device belongs to this instance, and the linked structure lives through the call.
    unsafe {
        instance
            .raw
            .get_physical_device_features2(device, &mut features);
    }
    feature.p_next = std::ptr::null_mut();
    (feature.swapchain_maintenance1 == vk::TRUE).then_some(feature)
}

/// The feature of reports on faults, switched on; `None` where the device does not have it.
pub(crate) fn device_fault(
    instance: &Instance,
    device: vk::PhysicalDevice,
    offered: &[CString],
) -> Option<vk::PhysicalDeviceFaultFeaturesEXT<'static>> {
    let name = ash::ext::device_fault::NAME;
    if !offered.iter().any(|offer| offer.as_c_str() == name) {
        return None;
    }
    let mut feature = vk::PhysicalDeviceFaultFeaturesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut feature);
    // SAFETY: the device belongs to this instance, and the linked structure lives through the call.
    unsafe {
        instance
            .raw
            .get_physical_device_features2(device, &mut features);
    }
    feature.p_next = std::ptr::null_mut();
    // A dump for the vendor's tools is of no use here.
    feature.device_fault_vendor_binary = vk::FALSE;
    (feature.device_fault == vk::TRUE).then_some(feature)
}

/// The extension by which the device can mark passes.
pub(crate) fn markers(offered: &[CString]) -> Option<&'static CStr> {
    let has = |name: &&CStr| offered.iter().any(|offer| offer.as_c_str() == *name);
    crate::frame::MARKER_EXTENSIONS.into_iter().find(has)
}
