//! Culls instances and chooses their level of detail: `cull.comp`.

use super::Phase;
use super::compaction::{Compacting, Step};
use crate::Error;
use crate::renderer::{Resources, arguments};
use impel_gpu::{Frame, Gpu, Pipeline};
use impel_shaders::cull;

/// Instance culling, for both phases.
pub struct Cull {
    pipelines: Compacting,
}

impl Cull {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        Ok(Self {
            pipelines: Compacting::new(gpu, "cull", cull::SHADERS)?,
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
                        "early cull",
                        "late cull",
                        "early cull count",
                        "late cull count",
                    ],
                ),
                self.pipelines.of(phase, step)?,
            )
            .bind(cull::Bindings {
                frame: lists.frame.whole(),
                instances: scene.instances.whole(),
                meshes: scene.meshes.whole(),
                visibility: lists.visibility.whole(),
                chunks: lists.chunks.whole(),
                counters: lists.counters.whole(),
                hzb: targets.hzb.sampled(sampler),
                offsets: lists.offsets.whole(),
                groups: lists.groups.whole(),
                states: lists.group_states.whole(),
            })
            .dispatch_indirect(&lists.arguments, arguments::cull(phase as u32))?;
        Ok(())
    }
}
