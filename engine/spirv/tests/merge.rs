//! Joining stages: values that the design gives, and every error.

mod common;

use common::reflect;
use impel_spirv::{
    Access, DescriptorType, Interface, MergeLimits, ProgramLayout, PushRange, SpecValue, Stage,
    StageFlags, StageInput, check_features, match_stages, merge, required_features,
};

fn merged(names: &[&str]) -> Result<ProgramLayout, String> {
    let interfaces: Vec<Interface> = names.iter().map(|name| reflect(name)).collect();
    let stages: Vec<StageInput<'_>> = names
        .iter()
        .zip(&interfaces)
        .map(|(name, interface)| StageInput::new(name, interface))
        .collect();
    merge(&stages, &MergeLimits::default()).map_err(|error| error.to_string())
}

fn error(names: &[&str]) -> String {
    merged(names).expect_err("an error")
}

/// The message has every part.
fn assert_names(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(
            message.contains(part),
            "\"{part}\" is missing in: {message}"
        );
    }
}

const VERTEX_FRAGMENT: StageFlags = StageFlags(0x11);

#[test]
fn task_and_mesh() {
    let layout = merged(&["payload.task", "payload.mesh"]).unwrap();
    let slots: Vec<(u32, u32)> = layout
        .slots
        .iter()
        .map(|slot| (slot.binding, slot.stages.0))
        .collect();
    let both = 0x40 | 0x80;
    assert_eq!(
        slots,
        [
            (0, both),
            (1, both),
            (2, both),
            (3, both),
            (4, 0x80),
            (5, 0x80),
            (6, 0x80)
        ]
    );
    assert_eq!(
        layout.slots[3].access,
        [
            (Stage::Task, Access::ReadWrite),
            (Stage::Mesh, Access::Write)
        ]
    );
    assert_eq!(layout.slots[3].joined_access(), Access::ReadWrite);
    assert_eq!(
        layout.slots[0].access,
        [(Stage::Task, Access::Read), (Stage::Mesh, Access::Read)]
    );
    assert_eq!(layout.stages, StageFlags(both));
}

