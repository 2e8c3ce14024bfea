//! What is known when the device is lost: the passes under way, and what the driver says of the fault.

use super::Recorder;
use crate::Error;
use crate::device::Inner;
use ash::vk;
use std::ffi::CStr;

impl Recorder {
    /// Turns the loss of the device into an error that says what is known of it; other errors stay.
    #[cold]
    pub(crate) fn name_passes(&self, gpu: &Inner, error: Error) -> Error {
        let Error::Vulkan {
            result: vk::Result::ERROR_DEVICE_LOST,
            ..
        } = error
        else {
            return error;
        };
        // A lost device may answer that every frame is done, or not at all.
        let next = gpu.frame_number.load(std::sync::atomic::Ordering::Acquire);
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe { gpu.device.get_semaphore_counter_value(gpu.timeline) };
        let done = done.ok().filter(|done| *done < next).unwrap_or(0);
        let (passes, marked) = self.timing.under_way(gpu, done, true);
        Error::DeviceLost {
            passes: passes.join(", "),
            marked,
            report: gpu
                .fault
                .as_ref()
                .map(FaultReport::read)
                .unwrap_or_default(),
        }
    }
}

impl Recorder {
    /// What the device is at, in words.
    #[cold]
    pub(crate) fn stalled(&self, gpu: &Inner) -> String {
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe { gpu.device.get_semaphore_counter_value(gpu.timeline) };
        let (passes, known) = self.timing.under_way(gpu, done.unwrap_or(0), false);
        let what = if known {
            "passes begun and not finished"
        } else {
            "passes handed over"
        };
        format!("{what}: {}", passes.join(", "))
    }
}

/// The driver's report of what went wrong (`VK_EXT_device_fault`).
pub(crate) struct FaultReport {
    functions: ash::ext::device_fault::Device,
}

impl FaultReport {
    /// For a device with the extension and its feature switched on.
    pub(crate) fn new(instance: &ash::Instance, device: &ash::Device) -> FaultReport {
        FaultReport {
            functions: ash::ext::device_fault::Device::new(instance, device),
        }
    }

    /// The report as one line; empty when the driver has none. The device must be lost.
    fn read(&self) -> String {
        /// No fault has so many causes; the rest is left out.
        const MOST: u32 = 16;
        let (get, device) = (
            self.functions.fp().get_device_fault_info_ext,
            self.functions.device(),
        );
        let mut counts = vk::DeviceFaultCountsEXT::default();
        // SAFETY: the device has the extension; without a place for the report only counts are written.
        if unsafe { get(device, &mut counts, std::ptr::null_mut()) } != vk::Result::SUCCESS {
            return String::new();
        }
        let (addresses, vendor) = (
            counts.address_info_count.min(MOST),
            counts.vendor_info_count.min(MOST),
        );
        let mut address_infos = vec![vk::DeviceFaultAddressInfoEXT::default(); addresses as usize];
        let mut vendor_infos = vec![vk::DeviceFaultVendorInfoEXT::default(); vendor as usize];
        counts.address_info_count = addresses;
        counts.vendor_info_count = vendor;
        counts.vendor_binary_size = 0;
        let mut info = vk::DeviceFaultInfoEXT {
            p_address_infos: address_infos.as_mut_ptr(),
            p_vendor_infos: vendor_infos.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: the lists have the room that the counts say; no vendor's binary is asked for.
        let result = unsafe { get(device, &mut counts, &mut info) };
        if result != vk::Result::SUCCESS && result != vk::Result::INCOMPLETE {
            return String::new();
        }
        let text = |text: Result<&CStr, _>| {
            text.map_or_else(
                |_: std::ffi::FromBytesUntilNulError| String::new(),
                |text| text.to_string_lossy().replace(['\n', '\r'], " "),
            )
        };
        let mut parts = vec![text(info.description_as_c_str())];
        let filled = counts.address_info_count.min(addresses) as usize;
        parts.extend(address_infos[..filled].iter().map(describe));
        let filled = counts.vendor_info_count.min(vendor) as usize;
        parts.extend(vendor_infos[..filled].iter().map(|info| {
            format!(
                "{} (code {:#x}, data {:#x})",
                text(info.description_as_c_str()),
                info.vendor_fault_code,
                info.vendor_fault_data
            )
        }));
        parts.retain(|part| !part.is_empty());
        parts.join(", ")
    }
}

/// An access that failed. Its address is exact to `address_precision` bytes, a power of two.
fn describe(info: &vk::DeviceFaultAddressInfoEXT) -> String {
    use vk::DeviceFaultAddressTypeEXT as Type;
    let kind = match info.address_type {
        Type::READ_INVALID => "invalid read at",
        Type::WRITE_INVALID => "invalid write at",
        Type::EXECUTE_INVALID => "invalid execution at",
        Type::INSTRUCTION_POINTER_UNKNOWN => "instruction pointer",
        Type::INSTRUCTION_POINTER_INVALID => "invalid instruction pointer",
        Type::INSTRUCTION_POINTER_FAULT => "instruction pointer at the fault",
        _ => "address",
    };
    let precision = info.address_precision.max(1);
    let first = info.reported_address & !(precision - 1);
    format!("{kind} {first:#x} to {:#x}", first + (precision - 1))
}
