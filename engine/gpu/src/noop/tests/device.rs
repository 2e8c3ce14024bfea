//! What the driver pretends to be, and calls that fail.

use super::super::{Failure, NoopDesc, NoopDevice, NoopDriver, NoopLayer};
use super::Context;
use ash::vk;

/// Creates a bare instance and gives it to `look`.
fn with_instance(driver: &NoopDriver, look: impl FnOnce(&ash::Instance)) {
    // SAFETY: all valid.
    unsafe {
        let instance = driver
            .entry()
            .create_instance(&vk::InstanceCreateInfo::default(), None)
            .unwrap();
        look(&instance);
        instance.destroy_instance(None);
    }
}

#[test]
fn devices_have_the_names_kinds_and_limits_described() {
    let mut second = NoopDevice {
        name: "second".to_owned(),
        kind: vk::PhysicalDeviceType::CPU,
        ..Default::default()
    };
    second.limits.max_push_constants_size = 128;
    let desc = NoopDesc {
        devices: vec![NoopDevice::default(), second],
        ..NoopDesc::default()
    };
    with_instance(&NoopDriver::new(desc), |instance| {
        // SAFETY: all valid.
        unsafe {
            let devices = instance.enumerate_physical_devices().unwrap();
            assert_eq!(devices.len(), 2);
            let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut unknown = vk::PhysicalDevicePCIBusInfoPropertiesEXT {
                pci_bus: 77,
                ..Default::default()
            };
            let mut mesh = vk::PhysicalDeviceMeshShaderPropertiesEXT::default();
            let mut properties = vk::PhysicalDeviceProperties2::default()
                .push_next(&mut push)
                .push_next(&mut driver)
                .push_next(&mut unknown)
                .push_next(&mut mesh);
            instance.get_physical_device_properties2(devices[1], &mut properties);
            let properties = properties.properties;
            assert_eq!(properties.device_name_as_c_str().unwrap(), c"second");
            assert_eq!(properties.device_type, vk::PhysicalDeviceType::CPU);
            assert_eq!(properties.limits.max_push_constants_size, 128);
            assert_eq!(push.max_push_descriptors, 32);
            assert_eq!(driver.driver_name_as_c_str().unwrap(), c"impel no-op");
            assert_eq!(mesh.max_mesh_output_vertices, 256);
            assert_eq!(unknown.pci_bus, 77, "an unknown structure stays as it is");
            let families = instance.get_physical_device_queue_family_properties(devices[0]);
            assert_eq!(families.len(), 2);
            assert_eq!(families[1].queue_flags, vk::QueueFlags::TRANSFER);
            let memory = instance.get_physical_device_memory_properties(devices[0]);
            assert_eq!((memory.memory_type_count, memory.memory_heap_count), (4, 2));
        }
    });
}

#[test]
fn there_may_be_no_device() {
    let driver = NoopDriver::new(NoopDesc {
        devices: Vec::new(),
        ..NoopDesc::default()
    });
    with_instance(&driver, |instance| {
        // SAFETY: all valid.
        let devices = unsafe { instance.enumerate_physical_devices() };
        assert!(devices.unwrap().is_empty());
    });
}

