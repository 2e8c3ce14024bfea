//! The recorded command stream, on the no-op device: templates, the order of a pass's commands, frames in flight.

mod common;
#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use common::{Noop, color, compute, depth, graphics, noop, noop_with, storage};
use impel_gpu::noop::{Command, DescriptorValue, NoopDesc};
use impel_gpu::{BufferDesc, GpuDesc, Load, PassDesc, ResourceRef, SamplerDesc, Scopes, vk};
use programs::{add, array, fill, pointer, six, touch_fragment, triangle};

/// The commands of all frames submitted since the last call.
fn commands(gpu: &Noop) -> Vec<Command> {
    gpu.driver
        .take_submissions()
        .iter()
        .flat_map(|submission| submission.commands().cloned().collect::<Vec<_>>())
        .collect()
}

/// Short names of commands, barriers with what they hold.
fn names(commands: &[Command]) -> Vec<String> {
    commands
        .iter()
        .map(|command| {
            let text = format!("{command:?}");
            let end = text.find([' ', '(', '{']).unwrap_or(text.len());
            match command {
                Command::PipelineBarrier(dependency) => format!(
                    "PipelineBarrier {}+{}",
                    dependency.memory.len(),
                    dependency.images.len()
                ),
                Command::BeginLabel { name, .. } => format!("BeginLabel {name}"),
                Command::WriteTimestamp { query, .. } => format!("WriteTimestamp {query}"),
                _ => text[..end].to_owned(),
            }
        })
        .collect()
}

#[test]
fn six_single_bindings_are_24_bytes_apart_in_the_template() {
    let gpu = noop();
    let pipeline = compute(&gpu, "six", six::SHADERS);
    let entries = gpu
        .driver
        .template_entries(pipeline.raw_template())
        .unwrap();
    use vk::DescriptorType as D;
    let found: Vec<_> = entries
        .iter()
        .map(|entry| {
            let (binding, kind) = (entry.dst_binding, entry.descriptor_type);
            (
                binding,
                kind,
                entry.descriptor_count,
                entry.offset,
                entry.stride,
            )
        })
        .collect();
    let expected = [
        (0, D::STORAGE_BUFFER, 1, 0, 24),
        (1, D::UNIFORM_BUFFER, 1, 24, 24),
        (2, D::COMBINED_IMAGE_SAMPLER, 1, 48, 24),
        (3, D::SAMPLED_IMAGE, 1, 72, 24),
        (4, D::SAMPLER, 1, 96, 24),
        (5, D::STORAGE_IMAGE, 1, 120, 24),
    ];
    assert_eq!(found, expected);
    let layout = gpu.driver.pipeline_layout(pipeline.raw_layout()).unwrap();
    let set = layout.sets[0].as_ref().unwrap();
    assert_eq!(layout.sets.len(), 1);
    assert_eq!(
        set.flags,
        vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR
    );
    let kinds: Vec<_> = set
        .bindings
        .iter()
        .map(|binding| (binding.binding, binding.kind))
        .collect();
    assert_eq!(kinds, expected.map(|(binding, kind, ..)| (binding, kind)));
    assert!(
        set.bindings
            .iter()
            .all(|binding| binding.stages == vk::ShaderStageFlags::COMPUTE)
    );
}

#[test]
fn an_array_takes_as_many_places_as_it_has_elements() {
    let gpu = noop();
    let pipeline = compute(&gpu, "array", array::SHADERS);
    let entries = gpu
        .driver
        .template_entries(pipeline.raw_template())
        .unwrap();
    let found: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry.dst_binding,
                entry.descriptor_count,
                entry.offset,
                entry.stride,
            )
        })
        .collect();
    assert_eq!(found, [(0, 3, 0, 24), (2, 1, 72, 24)]);

    let textures = ["a", "b", "c"].map(|name| color(&gpu, name));
    let target = storage(&gpu, "target", 1024);
    let sampler = gpu.sampler(&SamplerDesc::default()).unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .compute("array", &pipeline)
        .bind(array::Bindings {
            textures: [0, 1, 2].map(|i: usize| textures[i].sampled(&sampler)),
            target: target.range(256, 512),
        })
        .dispatch([1, 1, 1])
        .unwrap();
    frame.submit().unwrap();
    let writes = commands(&gpu)
        .into_iter()
        .find_map(|command| match command {
            Command::PushDescriptorSetWithTemplate { writes, set: 0, .. } => Some(writes),
            _ => None,
        })
        .unwrap();
    let places: Vec<_> = writes
        .iter()
        .map(|write| (write.binding, write.element))
        .collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (2, 0)]);
    for (write, texture) in writes.iter().zip(&textures) {
        let DescriptorValue::Image(image) = write.value else {
            panic!("{write:?}");
        };
        assert_eq!(image.image_view, texture.raw_view());
        assert_eq!(image.sampler, sampler.raw());
        assert_eq!(image.image_layout, vk::ImageLayout::GENERAL);
    }
    let DescriptorValue::Buffer(buffer) = writes[3].value else {
        panic!("{:?}", writes[3]);
    };
    assert_eq!(
        (buffer.buffer, buffer.offset, buffer.range),
        (target.raw(), 256, 512)
    );
}

