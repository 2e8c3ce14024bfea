//! Devices that are not there, or that lack something.

use crate::common::{compute, expect_clean, expect_error, noop_with};
use crate::programs::{fill, touch_mesh};
use impel_gpu::noop::{NoopDesc, NoopDevice, NoopDriver, NoopLayer};
use impel_gpu::{DeviceKind, Error, Gpu, GpuDesc, vk};

/// Opens and closes a device; the driver must be clean in either case.
fn open(noop: NoopDesc, desc: &GpuDesc) -> Result<String, Error> {
    let driver = NoopDriver::new(noop);
    let result = Gpu::with_entry(desc, driver.entry()).map(|gpu| gpu.info().name.clone());
    expect_clean(&driver);
    result
}

fn device(name: &str, kind: vk::PhysicalDeviceType) -> NoopDevice {
    NoopDevice {
        name: name.into(),
        kind,
        ..Default::default()
    }
}

#[test]
fn no_device_at_all() {
    let noop = NoopDesc {
        devices: Vec::new(),
        ..Default::default()
    };
    let error = open(noop, &GpuDesc::default()).unwrap_err();
    assert!(matches!(error, Error::NoDevice { .. }), "{error}");
}

#[test]
fn devices_are_chosen_by_index_name_or_kind() {
    use vk::PhysicalDeviceType as T;
    let devices = vec![
        device("lavapipe", T::CPU),
        device("Some Virtual", T::VIRTUAL_GPU),
        device("Intel", T::INTEGRATED_GPU),
        device("Radeon 1", T::DISCRETE_GPU),
        device("Radeon 2", T::DISCRETE_GPU),
    ];
    let choose = |devices: &[NoopDevice], asked: Option<&str>| {
        let noop = NoopDesc {
            devices: devices.to_vec(),
            ..Default::default()
        };
        open(
            noop,
            &GpuDesc {
                device: asked.map(str::to_owned),
                ..Default::default()
            },
        )
    };
    assert_eq!(choose(&devices, None).unwrap(), "Radeon 1");
    assert_eq!(choose(&devices[..3], None).unwrap(), "Intel");
    assert_eq!(choose(&devices[..2], None).unwrap(), "Some Virtual");
    assert_eq!(choose(&devices[..1], None).unwrap(), "lavapipe");
    assert_eq!(choose(&devices, Some("4")).unwrap(), "Radeon 2");
    assert_eq!(choose(&devices, Some("LAVA")).unwrap(), "lavapipe");
    let found = "found: 0 \"lavapipe\", 1 \"Some Virtual\"";
    expect_error(
        choose(&devices, Some("5")),
        &["no device matches \"5\"", found],
    );
    expect_error(
        choose(&devices, Some("GeForce")),
        &["no device matches \"GeForce\"", found],
    );
}

/// Required features and extensions, in Vulkan's spelling.
const REQUIRED: [&str; 29] = [
    "VK_KHR_push_descriptor",
    "multiDrawIndirect",
    "drawIndirectFirstInstance",
    "shaderInt16",
    "shaderInt64",
    "vertexPipelineStoresAndAtomics",
    "fragmentStoresAndAtomics",
    "storageBuffer16BitAccess",
    "uniformAndStorageBuffer16BitAccess",
    "shaderDrawParameters",
    "drawIndirectCount",
    "storageBuffer8BitAccess",
    "uniformAndStorageBuffer8BitAccess",
    "shaderInt8",
    "shaderFloat16",
    "scalarBlockLayout",
    "bufferDeviceAddress",
    "timelineSemaphore",
    "hostQueryReset",
    "descriptorIndexing",
    "runtimeDescriptorArray",
    "descriptorBindingPartiallyBound",
    "descriptorBindingSampledImageUpdateAfterBind",
    "descriptorBindingUpdateUnusedWhilePending",
    "shaderSampledImageArrayNonUniformIndexing",
    "vulkanMemoryModel",
    "dynamicRendering",
    "synchronization2",
    "maintenance4",
];

#[test]
fn each_required_feature_is_missed_and_all_are_told_at_once() {
    for name in REQUIRED {
        let error = open(
            NoopDesc::with(|device| device.lacks(name)),
            &GpuDesc::default(),
        );
        let message = expect_error(error, &["device \"Impel no-op device\" lacks", name]);
        assert_eq!(
            message.matches("feature ").count() + message.matches("extension ").count(),
            1,
            "{message}"
        );
    }
    let without_all = NoopDesc::with(|device| {
        REQUIRED.iter().for_each(|name| device.lacks(name));
        device.lacks("vulkanMemoryModelDeviceScope");
        device.queue_families.truncate(0);
    });
    let mut parts = REQUIRED.to_vec();
    parts.extend([
        "vulkanMemoryModelDeviceScope",
        "a queue for graphics and compute",
    ]);
    expect_error(open(without_all, &GpuDesc::default()), &parts);
}

#[test]
fn older_versions_are_refused_by_number() {
    let older = NoopDesc::with(|device| device.api_version = vk::API_VERSION_1_2);
    expect_error(
        open(older, &GpuDesc::default()),
        &["lacks Vulkan 1.3 (it offers 1.2)"],
    );
    let loader = NoopDesc {
        api_version: vk::API_VERSION_1_2,
        ..Default::default()
    };
    expect_error(
        open(loader, &GpuDesc::default()),
        &["device \"Vulkan loader\" lacks Vulkan 1.3 (it offers 1.2)"],
    );
}

