//! Expands chunks into the clusters that are drawn, culling meshlets: `clusters.comp`.

use super::Phase;
use super::compaction::{Compacting, Step};
use crate::Error;
use crate::renderer::{Resources, arguments};
use impel_gpu::{Frame, Gpu, Pipeline};
use impel_shaders::clusters;

/// Meshlet culling, for both phases.
pub struct Clusters {
    pipelines: Compacting,
}

impl Clusters {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        Ok(Self {
            pipelines: Compacting::new(gpu, "clusters", clusters::SHADERS)?,
        })
    }

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        self.pipelines.all()
    }

    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        phase: Phase,
        step: Step,
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
                step.pick(
                    phase,
                    &[
                        "early clusters",
                        "late clusters",
                        "early clusters count",
                        "late clusters count",
                    ],
                ),
                self.pipelines.of(phase, step)?,
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
                offsets: lists.offsets.whole(),
                previous: scene.previous.whole(),
            })
            .dispatch_indirect(&lists.arguments, arguments::dispatch(phase as u32))?;
        Ok(())
    }
}
