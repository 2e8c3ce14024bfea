//! Which uploads go to the transfer queue, and who waits for them; on the no-op device, which has such a queue, and on the real one.

mod common;
#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use common::{Noop, compute, noop, noop_with, storage};
use impel_gpu::noop::{Command, Failure, NoopDesc, Submission};
use impel_gpu::{Buffer, Error, GpuDesc, TextureDesc, vk};
use programs::fill;

/// The queue families of the no-op device.
const FRAMES: u32 = 0;
const COPIES: u32 = 1;

fn copies(submission: &Submission) -> Vec<(u64, u64)> {
    submission
        .commands()
        .filter_map(|command| match command {
            Command::CopyBuffer { regions, .. } => Some(regions),
            _ => None,
        })
        .flatten()
        .map(|region| (region.dst_offset, region.size))
        .collect()
}

/// Each submission since the last call: family, copies to buffers.
fn submitted(gpu: &Noop) -> Vec<(u32, Vec<(u64, u64)>)> {
    let submissions = gpu.driver.take_submissions();
    submissions
        .iter()
        .map(|submission| (submission.family, copies(submission)))
        .collect()
}

fn empty_frame(gpu: &Noop) {
    gpu.begin_frame().unwrap().submit().unwrap();
}

fn frame_with(gpu: &Noop, buffer: &Buffer) {
    let work = compute(gpu, "fill", fill::SHADERS);
    let mut frame = gpu.begin_frame().unwrap();
    let pass = frame.compute("fill", &work).bind([buffer.whole()]);
    let push = fill::Push { first: 0, count: 1 };
    pass.push(&push).dispatch([1, 1, 1]).unwrap();
    frame.submit().unwrap();
}

#[test]
fn what_no_pass_has_touched_goes_there_and_the_frame_waits() {
    let gpu = noop();
    assert!(gpu.info().features.transfer_queue);
    let buffer = storage(&gpu, "buffer", 64);
    gpu.upload(&buffer, 0, &[1; 16]).unwrap();
    frame_with(&gpu, &buffer);
    let submissions = gpu.driver.take_submissions();
    let [upload, frame] = submissions.as_slice() else {
        panic!("two submissions: {submissions:#?}");
    };
    assert_eq!((upload.family, copies(upload)), (COPIES, vec![(0, 16)]));
    assert_eq!((frame.family, copies(frame)), (FRAMES, vec![]));
    let [signal] = upload.signals.as_slice() else {
        panic!("one signal: {upload:#?}");
    };
    let waits: Vec<_> = frame
        .waits
        .iter()
        .map(|wait| (wait.semaphore, wait.value, wait.stages))
        .collect();
    assert_eq!(
        waits,
        [(
            signal.semaphore,
            signal.value,
            vk::PipelineStageFlags2::ALL_COMMANDS
        )]
    );
    assert_eq!(signal.value, 1);
    // Now a pass has touched it.
    gpu.upload(&buffer, 16, &[2; 16]).unwrap();
    frame_with(&gpu, &buffer);
    assert_eq!(submitted(&gpu), [(FRAMES, vec![(16, 16)])]);
    // One made since has not been touched, whatever other buffers were.
    let later = storage(&gpu, "later", 64);
    gpu.upload(&buffer, 32, &[3; 16]).unwrap();
    gpu.upload(&later, 0, &[4; 16]).unwrap();
    frame_with(&gpu, &later);
    assert_eq!(
        submitted(&gpu),
        [(COPIES, vec![(0, 16)]), (FRAMES, vec![(32, 16)])]
    );
}

#[test]
fn frames_without_passes_touch_nothing() {
    let gpu = noop();
    let buffer = storage(&gpu, "buffer", 64);
    for round in 0..3 {
        gpu.upload(&buffer, round * 16, &[1; 16]).unwrap();
        empty_frame(&gpu);
        assert_eq!(
            submitted(&gpu),
            [(COPIES, vec![(round * 16, 16)]), (FRAMES, vec![])]
        );
    }
}

#[test]
fn a_buffer_made_while_a_frame_is_recorded_may_be_touched_by_it() {
    let gpu = noop();
    let work = compute(&gpu, "fill", fill::SHADERS);
    let mut frame = gpu.begin_frame().unwrap();
    let buffer = storage(&gpu, "buffer", 64);
    gpu.upload(&buffer, 0, &[1; 16]).unwrap();
    let pass = frame.compute("fill", &work).bind([buffer.whole()]);
    let push = fill::Push { first: 0, count: 1 };
    pass.push(&push).dispatch([1, 1, 1]).unwrap();
    frame.submit().unwrap();
    empty_frame(&gpu);
    assert_eq!(submitted(&gpu), [(FRAMES, vec![]), (FRAMES, vec![(0, 16)])]);
}

