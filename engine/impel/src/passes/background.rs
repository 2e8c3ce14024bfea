//! Fills what no cluster covers with the sky: `background.vert`, `background.frag`.

use crate::Error;
use crate::renderer::Resources;
use impel_gpu::{
    DepthState, Frame, Gpu, GraphicsPipelineDesc, GraphicsState, Load, Pipeline, Shader, vk,
};
use impel_shaders::background;

/// The sky, at infinity: drawn last, where depth is still 0.
pub struct Background {
    pipeline: Pipeline,
}

impl Background {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shaders = background::SHADERS
            .iter()
            .map(Shader::from_code)
            .collect::<Result<Vec<_>, _>>()?;
        let shaders: Vec<&Shader> = shaders.iter().collect();
        let depth = DepthState {
            write: false,
            ..DepthState::default()
        };
        let state = GraphicsState {
            depth,
            cull: vk::CullModeFlags::NONE,
            ..GraphicsState::default()
        };
        let desc = GraphicsPipelineDesc {
            name: "background",
            shaders: &shaders,
            constants: &[],
            state,
        };
        Ok(Self {
            pipeline: gpu.graphics_pipeline(&desc)?,
        })
    }

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        vec![&mut self.pipeline]
    }

    pub(crate) fn record(&self, frame: &mut Frame, resources: &Resources<'_>) -> Result<(), Error> {
        let Resources { lists, targets, .. } = resources;
        frame
            .graphics("background", &self.pipeline)
            .color(&targets.colour, Load::Load)
            .depth(&targets.depth, Load::Load)
            .bind(background::Bindings {
                frame: lists.frame.whole(),
            })
            .draw(3, 1)?;
        Ok(())
    }
}