#[test]
fn features_taken_away_are_neither_offered_nor_enabled() {
    for (name, index) in [
        ("shaderInt64", 0),
        ("timelineSemaphore", 1),
        ("synchronization2", 2),
        ("meshShader", 3),
    ] {
        let driver = NoopDriver::new(NoopDesc::with(|device| device.lacks(name)));
        with_instance(&driver, |instance| {
            let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
            let mut f13 = vk::PhysicalDeviceVulkan13Features::default();
            let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default();
            let mut all = vk::PhysicalDeviceFeatures2::default()
                .push_next(&mut f12)
                .push_next(&mut f13)
                .push_next(&mut mesh);
            // SAFETY: all valid.
            unsafe {
                let physical = instance.enumerate_physical_devices().unwrap()[0];
                instance.get_physical_device_features2(physical, &mut all);
            }
            let core = all.features;
            let offered = [
                core.shader_int64,
                f12.timeline_semaphore,
                f13.synchronization2,
                mesh.mesh_shader,
            ];
            for (other, &value) in offered.iter().enumerate() {
                assert_eq!(value, u32::from(other != index), "{name}, feature {other}");
            }
            assert_eq!(mesh.task_shader, vk::TRUE);
        });
    }
    let lacking = NoopDesc::with(|device| device.lacks("bufferDeviceAddress"));
    let (result, driver) = Context::try_new(lacking)
        .err()
        .expect("the device lacks a feature asked for");
    assert_eq!(result, vk::Result::ERROR_FEATURE_NOT_PRESENT);
    assert!(
        driver.errors()[0].contains("bufferDeviceAddress"),
        "{:?}",
        driver.errors()
    );
}

#[test]
fn extensions_taken_away_take_their_features_with_them() {
    let lacking = NoopDesc::with(|device| device.lacks("VK_EXT_mesh_shader"));
    let (result, driver) = Context::try_new(lacking)
        .err()
        .expect("the device lacks an extension asked for");
    assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
    with_instance(&driver, |instance| {
        let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default();
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut mesh);
        // SAFETY: all valid.
        unsafe {
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            instance.get_physical_device_features2(physical, &mut all);
            assert_eq!(mesh.mesh_shader, vk::FALSE);
            let extensions = instance
                .enumerate_device_extension_properties(physical)
                .unwrap();
            let names: Vec<_> = extensions
                .iter()
                .map(|e| e.extension_name_as_c_str().unwrap())
                .collect();
            assert!(
                names.contains(&c"VK_KHR_push_descriptor")
                    && !names.contains(&c"VK_EXT_mesh_shader")
            );
        }
    });
}

#[test]
fn functions_that_are_unknown_or_not_enabled_are_null() {
    let context = Context::new(NoopDesc::default());
    let device = context.device.handle();
    // SAFETY: all valid.
    unsafe {
        let get = |name: &std::ffi::CStr| {
            context
                .instance
                .get_device_proc_addr(device, name.as_ptr())
                .is_some()
        };
        assert!(
            get(c"vkCmdDraw")
                && get(c"vkCmdPushDescriptorSetWithTemplateKHR")
                && get(c"vkGetCalibratedTimestampsEXT")
        );
        assert!(
            !get(c"vkGetCalibratedTimestampsKHR"),
            "only the EXT form was enabled"
        );
        assert!(!get(c"vkGetDeviceFaultInfoEXT") && !get(c"vkCmdWriteBufferMarkerAMD"));
        assert!(!get(c"vkNoSuchFunction") && !get(c"vkCreateInstance"));
    }
    context.end_clean();
}

