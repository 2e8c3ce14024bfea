//! `VK_EXT_debug_utils`: names, labels, messengers; and `VK_EXT_device_fault`, which has nothing to tell.

use super::command::Command;
use super::handle::{self, string};
use super::loader::functions;
use super::record::commands;
use super::state::Shared;
use ash::vk;
use std::ffi::{CStr, c_void};

/// A registered callback.
#[derive(Clone, Copy)]
struct Messenger {
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: UserData,
}

#[derive(Clone, Copy)]
struct UserData(*mut c_void);

// SAFETY: only handed back to the callback, which its owner promised to be callable from any thread.
unsafe impl Send for UserData {}

/// Calls all messengers that want a message. The state's lock is free meanwhile, so that a callback may use the driver.
pub(super) fn deliver(
    driver: &Shared,
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    let messengers: Vec<Messenger> = {
        let state = driver.state();
        state
            .objects
            .values()
            .filter_map(|object| object.data.downcast_ref().copied())
            .collect()
    };
    for messenger in messengers {
        if let Some(callback) = messenger.callback
            && messenger.severity.contains(severity)
            && messenger.types.intersects(types)
        {
            // SAFETY: the messenger's owner gave a callback of this signature, alive as long as the messenger.
            unsafe { callback(severity, types, data, messenger.user_data.0) };
        }
    }
}

/// Sends a message with a text and an id name to the messengers.
pub(super) fn say(
    driver: &Shared,
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    id: &CStr,
    text: &CStr,
) {
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message(text)
        .message_id_name(id);
    deliver(
        driver,
        severity,
        vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
        &data,
    );
}

functions! { Instance, Some("VK_EXT_debug_utils");
    result fn create_messenger as PFN_vkCreateDebugUtilsMessengerEXT(
        instance: vk::Instance,
        info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        messenger: *mut vk::DebugUtilsMessengerEXT,
    ) {
        let info = &*info;
        let data = Messenger {
            severity: info.message_severity,
            types: info.message_type,
            callback: info.pfn_user_callback,
            user_data: UserData(info.p_user_data),
        };
        messenger.write(handle::shared(instance).state().create(instance, data));
        Ok(())
    }
    call fn destroy_messenger as PFN_vkDestroyDebugUtilsMessengerEXT(
        instance: vk::Instance,
        messenger: vk::DebugUtilsMessengerEXT,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(instance)
            .state()
            .destroy(messenger, "vkDestroyDebugUtilsMessengerEXT");
    }
    call fn submit_message as PFN_vkSubmitDebugUtilsMessageEXT(
        instance: vk::Instance,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        types: vk::DebugUtilsMessageTypeFlagsEXT,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        deliver(handle::shared(instance), severity, types, &*data);
    }
}

pub(super) mod device {
    use super::*;

    functions! { Device, Some("VK_EXT_debug_utils");
        result fn set_name as PFN_vkSetDebugUtilsObjectNameEXT(
            device: vk::Device,
            info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
        ) {
            let info = &*info;
            let mut state = handle::shared(device).state();
            let name = string(info.p_object_name);
            if state.check_raw(
                info.object_type,
                info.object_handle,
                "vkSetDebugUtilsObjectNameEXT",
            ) && let Some(object) = state.objects.get_mut(&info.object_handle)
            {
                object.name = name;
            }
            Ok(())
        }
        result fn set_tag as PFN_vkSetDebugUtilsObjectTagEXT(
            _device: vk::Device,
            _info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
        ) {
            Ok(())
        }
        call fn queue_begin_label as PFN_vkQueueBeginDebugUtilsLabelEXT(
            _queue: vk::Queue,
            _label: *const vk::DebugUtilsLabelEXT<'_>,
        ) {
        }
        call fn queue_end_label as PFN_vkQueueEndDebugUtilsLabelEXT(_queue: vk::Queue) {}
        call fn queue_insert_label as PFN_vkQueueInsertDebugUtilsLabelEXT(
            _queue: vk::Queue,
            _label: *const vk::DebugUtilsLabelEXT<'_>,
        ) {
        }
    }
}