#[test]
fn copies_over_one_another_and_large_ones_stay_in_order() {
    let gpu = noop();
    let buffer = storage(&gpu, "buffer", 64);
    gpu.upload(&buffer, 0, &[1; 16]).unwrap();
    gpu.upload(&buffer, 8, &[2; 16]).unwrap();
    empty_frame(&gpu);
    let submissions = gpu.driver.take_submissions();
    let between: Vec<_> = submissions[0]
        .commands()
        .map(|command| matches!(command, Command::PipelineBarrier(_)))
        .collect();
    assert_eq!(between, [true, false, true, false]);
    // More than the staging ring holds.
    let size = 80 << 20;
    let large = storage(&gpu, "large", size);
    gpu.upload(&large, 0, &vec![7; size as usize]).unwrap();
    empty_frame(&gpu);
    let submissions = submitted(&gpu);
    assert!(
        submissions
            .iter()
            .all(|(family, copies)| *family == COPIES || copies.is_empty())
    );
    let pieces: Vec<_> = submissions
        .into_iter()
        .flat_map(|(_, copies)| copies)
        .collect();
    let mut at = 0;
    for (offset, size) in pieces {
        assert_eq!(offset, at);
        at += size;
    }
    assert_eq!(at, size);
}

#[test]
fn textures_and_devices_without_such_a_queue_use_the_frames_own() {
    let one_queue = || NoopDesc::with(|device| device.queue_families.truncate(1));
    let asked_not = GpuDesc {
        transfer_queue: false,
        ..Default::default()
    };
    for gpu in [
        noop_with(one_queue(), &GpuDesc::default()),
        noop_with(NoopDesc::default(), &asked_not),
    ] {
        assert!(!gpu.info().features.transfer_queue);
        let buffer = storage(&gpu, "buffer", 64);
        gpu.upload(&buffer, 0, &[1; 16]).unwrap();
        empty_frame(&gpu);
        assert_eq!(submitted(&gpu), [(FRAMES, vec![(0, 16)])]);
    }
    let gpu = noop();
    let texture = gpu
        .texture(&TextureDesc {
            name: "texture",
            size: [4, 4, 1],
            usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
            ..Default::default()
        })
        .unwrap();
    gpu.upload_texture(&texture, 0, 0, &[0; 64]).unwrap();
    empty_frame(&gpu);
    assert_eq!(submitted(&gpu), [(FRAMES, vec![])]);
}

/// Copies under way keep their target and the staging ring; the driver would say so if one went too early.
#[test]
fn what_is_dropped_stays_until_it_was_copied_to() {
    let gpu = noop_with(
        NoopDesc {
            defer: true,
            ..Default::default()
        },
        &GpuDesc::default(),
    );
    for _ in 0..6 {
        let buffer = storage(&gpu, "buffer", 16 << 20);
        gpu.upload(&buffer, 0, &vec![1; 16 << 20]).unwrap();
        empty_frame(&gpu);
        drop(buffer);
    }
    gpu.wait_idle().unwrap();
}

#[test]
fn a_failed_submission_is_told_and_nothing_follows_it() {
    let gpu = noop_with(
        NoopDesc {
            failures: vec![Failure {
                function: "vkQueueSubmit2".into(),
                first: 0,
                count: 1,
                result: vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            }],
            ..Default::default()
        },
        &GpuDesc::default(),
    );
    let buffer = storage(&gpu, "buffer", 64);
    gpu.upload(&buffer, 0, &[1; 16]).unwrap();
    let said = |result: impel_gpu::Result<impel_gpu::Frame>| match result {
        Err(Error::Vulkan { what, .. }) => what,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a frame"),
    };
    assert_eq!(said(gpu.begin_frame()), "uploads for frame 1");
    assert_eq!(
        said(gpu.begin_frame()),
        "frame 1, so that no other can follow"
    );
}

/// Uploads arrive, whichever queue they went to: to a buffer just made, and to one in use, each read back after a frame.
#[test]
fn uploads_arrive() {
    let gpu = impel_gpu::testing::gpu();
    println!(
        "{}: transfer queue {}",
        gpu.info().name,
        gpu.info().features.transfer_queue
    );
    let bytes = |seed: u32, count: u32| -> Vec<u8> {
        (0..count)
            .flat_map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9).to_le_bytes())
            .collect()
    };
    let mut kept: Vec<(Buffer, Vec<u8>)> = Vec::new();
    for round in 0..8 {
        let buffer = gpu
            .buffer(&impel_gpu::BufferDesc {
                usage: vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC,
                ..impel_gpu::BufferDesc::storage("new", 1 << 20)
            })
            .unwrap();
        let content = bytes(round, 1 << 18);
        gpu.upload(&buffer, 0, &content).unwrap();
        kept.push((buffer, content));
        let change = bytes(round + 100, 256);
        let (old, content) = &mut kept[round as usize / 2];
        gpu.upload(old, 4096, &change).unwrap();
        content[4096..4096 + change.len()].copy_from_slice(&change);
        let mut frame = gpu.begin_frame().unwrap();
        let reads: Vec<_> = kept
            .iter()
            .map(|(buffer, _)| frame.read_back(buffer, 0, buffer.size()).unwrap())
            .collect();
        frame.submit().unwrap();
        for (read, (_, content)) in reads.into_iter().zip(&kept) {
            assert!(read.wait().unwrap() == *content, "round {round}");
        }
    }
    assert_eq!(gpu.take_messages(), Vec::<String>::new());
}
