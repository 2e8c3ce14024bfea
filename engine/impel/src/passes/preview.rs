//! Makes one mip of any picture visible: `background.vert`, `preview.frag`.

use crate::Error;
use impel_gpu::{
    DepthState, Frame, Gpu, GraphicsPipelineDesc, GraphicsState, Load, Pipeline, Sampler,
    SamplerDesc, Shader, Texture, TextureDesc, vk,
};
use impel_shaders::preview;

/// What of a picture to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreviewDesc {
    /// The mip; past the last there is nothing.
    pub mip: u32,
    /// Factor of the values.
    pub brightness: f32,
}

/// A small picture of another picture.
pub struct Preview {
    pipeline: Pipeline,
    sampler: Sampler,
    target: Texture,
}

impl Preview {
    /// Width and height of the small picture.
    pub const SIZE: [u32; 2] = [512, 288];

    /// Builds the pipeline and the picture.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shaders = preview::SHADERS
            .iter()
            .map(Shader::from_code)
            .collect::<Result<Vec<_>, _>>()?;
        let shaders: Vec<&Shader> = shaders.iter().collect();
        let state = GraphicsState {
            depth: DepthState {
                test: false,
                write: false,
                ..DepthState::default()
            },
            cull: vk::CullModeFlags::NONE,
            ..GraphicsState::default()
        };
        let desc = GraphicsPipelineDesc {
            name: "preview",
            shaders: &shaders,
            constants: &[],
            state,
        };
        Ok(Self {
            pipeline: gpu.graphics_pipeline(&desc)?,
            sampler: gpu.sampler(&SamplerDesc::nearest())?,
            target: gpu.texture(&TextureDesc {
                name: "preview",
                format: vk::Format::R8G8B8A8_UNORM,
                size: [Self::SIZE[0], Self::SIZE[1], 1],
                usage: vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED,
                ..TextureDesc::default()
            })?,
        })
    }

    /// The pipeline, so that new shaders can take the place of old ones between frames.
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// The small picture, as it was drawn last.
    #[must_use]
    pub fn picture(&self) -> &Texture {
        &self.target
    }

    /// Records the pass.
    ///
    /// # Errors
    /// [`Error::Gpu`], also for a texture that cannot be sampled.
    pub fn record(
        &self,
        frame: &mut Frame,
        picture: &Texture,
        desc: PreviewDesc,
    ) -> Result<(), Error> {
        let mode = match picture.format() {
            vk::Format::D16_UNORM | vk::Format::D32_SFLOAT | vk::Format::R32_SFLOAT => 2,
            vk::Format::R8_UNORM | vk::Format::R16_SFLOAT | vk::Format::R16_UNORM => 1,
            _ => 0,
        };
        let [width, height] = Self::SIZE;
        frame
            .graphics("preview", &self.pipeline)
            .color(&self.target, Load::DontCare)
            .bind(preview::Bindings {
                picture: picture.sampled(&self.sampler),
            })
            .push(&preview::Push {
                size: [width as f32, height as f32],
                mip: desc.mip.min(picture.mips().saturating_sub(1)),
                mode,
                brightness: desc.brightness,
            })
            .draw(3, 1)?;
        Ok(())
    }
}
