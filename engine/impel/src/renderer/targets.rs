//! The pictures of a frame: colour, depth, and the hierarchical depth buffer.

use crate::Error;
use crate::math::{hzb_size, mip_count};
use impel_gpu::{Buffer, BufferDesc, Gpu, Texture, TextureDesc, vk};

/// Largest width and height of a picture.
pub const MAX_SIZE: u32 = 16_384;

/// What the hybrid path draws into.
pub(crate) struct VisibilityTargets {
    /// 64 bits a pixel, in rows: see `visibility.glsl`.
    pub(crate) pixels: Buffer,
    /// Samples of each pixel, 32 bits: counted for the view of overdraw alone.
    pub(crate) overdraw: Buffer,
    /// Depth as it was resolved: reversed, 32-bit floats.
    pub(crate) depth: Texture,
    /// World-space normals, octahedral, two 16-bit signed normalised numbers in one word; 0 where nothing is.
    pub(crate) normals: Texture,
}

/// Textures of one size.
pub(crate) struct Targets {
    pub(crate) size: [u32; 2],
    pub(crate) hzb_size: [u32; 2],
    /// sRGB values in a format without conversion, so that compute passes can write it, too.
    pub(crate) colour: Texture,
    pub(crate) depth: Texture,
    pub(crate) hzb: Texture,
    /// None on devices without 64-bit atomics, and for pictures whose buffer is too large for a binding.
    pub(crate) visibility: Option<VisibilityTargets>,
}

impl Targets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, Error> {
        let most = MAX_SIZE.min(gpu.info().limits.max_texture_size);
        if size.iter().any(|&side| side == 0 || side > most) {
            let given = format!("{}x{}", size[0], size[1]);
            return Err(Error::value(
                "picture size",
                format!("1 to {most} pixels each way"),
                given,
            ));
        }
        let hzb_size = hzb_size(size);
        let texture = |name, format, [width, height]: [u32; 2], mips, usage| {
            gpu.texture(&TextureDesc {
                name,
                format,
                size: [width, height, 1],
                mips,
                layers: 1,
                usage,
            })
        };
        use vk::ImageUsageFlags as Usage;
        let copies = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let colour_usage = Usage::COLOR_ATTACHMENT | Usage::SAMPLED | Usage::STORAGE | copies;
        let depth_usage = Usage::DEPTH_STENCIL_ATTACHMENT | Usage::SAMPLED | copies;
        let hzb_usage = Usage::SAMPLED | Usage::STORAGE | copies;
        let pixel_bytes = u64::from(size[0]) * u64::from(size[1]) * 8;
        let info = gpu.info();
        let visibility = (info.features.buffer_int64_atomics
            && pixel_bytes <= info.limits.max_storage_buffer_range)
            .then(|| -> Result<_, Error> {
                let usage = Usage::SAMPLED | Usage::STORAGE | copies;
                Ok(VisibilityTargets {
                    pixels: gpu.buffer(&BufferDesc::storage("visibility buffer", pixel_bytes))?,
                    overdraw: gpu.buffer(&BufferDesc::storage("overdraw", pixel_bytes / 2))?,
                    depth: texture("resolved depth", vk::Format::R32_SFLOAT, size, 1, usage)?,
                    normals: texture("normals", vk::Format::R32_UINT, size, 1, usage)?,
                })
            })
            .transpose()?;
        Ok(Self {
            size,
            visibility,
            hzb_size,
            colour: texture("colour", vk::Format::R8G8B8A8_UNORM, size, 1, colour_usage)?,
            depth: texture("depth", vk::Format::D32_SFLOAT, size, 1, depth_usage)?,
            hzb: texture(
                "hierarchical depth",
                vk::Format::R32_SFLOAT,
                hzb_size,
                mip_count(hzb_size),
                hzb_usage,
            )?,
        })
    }
}
