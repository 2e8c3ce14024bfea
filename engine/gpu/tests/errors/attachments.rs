//! Attachments, viewports, scissors.

use crate::common::{color, compute, depth, expect_error, graphics, noop, storage, texture};
use crate::programs::{fill, plain, touch_fragment};
use impel_gpu::noop::Command;
use impel_gpu::{Color, Depth, Load, PassDesc, TextureDesc, vk};

#[test]
fn attachments_are_checked() {
    let gpu = noop();
    let pipeline = graphics(&gpu, "plain", plain::SHADERS);
    let (color_target, depth_target) = (color(&gpu, "color"), depth(&gpu, "depth"));
    let sampled = texture(
        &gpu,
        "sampled",
        vk::Format::R8G8B8A8_UNORM,
        vk::ImageUsageFlags::SAMPLED,
    );
    let numbers = texture(
        &gpu,
        "numbers",
        vk::Format::R32_UINT,
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
    );
    let signed = texture(
        &gpu,
        "signed",
        vk::Format::R32_SINT,
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
    );
    let make = |name, size| {
        gpu.texture(&TextureDesc {
            name,
            size,
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
            ..Default::default()
        })
        .unwrap()
    };
    let (large, volume) = (make("large", [17, 16, 1]), make("volume", [16, 16, 2]));
    let clear = Load::Clear([0.0; 4]);
    let mut frame = gpu.begin_frame().unwrap();
    let mut wrong = |colors: &[(&impel_gpu::Texture, Load)],
                     depths: &[(&impel_gpu::Texture, Load)],
                     part: &str| {
        let mut pass = frame.graphics("the pass", &pipeline);
        for (texture, load) in colors {
            pass = pass.color(texture, *load);
        }
        for (texture, load) in depths {
            pass = pass.depth(texture, *load);
        }
        expect_error(pass.draw(3, 1), &["pass \"the pass\" (plain)", part]);
    };
    wrong(&[], &[], "needs at least one attachment");
    wrong(
        &[(&sampled, clear)],
        &[],
        "attachment \"sampled\" must be 2D and made for COLOR_ATTACHMENT; it is a 16x16x1 texture",
    );
    wrong(
        &[],
        &[(&color_target, clear)],
        "attachment \"color\" must be 2D and made for DEPTH_STENCIL_ATTACHMENT",
    );
    wrong(&[(&volume, clear)], &[], "attachment \"volume\" must be 2D");
    wrong(
        &[(&color_target, clear), (&large, clear)],
        &[],
        "attachments differ in size: \"large\" is 17x16, the one before 16x16",
    );
    wrong(
        &[(&numbers, clear)],
        &[],
        "does not fit attachment \"numbers\" of R32_UINT",
    );
    wrong(
        &[(&signed, Load::ClearUint([0; 4]))],
        &[],
        "does not fit attachment \"signed\" of R32_SINT",
    );
    wrong(
        &[(&color_target, Load::ClearUint([0; 4]))],
        &[],
        "ClearUint([0, 0, 0, 0]) does not fit attachment \"color\"",
    );
    wrong(
        &[],
        &[(&depth_target, Load::ClearUint([0; 4]))],
        "does not fit depth attachment \"depth\"",
    );
    wrong(
        &[],
        &[(&depth_target, Load::Clear([1.5; 4]))],
        "cleared to 0 to 1",
    );
    wrong(
        &[],
        &[(&depth_target, Load::Clear([f32::NAN; 4]))],
        "cleared to 0 to 1",
    );
    wrong(
        &[],
        &[(&depth_target, clear), (&depth_target, clear)],
        "\"depth\" is a second depth attachment",
    );
    wrong(
        &[(&color_target, clear), (&color_target, clear)],
        &[],
        "\"color\" is attached twice",
    );
    let nine: Vec<_> = (0..9).map(|_| (&color_target, clear)).collect();
    wrong(&nine, &[], "attached twice");
    let many: Vec<_> = (0..9).map(|i| color(&gpu, &format!("color {i}"))).collect();
    let nine: Vec<_> = many.iter().map(|texture| (texture, clear)).collect();
    wrong(&nine, &[], "there are more than 8 colour attachments");
    wrong(
        &nine[..2],
        &[(&large, clear)],
        "attachment \"large\" must be 2D and made for DEPTH_STENCIL_ATTACHMENT",
    );
    // Eight colours and depth are fine.
    let mut pass = frame
        .graphics("most", &pipeline)
        .depth(&depth_target, Load::DontCare);
    for texture in &many[..8] {
        pass = pass.color(texture, clear);
    }
    pass.draw(3, 1).unwrap();
    frame
        .graphics("numbers", &pipeline)
        .color(&numbers, Load::ClearUint([7; 4]))
        .color(&signed, Load::DontCare)
        .draw(3, 1)
        .unwrap();
}

