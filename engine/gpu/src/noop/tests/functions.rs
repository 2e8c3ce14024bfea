//! That no function is missing: what `ash` knows of Vulkan 1.0 to 1.3 and of the extensions offered is in the table.

use super::super::{NoopDesc, NoopDriver, loader};
use super::Context;
use ash::vk;
use std::ffi::{CStr, c_void};

/// Runs each loader of `ash` with `get`, and gives the names for which it got nothing.
macro_rules! missing {
    ($get:expr; $($functions:path),* $(,)?) => {{
        let mut missing = Vec::new();
        let mut load = |name: &CStr| -> *const c_void {
            #[allow(unused_unsafe)] // One caller is unsafe as a whole.
            // SAFETY: instance and device are alive, the name is null-terminated.
            let function: vk::PFN_vkVoidFunction = unsafe { $get(name) };
            if function.is_none() {
                missing.push(name.to_str().unwrap().to_owned());
            }
            function.map_or(std::ptr::null(), |function| function as *const c_void)
        };
        $({
            use $functions as Functions;
            let _ = Functions::load(&mut load);
        })*
        missing
    }};
}

#[test]
fn all_functions_of_the_core_are_there() {
    let context = Context::new(NoopDesc::default());
    let (instance, device) = (context.instance.handle(), context.device.handle());
    let entry = missing!(|name: &CStr| loader::get_instance_proc_addr(vk::Instance::null(), name.as_ptr());
        ash::EntryFnV1_0, ash::EntryFnV1_1);
    let of_instance = missing!(|name: &CStr| loader::get_instance_proc_addr(instance, name.as_ptr());
        ash::InstanceFnV1_0, ash::InstanceFnV1_1, ash::InstanceFnV1_3);
    let of_device = missing!(|name: &CStr| loader::get_device_proc_addr(device, name.as_ptr());
        ash::DeviceFnV1_0, ash::DeviceFnV1_1, ash::DeviceFnV1_2, ash::DeviceFnV1_3);
    assert_eq!((entry, of_instance, of_device), (vec![], vec![], vec![]));
    context.end_clean();
}

#[test]
fn all_functions_of_the_extensions_are_there() {
    let driver = NoopDriver::new(NoopDesc::with(|device| {
        device.extensions.push("VK_AMD_buffer_marker".to_owned());
    }));
    let desc = driver.desc().clone();
    // SAFETY: the names live while the structures are used; all handles are used while they live.
    unsafe {
        let c_strings = |names: &[String]| -> Vec<std::ffi::CString> {
            names
                .iter()
                .map(|name| std::ffi::CString::new(name.as_str()).unwrap())
                .collect()
        };
        let names = c_strings(&desc.instance_extensions);
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&pointers);
        let instance = driver.entry().create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let names = c_strings(&desc.devices[0].extensions);
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&pointers);
        let device = instance.create_device(physical, &info, None).unwrap();
        let of_instance = missing!(|name: &CStr| loader::get_instance_proc_addr(instance.handle(), name.as_ptr());
            ash::ext::calibrated_timestamps::InstanceFn, ash::ext::debug_utils::InstanceFn,
            ash::ext::headless_surface::InstanceFn, ash::khr::calibrated_timestamps::InstanceFn,
            ash::khr::get_surface_capabilities2::InstanceFn, ash::khr::surface::InstanceFn,
            ash::khr::swapchain::InstanceFn);
        let of_device = missing!(|name: &CStr| loader::get_device_proc_addr(device.handle(), name.as_ptr());
            ash::amd::buffer_marker::DeviceFn, ash::ext::calibrated_timestamps::DeviceFn,
            ash::ext::debug_utils::DeviceFn, ash::ext::device_fault::DeviceFn, ash::ext::mesh_shader::DeviceFn,
            ash::ext::swapchain_maintenance1::DeviceFn, ash::khr::calibrated_timestamps::DeviceFn,
            ash::khr::push_descriptor::DeviceFn, ash::khr::swapchain::DeviceFn);
        assert_eq!((of_instance, of_device), (vec![], vec![]));
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    assert!(driver.errors().is_empty() && driver.leaks().is_empty());
}
