//! Builds the hierarchical depth buffer: `hzb_downsample.comp`, once a level.

use super::shader;
use crate::Error;
use crate::renderer::Targets;
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline, Sampler};
use impel_shaders::hzb_downsample;

/// Reduces depth to the minimum (the farthest), level by level.
pub struct DownsampleDepth {
    pipeline: Pipeline,
}

impl DownsampleDepth {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(hzb_downsample::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "hzb downsample",
            shader: &shader,
            constants: &[],
        };
        Ok(Self {
            pipeline: gpu.compute_pipeline(&desc)?,
        })
    }

    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        targets: &Targets,
        sampler: &Sampler,
    ) -> Result<(), Error> {
        let mut source_size = targets.size;
        for level in 0..targets.hzb.mips() {
            let target_size = crate::math::mip_size(targets.hzb_size, level);
            let source = match level {
                0 => targets.depth.sampled(sampler),
                finer => targets.hzb.mip(finer - 1).sampled(sampler),
            };
            frame
                .compute(
                    LEVEL_NAMES.get(level as usize).copied().unwrap_or("hzb"),
                    &self.pipeline,
                )
                .bind(hzb_downsample::Bindings {
                    source,
                    target: targets.hzb.mip(level).storage(),
                })
                .push(&hzb_downsample::Push {
                    source_size,
                    target_size,
                })
                .dispatch_threads([target_size[0], target_size[1], 1])?;
            source_size = target_size;
        }
        Ok(())
    }
}

/// Names of the passes; 16,384 pixels have 15 levels.
const LEVEL_NAMES: [&str; 15] = [
    "hzb 0", "hzb 1", "hzb 2", "hzb 3", "hzb 4", "hzb 5", "hzb 6", "hzb 7", "hzb 8", "hzb 9",
    "hzb 10", "hzb 11", "hzb 12", "hzb 13", "hzb 14",
];