#[test]
fn an_attachment_is_not_read_in_the_same_pass() {
    let gpu = noop();
    let pipeline = graphics(&gpu, "touch", touch_fragment::SHADERS);
    let (target, other, buffer) = (
        color(&gpu, "target"),
        color(&gpu, "other"),
        storage(&gpu, "buffer", 64),
    );
    let mut frame = gpu.begin_frame().unwrap();
    let bind = [buffer.range(0, 16), buffer.range(16, 16)];
    let pass = frame
        .graphics("pass", &pipeline)
        .bind(bind)
        .reads(&target)
        .color(&target, Load::DontCare);
    expect_error(
        pass.draw(3, 1),
        &["a texture is attached and read by the shaders of the same pass"],
    );
    frame
        .graphics("pass", &pipeline)
        .bind(bind)
        .reads(&other)
        .color(&target, Load::DontCare)
        .draw(3, 1)
        .unwrap();
}

#[test]
fn attachments_of_another_device_are_refused() {
    let (gpu, other) = (noop(), noop());
    let pipeline = graphics(&gpu, "plain", plain::SHADERS);
    let (foreign, own) = (color(&other, "foreign"), color(&gpu, "own"));
    let mut frame = gpu.begin_frame().unwrap();
    let pass = frame
        .graphics("pass", &pipeline)
        .color(&foreign, Load::DontCare);
    expect_error(
        pass.draw(3, 1),
        &["the attachments belong to another device"],
    );
    let pass = frame
        .graphics("pass", &pipeline)
        .color(&own, Load::DontCare)
        .color(&foreign, Load::DontCare);
    expect_error(
        pass.draw(3, 1),
        &["attachment \"foreign\" belongs to another device"],
    );
}

#[test]
fn a_pipeline_and_its_attachments_go_together() {
    let gpu = noop();
    let (draw, compute) = (
        graphics(&gpu, "draw", plain::SHADERS),
        compute(&gpu, "compute", fill::SHADERS),
    );
    let (target, buffer) = (color(&gpu, "target"), storage(&gpu, "buffer", 64));
    let colors = [Color {
        texture: &target,
        load: Load::DontCare,
    }];
    let mut frame = gpu.begin_frame().unwrap();
    let with = PassDesc {
        name: "pass",
        pipeline: Some(&compute),
        bindings: &[buffer.whole()],
        push_constants: &[0; 8],
        colors: &colors,
        ..Default::default()
    };
    expect_error(frame.pass(&with, |_| ()), &["compute pipelines take none"]);
    let without = PassDesc {
        name: "pass",
        pipeline: Some(&draw),
        ..Default::default()
    };
    expect_error(
        frame.pass(&without, |_| ()),
        &["graphics pipelines need attachments"],
    );
    let depth_target = depth(&gpu, "depth");
    let both = PassDesc {
        name: "pass",
        pipeline: Some(&draw),
        colors: &colors,
        depth: Some(Depth {
            texture: &depth_target,
            load: Load::Load,
        }),
        ..Default::default()
    };
    frame.pass(&both, |_| ()).unwrap();
}

#[test]
fn viewports_and_scissors_are_checked() {
    let gpu = noop();
    let pipeline = graphics(&gpu, "plain", plain::SHADERS);
    let target = color(&gpu, "target");
    let mut frame = gpu.begin_frame().unwrap();
    for viewport in [
        [0.0, 0.0, 0.0, 16.0],
        [0.0, 0.0, 16.0, -16.0],
        [0.0, 0.0, f32::NAN, 16.0],
        [f32::INFINITY, 0.0, 16.0, 16.0],
        [0.0, 0.0, 16.0, 1e9],
        [-1e9, 0.0, 16.0, 16.0],
    ] {
        let pass = frame
            .graphics("pass", &pipeline)
            .color(&target, Load::DontCare)
            .viewport(viewport);
        expect_error(pass.draw(3, 1), &["viewport ["]);
    }
    for (x, y, width) in [(-1, 0, 4), (0, -1, 4), (i32::MAX, 0, 4), (0, 0, u32::MAX)] {
        let scissor = vk::Rect2D {
            offset: vk::Offset2D { x, y },
            extent: vk::Extent2D { width, height: 4 },
        };
        let pass = frame
            .graphics("pass", &pipeline)
            .color(&target, Load::DontCare)
            .scissor(scissor);
        expect_error(pass.draw(3, 1), &["scissor"]);
    }
    let scissor = vk::Rect2D {
        offset: vk::Offset2D { x: 3, y: 4 },
        extent: vk::Extent2D {
            width: 5,
            height: 0,
        },
    };
    let pass = frame
        .graphics("pass", &pipeline)
        .color(&target, Load::DontCare);
    pass.viewport([-8.0, 4.0, 32.0, 8.0])
        .scissor(scissor)
        .draw(3, 1)
        .unwrap();
    frame.submit().unwrap();
    let submission = gpu.driver.take_submissions().remove(0);
    let found = submission.commands().any(|command| {
        matches!(command, Command::SetViewport { viewports, .. }
            if viewports[0].x == -8.0 && viewports[0].y == 12.0 && viewports[0].width == 32.0 && viewports[0].height == -8.0)
    });
    assert!(found, "the height is negative, so that +Y is up");
}
