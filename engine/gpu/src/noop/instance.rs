//! Instances, layers, extensions, and the list of physical devices.

use super::handle::{
    self, Header, Instance, PhysicalDevice, dispatchable, enumerate, enumerate_with, fixed, slice,
    string,
};
use super::loader::{self, Function, Level, Row, attempt, current, functions};
use ash::vk::{self, Handle};
use std::collections::HashSet;
use std::ffi::c_char;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(super) fn extension(name: &str) -> vk::ExtensionProperties {
    vk::ExtensionProperties {
        extension_name: fixed(name),
        spec_version: 1,
    }
}

unsafe extern "system" fn enumerate_instance_version(version: *mut u32) -> vk::Result {
    match current() {
        Ok(driver) => attempt(&driver, "PFN_vkEnumerateInstanceVersion", || {
            // SAFETY: the caller gives a valid pointer.
            unsafe { version.write(driver.desc.api_version) };
            Ok(())
        }),
        Err(result) => result,
    }
}

unsafe extern "system" fn enumerate_instance_layers(
    count: *mut u32,
    layers: *mut vk::LayerProperties,
) -> vk::Result {
    let Ok(driver) = current() else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    let properties = |name: &str, spec_version| vk::LayerProperties {
        layer_name: fixed(name),
        spec_version,
        implementation_version: 1,
        description: fixed("pretended by the no-op driver"),
    };
    let known: Vec<_> = driver
        .desc
        .layers
        .iter()
        .map(|l| properties(&l.name, l.spec_version))
        .collect();
    attempt(&driver, "PFN_vkEnumerateInstanceLayerProperties", || {
        // SAFETY: the caller gives a valid count and null or as many places.
        unsafe { enumerate(&known, count, layers) }
    })
}

unsafe extern "system" fn enumerate_instance_extensions(
    layer: *const c_char,
    count: *mut u32,
    extensions: *mut vk::ExtensionProperties,
) -> vk::Result {
    let Ok(driver) = current() else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    attempt(
        &driver,
        "PFN_vkEnumerateInstanceExtensionProperties",
        || {
            let names = if layer.is_null() {
                &driver.desc.instance_extensions
            } else {
                // SAFETY: the caller gives a null-terminated name.
                let name = unsafe { string(layer) };
                let layer = driver.desc.layers.iter().find(|layer| layer.name == name);
                &layer.ok_or(vk::Result::ERROR_LAYER_NOT_PRESENT)?.extensions
            };
            let known: Vec<_> = names.iter().map(|name| extension(name)).collect();
            // SAFETY: the caller gives a valid count and null or as many places.
            unsafe { enumerate(&known, count, extensions) }
        },
    )
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let Ok(driver) = current() else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    attempt(&driver, "PFN_vkCreateInstance", || {
        // SAFETY: the caller gives a valid structure and arrays of null-terminated names.
        let (layers, extensions) = unsafe {
            let info = &*info;
            let names = |first: *const *const c_char, count| -> Vec<String> {
                slice(first, count)
                    .iter()
                    .map(|&name| string(name))
                    .collect()
            };
            (
                names(info.pp_enabled_layer_names, info.enabled_layer_count),
                names(
                    info.pp_enabled_extension_names,
                    info.enabled_extension_count,
                ),
            )
        };
        let desc = &driver.desc;
        let mut offered: HashSet<&String> = desc.instance_extensions.iter().collect();
        for name in &layers {
            let layer = desc.layers.iter().find(|layer| layer.name == *name);
            offered.extend(&layer.ok_or(vk::Result::ERROR_LAYER_NOT_PRESENT)?.extensions);
        }
        if !extensions
            .iter()
            .all(|extension| offered.contains(extension))
        {
            return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        }
        let devices = (0..desc.devices.len()).map(|index| {
            let device = PhysicalDevice {
                header: Header::new(&driver),
                index,
                instance: AtomicU64::new(0),
            };
            dispatchable::<vk::PhysicalDevice, _>(&driver, 0, 0, device).as_raw()
        });
        let physical_devices: Vec<u64> = devices.collect();
        let object = Instance {
            header: Header::new(&driver),
            extensions: extensions.into_iter().collect(),
            physical_devices: physical_devices.clone(),
            keep: Mutex::new(Some(Arc::clone(&driver))),
        };
        let handle: vk::Instance = dispatchable(&driver, 0, 0, object);
        let mut state = driver.state();
        for raw in physical_devices {
            // SAFETY: made above.
            let device =
                unsafe { handle::object::<PhysicalDevice>(vk::PhysicalDevice::from_raw(raw)) };
            device.instance.store(handle.as_raw(), Ordering::Relaxed);
            if let Some(object) = state.objects.get_mut(&raw) {
                object.parent = handle.as_raw();
            }
        }
        // SAFETY: the caller gives a valid pointer.
        unsafe { instance.write(handle) };
        Ok(())
    })
}

