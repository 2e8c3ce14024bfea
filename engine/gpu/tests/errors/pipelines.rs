//! Shaders and pipelines that do not fit.

use crate::common::{
    color, depth, expect_error, noop, noop_with, shaders, texture, try_compute, try_graphics,
};
use crate::programs::{
    add, heap, payload, plain, pointer, sized, touch_mesh, touch_vertex, triangle, triangle_mesh,
    two_constants,
};
use impel_gpu::noop::{Command, NoopDesc};
use impel_gpu::{
    Blend, ComputePipelineDesc, GpuDesc, GraphicsPipelineDesc, GraphicsState, Load, Shader,
    ShaderCode, vk,
};
use impel_spirv::SpecValue;

const STATE: GraphicsState = GraphicsState {
    cull: vk::CullModeFlags::NONE,
    front_face: vk::FrontFace::COUNTER_CLOCKWISE,
    polygon_mode: vk::PolygonMode::FILL,
    topology: vk::PrimitiveTopology::TRIANGLE_LIST,
    depth: impel_gpu::DepthState {
        test: true,
        write: true,
        compare: vk::CompareOp::GREATER,
    },
    blend: None,
};

#[test]
fn what_is_no_shader_is_refused() {
    expect_error(Shader::new("empty.comp", &[]), &["shader empty.comp"]);
    expect_error(
        Shader::new("text.comp", b"#version 460"),
        &["shader text.comp", "not SPIR-V"],
    );
    expect_error(
        Shader::new("zeros.comp", &[0; 40]),
        &["shader zeros.comp", "not SPIR-V"],
    );
    // A stale or damaged reflection costs a warning, no more.
    let code = ShaderCode {
        refl: b"rubbish",
        ..add::SHADERS[0]
    };
    assert_eq!(
        Shader::from_code(&code).unwrap().interface(),
        shaders(add::SHADERS)[0].interface()
    );
    let foreign = ShaderCode {
        refl: plain::SHADERS[0].refl,
        ..add::SHADERS[0]
    };
    assert_eq!(
        Shader::from_code(&foreign).unwrap().interface(),
        shaders(add::SHADERS)[0].interface()
    );
}

#[test]
fn stages_must_make_a_pipeline() {
    let gpu = noop();
    expect_error(
        try_compute(&gpu, "draw", &plain::SHADERS[..1]),
        &[
            "pipeline \"draw\"",
            "plain.vert is a vertex shader; expected a compute shader",
        ],
    );
    let [vertex, fragment] = [plain::SHADERS[0], plain::SHADERS[1]];
    let [task, mesh] = [payload::SHADERS[0], payload::SHADERS[1]];
    for (code, given) in [
        (vec![], "given "),
        (vec![fragment], "given plain.frag (fragment)"),
        (
            vec![fragment, vertex],
            "given plain.frag (fragment) + plain.vert (vertex)",
        ),
        (
            vec![vertex, vertex],
            "given plain.vert (vertex) + plain.vert (vertex)",
        ),
        (
            vec![vertex, mesh, fragment],
            "given plain.vert (vertex) + payload.mesh (mesh) + plain.frag (fragment)",
        ),
        (
            vec![task, fragment],
            "given payload.task (task) + plain.frag (fragment)",
        ),
        (vec![add::SHADERS[0]], "given add.comp (compute)"),
    ] {
        let message = expect_error(
            try_graphics(&gpu, "mixed", &code, STATE),
            &["pipeline \"mixed\"", given],
        );
        assert!(
            message.contains("expected vertex + fragment or (task +) mesh + fragment"),
            "{message}"
        );
    }
    expect_error(
        try_graphics(&gpu, "no task", &[mesh, fragment], STATE),
        &["payload.mesh reads a task payload, but there is no task shader"],
    );
    expect_error(
        try_graphics(
            &gpu,
            "no payload",
            &[task, touch_mesh::SHADERS[0], fragment],
            STATE,
        ),
        &["touch.mesh reads no task payload, but stands after a task shader"],
    );
    try_graphics(&gpu, "depth only", &[vertex], STATE).unwrap();
    try_graphics(&gpu, "task", payload::SHADERS, STATE).unwrap();
}

#[test]
fn an_input_without_an_output_names_both_files() {
    let gpu = noop();
    let code = [plain::SHADERS[0], triangle::SHADERS[1]];
    expect_error(
        try_graphics(&gpu, "mixed", &code, STATE),
        &[
            "triangle.frag",
            "\"color\" at location 0",
            "has no output in plain.vert",
        ],
    );
}

