//! Measurements of passes and offscreen pictures, on the no-op and on the real device.

mod common;
#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use common::{compute, expect_error, graphics, noop, noop_with, storage};
use impel_gpu::noop::{Command, NoopDesc};
use impel_gpu::testing::gpu_with;
use impel_gpu::{
    Gpu, GpuDesc, GraphicsState, Load, Offscreen, OffscreenDesc, PassDesc, PassResult,
    PassStatistics, vk,
};
use programs::{fill, payload, plain};

fn counting() -> GpuDesc {
    GpuDesc {
        statistics: true,
        ..Default::default()
    }
}

/// One compute, one vertex, one mesh pass and a fill, `rounds` times in one frame; their results.
fn measured(gpu: &Gpu, rounds: usize) -> Vec<PassResult> {
    let work = compute(gpu, "fill", fill::SHADERS);
    let state = GraphicsState {
        cull: vk::CullModeFlags::NONE,
        ..Default::default()
    };
    let vertices = common::try_graphics(gpu, "plain", plain::SHADERS, state).unwrap();
    let meshes = gpu.info().features.mesh_shaders;
    let meshes =
        meshes.then(|| common::try_graphics(gpu, "mesh", payload::SHADERS, state).unwrap());
    let (buffer, target) = (storage(gpu, "buffer", 4096), common::color(gpu, "target"));
    let push = fill::Push {
        first: 0,
        count: 1024,
    };
    let mut frame = gpu.begin_frame().unwrap();
    for _ in 0..rounds {
        frame.fill(&buffer, 0, 64, 0).unwrap();
        let pass = frame.compute("compute", &work).bind([buffer.whole()]);
        pass.push(&push).dispatch_threads([1024, 1, 1]).unwrap();
        let pass = frame.graphics("vertices", &vertices);
        pass.color(&target, Load::DontCare).draw(3, 1).unwrap();
        if let Some(meshes) = &meshes {
            let pass = frame.graphics("meshes", meshes);
            let pass = pass.color(&target, Load::DontCare);
            pass.draw_mesh_tasks([2, 1, 1]).unwrap();
        }
    }
    frame.submit().unwrap();
    gpu.wait_idle().unwrap();
    gpu.frame_results().pop().unwrap().passes
}

#[test]
fn the_real_device_counts_per_pass() {
    let gpu = gpu_with(&counting());
    let features = gpu.info().features;
    let passes = measured(&gpu, 1);
    assert_eq!(passes[0].name.as_str(), "fill");
    assert_eq!(passes[0].statistics, None, "transfers count nothing");
    if !features.pipeline_statistics {
        assert!(passes.iter().all(|pass| pass.statistics.is_none()));
        return;
    }
    println!("{passes:#?}");
    let compute = passes[1].statistics.unwrap();
    assert_eq!(compute.compute_invocations, 1024);
    assert_eq!(compute.fragment_invocations, 0);
    let vertices = passes[2].statistics.unwrap();
    assert_eq!(
        (vertices.input_primitives, vertices.vertex_invocations),
        (1, 3)
    );
    assert!(
        vertices.fragment_invocations >= 256,
        "16 x 16 pixels, helpers may come on top"
    );
    assert_eq!(
        (vertices.compute_invocations, vertices.mesh_invocations),
        (0, 0)
    );
    if features.mesh_shaders && features.mesh_shader_queries {
        let meshes = passes[3].statistics.unwrap();
        assert_eq!((meshes.task_invocations, meshes.mesh_primitives), (2, 2));
        assert_eq!(meshes.mesh_invocations, 6);
        assert_eq!((meshes.input_primitives, meshes.vertex_invocations), (0, 0));
    }
}