macro_rules! global {
    ($pfn:ident, $function:ident) => {{
        let function: vk::$pfn = $function;
        // SAFETY: one function pointer becomes another, which is only called after it was turned back.
        let function = unsafe { std::mem::transmute::<vk::$pfn, Function>(function) };
        Row { pointer_type: stringify!($pfn), level: Level::Global, extension: None, function, quiet: function }
    }};
}

/// Functions without a handle.
pub(super) const GLOBAL_ROWS: &[Row] = &[
    global!(PFN_vkCreateInstance, create_instance),
    global!(PFN_vkEnumerateInstanceVersion, enumerate_instance_version),
    global!(
        PFN_vkEnumerateInstanceLayerProperties,
        enumerate_instance_layers
    ),
    global!(
        PFN_vkEnumerateInstanceExtensionProperties,
        enumerate_instance_extensions
    ),
];

functions! { Instance, None;
    call fn destroy_instance as PFN_vkDestroyInstance(
        instance: vk::Instance,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        if !instance.is_null() {
            let keep = {
                let driver = handle::shared(instance);
                let mut state = driver.state();
                state.end_children(instance.as_raw());
                state.destroy(instance, "vkDestroyInstance");
                handle::object::<Instance>(instance)
                    .keep
                    .lock()
                    .ok()
                    .and_then(|mut keep| keep.take())
            };
            // Dropped here, after the last use of the state: this may free it, and the instance with it.
            drop(keep);
        }
    }
    result fn enumerate_physical_devices as PFN_vkEnumeratePhysicalDevices(
        instance: vk::Instance,
        count: *mut u32,
        devices: *mut vk::PhysicalDevice,
    ) {
        let known: Vec<_> = handle::object::<Instance>(instance)
            .physical_devices
            .iter()
            .map(|&raw| vk::PhysicalDevice::from_raw(raw))
            .collect();
        enumerate(&known, count, devices)
    }
    result fn enumerate_physical_device_groups as PFN_vkEnumeratePhysicalDeviceGroups(
        instance: vk::Instance,
        count: *mut u32,
        groups: *mut vk::PhysicalDeviceGroupProperties<'_>,
    ) {
        let devices = &handle::object::<Instance>(instance).physical_devices;
        enumerate_with(devices, count, groups, |&raw, slot| {
            // SAFETY: `enumerate_with` gives valid places.
            let group = unsafe { &mut *slot };
            group.physical_device_count = 1;
            group.physical_devices = [vk::PhysicalDevice::null(); vk::MAX_DEVICE_GROUP_SIZE];
            group.physical_devices[0] = vk::PhysicalDevice::from_raw(raw);
            group.subset_allocation = vk::FALSE;
        })
    }
    result fn enumerate_device_extensions as PFN_vkEnumerateDeviceExtensionProperties(
        physical: vk::PhysicalDevice,
        layer: *const c_char,
        count: *mut u32,
        extensions: *mut vk::ExtensionProperties,
    ) {
        let index = handle::object::<PhysicalDevice>(physical).index;
        let offered = if layer.is_null() {
            handle::shared(physical).desc.devices[index]
                .extensions
                .as_slice()
        } else {
            &[]
        };
        let known: Vec<_> = offered.iter().map(|name| extension(name)).collect();
        enumerate(&known, count, extensions)
    }
    result fn enumerate_device_layers as PFN_vkEnumerateDeviceLayerProperties(
        _physical: vk::PhysicalDevice,
        count: *mut u32,
        layers: *mut vk::LayerProperties,
    ) {
        enumerate(&[], count, layers)
    }
    result fn get_tool_properties as PFN_vkGetPhysicalDeviceToolProperties(
        _physical: vk::PhysicalDevice,
        count: *mut u32,
        tools: *mut vk::PhysicalDeviceToolProperties<'_>,
    ) {
        enumerate_with::<(), _>(&[], count, tools, |_, _| ())
    }
    call fn device_proc_addr as PFN_vkGetDeviceProcAddr(
        device: vk::Device,
        name: *const c_char,
    ) -> vk::PFN_vkVoidFunction {
        loader::get_device_proc_addr(device, name)
    }
}