#[test]
fn constants_are_known_by_name_and_type() {
    let gpu = noop();
    let shader = &shaders(crate::programs::fill::SHADERS)[0];
    let make = |constants: &[(&str, SpecValue)]| {
        gpu.compute_pipeline(&ComputePipelineDesc {
            name: "fill",
            shader,
            constants,
        })
    };
    expect_error(
        make(&[("STRIPE", SpecValue::U32(5))]),
        &[
            "pipeline \"fill\"",
            "no shader has a specialisation constant \"STRIPE\"; there are [\"STRIDE\"]",
        ],
    );
    expect_error(
        make(&[("STRIDE", SpecValue::F32(5.0))]),
        &["specialisation constant \"STRIDE\" of fill.comp is a u32; given F32(5.0)"],
    );
    expect_error(
        make(&[("STRIDE", SpecValue::U32(5)), ("STRIDE", SpecValue::U32(6))]),
        &["pipeline \"fill\"", "\"STRIDE\" is given twice"],
    );
    make(&[("STRIDE", SpecValue::U32(5))]).unwrap();
}

/// One name may have another SpecId in each stage, and one SpecId another name.
#[test]
fn constants_reach_the_stages_that_have_their_name() {
    let gpu = noop();
    let shaders = shaders(two_constants::SHADERS);
    let pipeline = gpu
        .graphics_pipeline(&GraphicsPipelineDesc {
            name: "two constants",
            shaders: &shaders.iter().collect::<Vec<_>>(),
            constants: &[("SCALE", SpecValue::F32(2.0)), ("SHADE", SpecValue::U32(7))],
            state: STATE,
        })
        .unwrap();
    let target = color(&gpu, "target");
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .graphics("draw", &pipeline)
        .color(&target, Load::DontCare)
        .draw(3, 1)
        .unwrap();
    frame.submit().unwrap();
    let submissions = gpu.driver.submissions();
    let bound = submissions[0].commands().find_map(|command| match command {
        Command::BindPipeline { pipeline, .. } => Some(*pipeline),
        _ => None,
    });
    let stages = gpu.driver.pipeline(bound.unwrap()).unwrap().stages;
    let constants: Vec<_> = stages.iter().map(|stage| stage.constants.clone()).collect();
    let bytes = |value: u32| value.to_ne_bytes().to_vec();
    assert_eq!(
        constants,
        [
            vec![(1, bytes(2_f32.to_bits()))],
            vec![(0, bytes(2_f32.to_bits())), (1, bytes(7))],
        ]
    );
}

#[test]
fn a_workgroup_must_fit_the_device() {
    let gpu = noop();
    let shader = &shaders(sized::SHADERS)[0];
    let make = |width| {
        let constants = [("WIDTH", SpecValue::U32(width))];
        gpu.compute_pipeline(&ComputePipelineDesc {
            name: "sized",
            shader,
            constants: &constants,
        })
    };
    assert_eq!(make(96).unwrap().local_size(), [96, 1, 1]);
    expect_error(
        make(2048),
        &[
            "pipeline \"sized\"",
            "sized.comp takes [2048, 1, 1] threads; the device takes [1024, 1024, 64] and 1024 in all",
        ],
    );
    expect_error(
        make(u32::MAX),
        &["sized.comp takes [4294967295, 1, 1] threads"],
    );
}

/// A size that an expression over constants decides, not one constant alone.
#[test]
fn a_local_size_follows_the_constants_it_is_computed_from() {
    let gpu = noop();
    let module = include_bytes!("../../../spirv/tests/modules/local_size_expression.spvasm.spv");
    let shader = Shader::new("local_size_expression", module).unwrap();
    let make = |constants: &[(&str, SpecValue)]| {
        let made = gpu.compute_pipeline(&ComputePipelineDesc {
            name: "local size",
            shader: &shader,
            constants,
        });
        made.map(|pipeline| pipeline.local_size())
    };
    assert_eq!(make(&[]).unwrap(), [8, 3, 1]);
    assert_eq!(make(&[("GROUP", SpecValue::U32(20))]).unwrap(), [40, 3, 1]);
    expect_error(
        make(&[("GROUP", SpecValue::U32(600))]),
        &["takes [1200, 3, 1] threads"],
    );
}