pub(super) mod labels {
    use super::*;

    commands! { Some("VK_EXT_debug_utils");
        fn begin_label as PFN_vkCmdBeginDebugUtilsLabelEXT(
            label: *const vk::DebugUtilsLabelEXT<'_>,
        ) {
            Command::BeginLabel {
                name: string((*label).p_label_name),
                color: (*label).color,
            }
        }
        fn end_label as PFN_vkCmdEndDebugUtilsLabelEXT() {
            Command::EndLabel
        }
        fn insert_label as PFN_vkCmdInsertDebugUtilsLabelEXT(
            label: *const vk::DebugUtilsLabelEXT<'_>,
        ) {
            Command::InsertLabel {
                name: string((*label).p_label_name),
                color: (*label).color,
            }
        }
    }
}

pub(super) mod fault {
    use super::*;

    functions! { Device, Some("VK_EXT_device_fault");
        result fn get_fault_info as PFN_vkGetDeviceFaultInfoEXT(
            device: vk::Device,
            counts: *mut vk::DeviceFaultCountsEXT<'_>,
            info: *mut vk::DeviceFaultInfoEXT<'_>,
        ) {
            let faults = &handle::shared(device).desc.faults;
            let counts = &mut *counts;
            let room = counts.address_info_count as usize;
            (counts.vendor_info_count, counts.vendor_binary_size) = (0, 0);
            counts.address_info_count = faults.len() as u32;
            let Some(info) = info.as_mut() else {
                return Ok(());
            };
            info.description = handle::fixed("a fault of the no-op driver");
            counts.address_info_count = room.min(faults.len()) as u32;
            for (at, &(kind, address)) in faults.iter().take(room).enumerate() {
                *info.p_address_infos.add(at) = vk::DeviceFaultAddressInfoEXT {
                    address_type: kind,
                    reported_address: address,
                    address_precision: 256,
                };
            }
            Ok(())
        }
    }
}

pub(super) mod private_data {
    use super::*;

    functions! { Device, None;
        result fn create_slot as PFN_vkCreatePrivateDataSlot(
            device: vk::Device,
            _info: *const vk::PrivateDataSlotCreateInfo<'_>,
            _allocator: *const vk::AllocationCallbacks<'_>,
            slot: *mut vk::PrivateDataSlot,
        ) {
            slot.write(
                handle::shared(device)
                    .state()
                    .create(device, std::collections::HashMap::<u64, u64>::new()),
            );
            Ok(())
        }
        call fn destroy_slot as PFN_vkDestroyPrivateDataSlot(
            device: vk::Device,
            slot: vk::PrivateDataSlot,
            _allocator: *const vk::AllocationCallbacks<'_>,
        ) {
            handle::shared(device)
                .state()
                .destroy(slot, "vkDestroyPrivateDataSlot");
        }
        result fn set_private_data as PFN_vkSetPrivateData(
            device: vk::Device,
            _kind: vk::ObjectType,
            object: u64,
            slot: vk::PrivateDataSlot,
            data: u64,
        ) {
            if let Some(slot) = handle::shared(device)
                .state()
                .data::<std::collections::HashMap<u64, u64>>(slot, "vkSetPrivateData")
            {
                slot.insert(object, data);
            }
            Ok(())
        }
        call fn get_private_data as PFN_vkGetPrivateData(
            device: vk::Device,
            _kind: vk::ObjectType,
            object: u64,
            slot: vk::PrivateDataSlot,
            data: *mut u64,
        ) {
            let mut state = handle::shared(device).state();
            let slot = state.data::<std::collections::HashMap<u64, u64>>(slot, "vkGetPrivateData");
            data.write(
                slot.and_then(|slot| slot.get(&object).copied())
                    .unwrap_or(0),
            );
        }
    }
}
