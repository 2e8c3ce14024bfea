//! The table of functions: by name, with the extension that each needs.

use super::handle::{Device, Instance, object, shared, string};
use super::state::Shared;
use ash::vk::{self, Handle};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Arc, LazyLock, Weak};

/// A Vulkan function of any signature.
pub(super) type Function = unsafe extern "system" fn();

/// From which handle a function is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Global,
    Instance,
    Device,
}

/// One function.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Name of the function's pointer type: `PFN_` and the function's name.
    pub(super) pointer_type: &'static str,
    pub(super) level: Level,
    /// The extension that brings it; none for the core.
    pub(super) extension: Option<&'static str>,
    pub(super) function: Function,
    /// What takes its place when nothing is recorded.
    pub(super) quiet: Function,
}

/// Defines Vulkan functions and the table `ROWS` of them. `call` functions are as written; a `result` function returns
/// `VkResult`, its body a `Result<(), vk::Result>`, and it fails when a failure was injected.
macro_rules! functions {
    (@define call $name:ident $pfn:ident ($($arg:ident : $ty:ty),*) ($($ret:ty)?) $body:block) => {
        #[allow(unused_unsafe)]
        unsafe extern "system" fn $name($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: whoever calls a Vulkan function keeps to its valid usage: handles are this driver's, pointers point to
            // as many values as the specification says.
            unsafe { $body }
        }
    };
    (@define result $name:ident $pfn:ident ($first:ident : $handle:ty $(, $arg:ident : $ty:ty)*) () $body:block) => {
        #[allow(unused_unsafe)]
        unsafe extern "system" fn $name($first: $handle $(, $arg: $ty)*) -> ash::vk::Result {
            // SAFETY: as for the functions without a result.
            let driver = unsafe { crate::noop::handle::shared($first) };
            // SAFETY: as above.
            let body = || -> Result<(), ash::vk::Result> { unsafe { $body } };
            crate::noop::loader::attempt(driver, stringify!($pfn), body)
        }
    };
    ($level:ident, $extension:expr; $($kind:ident fn $name:ident as $pfn:ident ($($arg:ident : $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {
        $(crate::noop::loader::functions!(@define $kind $name $pfn ($($arg : $ty),*) ($($ret)?) $body);)*
        pub(in crate::noop) const ROWS: &[crate::noop::loader::Row] = &[$({
            let function: ash::vk::$pfn = $name;
            // SAFETY: one function pointer becomes another, which is only called after it was turned back.
            let function = unsafe { std::mem::transmute::<ash::vk::$pfn, crate::noop::loader::Function>(function) };
            crate::noop::loader::Row {
                pointer_type: stringify!($pfn),
                level: crate::noop::loader::Level::$level,
                extension: $extension,
                function,
                quiet: function,
            }
        }),*];
    };
}
pub(super) use functions;

/// Runs a function's body unless a failure is injected. `SUBOPTIMAL_KHR` comes with the effect.
pub(super) fn attempt(
    driver: &Shared,
    pointer_type: &'static str,
    body: impl FnOnce() -> Result<(), vk::Result>,
) -> vk::Result {
    match driver.injected(function_name(pointer_type)) {
        Some(vk::Result::SUBOPTIMAL_KHR) => match body() {
            Ok(()) => vk::Result::SUBOPTIMAL_KHR,
            Err(result) => result,
        },
        Some(result) => result,
        None => match body() {
            Ok(()) => vk::Result::SUCCESS,
            Err(result) => result,
        },
    }
}

/// `vkDraw` of `PFN_vkDraw`.
fn function_name(pointer_type: &'static str) -> &'static str {
    pointer_type.strip_prefix("PFN_").unwrap_or(pointer_type)
}

/// Functions of an extension that are another function by another name: name, extension, function.
const ALIASES: &[(&str, &str, &str)] = &[
    (
        "vkGetCalibratedTimestampsEXT",
        "VK_EXT_calibrated_timestamps",
        "vkGetCalibratedTimestampsKHR",
    ),
    (
        "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT",
        "VK_EXT_calibrated_timestamps",
        "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR",
    ),
];

static TABLE: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
    let rows = super::ALL_ROWS.iter().flat_map(|rows| rows.iter());
    let mut table: HashMap<_, _> = rows
        .map(|row| (function_name(row.pointer_type), *row))
        .collect();
    for &(alias, extension, function) in ALIASES {
        if let Some(&row) = table.get(function) {
            table.insert(
                alias,
                Row {
                    extension: Some(extension),
                    ..row
                },
            );
        }
    }
    table
});

thread_local! {
    /// The driver that `vkCreateInstance` and other functions without a handle mean on this thread.
    static CURRENT: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// Makes a driver the one of this thread.
pub(super) fn set_current(shared: &Arc<Shared>) {
    CURRENT.with(|current| *current.borrow_mut() = Arc::downgrade(shared));
}

/// This thread's driver.
pub(super) fn current() -> Result<Arc<Shared>, vk::Result> {
    CURRENT
        .with(|current| current.borrow().upgrade())
        .ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)
}

fn pick(row: &Row, record: bool) -> vk::PFN_vkVoidFunction {
    Some(if record { row.function } else { row.quiet })
}

pub(super) unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller gives a null-terminated name.
    let name = unsafe { string(name) };
    if name == "vkGetInstanceProcAddr" {
        let function: vk::PFN_vkGetInstanceProcAddr = get_instance_proc_addr;
        // SAFETY: one function pointer becomes another, which the caller turns back before a call.
        return Some(unsafe {
            std::mem::transmute::<vk::PFN_vkGetInstanceProcAddr, Function>(function)
        });
    }
    let row = TABLE.get(name.as_str())?;
    if row.level == Level::Global {
        return pick(row, true);
    }
    if instance.is_null() {
        return None;
    }
    // SAFETY: the caller gives null or a live instance.
    let (driver, instance) = unsafe { (shared(instance), object::<Instance>(instance)) };
    let known = row.extension.is_none_or(|extension| {
        let device_has = driver
            .desc
            .devices
            .iter()
            .any(|device| device.offers(extension));
        instance.extensions.contains(extension) || device_has
    });
    if known {
        pick(row, driver.desc.record)
    } else {
        None
    }
}

pub(super) unsafe extern "system" fn get_device_proc_addr(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller gives a null-terminated name.
    let name = unsafe { string(name) };
    let row = TABLE
        .get(name.as_str())
        .filter(|row| row.level == Level::Device)?;
    // SAFETY: the caller gives a live device.
    let (driver, device) = unsafe { (shared(device), object::<Device>(device)) };
    let known = row.extension.is_none_or(|extension| {
        device.extensions.contains(extension) || device.instance_extensions.contains(extension)
    });
    if known {
        pick(row, driver.desc.record)
    } else {
        None
    }
}
