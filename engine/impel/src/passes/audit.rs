//! Compares a frame with the same frame without culling: `audit.comp`.

use super::shader;
use crate::Error;
use crate::renderer::{Resources, VisibilityTargets};
use impel_gpu::{Buffer, ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::audit;

/// The comparison of the culling auditor.
pub struct Audit {
    pipeline: Pipeline,
}

impl Audit {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(audit::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "audit",
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

    /// `all` is what the frame is compared with: its resources and what they drew.
    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        frame_pixels: &Buffer,
        all: &Resources<'_>,
        all_visibility: &VisibilityTargets,
        result: &Buffer,
    ) -> Result<(), Error> {
        let [width, height] = all.targets.size;
        frame
            .compute("audit", &self.pipeline)
            .bind(audit::Bindings {
                frame: all.lists.frame.whole(),
                pixels: frame_pixels.whole(),
                all_pixels: all_visibility.pixels.whole(),
                all_clusters: all.lists.clusters.whole(),
                result: result.whole(),
            })
            .dispatch_threads([width, height, 1])?;
        Ok(())
    }
}