/// Counting goes on and off from frame to frame.
#[test]
fn counting_is_switched_while_running() {
    let gpu = noop_with(NoopDesc::default(), &GpuDesc::default());
    let mut counted = |on: bool| {
        assert_eq!(gpu.count_invocations(on), on);
        let passes = measured(&gpu, 1);
        passes
            .iter()
            .filter(|pass| pass.statistics.is_some())
            .count()
    };
    assert_eq!(
        [false, true, true, false, false, true].map(&mut counted),
        [0, 3, 3, 0, 0, 3]
    );
    let lacking = NoopDesc::with(|device| device.lacks("pipelineStatisticsQuery"));
    let gpu = noop_with(lacking, &GpuDesc::default());
    assert!(!gpu.count_invocations(true) && !gpu.counts_invocations());
    assert!(
        measured(&gpu, 1)
            .iter()
            .all(|pass| pass.statistics.is_none())
    );
}

#[test]
fn mesh_passes_count_in_pools_of_their_own() {
    let gpu = noop_with(NoopDesc::default(), &counting());
    let passes = measured(&gpu, 1);
    let ones = PassStatistics {
        input_primitives: 1,
        vertex_invocations: 1,
        clipped_primitives: 1,
        fragment_invocations: 1,
        compute_invocations: 1,
        ..Default::default()
    };
    let mesh = PassStatistics {
        fragment_invocations: 1,
        task_invocations: 1,
        mesh_invocations: 1,
        mesh_primitives: 1,
        ..Default::default()
    };
    let found: Vec<_> = passes.iter().map(|pass| pass.statistics).collect();
    assert_eq!(found, [None, Some(ones), Some(ones), Some(mesh)]);
    let submission = gpu.driver.take_submissions().remove(0);
    let queries: Vec<_> = submission
        .commands()
        .filter_map(|command| match command {
            Command::BeginQuery { pool, query, .. } => Some(("begin", *pool, *query)),
            Command::EndQuery { pool, query } => Some(("end", *pool, *query)),
            Command::BeginRendering { .. } => Some(("rendering", vk::QueryPool::null(), 0)),
            _ => None,
        })
        .collect();
    let order: Vec<_> = queries
        .iter()
        .map(|(what, _, query)| (*what, *query))
        .collect();
    let expected = [
        ("begin", 0),
        ("end", 0),
        ("begin", 1),
        ("rendering", 0),
        ("end", 1),
        ("begin", 0),
        ("begin", 0),
        ("rendering", 0),
        ("end", 0),
        ("end", 0),
    ];
    assert_eq!(order, expected);
    let pools = [queries[0].1, queries[2].1, queries[5].1, queries[6].1];
    assert!(pools[0] == pools[1] && pools[1] != pools[2] && pools[2] != pools[3]);
}

#[test]
fn statistics_are_off_unless_asked_for_and_there() {
    let cases = [
        (NoopDesc::default(), GpuDesc::default()),
        (
            NoopDesc::with(|device| device.lacks("pipelineStatisticsQuery")),
            counting(),
        ),
    ];
    for (noop, desc) in cases {
        let gpu = noop_with(noop, &desc);
        assert!(
            measured(&gpu, 1)
                .iter()
                .all(|pass| pass.statistics.is_none())
        );
    }
    let gpu = noop_with(
        NoopDesc::with(|device| device.lacks("meshShaderQueries")),
        &counting(),
    );
    let passes = measured(&gpu, 1);
    let found: Vec<_> = passes
        .iter()
        .map(|pass| pass.statistics.is_some())
        .collect();
    assert_eq!(found, [false, true, true, false]);
}

#[test]
fn pools_grow_to_the_number_of_passes() {
    let gpu = noop_with(NoopDesc::default(), &counting());
    let counted = |passes: &[PassResult]| {
        passes
            .iter()
            .filter(|pass| pass.statistics.is_some())
            .count()
    };
    // 64 queries of each kind at first: the 200 of the vertex path and the 100 of mesh shaders find room later.
    for round in 0..4 {
        let passes = measured(&gpu, 100);
        assert_eq!(passes.len(), 400);
        let expected = if round < 2 { 64 + 64 } else { 300 };
        assert_eq!(counted(&passes), expected, "frame {round}");
    }
}