#[test]
fn a_pipeline_without_bindings_has_no_template() {
    let gpu = noop();
    let pipeline = compute(&gpu, "pointer", pointer::SHADERS);
    assert_eq!(
        pipeline.raw_template(),
        vk::DescriptorUpdateTemplate::null()
    );
    let push = pointer::Push::default();
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .compute("pointer", &pipeline)
        .uses_all()
        .push(&push)
        .dispatch([1, 1, 1])
        .unwrap();
    frame.submit().unwrap();
    let stream = names(&commands(&gpu));
    let expected = [
        "PipelineBarrier 1+0",
        "BeginLabel pointer",
        "WriteTimestamp 0",
        "BindPipeline",
        "PushConstants",
        "Dispatch",
        "WriteTimestamp 1",
        "EndLabel",
    ];
    assert_eq!(stream, expected);
}

#[test]
fn a_compute_pass_is_barrier_label_timestamp_pipeline_constants_descriptors_dispatch() {
    let gpu = noop();
    let (first, second) = (
        compute(&gpu, "fill", fill::SHADERS),
        compute(&gpu, "add", add::SHADERS),
    );
    let [a, b, c] = ["a", "b", "c"].map(|name| storage(&gpu, name, 256));
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .compute("first", &first)
        .bind([a.whole()])
        .push(&fill::Push {
            first: 3,
            count: 64,
        })
        .dispatch_threads([65, 1, 1])
        .unwrap();
    let push = add::Push {
        count: 1,
        factor: 2,
        offset: 3,
        reserved: 4,
    };
    frame
        .compute("second", &second)
        .bind(add::Bindings {
            a: a.whole(),
            b: b.whole(),
            c: c.whole(),
        })
        .push(&push)
        .dispatch([5, 6, 7])
        .unwrap();
    frame.submit().unwrap();
    let stream = commands(&gpu);
    let expected = [
        "BeginLabel first",
        "WriteTimestamp 0",
        "BindPipeline",
        "PushConstants",
        "PushDescriptorSetWithTemplate",
        "Dispatch",
        "WriteTimestamp 1",
        "EndLabel",
        "PipelineBarrier 1+0",
        "BeginLabel second",
        "WriteTimestamp 2",
        "BindPipeline",
        "PushConstants",
        "PushDescriptorSetWithTemplate",
        "Dispatch",
        "WriteTimestamp 3",
        "EndLabel",
    ];
    assert_eq!(names(&stream), expected);
    let Command::PipelineBarrier(barrier) = &stream[8] else {
        panic!("{:?}", stream[8]);
    };
    let memory = barrier.memory[0];
    assert_eq!(memory.src_stages, vk::PipelineStageFlags2::COMPUTE_SHADER);
    assert_eq!(memory.src_access, vk::AccessFlags2::SHADER_STORAGE_WRITE);
    assert_eq!(memory.dst_stages, vk::PipelineStageFlags2::COMPUTE_SHADER);
    assert_eq!(memory.dst_access, vk::AccessFlags2::SHADER_STORAGE_READ);
    for (at, groups) in [(5, [2, 1, 1]), (14, [5, 6, 7])] {
        assert!(
            matches!(stream[at], Command::Dispatch { groups: found, base: [0, 0, 0] } if found == groups)
        );
    }
    let Command::PushConstants {
        stages,
        offset,
        data,
        layout,
    } = &stream[12]
    else {
        panic!("{:?}", stream[12]);
    };
    assert_eq!(
        (*stages, *offset, *layout),
        (vk::ShaderStageFlags::COMPUTE, 0, second.raw_layout())
    );
    assert_eq!(data, bytemuck::bytes_of(&push));
    assert!(
        matches!(stream[11], Command::BindPipeline { pipeline, .. } if Some(pipeline) == second.raw_compute())
    );
    let bound = gpu.driver.bound_sets(&stream);
    assert!(bound.len() == 2 && bound.iter().all(|draw| draw.is_valid()));
}

