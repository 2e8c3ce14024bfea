//! Passes on the real device, with validation and synchronization validation on.

#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use impel_gpu::testing::{TestGpu, gpu};
use impel_gpu::{
    Buffer, BufferDesc, ComputePipelineDesc, Gpu, GraphicsPipelineDesc, GraphicsState, Load,
    Pipeline, SamplerDesc, Shader, ShaderCode, Texture, TextureDesc, vk,
};
use impel_spirv::SpecValue;
use programs::{add, fill, pointer, scale_texture, triangle, triangle_mesh};

fn shaders(code: &[ShaderCode]) -> Vec<Shader> {
    code.iter()
        .map(|code| Shader::from_code(code).unwrap())
        .collect()
}

fn compute(gpu: &TestGpu, name: &str, code: &[ShaderCode]) -> Pipeline {
    let shader = &shaders(code)[0];
    gpu.compute_pipeline(&ComputePipelineDesc {
        name,
        shader,
        constants: &[],
    })
    .unwrap()
}

fn storage(gpu: &TestGpu, name: &str, words: u64) -> Buffer {
    gpu.buffer(&BufferDesc::storage(name, words * 4)).unwrap()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
        .collect()
}

#[test]
fn what_one_pass_writes_the_next_one_reads() {
    let gpu = gpu();
    let (fill, add) = (
        compute(&gpu, "fill", fill::SHADERS),
        compute(&gpu, "add", add::SHADERS),
    );
    let (a, b, c) = (
        storage(&gpu, "a", 1000),
        storage(&gpu, "b", 1000),
        storage(&gpu, "c", 1000),
    );
    for round in 0..5_u32 {
        let mut frame = gpu.begin_frame().unwrap();
        for (target, first) in [(&a, round), (&b, 7)] {
            frame
                .compute("fill", &fill)
                .bind(programs::fill::Bindings {
                    target: target.whole(),
                })
                .push(&programs::fill::Push { first, count: 1000 })
                .dispatch_threads([1000, 1, 1])
                .unwrap();
        }
        frame
            .compute("add", &add)
            .bind(programs::add::Bindings {
                a: a.whole(),
                b: b.whole(),
                c: c.whole(),
            })
            .push(&programs::add::Push {
                count: 1000,
                factor: 3,
                offset: 1,
                reserved: 0,
            })
            .dispatch_threads([1000, 1, 1])
            .unwrap();
        let result = frame.read_back(&c, 0, 4000).unwrap();
        assert!(result.wait().is_err(), "the frame has not been submitted");
        frame.submit().unwrap();
        let expected: Vec<u32> = (0..1000).map(|i| round + i + (7 + i) * 3 + 1).collect();
        assert_eq!(words(&result.wait().unwrap()), expected);
    }
    gpu.wait_idle().unwrap();
    let results = gpu.frame_results();
    assert_eq!(results.len(), 5);
    let names: Vec<_> = results[4]
        .passes
        .iter()
        .map(|pass| pass.name.as_str())
        .collect();
    assert_eq!(names, ["fill", "fill", "add", "read back"]);
    // Fill after last frame's reads, add after fill, read-back after add, host after read-back.
    assert_eq!((results[4].barriers, results[4].full_barriers), (4, 0));
    let ends: Vec<_> = results[4]
        .passes
        .iter()
        .map(|pass| (pass.gpu_start_ns, pass.gpu_end_ns))
        .collect();
    assert!(
        ends.windows(2)
            .all(|pair| pair[0].0 <= pair[0].1 && pair[0].1 <= pair[1].1),
        "{ends:?}"
    );
}

