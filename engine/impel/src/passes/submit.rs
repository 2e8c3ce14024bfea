//! Turns counts on the GPU into indirect arguments: `submit.comp`.

use super::{Phase, shader};
use crate::Error;
use crate::renderer::Lists;
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::submit;

/// Which arguments are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SubmitStep {
    /// The dispatch over groups of instances.
    Groups = 0,
    /// The dispatch over chunks.
    Chunks = 1,
    /// The draws of clusters.
    Draws = 2,
}

/// Makes indirect arguments.
pub struct Submit {
    pipeline: Pipeline,
}

impl Submit {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(submit::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "submit",
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

    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        phase: Phase,
        step: SubmitStep,
        lists: &Lists,
    ) -> Result<(), Error> {
        let name = match step {
            SubmitStep::Groups => phase.pick("early groups", "late groups"),
            SubmitStep::Chunks => phase.pick("early chunks", "late chunks"),
            SubmitStep::Draws => phase.pick("early arguments", "late arguments"),
        };
        frame
            .compute(name, &self.pipeline)
            .bind(submit::Bindings {
                frame: lists.frame.whole(),
                counters: lists.counters.whole(),
                arguments: lists.arguments.whole(),
            })
            .push(&submit::Push {
                phase: phase as u32,
                step: step as u32,
            })
            .dispatch([1, 1, 1])?;
        Ok(())
    }
}