#[test]
fn layers_and_instance_extensions_are_checked() {
    let layer = NoopLayer {
        name: "VK_LAYER_KHRONOS_validation".to_owned(),
        spec_version: vk::make_api_version(0, 1, 3, 239),
        extensions: vec!["VK_EXT_validation_features".to_owned()],
    };
    let driver = NoopDriver::new(NoopDesc {
        layers: vec![layer],
        ..NoopDesc::default()
    });
    let entry = driver.entry();
    // SAFETY: all valid.
    unsafe {
        let layers = entry.enumerate_instance_layer_properties().unwrap();
        assert_eq!(layers[0].spec_version, vk::make_api_version(0, 1, 3, 239));
        let extensions = [c"VK_EXT_validation_features".as_ptr()];
        let without = vk::InstanceCreateInfo::default().enabled_extension_names(&extensions);
        let result = entry.create_instance(&without, None).err();
        assert_eq!(result, Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
        let instance = entry
            .create_instance(&without.enabled_layer_names(&layers), None)
            .unwrap();
        instance.destroy_instance(None);
        let layers = [c"VK_LAYER_other".as_ptr()];
        let wrong = vk::InstanceCreateInfo::default().enabled_layer_names(&layers);
        assert_eq!(
            entry.create_instance(&wrong, None).err(),
            Some(vk::Result::ERROR_LAYER_NOT_PRESENT)
        );
    }
}

#[test]
fn calls_fail_as_described() {
    let failure = |function: &str, first, result| Failure {
        function: function.to_owned(),
        first,
        count: 1,
        result,
    };
    let desc = NoopDesc {
        failures: vec![
            failure("vkCreateDevice", 0, vk::Result::ERROR_INITIALIZATION_FAILED),
            failure(
                "vkAllocateMemory",
                1,
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            ),
        ],
        ..NoopDesc::default()
    };
    let (result, _) = Context::try_new(desc.clone())
        .err()
        .expect("the first device fails");
    assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);

    let context = Context::new(NoopDesc {
        failures: desc.failures[1..].to_vec(),
        ..desc
    });
    // SAFETY: all valid.
    unsafe {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(1024)
            .memory_type_index(1);
        let first = context.device.allocate_memory(&info, None).unwrap();
        let second = context.device.allocate_memory(&info, None);
        assert_eq!(second.unwrap_err(), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        let third = context.device.allocate_memory(&info, None).unwrap();
        assert_eq!(context.driver.calls("vkAllocateMemory"), 3);
        context.device.free_memory(first, None);
        context.device.free_memory(third, None);
        context
            .driver
            .fail_next("vkQueueSubmit2", vk::Result::ERROR_DEVICE_LOST);
        let submit = || {
            context
                .device
                .queue_submit2(context.queue, &[], vk::Fence::null())
        };
        assert_eq!(submit().unwrap_err(), vk::Result::ERROR_DEVICE_LOST);
        submit().unwrap();
    }
    context.end_clean();
}

#[test]
fn what_was_enabled_can_be_asked() {
    let context = Context::new(NoopDesc::default());
    let enabled = &context.driver.enabled()[0];
    assert!(
        enabled
            .extensions
            .contains(&"VK_EXT_mesh_shader".to_owned())
    );
    for feature in ["bufferDeviceAddress", "synchronization2", "meshShader"] {
        assert!(
            enabled.features.contains(&feature.to_owned()),
            "{feature}: {:?}",
            enabled.features
        );
    }
    assert!(!enabled.features.contains(&"maintenance4".to_owned()));
    assert_eq!(enabled.queues, [(0, 1)]);
    context.end_clean();
}

#[test]
fn leaks_are_told_with_their_names() {
    let context = Context::new(NoopDesc::default());
    let (buffer, memory) = context.buffer(256);
    let utils = ash::ext::debug_utils::Device::new(&context.instance, &context.device);
    let name = vk::DebugUtilsObjectNameInfoEXT::default()
        .object_handle(buffer)
        .object_name(c"forgotten");
    // SAFETY: all valid.
    unsafe {
        utils.set_debug_utils_object_name(&name).unwrap();
        context.device.free_memory(memory, None);
    }
    assert_eq!(context.driver.name(buffer), "forgotten");
    assert_eq!(context.driver.live(vk::ObjectType::BUFFER), 1);
    let driver = context.end();
    let leaks = driver.leaks();
    assert_eq!(leaks.len(), 1, "{leaks:?}");
    assert_eq!(
        (leaks[0].kind, leaks[0].name.as_str()),
        (vk::ObjectType::BUFFER, "forgotten")
    );
    assert_eq!(driver.live(vk::ObjectType::BUFFER), 0);
}

#[test]
fn messages_reach_the_messengers() {
    unsafe extern "system" fn callback(
        _: vk::DebugUtilsMessageSeverityFlagsEXT,
        _: vk::DebugUtilsMessageTypeFlagsEXT,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
        user: *mut std::ffi::c_void,
    ) -> vk::Bool32 {
        // SAFETY: the messenger below gives a vector of strings, and the driver a valid message.
        unsafe {
            let text = (*data)
                .message_as_c_str()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            (*user.cast::<Vec<String>>()).push(text);
        }
        vk::FALSE
    }
    let context = Context::new(NoopDesc::default());
    let mut heard: Vec<String> = Vec::new();
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(callback))
        .user_data((&raw mut heard).cast());
    let entry = context.driver.entry();
    let utils = ash::ext::debug_utils::Instance::new(&entry, &context.instance);
    // SAFETY: all valid.
    let messenger = unsafe { utils.create_debug_utils_messenger(&info, None).unwrap() };
    context.driver.say(
        vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        "VUID-1",
        "a hazard",
    );
    context.driver.say(
        vk::DebugUtilsMessageSeverityFlagsEXT::INFO,
        "VUID-2",
        "not wanted",
    );
    // SAFETY: all valid.
    unsafe { utils.destroy_debug_utils_messenger(messenger, None) };
    context.driver.say(
        vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        "VUID-3",
        "too late",
    );
    assert_eq!(heard, ["a hazard"]);
    context.end_clean();
}

