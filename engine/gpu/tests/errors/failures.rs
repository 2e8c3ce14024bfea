//! Vulkan calls that fail: each call of a whole program, one after the other.

use crate::common::{
    color, depth, expect_clean, expect_error, noop, storage, try_compute, try_graphics,
};
use crate::programs::{self, fill, payload, pointer, scale_texture, triangle};
use impel_gpu::noop::{Failure, NoopDesc, NoopDriver};
use impel_gpu::{
    BufferDesc, Gpu, GpuDesc, GraphicsState, Load, Memory, Result, SamplerDesc, TextureDesc, vk,
};

/// Functions that a program may call and that can fail.
const FUNCTIONS: [&str; 37] = [
    "vkAllocateCommandBuffers",
    "vkAllocateMemory",
    "vkBeginCommandBuffer",
    "vkBindBufferMemory",
    "vkBindBufferMemory2",
    "vkBindImageMemory",
    "vkBindImageMemory2",
    "vkCreateBuffer",
    "vkCreateCommandPool",
    "vkCreateComputePipelines",
    "vkCreateDescriptorSetLayout",
    "vkCreateDescriptorUpdateTemplate",
    "vkCreateDevice",
    "vkCreateGraphicsPipelines",
    "vkCreateImage",
    "vkCreateImageView",
    "vkCreateInstance",
    "vkCreatePipelineCache",
    "vkCreatePipelineLayout",
    "vkCreateQueryPool",
    "vkCreateSampler",
    "vkCreateSemaphore",
    "vkCreateShaderModule",
    "vkDeviceWaitIdle",
    "vkEndCommandBuffer",
    "vkEnumerateDeviceExtensionProperties",
    "vkEnumerateInstanceExtensionProperties",
    "vkEnumerateInstanceVersion",
    "vkEnumeratePhysicalDevices",
    "vkGetPhysicalDeviceImageFormatProperties",
    "vkGetPipelineCacheData",
    "vkGetQueryPoolResults",
    "vkGetSemaphoreCounterValue",
    "vkMapMemory",
    "vkQueueSubmit2",
    "vkResetCommandPool",
    "vkWaitSemaphores",
];