#[test]
fn slots_are_sorted_and_give_template_offsets() {
    let layout = merged(&["order.comp"]).unwrap();
    let bindings: Vec<u32> = layout.slots.iter().map(|slot| slot.binding).collect();
    assert_eq!(bindings, [0, 1, 2, 3, 4, 5]);
    assert_eq!(layout.template_offsets(0, 24), [0, 24, 48, 72, 96, 120]);
    let kinds: Vec<DescriptorType> = layout
        .slots
        .iter()
        .map(|slot| slot.descriptor_type)
        .collect();
    use DescriptorType as D;
    assert_eq!(
        kinds,
        [
            D::StorageBuffer,
            D::StorageBuffer,
            D::StorageBuffer,
            D::UniformBuffer,
            D::CombinedImageSampler,
            D::StorageImage
        ]
    );
    assert_eq!(
        (layout.slots[3].block_size, layout.slots[3].padded_size),
        (Some(4), Some(16))
    );

    let layout = merged(&["sets02.vert", "sets1.frag"]).unwrap();
    let slots: Vec<(u32, u32)> = layout
        .slots
        .iter()
        .map(|slot| (slot.binding, slot.stages.0))
        .collect();
    assert_eq!(slots, [(0, 0x1), (1, 0x10), (2, 0x1)]);
    assert_eq!(
        layout
            .slots
            .iter()
            .map(|slot| slot.first)
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[test]
fn arrays_take_consecutive_positions() {
    let interface = reflect("spec_array.comp");
    let mut stage = StageInput::new("spec_array.comp", &interface);
    let counts = |stage: &StageInput<'_>| {
        merge(&[*stage], &MergeLimits::default()).map(|layout| {
            layout
                .slots
                .iter()
                .map(|slot| (slot.first, slot.count))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(counts(&stage).unwrap(), [(0, 4), (4, 6), (10, 11)]);
    stage.spec_values = &[(7, SpecValue::U32(1)), (2, SpecValue::I32(2))];
    assert_eq!(counts(&stage).unwrap(), [(0, 1), (1, 4), (5, 4)]);
    stage.spec_values = &[(7, SpecValue::I32(20))];
    assert_names(
        &counts(&stage).unwrap_err().to_string(),
        &["69", "32", "\"images\"[20]", "\"grid\"[6]", "\"more\"[43]"],
    );
    stage.spec_values = &[(7, SpecValue::F32(1.0))];
    assert_names(
        &counts(&stage).unwrap_err().to_string(),
        &["spec_array.comp", "7", "\"N\"", "i32", "f32"],
    );
    stage.spec_values = &[(7, SpecValue::I32(0))];
    assert_names(
        &counts(&stage).unwrap_err().to_string(),
        &["spec_array.comp", "\"images\"", "is 0"],
    );
}

#[test]
fn push_constants_become_one_range() {
    let range = |names: &[&str]| merged(names).unwrap().push_constants;
    assert_eq!(
        range(&["push8.vert", "push8_at_8.frag"]),
        Some(PushRange {
            offset: 0,
            size: 16,
            stages: VERTEX_FRAGMENT
        })
    );
    assert_eq!(
        range(&["push64.vert", "push16.frag"]),
        Some(PushRange {
            offset: 0,
            size: 64,
            stages: VERTEX_FRAGMENT
        })
    );
    assert_eq!(
        range(&["push4.comp"]),
        Some(PushRange {
            offset: 0,
            size: 4,
            stages: StageFlags(0x20)
        })
    );
    assert_eq!(
        range(&["push64_at_16.vert"]),
        Some(PushRange {
            offset: 16,
            size: 64,
            stages: StageFlags(0x1)
        })
    );
    assert_eq!(range(&["sets02.vert"]), None);
    assert_names(
        &error(&["push132.comp"]),
        &["132", "128", "push132.comp", "0..132"],
    );
}

#[test]
fn aliases_are_legal() {
    let layout = merged(&["aliases.comp"]).unwrap();
    assert_eq!(layout.slots.len(), 2);
    assert_eq!(
        (layout.slots[1].binding, layout.slots[1].joined_access()),
        (2, Access::Read)
    );
}

#[test]
fn disagreements_name_both_files() {
    let message = error(&["sets02.vert", "conflict.frag"]);
    assert_names(
        &message,
        &[
            "set 0",
            "binding 2",
            "sets02.vert",
            "conflict.frag",
            "\"picture\"",
            "storage_buffer",
            "combined_image_sampler",
        ],
    );
    let message = error(&["sets02.vert", "conflict_count.frag"]);
    assert_names(
        &message,
        &[
            "sets02.vert",
            "conflict_count.frag",
            "\"many\"",
            "storage_buffer[3]",
        ],
    );
    assert_names(
        &error(&["push8.vert", "push64.vert"]),
        &["push8.vert", "push64.vert", "vertex"],
    );
}

#[test]
fn pushed_sets_have_limits() {
    assert_names(
        &error(&["runtime_pushed.frag"]),
        &[
            "runtime_pushed.frag",
            "\"pictures\"",
            "runtime array",
            "binding 4",
        ],
    );
    assert_names(&error(&["many.comp"]), &["33", "32", "\"images\"[32]"]);
    // The same array in set 1 is the bindless heap.
    let layout = merged(&["runtime_array.frag"]).unwrap();
    assert_eq!(
        layout
            .slots
            .iter()
            .map(|slot| (slot.set, slot.count))
            .collect::<Vec<_>>(),
        [(1, 0), (1, 4)]
    );
    let interface = reflect("runtime_pushed.frag");
    let stage = StageInput::new("runtime_pushed.frag", &interface);
    assert!(merge(&[stage], &MergeLimits::default().any_sets()).is_ok());
    let limits = MergeLimits {
        set_count: Some(1),
        ..MergeLimits::default()
    };
    let interface = reflect("runtime_array.frag");
    let message = merge(
        &[StageInput::new("runtime_array.frag", &interface)],
        &limits,
    )
    .unwrap_err()
    .to_string();
    assert_names(&message, &["runtime_array.frag", "\"textures\"", "set 1"]);
}

/// A block without an instance name is called by the name that it has.
#[test]
fn nameless_blocks_are_named_in_messages() {
    let mut interface = reflect("active.comp");
    let block = interface.bindings[0].block.unwrap();
    let name = interface.types.get_struct(block).unwrap().name.clone();
    assert!(!name.is_empty());
    for binding in &mut interface.bindings {
        binding.name = "".into();
    }
    let limits = MergeLimits {
        max_push_descriptors: 0,
        ..MergeLimits::default()
    };
    let message = merge(&[StageInput::new("active.comp", &interface)], &limits)
        .unwrap_err()
        .to_string();
    assert_names(
        &message,
        &[&format!("0 \"{name}\""), "maxPushDescriptors is 0"],
    );
}

#[test]
fn entry_points_are_found_by_name_and_stage() {
    let interface = reflect("same_names.spvasm");
    let stage = |name, stage| StageInput {
        entry_point: name,
        stage,
        ..StageInput::new("same_names", &interface)
    };
    let layout = merge(
        &[
            stage("main", Some(Stage::Vertex)),
            stage("main", Some(Stage::Fragment)),
        ],
        &MergeLimits::default(),
    )
    .unwrap();
    assert_eq!(
        layout
            .slots
            .iter()
            .map(|slot| (slot.name.as_str(), slot.stages.0))
            .collect::<Vec<_>>(),
        [("first", 0x1), ("second", 0x10)]
    );
    assert_eq!(
        layout.push_constants,
        Some(PushRange {
            offset: 0,
            size: 32,
            stages: VERTEX_FRAGMENT
        })
    );
    let message = merge(&[stage("absent", None)], &MergeLimits::default())
        .unwrap_err()
        .to_string();
    assert_names(
        &message,
        &[
            "same_names",
            "\"absent\"",
            "\"main\" (vertex)",
            "\"other\" (compute)",
        ],
    );
}

#[test]
fn stage_interfaces_must_fit() {
    let check = |previous: &str, next: &str| {
        let (a, b) = (reflect(previous), reflect(next));
        match_stages(&StageInput::new(previous, &a), &StageInput::new(next, &b))
            .map_err(|error| error.to_string())
    };
    check("payload.mesh", "per_primitive.frag").unwrap();
    check("components.vert", "components.frag").unwrap();
    check("patches.tesc", "patches.tese").unwrap();
    check("uv.vert", "invocations.geom").unwrap();
    let message = check("payload.mesh", "not_per_primitive.frag").unwrap_err();
    assert_names(
        &message,
        &[
            "payload.mesh",
            "not_per_primitive.frag",
            "\"id\"",
            "\"ids\"",
            "location 1",
            "per-primitive",
        ],
    );
    let message = check("components.vert", "wrong_type.frag").unwrap_err();
    assert_names(&message, &["\"xy\"", "location 0", "i32", "f32", "\"xyz\""]);
    let message = check("uv.vert", "per_primitive.frag").unwrap_err();
    assert_names(
        &message,
        &["\"normal\"", "component 2", "no output", "uv.vert"],
    );
    let message = check("wide.vert", "interpolation.frag").unwrap_err();
    assert_names(&message, &["interpolation.frag", "wide.vert"]);
}

#[test]
fn features_that_shaders_need() {
    let names = |module: &str| {
        let interface = reflect(module);
        required_features(&interface, &interface.entry_points[0])
            .into_iter()
            .map(|feature| feature.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("stores.vert"), ["vertexPipelineStoresAndAtomics"]);
    assert!(names("physical_write.frag").contains(&"fragmentStoresAndAtomics".to_owned()));
    assert!(names("physical_write.frag").contains(&"bufferDeviceAddress".to_owned()));
    assert!(names("payload.mesh").contains(&"meshShader".to_owned()));
    assert!(names("small_types.comp").contains(&"shaderInt64".to_owned()));
    assert_eq!(names("push4.comp"), [""; 0]);
    // Extensions of the device that no capability tells of.
    let hlsl = ["VK_GOOGLE_hlsl_functionality1", "VK_GOOGLE_user_type"];
    assert_eq!(names("counter.spvasm"), hlsl);
    assert!(names("nv.spvasm").contains(&"VK_NV_mesh_shader".to_owned()));
    let interface = reflect("counter.spvasm");
    let entry = &interface.entry_points[0];
    let message = check_features("counter", &interface, entry, |name| name != hlsl[1]);
    assert_names(
        &message.unwrap_err().to_string(),
        &["counter", hlsl[1], "extension SPV_GOOGLE_user_type"],
    );
    let interface = reflect("stores.vert");
    let message = check_features(
        "stores.vert",
        &interface,
        &interface.entry_points[0],
        |_| false,
    )
    .unwrap_err()
    .to_string();
    assert_names(
        &message,
        &["stores.vert", "vertexPipelineStoresAndAtomics", "writes"],
    );
    check_features(
        "stores.vert",
        &interface,
        &interface.entry_points[0],
        |_| true,
    )
    .unwrap();
}
