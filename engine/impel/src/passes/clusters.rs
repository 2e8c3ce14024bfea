//! Expands chunks into the clusters that are drawn, culling meshlets: `clusters.comp`.

use super::{Phase, Phases, shader};
use crate::Error;
use crate::renderer::{Resources, arguments};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::clusters;
use impel_spirv::SpecValue;

/// Meshlet culling, for both phases.
pub struct Clusters {
    pipelines: Phases<Pipeline>,
}

impl Clusters {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(clusters::SHADERS)?;
        let pipelines = Phases::new(|late| {
            let constants = &[("LATE", SpecValue::Bool(late))];
            gpu.compute_pipeline(&ComputePipelineDesc {
                name: "clusters",
                shader: &shader,
                constants,
            })
        })?;
        Ok(Self { pipelines })
    }

    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        phase: Phase,
        resources: &Resources<'_>,
    ) -> Result<(), Error> {
        let Resources {
            scene,
            lists,
            targets,
            sampler,
            ..
        } = resources;
        frame
            .compute(
                phase.pick("early clusters", "late clusters"),
                self.pipelines.of(phase),
            )
            .bind(clusters::Bindings {
                frame: lists.frame.whole(),
                instances: scene.instances.whole(),
                meshlets: scene.meshlets.whole(),
                chunks: lists.chunks.whole(),
                rejects: lists.rejects.whole(),
                clusters: lists.clusters.whole(),
                counters: lists.counters.whole(),
                hzb: targets.hzb.sampled(sampler),
                previous: scene.previous.whole(),
            })
            .dispatch_indirect(&lists.arguments, arguments::dispatch(phase as u32))?;
        Ok(())
    }
}
