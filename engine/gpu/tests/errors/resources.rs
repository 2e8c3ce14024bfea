//! Descriptions of buffers, textures and samplers that cannot be made.

use crate::common::{expect_error, noop, noop_with, storage};
use impel_gpu::noop::NoopDesc;
use impel_gpu::{BufferDesc, GpuDesc, Memory, Reduction, SamplerDesc, TextureDesc, vk};

#[test]
fn buffers_have_a_size_and_a_use() {
    let gpu = noop();
    expect_error(
        gpu.buffer(&BufferDesc::storage("nothing", 0)),
        &["buffer \"nothing\"", "given 0 bytes"],
    );
    expect_error(
        gpu.buffer(&BufferDesc {
            name: "idle",
            size: 4,
            ..Default::default()
        }),
        &["buffer \"idle\"", "size and usage must not be empty"],
    );
    expect_error(
        gpu.buffer(&BufferDesc::storage("huge", 1 << 60)),
        &[
            "vmaCreateBuffer",
            "buffer \"huge\" of 1152921504606846976 bytes",
        ],
    );
    let buffer = storage(&gpu, "device", 64);
    expect_error(
        buffer.write(0, &[0; 4]),
        &["buffer \"device\"", "use `Gpu::upload`"],
    );
    let mapped = gpu
        .buffer(&BufferDesc {
            name: "mapped",
            size: 64,
            usage: vk::BufferUsageFlags::UNIFORM_BUFFER,
            memory: Memory::Upload,
        })
        .unwrap();
    expect_error(
        mapped.write(61, &[0; 4]),
        &["a write of 4 bytes at 61 does not fit into 64"],
    );
    expect_error(mapped.write(u64::MAX, &[0; 4]), &["does not fit"]);
    mapped.write(60, &[0; 4]).unwrap();
    assert_eq!(mapped.address(), 0);
}

#[test]
fn textures_fit_the_device() {
    let gpu = noop_with(
        NoopDesc::with(|device| device.missing_formats.push(vk::Format::R64_UINT)),
        &GpuDesc::default(),
    );
    let sampled = vk::ImageUsageFlags::SAMPLED;
    let make = |change: &dyn Fn(&mut TextureDesc<'_>)| {
        let mut desc = TextureDesc {
            name: "it",
            size: [8, 8, 1],
            usage: sampled,
            ..Default::default()
        };
        change(&mut desc);
        gpu.texture(&desc)
    };
    expect_error(
        make(&|desc| desc.size = [8, 0, 1]),
        &["texture \"it\"", "given 8x0x1"],
    );
    expect_error(make(&|desc| desc.mips = 5), &["mips at most 4", "5 mips"]);
    expect_error(make(&|desc| desc.mips = 0), &["0 mips"]);
    expect_error(make(&|desc| desc.layers = 0), &["0 layers"]);
    expect_error(
        make(&|desc| desc.usage = vk::ImageUsageFlags::empty()),
        &["must not be empty"],
    );
    expect_error(
        make(&|desc| desc.format = vk::Format::R64_UINT),
        &["the device has no R64_UINT for SAMPLED"],
    );
    expect_error(
        make(&|desc| desc.format = vk::Format::UNDEFINED),
        &["the device has no UNDEFINED"],
    );
    expect_error(
        make(&|desc| desc.format = vk::Format::D24_UNORM_S8_UINT),
        &["has a stencil part"],
    );
    let drawn = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    expect_error(
        make(&|desc| (desc.format, desc.usage) = (vk::Format::BC7_UNORM_BLOCK, drawn)),
        &["the device has no BC7_UNORM_BLOCK for COLOR_ATTACHMENT"],
    );
    expect_error(
        make(&|desc| desc.size = [16385, 1, 1]),
        &["the device takes at most 16384x16384x1", "given 16385x1x1"],
    );
    expect_error(
        make(&|desc| desc.size = [u32::MAX, u32::MAX, 1]),
        &["the device takes at most"],
    );
    expect_error(
        make(&|desc| desc.size = [8, 8, 2049]),
        &["at most 2048x2048x2048"],
    );
    expect_error(
        make(&|desc| (desc.size, desc.layers) = ([8, 8, 2], 2)),
        &["1 layers"],
    );
    expect_error(make(&|desc| desc.layers = 2049), &["2048 layers"]);
    make(&|desc| (desc.mips, desc.layers) = (4, 3)).unwrap();
    // Never looked at by a view: only copied.
    make(&|desc| desc.usage = vk::ImageUsageFlags::TRANSFER_DST).unwrap();
}

#[test]
fn samplers_take_what_the_device_has() {
    let gpu = noop_with(
        NoopDesc::with(|device| device.lacks("samplerFilterMinmax")),
        &GpuDesc::default(),
    );
    let reduction = Some(Reduction::Max);
    expect_error(
        gpu.sampler(&SamplerDesc {
            reduction,
            ..Default::default()
        }),
        &["sampler SamplerDesc", "no min/max samplers"],
    );
    let mirror = vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE;
    expect_error(
        gpu.sampler(&SamplerDesc {
            address: mirror,
            ..Default::default()
        }),
        &["CLAMP_TO_BORDER"],
    );
    expect_error(
        gpu.sampler(&SamplerDesc {
            filter: vk::Filter::CUBIC_EXT,
            ..Default::default()
        }),
        &["NEAREST and LINEAR"],
    );
    let one = gpu.sampler(&SamplerDesc::default()).unwrap();
    let same = gpu.sampler(&SamplerDesc::default()).unwrap();
    gpu.sampler(&SamplerDesc {
        max_anisotropy: 200,
        ..Default::default()
    })
    .unwrap();
    drop((one, same));
    assert_eq!(
        gpu.driver.live(vk::ObjectType::SAMPLER),
        2,
        "equal samplers are one"
    );
}