#[test]
fn the_same_pass_by_name_by_slot_and_as_a_struct() {
    let gpu = gpu();
    let add = compute(&gpu, "add", add::SHADERS);
    let (a, b, c) = (
        storage(&gpu, "a", 64),
        storage(&gpu, "b", 64),
        storage(&gpu, "c", 64),
    );
    gpu.upload(&a, 0, bytemuck::cast_slice(&[5_u32; 64]))
        .unwrap();
    gpu.upload(&b, 0, bytemuck::cast_slice(&[2_u32; 64]))
        .unwrap();
    let push = programs::add::Push {
        count: 64,
        factor: 10,
        offset: 0,
        reserved: 0,
    };
    for form in 0..3 {
        let mut frame = gpu.begin_frame().unwrap();
        frame.fill(&c, 0, 256, 0).unwrap();
        let pass = frame.compute("add", &add);
        let pass = match form {
            0 => pass.bind([("C", c.whole()), ("B", b.whole()), ("A", a.whole())]),
            1 => pass.bind([a.whole(), b.whole(), c.whole()]),
            _ => pass.bind(programs::add::Bindings {
                a: a.whole(),
                b: b.whole(),
                c: c.whole(),
            }),
        };
        pass.push(&push).dispatch([1, 1, 1]).unwrap();
        let result = frame.read_back(&c, 0, 256).unwrap();
        frame.submit().unwrap();
        assert_eq!(words(&result.wait().unwrap()), [25; 64], "form {form}");
    }
}

#[test]
fn specialisation_constants_are_set_by_name() {
    let gpu = gpu();
    let shader = &shaders(fill::SHADERS)[0];
    let make = |constants: &[(&str, SpecValue)]| {
        gpu.compute_pipeline(&ComputePipelineDesc {
            name: "fill",
            shader,
            constants,
        })
    };
    let pipeline = make(&[("STRIDE", SpecValue::U32(5))]).unwrap();
    let target = storage(&gpu, "target", 64);
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .compute("fill", &pipeline)
        .bind(programs::fill::Bindings {
            target: target.whole(),
        })
        .push(&programs::fill::Push {
            first: 1,
            count: 64,
        })
        .dispatch_threads([64, 1, 1])
        .unwrap();
    let result = frame.read_back(&target, 0, 256).unwrap();
    frame.submit().unwrap();
    assert_eq!(
        words(&result.wait().unwrap()),
        (0..64).map(|i| 1 + i * 5).collect::<Vec<u32>>()
    );
    let unknown = make(&[("STRIPE", SpecValue::U32(5))])
        .err()
        .unwrap()
        .to_string();
    assert!(
        unknown.contains("STRIPE") && unknown.contains("STRIDE"),
        "{unknown}"
    );
    let wrong = make(&[("STRIDE", SpecValue::F32(5.0))])
        .err()
        .unwrap()
        .to_string();
    assert!(
        wrong.contains("u32") && wrong.contains("fill.comp"),
        "{wrong}"
    );
}

/// Pipelines are made on other threads while frames are recorded and run on this one.
#[test]
fn pipelines_are_built_on_worker_threads() {
    let gpu = gpu();
    let device: &Gpu = &gpu;
    let shader = &shaders(fill::SHADERS)[0];
    let make = |stride| {
        let made = device.compute_pipeline(&ComputePipelineDesc {
            name: "fill",
            shader,
            constants: &[("STRIDE", SpecValue::U32(stride))],
        });
        made.unwrap()
    };
    let target = storage(&gpu, "target", 64);
    let run = |pipeline: &Pipeline| {
        let mut frame = gpu.begin_frame().unwrap();
        frame
            .compute("fill", pipeline)
            .bind([target.whole()])
            .push(&programs::fill::Push {
                first: 0,
                count: 64,
            })
            .dispatch_threads([64, 1, 1])
            .unwrap();
        let result = frame.read_back(&target, 0, 256).unwrap();
        frame.submit().unwrap();
        words(&result.wait().unwrap())[63]
    };
    let first = make(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (2..6_u32)
            .map(|stride| (stride, scope.spawn(move || make(stride))))
            .collect();
        for _ in 0..3 {
            assert_eq!(run(&first), 63);
        }
        for (stride, worker) in workers {
            assert_eq!(run(&worker.join().unwrap()), 63 * stride);
        }
    });
}

