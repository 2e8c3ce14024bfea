//! Moves the instances that may move: `spin.comp`.

use super::{shader, split_groups};
use crate::Error;
use crate::renderer::Resources;
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::spin;

/// Turns moving instances about their own Y axes.
pub struct Spin {
    pipeline: Pipeline,
}

impl Spin {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(spin::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "spin",
            shader: &shader,
            constants: &[],
        };
        Ok(Self {
            pipeline: gpu.compute_pipeline(&desc)?,
        })
    }

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        vec![&mut self.pipeline]
    }

    pub(crate) fn record(&self, frame: &mut Frame, resources: &Resources<'_>) -> Result<(), Error> {
        let Resources {
            settings,
            scene,
            lists,
            ..
        } = resources;
        let (sine, cosine) = settings.spin.sin_cos();
        frame
            .compute("spin", &self.pipeline)
            .bind(spin::Bindings {
                frame: lists.frame.whole(),
                instances: scene.instances.whole(),
                rest: scene.rest.whole(),
                previous: scene.previous.whole(),
            })
            .push(&spin::Push {
                turn: [cosine, sine],
            })
            .dispatch(split_groups(
                scene.moving_count.div_ceil(spin::LOCAL_SIZE[0]),
            ))?;
        Ok(())
    }
}
