//! Fills, copies, blits, clears, uploads and read-backs.

use crate::common::{color, depth, expect_error, noop, storage, texture};
use impel_gpu::noop::Command;
use impel_gpu::{BufferDesc, Memory, TextureDesc, vk};

#[test]
fn fills_and_copies_of_buffers_are_checked() {
    let gpu = noop();
    let (a, b) = (storage(&gpu, "a", 64), storage(&gpu, "b", 64));
    let target_only = gpu.buffer(&BufferDesc::uniform("target only", 64)).unwrap();
    let source_only = gpu
        .buffer(&BufferDesc {
            name: "source only",
            size: 64,
            usage: vk::BufferUsageFlags::TRANSFER_SRC,
            memory: Memory::Device,
        })
        .unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    expect_error(
        frame.fill(&a, 0, 68, 0),
        &[
            "buffer \"a\"",
            "68 bytes at offset 0",
            "a buffer of 64 bytes",
        ],
    );
    expect_error(frame.fill(&a, 2, 4, 0), &["a multiple of 4"]);
    expect_error(
        frame.fill(&a, 0, 0, 0),
        &["a fill takes a multiple of 4 bytes; given 0"],
    );
    expect_error(frame.fill(&a, 0, 6, 0), &["given 6"]);
    expect_error(frame.fill(&a, u64::MAX - 3, 8, 0), &["needs TRANSFER_DST"]);
    expect_error(
        frame.fill(&source_only, 0, 4, 0),
        &["\"source only\"", "needs TRANSFER_DST"],
    );
    expect_error(frame.copy_buffer(&a, 0, &b, 0, 0), &["a copy of 0 bytes"]);
    expect_error(
        frame.copy_buffer(&a, 60, &b, 0, 8),
        &["buffer \"a\"", "from offset 60"],
    );
    expect_error(frame.copy_buffer(&a, 0, &b, 60, 8), &["buffer \"b\""]);
    expect_error(frame.copy_buffer(&a, 0, &a, 16, 32), &["must not overlap"]);
    expect_error(
        frame.copy_buffer(&target_only, 0, &b, 0, 8),
        &["\"target only\"", "needs TRANSFER_SRC"],
    );
    expect_error(frame.read_back(&a, 0, 0), &["a copy of 0 bytes"]);
    expect_error(frame.read_back(&a, 1, u64::MAX), &["buffer \"a\""]);
    expect_error(frame.read_back(&target_only, 0, 4), &["needs TRANSFER_SRC"]);
    expect_error(frame.upload(&a, 60, &[0; 8]), &["8 bytes at offset 60"]);
    expect_error(
        frame.upload(&source_only, 0, &[0; 8]),
        &["needs TRANSFER_DST"],
    );
    frame.upload(&a, 64, &[]).unwrap();
    frame.copy_buffer(&a, 0, &a, 32, 32).unwrap();
    drop(frame);
    expect_error(gpu.upload(&a, 64, &[0; 4]), &["buffer \"a\""]);
    expect_error(gpu.upload(&a, 1, &[0; 4]), &["a multiple of 4"]);
    gpu.upload(&a, 0, &[]).unwrap();
}

#[test]
fn an_upload_that_finds_no_room_in_a_frame_says_so() {
    let gpu = noop();
    let large = storage(&gpu, "large", 64 << 20);
    let bytes = vec![0; 40 << 20];
    let mut frame = gpu.begin_frame().unwrap();
    expect_error(
        frame.upload(&large, 0, &bytes),
        &["buffer \"large\"", "no room for 41943040 bytes"],
    );
    expect_error(
        gpu.upload(&large, 0, &bytes),
        &["the staging ring is full while a frame is being recorded"],
    );
    frame.submit().unwrap();
    gpu.upload(&large, 0, &bytes).unwrap();
}