#[test]
fn a_graphics_pass_begins_rendering_before_it_binds() {
    let gpu = noop();
    let pipeline = graphics(&gpu, "triangle", triangle::SHADERS);
    let (target, deep, corners) = (
        color(&gpu, "target"),
        depth(&gpu, "deep"),
        storage(&gpu, "corners", 64),
    );
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .graphics("triangle", &pipeline)
        .color(&target, Load::Clear([0.25, 0.5, 0.75, 1.0]))
        .depth(&deep, Load::Clear([0.0; 4]))
        .bind(triangle::Bindings {
            corners: corners.whole(),
        })
        .draw(3, 2)
        .unwrap();
    frame.submit().unwrap();
    let stream = commands(&gpu);
    let expected = [
        "PipelineBarrier 0+2",
        "BeginLabel triangle",
        "WriteTimestamp 0",
        "BeginRendering",
        "SetViewport",
        "SetScissor",
        "BindPipeline",
        "PushDescriptorSetWithTemplate",
        "Draw",
        "EndRendering",
        "WriteTimestamp 1",
        "EndLabel",
    ];
    assert_eq!(names(&stream), expected);
    let Command::PipelineBarrier(barrier) = &stream[0] else {
        panic!("{:?}", stream[0]);
    };
    let layouts: Vec<_> = barrier
        .images
        .iter()
        .map(|image| (image.image, image.old_layout, image.new_layout))
        .collect();
    let (undefined, general) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
    assert_eq!(
        layouts,
        [
            (target.raw(), undefined, general),
            (deep.raw(), undefined, general)
        ]
    );
    let Command::BeginRendering {
        colors,
        depth,
        render_area,
        ..
    } = &stream[3]
    else {
        panic!("{:?}", stream[3]);
    };
    assert_eq!(colors[0].clear.floats(), [0.25, 0.5, 0.75, 1.0]);
    assert_eq!(
        (colors[0].view, colors[0].layout),
        (target.raw_view(), general)
    );
    assert_eq!(depth.as_ref().unwrap().view, deep.raw_view());
    assert_eq!(
        (render_area.extent.width, render_area.extent.height),
        (16, 16)
    );
    assert!(matches!(
        stream[8],
        Command::Draw {
            vertex_count: 3,
            instance_count: 2,
            ..
        }
    ));
}

#[test]
fn read_after_read_needs_no_barrier_across_stages_and_frames() {
    let gpu = noop();
    let (adds, draws) = (
        compute(&gpu, "add", add::SHADERS),
        graphics(&gpu, "touch", touch_fragment::SHADERS),
    );
    let shared = storage(&gpu, "shared", 256);
    let (targets, image) = (
        ["b", "c", "d", "e"].map(|name| storage(&gpu, name, 256)),
        color(&gpu, "image"),
    );
    let push = add::Push::default();
    for frame_number in 0..2 {
        let mut frame = gpu.begin_frame().unwrap();
        frame
            .compute("read", &adds)
            .bind([
                shared.whole(),
                shared.whole(),
                targets[frame_number].whole(),
            ])
            .push(&push)
            .dispatch([1, 1, 1])
            .unwrap();
        frame
            .graphics("read", &draws)
            .color(&image, Load::DontCare)
            .bind([shared.whole(), targets[2 + frame_number].whole()])
            .draw(3, 1)
            .unwrap();
        frame.submit().unwrap();
    }
    let memory: usize = commands(&gpu)
        .iter()
        .map(|command| match command {
            Command::PipelineBarrier(dependency) => dependency.memory.len(),
            _ => 0,
        })
        .sum();
    assert_eq!(
        memory, 1,
        "the attachment of the first frame before that of the second, nothing else"
    );
}