#[test]
fn pipeline_caches_grow_and_are_taken_back() {
    let context = Context::new(NoopDesc::default());
    // SAFETY: all valid.
    unsafe {
        let create = |data: &[u8]| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
            context.device.create_pipeline_cache(&info, None).unwrap()
        };
        let cache = create(&[]);
        let empty = context.device.get_pipeline_cache_data(cache).unwrap();
        assert_eq!(
            (empty.len(), &empty[..8]),
            (32, &[32, 0, 0, 0, 1, 0, 0, 0][..])
        );
        let code = [0x0723_0203, 0x1_0000, 0, 1, 0];
        let module = context
            .device
            .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)
            .unwrap();
        let layout = context
            .device
            .create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)
            .unwrap();
        let pipeline = |cache, constant: u32| {
            let entries = [vk::SpecializationMapEntry {
                constant_id: 7,
                offset: 0,
                size: 4,
            }];
            let data = constant.to_le_bytes();
            let constants = vk::SpecializationInfo::default()
                .map_entries(&entries)
                .data(&data);
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main")
                .specialization_info(&constants);
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout);
            context
                .device
                .create_compute_pipelines(cache, &[info], None)
                .unwrap()[0]
        };
        let made = [pipeline(cache, 1), pipeline(cache, 1), pipeline(cache, 2)];
        let info = context.driver.pipeline(made[2]).unwrap();
        assert_eq!(info.layout, layout);
        assert_eq!(info.stages[0].constants, [(7, vec![2, 0, 0, 0])]);
        let full = context.device.get_pipeline_cache_data(cache).unwrap();
        context.driver.fail_next(
            "vkCreateComputePipelines",
            vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        );
        let info = vk::ComputePipelineCreateInfo::default().layout(layout);
        let failed = context
            .device
            .create_compute_pipelines(cache, &[info], None);
        let null = (
            vec![vk::Pipeline::null()],
            vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        );
        assert_eq!(failed.unwrap_err(), null);
        assert_eq!(full.len(), 32 + 16, "two different pipelines");
        let again = create(&full);
        assert_eq!(context.device.get_pipeline_cache_data(again).unwrap(), full);
        let mut damaged = full.clone();
        damaged[20] ^= 1;
        let ignored = create(&damaged);
        assert_eq!(
            context.device.get_pipeline_cache_data(ignored).unwrap(),
            empty
        );
        for cache in [cache, again, ignored] {
            context.device.destroy_pipeline_cache(cache, None);
        }
        for pipeline in made {
            context.device.destroy_pipeline(pipeline, None);
        }
        context.device.destroy_pipeline_layout(layout, None);
        context.device.destroy_shader_module(module, None);
    }
    context.end_clean();
}