#[test]
fn optional_features_have_fallbacks_with_names() {
    let optional = [
        ("VK_EXT_mesh_shader", "no mesh shaders"),
        ("meshShader", "no mesh shaders"),
        ("meshShaderQueries", "no mesh shader queries"),
        ("shaderBufferInt64Atomics", "no 64-bit buffer atomics"),
        ("samplerFilterMinmax", "no min/max samplers"),
        ("pipelineStatisticsQuery", "no pipeline statistics"),
        ("VK_EXT_memory_budget", "no memory budget"),
        ("VK_EXT_device_fault", "no device fault reports"),
        ("deviceFault", "no device fault reports"),
    ];
    for (name, fallback) in optional {
        let gpu = noop_with(
            NoopDesc::with(|device| device.lacks(name)),
            &GpuDesc::default(),
        );
        let told = gpu.info().features.fallbacks();
        assert!(
            told.iter().any(|line| line.starts_with(fallback)),
            "{name}: {told:?}"
        );
        let pipeline = compute(&gpu, "fill", fill::SHADERS);
        assert_eq!(pipeline.local_size(), [64, 1, 1]);
        let mesh =
            crate::common::try_graphics(&gpu, "mesh", touch_mesh::SHADERS, Default::default());
        assert_eq!(mesh.is_ok(), gpu.info().features.mesh_shaders, "{name}");
    }
    let gpu = noop_with(
        NoopDesc::with(|device| optional.iter().for_each(|(name, _)| device.lacks(name))),
        &GpuDesc::default(),
    );
    assert_eq!(gpu.info().kind, DeviceKind::Discrete);
    assert!(
        gpu.info()
            .enabled
            .contains(&"bufferDeviceAddress".to_owned())
    );
}

#[test]
fn either_form_of_calibrated_timestamps_will_do() {
    let both = [
        "VK_KHR_calibrated_timestamps",
        "VK_EXT_calibrated_timestamps",
    ];
    for lacking in [vec![], vec![both[0]], vec![both[1]], both.to_vec()] {
        let noop = NoopDesc::with(|device| lacking.iter().for_each(|name| device.lacks(name)));
        let gpu = noop_with(noop, &GpuDesc::default());
        assert_eq!(
            gpu.info().features.calibrated_timestamps,
            lacking.len() < 2,
            "{lacking:?}"
        );
    }
}

#[test]
fn validation_needs_its_layer() {
    let desc = GpuDesc {
        validation: true,
        ..Default::default()
    };
    expect_error(
        open(NoopDesc::default(), &desc),
        &["layer VK_LAYER_KHRONOS_validation is not installed"],
    );
    let layer = NoopLayer {
        name: "VK_LAYER_KHRONOS_validation".into(),
        spec_version: vk::make_api_version(0, 1, 3, 280),
        extensions: vec![
            "VK_EXT_layer_settings".into(),
            "VK_EXT_validation_features".into(),
        ],
    };
    let gpu = noop_with(
        NoopDesc {
            layers: vec![layer],
            ..Default::default()
        },
        &desc,
    );
    let severity = vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
    gpu.driver.say(severity, "VUID", "something is wrong");
    let report = gpu.validation();
    assert_eq!(
        report.layer.as_deref(),
        Some("VK_LAYER_KHRONOS_validation 1.3.280")
    );
    assert_eq!((report.enabled, report.messages), (true, 1));
    assert_eq!(gpu.validation_messages(), ["something is wrong"]);
}

#[test]
fn damaged_and_foreign_pipeline_caches_are_ignored() {
    let folder = std::env::temp_dir().join(format!("impel-errors-cache-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let desc = |name: &str| GpuDesc {
        pipeline_cache: Some(folder.join(name)),
        ..Default::default()
    };
    let run = |noop: NoopDesc, name: &str| {
        let gpu = noop_with(noop, &desc(name));
        drop(compute(&gpu, "fill", fill::SHADERS));
        drop(gpu);
        std::fs::read(folder.join(name)).unwrap()
    };
    let good = run(NoopDesc::default(), "good");
    assert!(
        good.len() > 56,
        "a header and the driver's data: {}",
        good.len()
    );
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let other = run(NoopDesc::with(|device| device.uuid = [7; 16]), "other");
    assert_ne!(good, other, "each device has files of its own kind");
    let long = [good.clone(), vec![0; 100]].concat();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("short", good[..55].to_vec()),
        ("cut", good[..good.len() - 1].to_vec()),
        ("long", long),
        ("flipped", flipped),
        ("rubbish", vec![0xa5; 4096]),
        ("foreign", other),
        ("fine", good.clone()),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
        assert_eq!(run(NoopDesc::default(), name), good, "{name} is replaced");
    }
    // A path that can be neither read nor written costs warnings only.
    std::fs::create_dir_all(folder.join("a folder")).unwrap();
    drop(noop_with(NoopDesc::default(), &desc("a folder")));
    drop(noop_with(NoopDesc::default(), &desc("good/under a file")));
    std::fs::remove_dir_all(folder).unwrap();
}
