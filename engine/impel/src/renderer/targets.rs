//! The pictures of a frame: colour, depth, and the hierarchical depth buffer.

use crate::Error;
use crate::math::{hzb_size, mip_count};
use impel_gpu::{Gpu, Texture, TextureDesc, vk};

/// Largest width and height of a picture.
pub const MAX_SIZE: u32 = 16_384;

/// Textures of one size.
pub(crate) struct Targets {
    pub(crate) size: [u32; 2],
    pub(crate) hzb_size: [u32; 2],
    /// sRGB values in a format without conversion, so that compute passes can write it, too.
    pub(crate) colour: Texture,
    pub(crate) depth: Texture,
    pub(crate) hzb: Texture,
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
        Ok(Self {
            size,
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