#[test]
fn offscreen_images_are_used_in_turn_and_read_back() {
    let gpu = gpu_with(&GpuDesc::default());
    let pipeline = graphics(&gpu, "plain", plain::SHADERS);
    let mut offscreen = Offscreen::new(
        &gpu,
        &OffscreenDesc {
            size: [5, 3],
            images: 3,
            ..Default::default()
        },
    )
    .unwrap();
    let mut seen = Vec::new();
    for round in 0..6_u8 {
        if round == 4 {
            offscreen.resize([2, 7]).unwrap();
        }
        let image = offscreen.acquire();
        seen.push(image.raw());
        let mut frame = gpu.begin_frame().unwrap();
        let value = f32::from(round * 50) / 255.0;
        let pass = frame.graphics("clear", &pipeline);
        pass.color(image, Load::Clear([value; 4]))
            .draw(0, 0)
            .unwrap();
        let ticket = offscreen.read_back(&mut frame).unwrap();
        frame.submit().unwrap();
        let [width, height] = offscreen.size();
        assert_eq!([width, height], if round < 4 { [5, 3] } else { [2, 7] });
        assert_eq!(
            ticket.wait().unwrap(),
            vec![round * 50; (width * height * 4) as usize]
        );
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[2] != seen[0]);
    assert_eq!(seen[3], seen[0]);
    assert_ne!(seen[4], seen[5]);
}

#[test]
fn wrong_offscreen_presenters_are_refused() {
    let gpu = noop();
    let make = |size, images, format| {
        let desc = OffscreenDesc {
            size,
            images,
            format,
            ..Default::default()
        };
        Offscreen::new(&gpu, &desc)
    };
    let format = vk::Format::R8G8B8A8_SRGB;
    expect_error(
        make([4, 4], 0, format),
        &[
            "offscreen presenter \"offscreen\"",
            "1 to 16 images; given 0",
        ],
    );
    expect_error(make([4, 4], u32::MAX, format), &["given 4294967295"]);
    expect_error(
        make([0, 4], 2, format),
        &["texture \"offscreen 0\"", "given 0x4x1"],
    );
    expect_error(
        make([4, 4], 2, vk::Format::D32_SFLOAT),
        &["the device has no D32_SFLOAT"],
    );
    let mut offscreen = make([4, 4], 1, format).unwrap();
    expect_error(
        offscreen.resize([1 << 20, 1]),
        &["the device takes at most"],
    );
    assert_eq!((offscreen.size(), offscreen.format()), ([4, 4], format));
    assert_eq!(offscreen.acquire().raw(), offscreen.current().raw());
    let same = offscreen.current().raw();
    offscreen.resize([4, 4]).unwrap();
    assert_eq!(offscreen.current().raw(), same);
}

#[test]
fn timestamps_wrap_and_may_be_missing() {
    let wraps = NoopDesc::with(|device| {
        device.queue_families[0].timestamp_valid_bits = 36;
        device.timestamp_origin = (1 << 36) - 2500;
        device.limits.timestamp_period = 2.0;
    });
    let gpu = noop_with(wraps, &GpuDesc::default());
    let passes = measured(&gpu, 1);
    let times: Vec<_> = passes
        .iter()
        .map(|pass| (pass.gpu_start_ns, pass.gpu_end_ns))
        .collect();
    assert_eq!(
        times,
        [(0, 2000), (4000, 6000), (8000, 10000), (12000, 14000)]
    );
    let none = NoopDesc::with(|device| device.queue_families[0].timestamp_valid_bits = 0);
    let gpu = noop_with(none, &GpuDesc::default());
    assert!(measured(&gpu, 1).iter().all(|pass| pass.gpu_end_ns == 0));
    assert_eq!(gpu.driver.calls("vkCreateQueryPool"), 0);
    // An undeclared pass between: named and counted like any other.
    let mut frame = gpu.begin_frame().unwrap();
    let name = "a name of more than sixty-three bytes is cut, at a boundary of characters: ä";
    frame
        .pass(
            &PassDesc {
                name,
                ..Default::default()
            },
            |_| (),
        )
        .unwrap();
    frame.submit().unwrap();
    gpu.wait_idle().unwrap();
    let result = gpu.frame_results().pop().unwrap();
    assert_eq!(result.passes[0].name.as_str(), &name[..63]);
    assert_eq!(result.full_barriers, 1);
}