#[test]
fn indirect_arguments_written_by_a_pass_are_seen_by_the_next() {
    let gpu = gpu();
    let fill = compute(&gpu, "fill", fill::SHADERS);
    let (arguments, target) = (storage(&gpu, "arguments", 4), storage(&gpu, "target", 256));
    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&target, 0, 1024, 0).unwrap();
    // first = 3, stride 1: workgroups are 3, 4, 5 ... too many to matter, since count stops the shader.
    frame
        .compute("arguments", &fill)
        .bind(programs::fill::Bindings {
            target: arguments.whole(),
        })
        .push(&programs::fill::Push { first: 3, count: 3 })
        .dispatch([1, 1, 1])
        .unwrap();
    frame
        .compute("work", &fill)
        .bind(programs::fill::Bindings {
            target: target.whole(),
        })
        .push(&programs::fill::Push {
            first: 100,
            count: 256,
        })
        .dispatch_indirect(&arguments, 0)
        .unwrap();
    let result = frame.read_back(&target, 0, 1024).unwrap();
    frame.submit().unwrap();
    let expected: Vec<u32> = (0..256)
        .map(|i| if i < 192 { 100 + i } else { 0 })
        .collect();
    assert_eq!(
        words(&result.wait().unwrap()),
        expected,
        "three workgroups of 64"
    );
}

#[test]
fn pointers_declared_or_not_reach_what_was_written() {
    let gpu = gpu();
    let (fill, pointer) = (
        compute(&gpu, "fill", fill::SHADERS),
        compute(&gpu, "pointer", pointer::SHADERS),
    );
    for declared in [true, false] {
        let (source, target) = (storage(&gpu, "source", 64), storage(&gpu, "target", 64));
        let mut frame = gpu.begin_frame().unwrap();
        frame
            .compute("fill", &fill)
            .bind(programs::fill::Bindings {
                target: source.whole(),
            })
            .push(&programs::fill::Push {
                first: 1,
                count: 64,
            })
            .dispatch([1, 1, 1])
            .unwrap();
        let push = programs::pointer::Push {
            source: source.address(),
            target: target.address(),
            count: 64,
            reserved: 0,
        };
        let pass = frame.compute("pointer", &pointer).push(&push);
        let pass = if declared {
            pass.reads(&source).writes(&target)
        } else {
            pass
        };
        pass.dispatch([1, 1, 1]).unwrap();
        let result = frame.read_back(&target, 0, 256).unwrap();
        frame.submit().unwrap();
        assert_eq!(
            words(&result.wait().unwrap()),
            (1..65).map(|i| i * 2).collect::<Vec<u32>>()
        );
        gpu.wait_idle().unwrap();
        let result = gpu.frame_results().pop().unwrap();
        assert_eq!(result.full_barriers, if declared { 0 } else { 2 });
    }
}

fn target(gpu: &TestGpu, size: [u32; 3], usage: vk::ImageUsageFlags) -> Texture {
    let usage = usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.texture(&TextureDesc {
        name: "target",
        size,
        usage,
        ..Default::default()
    })
    .unwrap()
}

#[test]
fn textures_are_uploaded_sampled_stored_and_read_back() {
    let gpu = gpu();
    let pipeline = compute(&gpu, "scale texture", scale_texture::SHADERS);
    let sampler = gpu.sampler(&SamplerDesc::nearest()).unwrap();
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
    let (source, target) = (
        target(&gpu, [37, 19, 1], usage),
        target(&gpu, [37, 19, 1], usage),
    );
    let texels: Vec<u8> = (0..37 * 19 * 4).map(|i| (i % 101) as u8).collect();
    gpu.upload_texture(&source, 0, 0, &texels).unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .compute("scale texture", &pipeline)
        .bind(programs::scale_texture::Bindings {
            source: source.sampled(&sampler),
            target: target.storage(),
        })
        .push(&programs::scale_texture::Push { factor: 2.0 })
        .dispatch_threads([37, 19, 1])
        .unwrap();
    let result = frame.read_back_texture(&target, 0).unwrap();
    frame.submit().unwrap();
    let expected: Vec<u8> = texels.iter().map(|texel| texel * 2).collect();
    assert_eq!(result.wait().unwrap(), expected);
}

