//! Bindings and push constants of a pass.

use crate::common::{Noop, color, compute, expect_error, noop, noop_with, storage};
use crate::programs::{self, add, array, fill, scale_texture, six};
use impel_gpu::noop::NoopDesc;
use impel_gpu::{Bound, BufferDesc, GpuDesc, PassDesc, Pipeline, SamplerDesc, TextureDesc, vk};

const PUSH: programs::add::Push = programs::add::Push {
    count: 1,
    factor: 1,
    offset: 0,
    reserved: 0,
};

/// The error of a pass with these resources in slot order.
#[track_caller]
fn slots(gpu: &Noop, pipeline: &Pipeline, bound: &[Bound<'_>], parts: &[&str]) -> String {
    let mut frame = gpu.begin_frame().unwrap();
    let result = frame
        .compute("the pass", pipeline)
        .bind(bound)
        .dispatch([1, 1, 1]);
    let message = expect_error(result, parts);
    assert!(message.starts_with("pass \"the pass\" ("), "{message}");
    message
}

#[test]
fn all_mismatches_of_a_pass_come_in_one_error() {
    let gpu = noop();
    let pipeline = compute(&gpu, "the pipeline", add::SHADERS);
    let small = storage(&gpu, "small", 64);
    let uniform = gpu.buffer(&BufferDesc::uniform("uniform", 64)).unwrap();
    let message = slots(
        &gpu,
        &pipeline,
        &[small.range(0, 128), uniform.whole()],
        &[
            "(the pipeline)",
            "binding \"A\" (0, 0): bytes 0+128 of \"small\" lie outside of its 64 bytes",
            "binding \"B\" (0, 1): expected a storage buffer; given \"uniform\", a buffer of 64 bytes for TRANSFER_DST | UNIFORM_BUFFER",
            "no resource was given for \"C\" (0, 2)",
            "the push constants take 16 bytes; given 0",
        ],
    );
    let separators = message.matches("; ").count();
    assert_eq!(
        separators, 5,
        "four problems, two with a semicolon: {message}"
    );
}

#[test]
fn buffer_ranges_are_checked() {
    let gpu = noop_with(
        NoopDesc::with(|device| device.limits.max_storage_buffer_range = 4096),
        &GpuDesc::default(),
    );
    let pipeline = compute(&gpu, "fill", fill::SHADERS);
    let buffer = storage(&gpu, "buffer", 8192);
    slots(
        &gpu,
        &pipeline,
        &[buffer.range(4, 16)],
        &["offset 4 of \"buffer\" is no multiple of 16"],
    );
    slots(&gpu, &pipeline, &[buffer.range(0, 0)], &["bytes 0+0"]);
    slots(
        &gpu,
        &pipeline,
        &[buffer.range(u64::MAX - 15, 32)],
        &["lie outside of its 8192 bytes"],
    );
    slots(
        &gpu,
        &pipeline,
        &[buffer.whole()],
        &[
            "8192 bytes of \"buffer\" are over the device's limit of 4096",
            "device address",
        ],
    );
}

#[test]
fn kinds_usages_and_mips_are_checked() {
    let gpu = noop();
    let pipeline = compute(&gpu, "scale", scale_texture::SHADERS);
    let (source, target) = (color(&gpu, "source"), color(&gpu, "target"));
    let sampler = gpu.sampler(&SamplerDesc::default()).unwrap();
    let buffer = storage(&gpu, "buffer", 64);
    let plain = gpu
        .texture(&TextureDesc {
            name: "plain",
            usage: vk::ImageUsageFlags::TRANSFER_DST,
            ..Default::default()
        })
        .unwrap();
    let message = slots(
        &gpu,
        &pipeline,
        &[source.image(), target.mip(3).storage()],
        &[
            "binding \"source\" (0, 0): expected a combined image sampler",
            "binding \"target\" (0, 1): given \"target\", a mip that the texture does not have",
        ],
    );
    assert!(message.contains("16x16x1"), "{message}");
    slots(
        &gpu,
        &pipeline,
        &[buffer.whole(), sampler.bound()],
        &[
            "given \"buffer\", a buffer of 64 bytes",
            "expected a storage image; given \"sampler\", a sampler",
        ],
    );
    slots(
        &gpu,
        &pipeline,
        &[plain.sampled(&sampler), plain.storage()],
        &["given \"plain\", a 1x1x1 texture of R8G8B8A8_UNORM for TRANSFER_DST"],
    );
    slots(
        &gpu,
        &pipeline,
        &[source.sampled(&sampler), target.storage(), target.storage()],
        &["\"target\" was given for a slot that the pipeline does not have"],
    );
}

#[test]
fn a_uniform_block_must_be_covered() {
    let gpu = noop();
    let pipeline = compute(&gpu, "six", six::SHADERS);
    let (source, target) = (storage(&gpu, "source", 64), color(&gpu, "target"));
    let block = gpu.buffer(&BufferDesc::uniform("block", 1024)).unwrap();
    let sampler = gpu.sampler(&SamplerDesc::default()).unwrap();
    let bind = |range| {
        [
            source.whole(),
            range,
            target.sampled(&sampler),
            target.image(),
            sampler.bound(),
            target.storage(),
        ]
    };
    slots(
        &gpu,
        &pipeline,
        &bind(block.range(0, 48)),
        &["(0, 1): the block takes 64 bytes; given 48 bytes of \"block\""],
    );
    slots(
        &gpu,
        &pipeline,
        &bind(block.range(16, 64)),
        &["offset 16 of \"block\" is no multiple of 64"],
    );
    let mut frame = gpu.begin_frame().unwrap();
    frame
        .compute("six", &pipeline)
        .bind(bind(block.range(64, 64)))
        .dispatch([1, 1, 1])
        .unwrap();
}

#[test]
fn names_must_be_those_of_the_shader() {
    let gpu = noop();
    let pipeline = compute(&gpu, "add", add::SHADERS);
    let buffer = storage(&gpu, "buffer", 64);
    let mut frame = gpu.begin_frame().unwrap();
    let result = frame
        .compute("pass", &pipeline)
        .bind([
            ("A", buffer.whole()),
            ("a", buffer.whole()),
            ("C", buffer.whole()),
        ])
        .push(&PUSH)
        .dispatch([1, 1, 1]);
    expect_error(
        result,
        &[
            "there is no binding \"a\"",
            "binding \"B\" (0, 1) was not given",
        ],
    );
}

#[test]
fn arrays_are_given_whole_and_in_order() {
    let gpu = noop();
    let pipeline = compute(&gpu, "array", array::SHADERS);
    let (a, target) = (color(&gpu, "a"), storage(&gpu, "target", 64));
    let sampler = gpu.sampler(&SamplerDesc::default()).unwrap();
    let bound = a.sampled(&sampler);
    slots(
        &gpu,
        &pipeline,
        &[bound, bound, target.whole()],
        &[
            "\"textures\" (0, 0): expected a combined image sampler",
            "no resource was given for \"Target\" (0, 2)",
        ],
    );
    let mut frame = gpu.begin_frame().unwrap();
    let two = frame
        .compute("pass", &pipeline)
        .bind([
            ("textures", bound),
            ("textures", bound),
            ("Target", target.whole()),
        ])
        .dispatch([1, 1, 1]);
    expect_error(two, &["binding \"textures\" (0, 0) was not given"]);
    frame
        .compute("pass", &pipeline)
        .bind([
            ("Target", target.whole()),
            ("textures", bound),
            ("textures", bound),
            ("textures", bound),
        ])
        .dispatch([1, 1, 1])
        .unwrap();
}

#[test]
fn bindings_generated_for_another_program_are_refused() {
    let gpu = noop();
    let pipeline = compute(&gpu, "add", add::SHADERS);
    let buffer = storage(&gpu, "buffer", 64);
    let mut frame = gpu.begin_frame().unwrap();
    let result = frame
        .compute("pass", &pipeline)
        .bind(programs::fill::Bindings {
            target: buffer.whole(),
        })
        .push(&PUSH)
        .dispatch([1, 1, 1]);
    expect_error(
        result,
        &[
            "generated for another program",
            "\"target\" (0, 0)",
            "\"A\" (0, 0)",
            "\"C\" (0, 2)",
        ],
    );
}

#[test]
fn push_constants_have_exactly_the_range_of_the_pipeline() {
    let gpu = noop();
    let pipeline = compute(&gpu, "fill", fill::SHADERS);
    let buffer = storage(&gpu, "buffer", 64);
    let mut frame = gpu.begin_frame().unwrap();
    for (given, bytes) in [([0_u32; 1].as_slice(), 4), (&[0; 3], 12)] {
        let pass = frame.pass(
            &PassDesc {
                name: "pass",
                pipeline: Some(&pipeline),
                bindings: &[buffer.whole()],
                push_constants: bytemuck::cast_slice(given),
                ..Default::default()
            },
            |_| panic!("a pass with an error has no body"),
        );
        expect_error(
            pass,
            &["the push constants take 8 bytes", &format!("given {bytes}")],
        );
    }
    let nothing = frame.pass(
        &PassDesc {
            name: "pass",
            bindings: &[buffer.whole()],
            ..Default::default()
        },
        |_| (),
    );
    expect_error(nothing, &["bindings and push constants need a pipeline"]);
}

#[test]
fn a_pass_with_an_error_leaves_no_trace() {
    let gpu = noop();
    let pipeline = compute(&gpu, "fill", fill::SHADERS);
    let (a, b) = (storage(&gpu, "a", 64), storage(&gpu, "b", 64));
    let push = programs::fill::Push { first: 0, count: 1 };
    let mut frame = gpu.begin_frame().unwrap();
    // Described and given up.
    let _ = frame.compute("given up", &pipeline).bind([a.whole()]);
    frame
        .pass(
            &PassDesc {
                name: "lower",
                pipeline: Some(&pipeline),
                bindings: &[b.whole()],
                push_constants: bytemuck::bytes_of(&push),
                ..Default::default()
            },
            |raw| {
                // SAFETY: the pass has bound what the pipeline needs.
                unsafe { raw.device.cmd_dispatch(raw.commands, 1, 1, 1) }
            },
        )
        .unwrap();
    let failed = frame
        .compute("failed", &pipeline)
        .bind([a.whole()])
        .dispatch([1, 1, 1]);
    expect_error(failed, &["push constants"]);
    frame
        .compute("right", &pipeline)
        .bind([a.whole()])
        .push(&push)
        .dispatch([1, 1, 1])
        .unwrap();
    frame.submit().unwrap();
    gpu.wait_idle().unwrap();
    let result = gpu.frame_results().pop().unwrap();
    let names: Vec<_> = result
        .passes
        .iter()
        .map(|pass| pass.name.as_str())
        .collect();
    assert_eq!(names, ["lower", "right"]);
    assert_eq!((result.barriers, result.full_barriers), (0, 0));
}

#[test]
fn resources_of_another_device_are_refused() {
    let (gpu, other) = (noop(), noop());
    let pipeline = compute(&gpu, "scale", scale_texture::SHADERS);
    let (source, target) = (color(&gpu, "source"), color(&other, "target"));
    let (sampler, foreign) = (
        gpu.sampler(&SamplerDesc::default()).unwrap(),
        other.sampler(&SamplerDesc::default()).unwrap(),
    );
    slots(
        &gpu,
        &pipeline,
        &[source.sampled(&sampler), target.storage()],
        &["\"target\" belongs to another device"],
    );
    slots(
        &gpu,
        &pipeline,
        &[source.sampled(&foreign), source.storage()],
        &["with a sampler of another device"],
    );
    slots(
        &gpu,
        &pipeline,
        &[source.mip(0).sampled(&foreign), source.storage()],
        &["with a sampler of another device"],
    );
    let mut frame = other.begin_frame().unwrap();
    let result = frame
        .compute("pass", &pipeline)
        .bind([source.sampled(&sampler), source.storage()])
        .push(&programs::scale_texture::Push { factor: 1.0 })
        .dispatch([1, 1, 1]);
    expect_error(result, &["the pipeline belongs to another device"]);
}
