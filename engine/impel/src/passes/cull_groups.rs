//! Culls groups of instances: `cull_groups.comp`.

use super::compaction::{Compacting, Step};
use super::{Phase, split_groups};
use crate::Error;
use crate::config::CULL_GROUP_SIZE;
use crate::renderer::Resources;
use impel_gpu::{Frame, Gpu, Pipeline};
use impel_shaders::cull_groups;

/// Culling of groups of instances, for both phases.
pub struct CullGroups {
    pipelines: Compacting,
}

impl CullGroups {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        Ok(Self {
            pipelines: Compacting::new(gpu, "cull groups", cull_groups::SHADERS)?,
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
                        "early cull groups",
                        "late cull groups",
                        "early cull groups count",
                        "late cull groups count",
                    ],
                ),
                self.pipelines.of(phase, step)?,
            )
            .bind(cull_groups::Bindings {
                frame: lists.frame.whole(),
                bounds: scene.group_bounds.whole(),
                states: lists.group_states.whole(),
                groups: lists.groups.whole(),
                counters: lists.counters.whole(),
                hzb: targets.hzb.sampled(sampler),
                offsets: lists.offsets.whole(),
            })
            .dispatch(workgroups(scene.instance_count))?;
        Ok(())
    }
}

/// Workgroups for so many instances: one thread a group of them.
pub(super) fn workgroups(instances: u32) -> [u32; 3] {
    let groups = instances.div_ceil(CULL_GROUP_SIZE);
    split_groups(groups.div_ceil(CULL_GROUP_SIZE))
}
