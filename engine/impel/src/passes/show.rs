//! Copies the finished picture to an image of a window: `background.vert`, `show.frag`.

use crate::Error;
use impel_gpu::{
    DepthState, Frame, Gpu, GraphicsPipelineDesc, GraphicsState, Load, Pipeline, Sampler,
    SamplerDesc, Shader, Texture, vk,
};
use impel_shaders::show;

/// Shows a picture, whatever the format of the window's images: a format that converts to sRGB gets the values that come
/// out the same.
pub struct Show {
    pipeline: Pipeline,
    sampler: Sampler,
}

impl Show {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shaders = show::SHADERS
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
            name: "show",
            shaders: &shaders,
            constants: &[],
            state,
        };
        Ok(Self {
            pipeline: gpu.graphics_pipeline(&desc)?,
            sampler: gpu.sampler(&SamplerDesc::default())?,
        })
    }

    /// The pipeline, so that new shaders can take the place of old ones between frames.
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Records the pass. `picture` holds sRGB values in a format without conversion; where sizes differ it is scaled.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn record(
        &self,
        frame: &mut Frame,
        picture: &Texture,
        target: &Texture,
    ) -> Result<(), Error> {
        let [width, height, _] = target.size();
        let converts = matches!(
            target.format(),
            vk::Format::B8G8R8A8_SRGB | vk::Format::R8G8B8A8_SRGB
        );
        frame
            .graphics("show", &self.pipeline)
            .color(target, Load::DontCare)
            .bind(show::Bindings {
                picture: picture.sampled(&self.sampler),
            })
            .push(&show::Push {
                size: [width as f32, height as f32],
                converts: u32::from(converts),
            })
            .draw(3, 1)?;
        Ok(())
    }
}