/// A bit of everything: uploads, compute, graphics, mesh shaders, transfers, read-backs, three frames, drops in between.
fn program(entry: impel_gpu::ash::Entry) -> Result<()> {
    let gpu = Gpu::with_entry(
        &GpuDesc {
            // A folder that cannot be: a file is in its place.
            pipeline_cache: Some(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/cache").into()),
            ..Default::default()
        },
        entry,
    )?;
    let state = GraphicsState::default();
    let fill = try_compute(&gpu, "fill", fill::SHADERS)?;
    let scale = try_compute(&gpu, "scale", scale_texture::SHADERS)?;
    let pointer = try_compute(&gpu, "pointer", pointer::SHADERS)?;
    let triangle = try_graphics(&gpu, "triangle", triangle::SHADERS, state)?;
    let mesh = try_graphics(&gpu, "mesh", payload::SHADERS, state)?;
    let buffer = gpu.buffer(&BufferDesc::storage("buffer", 4096))?;
    let mapped = gpu.buffer(&BufferDesc {
        name: "mapped",
        size: 64,
        usage: vk::BufferUsageFlags::STORAGE_BUFFER,
        memory: Memory::Upload,
    })?;
    mapped.write(0, &[0; 64])?;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::STORAGE
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let make = |name| {
        gpu.texture(&TextureDesc {
            name,
            size: [16, 16, 1],
            mips: 5,
            usage,
            ..Default::default()
        })
    };
    let (source, target) = (make("source")?, make("target")?);
    let sampler = gpu.sampler(&SamplerDesc::default())?;
    let mut tickets = Vec::new();
    for round in 0..3 {
        gpu.upload(&buffer, 0, &[1; 4096])?;
        gpu.upload(&buffer, 64, &[1; 64])?;
        gpu.upload_texture(&source, 0, 0, &[0; 1024])?;
        let temporary = gpu.buffer(&BufferDesc::storage("temporary", 64))?;
        let mut frame = gpu.begin_frame()?;
        frame.fill(&buffer, 0, 4096, 0)?;
        frame.upload(&buffer, 0, &[1; 16])?;
        let push = programs::fill::Push { first: 0, count: 1 };
        frame
            .compute("fill", &fill)
            .bind([temporary.whole()])
            .push(&push)
            .dispatch([1, 1, 1])?;
        frame
            .compute("indirect", &fill)
            .bind([mapped.whole()])
            .push(&push)
            .dispatch_indirect(&temporary, 0)?;
        let push = programs::pointer::Push {
            source: buffer.address(),
            target: temporary.address(),
            count: 1,
            reserved: 0,
        };
        frame
            .compute("pointer", &pointer)
            .push(&push)
            .dispatch([1, 1, 1])?;
        frame
            .compute("scale", &scale)
            .bind([source.sampled(&sampler), target.mip(1).storage()])
            .push(&programs::scale_texture::Push { factor: 1.0 })
            .dispatch_threads([8, 8, 1])?;
        frame
            .graphics("triangle", &triangle)
            .bind([buffer.whole()])
            .color(&target, Load::Clear([0.0; 4]))
            .draw(3, 1)?;
        frame
            .graphics("mesh", &mesh)
            .color(&target, Load::Load)
            .draw_mesh_tasks([1, 1, 1])?;
        frame.blit(&target, &source)?;
        tickets.push(frame.read_back(&buffer, 0, 64)?);
        tickets.push(frame.read_back_texture(&target, 1)?);
        drop(temporary);
        frame.submit()?.wait()?;
        if round == 1 {
            gpu.wait_idle()?;
        }
    }
    for ticket in tickets {
        ticket.wait()?;
    }
    gpu.wait_idle()?;
    gpu.frame_results();
    Ok(())
}

#[test]
fn every_call_may_fail_without_panic_or_leak() {
    let clean = NoopDriver::new(NoopDesc::default());
    program(clean.entry()).unwrap();
    expect_clean(&clean);
    let (mut runs, mut errors) = (0, 0);
    for function in FUNCTIONS {
        let calls = clean.calls(function);
        for (first, count, result) in (0..calls).flat_map(|first| {
            [
                (first, 1, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
                (first, 1, vk::Result::ERROR_DEVICE_LOST),
                (first, u64::MAX, vk::Result::ERROR_OUT_OF_HOST_MEMORY),
            ]
        }) {
            let failures = vec![Failure {
                function: function.into(),
                first,
                count,
                result,
            }];
            let driver = NoopDriver::new(NoopDesc {
                failures,
                ..Default::default()
            });
            let outcome = program(driver.entry());
            let (said, leaks) = (driver.errors(), driver.leaks());
            assert!(
                said.is_empty() && leaks.is_empty(),
                "{function}, call {first} ({count} times) gives {result:?}: {outcome:?}\n{said:#?}\n{leaks:#?}"
            );
            runs += 1;
            errors += usize::from(outcome.is_err());
        }
    }
    println!("{runs} runs, {errors} with an error");
    assert!(
        runs > 300 && errors * 10 > runs * 8,
        "{runs} runs, {errors} errors"
    );
}

#[test]
fn errors_name_the_call_and_what_it_was_for() {
    let open = |function: &str, result| {
        let failures = vec![Failure {
            function: function.into(),
            first: 0,
            count: 1,
            result,
        }];
        let driver = NoopDriver::new(NoopDesc {
            failures,
            ..Default::default()
        });
        program(driver.entry())
    };
    let memory = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    for (function, parts) in [
        (
            "vkCreateInstance",
            &["vkCreateInstance failed for the instance"] as &[_],
        ),
        (
            "vkCreateDevice",
            &["vkCreateDevice failed for Impel no-op device: ERROR_OUT_OF_DEVICE_MEMORY"],
        ),
        (
            "vkCreateSemaphore",
            &["vkCreateSemaphore failed for the frame timeline"],
        ),
        ("vkCreateCommandPool", &["a frame in flight"]),
        ("vkAllocateCommandBuffers", &["a frame in flight"]),
        (
            "vkCreateComputePipelines",
            &["vkCreateComputePipelines failed for pipeline \"fill\""],
        ),
        (
            "vkCreateGraphicsPipelines",
            &["vkCreateGraphicsPipelines failed for pipeline \"triangle\""],
        ),
        (
            "vkCreateShaderModule",
            &["vkCreateShaderModule failed for shader fill.comp"],
        ),
        (
            "vkCreateImage",
            &["vmaCreateImage failed for texture \"source\""],
        ),
        (
            "vkCreateImageView",
            &["vkCreateImageView failed for texture \"source\""],
        ),
        (
            "vkCreateBuffer",
            &["vmaCreateBuffer failed for buffer \"buffer\" of 4096 bytes"],
        ),
        (
            "vkCreateSampler",
            &["vkCreateSampler failed for SamplerDesc"],
        ),
        (
            "vkCreateQueryPool",
            &["vkCreateQueryPool failed for pass timestamps"],
        ),
        (
            "vkBeginCommandBuffer",
            &["vkBeginCommandBuffer failed for frame 1"],
        ),
        (
            "vkQueueSubmit2",
            &["vkQueueSubmit2 failed for uploads for frame 1: ERROR_OUT_OF_DEVICE_MEMORY"],
        ),
    ] {
        expect_error(open(function, memory), parts);
    }
    let all = u64::MAX;
    let failures = vec![Failure {
        function: "vkAllocateMemory".into(),
        first: 0,
        count: all,
        result: memory,
    }];
    let driver = NoopDriver::new(NoopDesc {
        failures,
        ..Default::default()
    });
    expect_error(
        program(driver.entry()),
        &[
            "vmaCreateBuffer",
            "buffer \"buffer\"",
            "ERROR_OUT_OF_DEVICE_MEMORY",
        ],
    );
    expect_clean(&driver);
}

#[test]
fn after_a_frame_that_could_not_be_submitted_there_is_no_other() {
    let gpu = noop();
    let buffer = storage(&gpu, "buffer", 64);
    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&buffer, 0, 64, 0).unwrap();
    let ticket = frame.read_back(&buffer, 0, 64).unwrap();
    gpu.driver
        .fail_next("vkQueueSubmit2", vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    expect_error(
        frame.submit(),
        &["vkQueueSubmit2 failed for frame 1: ERROR_OUT_OF_HOST_MEMORY"],
    );
    expect_error(ticket.wait(), &["its frame has not been submitted"]);
    let again = gpu.begin_frame().map(|_| ());
    expect_error(
        again,
        &[
            "vkQueueSubmit2",
            "frame 1, so that no other can follow",
            "ERROR_OUT_OF_HOST_MEMORY",
        ],
    );
    gpu.wait_idle().unwrap();
}

#[test]
fn a_frame_that_could_not_begin_may_begin_later() {
    let gpu = noop();
    let (target, deep) = (color(&gpu, "target"), depth(&gpu, "deep"));
    for function in [
        "vkBeginCommandBuffer",
        "vkCreateQueryPool",
        "vkGetSemaphoreCounterValue",
        "vkResetCommandPool",
    ] {
        gpu.driver
            .fail_next(function, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        expect_error(gpu.begin_frame().map(|_| ()), &["ERROR_OUT_OF_HOST_MEMORY"]);
    }
    let mut frame = gpu.begin_frame().unwrap();
    assert_eq!(frame.number(), 1);
    frame.clear(&target, [0.0; 4]).unwrap();
    frame.submit().unwrap().wait().unwrap();
    drop((target, deep));
}

#[test]
fn a_frame_with_a_panic_in_a_pass_is_not_submitted() {
    let gpu = noop();
    let target = color(&gpu, "target");
    let pipeline = crate::common::graphics(&gpu, "plain", crate::programs::plain::SHADERS);
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut frame = gpu.begin_frame().unwrap();
        let pass = frame.graphics("pass", &pipeline);
        let _ = pass
            .color(&target, Load::DontCare)
            .record(|_| panic!("this one is meant"));
    }));
    assert!(unwound.is_err());
    assert_eq!(gpu.driver.calls("vkQueueSubmit2"), 0);
    expect_error(
        gpu.begin_frame().map(|_| ()),
        &["a pass's closure failed for frame 1"],
    );
    gpu.wait_idle().unwrap();
}