#[test]
fn what_is_uploaded_during_a_frame_keeps_its_place_until_the_next_is_done() {
    // Data for the next frame, asked for while one is recorded, must outlive the recorded one's end.
    let gpu = noop();
    let target = storage(&gpu, "target", 64 << 20);
    let piece = vec![0; 8 << 20];
    let frame = gpu.begin_frame().unwrap();
    gpu.upload(&target, 0, &piece).unwrap();
    frame.submit().unwrap().wait().unwrap();
    let frame = gpu.begin_frame().unwrap();
    // The first piece is recorded now, but not copied yet: three more fit, a fourth does not.
    for _ in 0..3 {
        gpu.upload(&target, 8 << 20, &piece).unwrap();
    }
    expect_error(
        gpu.upload(&target, 8 << 20, &piece),
        &["the staging ring is full"],
    );
    drop(frame);
    let offsets: Vec<_> = gpu
        .driver
        .take_submissions()
        .iter()
        .flat_map(|submission| submission.commands().cloned().collect::<Vec<_>>())
        .filter_map(|command| match command {
            Command::CopyBuffer { regions, .. } => Some(regions[0].src_offset),
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [0]);
}

#[test]
fn blits_and_clears_are_checked() {
    let gpu = noop();
    let (a, b, deep) = (color(&gpu, "a"), color(&gpu, "b"), depth(&gpu, "deep"));
    let copied = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let numbers = texture(&gpu, "numbers", vk::Format::R32_UINT, copied);
    let signed = texture(&gpu, "signed", vk::Format::R32_SINT, copied);
    let deep_copied = texture(&gpu, "deep copied", vk::Format::D32_SFLOAT, copied);
    let blocks = texture(&gpu, "blocks", vk::Format::BC7_UNORM_BLOCK, copied);
    let volume = gpu
        .texture(&TextureDesc {
            name: "volume",
            size: [4, 4, 4],
            usage: copied,
            ..Default::default()
        })
        .unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    expect_error(
        frame.blit(&deep, &b),
        &["texture \"deep\"", "it needs TRANSFER_SRC"],
    );
    expect_error(frame.blit(&a, &deep), &["it needs TRANSFER_DST"]);
    expect_error(
        frame.blit(&a, &a),
        &["blit of \"a\" to \"a\"", "into itself"],
    );
    expect_error(frame.blit(&numbers, &a), &["can be filtered", "R32_UINT"]);
    expect_error(frame.blit(&a, &deep_copied), &["can be filtered"]);
    expect_error(
        frame.blit(&a, &blocks),
        &["the device cannot scale between these formats"],
    );
    expect_error(frame.blit(&a, &volume), &["a 3D texture"]);
    frame.blit(&a, &b).unwrap();
    expect_error(frame.clear(&deep, [0.0; 4]), &["it needs TRANSFER_DST"]);
    expect_error(
        frame.clear(&deep_copied, [0.0; 4]),
        &["depth is cleared by a pass"],
    );
    frame.clear(&numbers, [7.9, -1.0, 1e20, f32::NAN]).unwrap();
    frame.clear(&signed, [-7.9; 4]).unwrap();
    frame.clear(&a, [0.5; 4]).unwrap();
    frame.submit().unwrap();
    let values: Vec<_> = gpu
        .driver
        .take_submissions()
        .iter()
        .flat_map(|submission| submission.commands().cloned().collect::<Vec<_>>())
        .filter_map(|command| match command {
            Command::ClearColorImage { color, .. } => Some(color.0),
            _ => None,
        })
        .collect();
    let minus_seven = (-7_i32) as u32;
    assert_eq!(
        values,
        [
            [7, 0, u32::MAX, 0],
            [minus_seven; 4],
            [0.5_f32.to_bits(); 4]
        ]
    );
}

#[test]
fn textures_are_uploaded_and_read_back_whole() {
    let gpu = noop();
    let (a, deep) = (color(&gpu, "a"), depth(&gpu, "deep"));
    let blocks = texture(
        &gpu,
        "blocks",
        vk::Format::BC7_UNORM_BLOCK,
        vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
    );
    expect_error(
        gpu.upload_texture(&a, 0, 0, &[0; 1023]),
        &["texture \"a\"", "1023 bytes where 1024 were expected"],
    );
    expect_error(gpu.upload_texture(&a, 1, 0, &[0; 256]), &["mip 1 of 1"]);
    expect_error(gpu.upload_texture(&a, 0, 1, &[0; 1024]), &["layer 1 of 1"]);
    expect_error(
        gpu.upload_texture(&a, u32::MAX, 0, &[0; 4]),
        &["mip 4294967295 of 1"],
    );
    expect_error(
        gpu.upload_texture(&deep, 0, 0, &[0; 1024]),
        &["which needs TRANSFER_DST"],
    );
    expect_error(
        gpu.upload_texture(&blocks, 0, 0, &[0; 256]),
        &["uploads to BC7_UNORM_BLOCK are not supported"],
    );
    let mut frame = gpu.begin_frame().unwrap();
    expect_error(
        frame.read_back_texture(&deep, 0),
        &["texture \"deep\"", "it needs TRANSFER_SRC"],
    );
    expect_error(frame.read_back_texture(&a, 1), &["mip 1 of 1"]);
    expect_error(
        frame.read_back_texture(&blocks, 0),
        &["BC7_UNORM_BLOCK cannot be read back"],
    );
    let ticket = frame.read_back_texture(&a, 0).unwrap();
    assert_eq!((ticket.len(), ticket.is_empty()), (1024, false));
    assert!(ticket.try_get().unwrap().is_none());
    expect_error(ticket.wait(), &["its frame has not been submitted"]);
    frame.submit().unwrap();
    assert_eq!(ticket.wait().unwrap().len(), 1024);
    assert!(ticket.try_get().unwrap().is_some());
}

#[test]
fn transfers_with_another_device_are_refused() {
    let (gpu, other) = (noop(), noop());
    let (own, foreign) = (storage(&gpu, "own", 64), storage(&other, "foreign", 64));
    let (texture, other_texture) = (color(&gpu, "texture"), color(&other, "other texture"));
    let refused = &["it belongs to another device"];
    expect_error(gpu.upload(&foreign, 0, &[0; 4]), refused);
    expect_error(
        gpu.upload_texture(&other_texture, 0, 0, &[0; 1024]),
        &["it must be of this device"],
    );
    let mut frame = gpu.begin_frame().unwrap();
    expect_error(frame.fill(&foreign, 0, 4, 0), refused);
    expect_error(frame.upload(&foreign, 0, &[0; 4]), refused);
    expect_error(frame.copy_buffer(&own, 0, &foreign, 0, 4), refused);
    expect_error(frame.copy_buffer(&foreign, 0, &own, 0, 4), refused);
    expect_error(frame.read_back(&foreign, 0, 4), refused);
    expect_error(frame.blit(&texture, &other_texture), refused);
    expect_error(frame.blit(&other_texture, &texture), refused);
    expect_error(frame.clear(&other_texture, [0.0; 4]), refused);
    expect_error(frame.read_back_texture(&other_texture, 0), refused);
}

#[test]
fn a_buffer_dropped_with_an_upload_waiting_lives_until_it_is_done() {
    let gpu = noop();
    let buffer = storage(&gpu, "short-lived", 64);
    gpu.upload(&buffer, 0, &[1; 64]).unwrap();
    drop(buffer);
    gpu.wait_idle().unwrap();
    gpu.begin_frame().unwrap().submit().unwrap();
    gpu.wait_idle().unwrap();
    assert_eq!(
        gpu.driver.live(vk::ObjectType::BUFFER),
        1,
        "the staging ring alone"
    );
}