#[test]
fn dropped_resources_live_until_their_frame_is_done() {
    let desc = GpuDesc {
        frames_in_flight: 3,
        ..Default::default()
    };
    let gpu = noop_with(
        NoopDesc {
            defer: true,
            ..Default::default()
        },
        &desc,
    );
    let push = fill::Push { first: 0, count: 1 };
    for round in 0..20 {
        let pipeline = compute(&gpu, "fill", fill::SHADERS);
        let buffer = storage(&gpu, "short-lived", 64);
        let (first, second) = (color(&gpu, "first"), color(&gpu, "second"));
        let mut frame = gpu.begin_frame().unwrap();
        frame
            .compute("fill", &pipeline)
            .bind([buffer.whole()])
            .push(&push)
            .dispatch([1, 1, 1])
            .unwrap();
        frame.blit(&first, &second).unwrap();
        let ticket = frame.read_back(&buffer, 0, 64).unwrap();
        drop((pipeline, buffer, first));
        frame.submit().unwrap();
        drop((second, ticket));
        // What was dropped before its submit belongs to this frame and the two before it; what was dropped after, to
        // the next as well.
        let most = 3 + 4;
        assert!(
            gpu.driver.live(vk::ObjectType::BUFFER) <= most,
            "round {round}"
        );
        assert!(
            gpu.driver.live(vk::ObjectType::IMAGE) <= most,
            "round {round}"
        );
    }
    assert_eq!(
        gpu.driver.live(vk::ObjectType::BUFFER),
        7,
        "three frames are in flight"
    );
    assert_eq!(gpu.driver.live(vk::ObjectType::PIPELINE), 3);
    gpu.wait_idle().unwrap();
    assert_eq!(gpu.driver.live(vk::ObjectType::BUFFER), 0);
    assert_eq!(gpu.driver.live(vk::ObjectType::IMAGE), 0);
    assert_eq!(gpu.driver.live(vk::ObjectType::PIPELINE), 0);
}

#[test]
fn a_device_goes_with_its_last_resource_in_any_order() {
    for order in 0..4 {
        let gpu = noop();
        let other = noop();
        let (pipeline, buffer, texture) = (
            compute(&gpu, "fill", fill::SHADERS),
            storage(&gpu, "buffer", 64),
            color(&gpu, "t"),
        );
        let sampler = gpu.sampler(&SamplerDesc::default()).unwrap();
        let same = compute(&other, "fill", fill::SHADERS);
        let mut frame = gpu.begin_frame().unwrap();
        let push = fill::Push { first: 0, count: 1 };
        frame
            .compute("fill", &pipeline)
            .bind([buffer.whole()])
            .push(&push)
            .dispatch([1, 1, 1])
            .unwrap();
        let ticket = frame.read_back(&buffer, 0, 64).unwrap();
        // A clone that outlives the owner, dropped in different places among the rest; the driver must outlive all.
        let clone = (*gpu).clone();
        match order {
            0 => {
                drop(frame);
                drop((pipeline, buffer, texture, sampler, ticket, clone));
            }
            1 => {
                drop((clone, texture, buffer, pipeline));
                drop((frame, ticket, sampler));
            }
            2 => {
                let submitted = frame.submit().unwrap();
                drop((sampler, buffer, submitted, clone, pipeline, ticket, texture));
            }
            _ => {
                drop((ticket, sampler, pipeline, buffer, texture));
                drop((frame, clone));
            }
        }
        drop((other, same));
        drop(gpu);
    }
}

#[test]
fn the_device_outlives_its_gpu_while_resources_are_left() {
    let driver = impel_gpu::noop::NoopDriver::new(NoopDesc::default());
    let gpu = impel_gpu::Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    let buffer = storage(&gpu, "buffer", 64);
    let frame = gpu.begin_frame().unwrap();
    drop(gpu);
    assert_eq!(driver.live(vk::ObjectType::DEVICE), 1);
    drop(frame);
    assert_eq!(driver.live(vk::ObjectType::DEVICE), 1);
    drop(buffer);
    assert_eq!(driver.live(vk::ObjectType::DEVICE), 0);
    common::expect_clean(&driver);
}

#[test]
fn what_the_lower_tier_declares_is_synchronised() {
    let gpu = noop();
    let [a, b] = ["a", "b"].map(|name| storage(&gpu, name, 64));
    let arguments = gpu.buffer(&BufferDesc::storage("arguments", 64)).unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&a, 0, 64, 0).unwrap();
    let accesses = [
        (a.id(), Scopes::TRANSFER_READ),
        (b.id(), Scopes::TRANSFER_WRITE),
    ];
    let desc = PassDesc {
        name: "copy",
        accesses: &accesses,
        ..Default::default()
    };
    frame.pass(&desc, |_| ()).unwrap();
    let accesses = [(arguments.id(), Scopes::INDIRECT_READ)];
    let desc = PassDesc {
        name: "unrelated",
        accesses: &accesses,
        ..Default::default()
    };
    frame.pass(&desc, |_| ()).unwrap();
    frame.submit().unwrap();
    let stream: Vec<_> = names(&commands(&gpu))
        .into_iter()
        .filter(|name| name.contains("Barrier") || name.contains("Begin"))
        .collect();
    assert_eq!(
        stream,
        [
            "BeginLabel fill",
            "PipelineBarrier 1+0",
            "BeginLabel copy",
            "BeginLabel unrelated"
        ]
    );
}