#[test]
fn the_vertex_and_the_mesh_path_draw_the_same_triangle() {
    let gpu = gpu();
    let corners = storage(&gpu, "corners", 12);
    // Counter-clockwise with +Y up.
    gpu.upload(
        &corners,
        0,
        bytemuck::cast_slice(&[
            -0.9_f32, -0.9, 0.0, 1.0, 0.9, -0.9, 0.0, 1.0, -0.9, 0.9, 0.0, 1.0,
        ]),
    )
    .unwrap();
    let mut pictures = Vec::new();
    let mesh = gpu.info().features.mesh_shaders;
    for code in [triangle::SHADERS, triangle_mesh::SHADERS]
        .into_iter()
        .take(1 + usize::from(mesh))
    {
        let shaders = shaders(code);
        let shaders: Vec<_> = shaders.iter().collect();
        let pipeline = gpu
            .graphics_pipeline(&GraphicsPipelineDesc {
                name: "triangle",
                shaders: &shaders,
                constants: &[],
                state: GraphicsState::default(),
            })
            .unwrap();
        let color = target(&gpu, [64, 48, 1], vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let depth = gpu
            .texture(&TextureDesc {
                name: "depth",
                format: vk::Format::D32_SFLOAT,
                size: [64, 48, 1],
                usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
                ..Default::default()
            })
            .unwrap();
        let mut frame = gpu.begin_frame().unwrap();
        let pass = frame
            .graphics("triangle", &pipeline)
            .color(&color, Load::Clear([0.0, 0.0, 0.0, 1.0]))
            .depth(&depth, Load::Clear([0.0; 4]))
            .bind([("Corners", corners.whole())]);
        if pictures.is_empty() {
            pass.draw(3, 1).unwrap();
        } else {
            pass.draw_mesh_tasks([1, 1, 1]).unwrap();
        }
        let result = frame.read_back_texture(&color, 0).unwrap();
        frame.submit().unwrap();
        pictures.push(result.wait().unwrap());
    }
    let at = |x: usize, y: usize| &pictures[0][(y * 64 + x) * 4..][..4];
    assert_eq!(at(60, 4), [0, 0, 0, 255], "upper right: outside");
    assert!(
        at(5, 44)[0] > 200,
        "lower left: the first corner is red: {:?}",
        at(5, 44)
    );
    assert!(
        at(57, 44)[1] > 180,
        "lower right: the second is green: {:?}",
        at(57, 44)
    );
    assert!(
        at(5, 6)[2] > 180,
        "upper left: the third is blue, for +Y is up: {:?}",
        at(5, 6)
    );
    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
}

#[test]
fn uploads_larger_than_the_staging_ring_arrive_whole() {
    let gpu = gpu();
    let data: Vec<u32> = (0..25_000_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let buffer = storage(&gpu, "large", data.len() as u64);
    gpu.upload(&buffer, 0, bytemuck::cast_slice(&data)).unwrap();
    // The last of several writes to one place wins.
    gpu.upload(&buffer, 0, bytemuck::cast_slice(&[1_u32, 2]))
        .unwrap();
    gpu.upload(&buffer, 4, bytemuck::cast_slice(&[3_u32]))
        .unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    let result = frame.read_back(&buffer, 0, buffer.size()).unwrap();
    frame.submit().unwrap();
    let read = words(&result.wait().unwrap());
    assert_eq!(read[..2], [1, 3]);
    assert!(read[2..] == data[2..]);
}

#[test]
fn resources_may_be_dropped_while_the_device_still_uses_them() {
    let gpu = gpu();
    let fill = compute(&gpu, "fill", fill::SHADERS);
    gpu.wait_idle().unwrap();
    let before = gpu.allocated_bytes();
    for round in 0..50 {
        let mut frame = gpu.begin_frame().unwrap();
        let target = storage(&gpu, "short-lived", 1 << 16);
        frame
            .compute("fill", &fill)
            .bind(programs::fill::Bindings {
                target: target.whole(),
            })
            .push(&programs::fill::Push {
                first: round,
                count: 1 << 16,
            })
            .dispatch_threads([1 << 16, 1, 1])
            .unwrap();
        drop(target);
        frame.submit().unwrap();
    }
    gpu.wait_idle().unwrap();
    assert_eq!(gpu.allocated_bytes(), before);
}

#[test]
fn a_dropped_frame_is_submitted_and_only_one_is_recorded_at_a_time() {
    let gpu = gpu();
    let buffer = storage(&gpu, "buffer", 4);
    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&buffer, 0, 16, 42).unwrap();
    assert!(gpu.begin_frame().is_err());
    drop(frame);
    let mut frame = gpu.begin_frame().unwrap();
    let result = frame.read_back(&buffer, 0, 16).unwrap();
    frame.submit().unwrap();
    assert_eq!(words(&result.wait().unwrap()), [42; 4]);
}