#[test]
fn set_one_and_too_many_descriptors_are_refused() {
    let gpu = noop();
    expect_error(
        try_compute(&gpu, "heap", heap::SHADERS),
        &[
            "pipeline \"heap\"",
            "binding \"heap\" is in set 1; passes bind set 0 only",
        ],
    );
    let small = noop_with(
        NoopDesc::with(|device| device.max_push_descriptors = 2),
        &GpuDesc::default(),
    );
    expect_error(
        try_compute(&small, "add", add::SHADERS),
        &["set 0 pushes 3 descriptors, but the device's maxPushDescriptors is 2"],
    );
    let narrow = noop_with(
        NoopDesc::with(|device| device.limits.max_push_constants_size = 8),
        &GpuDesc::default(),
    );
    expect_error(
        try_compute(&narrow, "add", add::SHADERS),
        &[
            "push constants end at byte 16, but the device's maxPushConstantsSize is 8",
            "add.comp",
        ],
    );
}

#[test]
fn features_that_a_shader_needs_must_be_on() {
    let without_mesh = noop_with(
        NoopDesc::default(),
        &GpuDesc {
            mesh_shaders: false,
            ..Default::default()
        },
    );
    expect_error(
        try_graphics(&without_mesh, "mesh", triangle_mesh::SHADERS, STATE),
        &[
            "triangle.mesh needs meshShader",
            "which the device does not have enabled",
        ],
    );
    assert!(!without_mesh.info().features.mesh_shaders);
    // Stores of a vertex shader need a feature that no capability stands for; it is a required one.
    try_graphics(&without_mesh, "touch", touch_vertex::SHADERS, STATE).unwrap();
    try_compute(&without_mesh, "pointer", pointer::SHADERS).unwrap();
}

#[test]
fn state_that_the_device_does_not_have_is_refused() {
    let gpu = noop_with(
        NoopDesc::with(|device| device.lacks("fillModeNonSolid")),
        &GpuDesc::default(),
    );
    let lines = GraphicsState {
        polygon_mode: vk::PolygonMode::LINE,
        ..STATE
    };
    expect_error(
        try_graphics(&gpu, "lines", plain::SHADERS, lines),
        &[
            "pipeline \"lines\"",
            "LINE polygons need feature fillModeNonSolid",
        ],
    );
    for topology in [
        vk::PrimitiveTopology::PATCH_LIST,
        vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY,
    ] {
        let state = GraphicsState { topology, ..STATE };
        expect_error(
            try_graphics(&gpu, "patches", plain::SHADERS, state),
            &["is not supported"],
        );
    }
    let gpu = noop();
    try_graphics(&gpu, "lines", plain::SHADERS, lines).unwrap();
}

#[test]
fn what_cannot_be_blended_is_said_at_the_first_use() {
    let gpu = noop();
    let state = GraphicsState {
        blend: Some(Blend::Alpha),
        ..STATE
    };
    let pipeline = try_graphics(&gpu, "blended", plain::SHADERS, state).unwrap();
    let numbers = texture(
        &gpu,
        "numbers",
        vk::Format::R32_UINT,
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
    );
    let (target, deep) = (color(&gpu, "target"), depth(&gpu, "deep"));
    let mut frame = gpu.begin_frame().unwrap();
    let pass = frame
        .graphics("pass", &pipeline)
        .color(&numbers, Load::DontCare);
    expect_error(
        pass.draw(3, 1),
        &["pipeline \"blended\"", "cannot blend into R32_UINT"],
    );
    frame
        .graphics("pass", &pipeline)
        .color(&target, Load::Load)
        .depth(&deep, Load::Load)
        .draw(3, 1)
        .unwrap();
}

#[test]
fn a_variant_is_made_once_for_each_combination_of_formats() {
    let gpu = noop();
    let shaders = shaders(plain::SHADERS);
    let pipeline = gpu
        .graphics_pipeline(&GraphicsPipelineDesc {
            name: "plain",
            shaders: &shaders.iter().collect::<Vec<_>>(),
            constants: &[],
            state: STATE,
        })
        .unwrap();
    assert!(pipeline.raw_compute().is_none());
    let (target, deep) = (color(&gpu, "target"), depth(&gpu, "deep"));
    for _ in 0..3 {
        let mut frame = gpu.begin_frame().unwrap();
        frame
            .graphics("a", &pipeline)
            .color(&target, Load::DontCare)
            .draw(3, 1)
            .unwrap();
        frame
            .graphics("b", &pipeline)
            .color(&target, Load::DontCare)
            .depth(&deep, Load::DontCare)
            .draw(3, 1)
            .unwrap();
        frame
            .graphics("c", &pipeline)
            .depth(&deep, Load::DontCare)
            .draw(3, 1)
            .unwrap();
        frame.submit().unwrap();
    }
    assert_eq!(gpu.driver.calls("vkCreateGraphicsPipelines"), 3);
}
