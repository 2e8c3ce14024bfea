//! Culls groups of instances: `cull_groups.comp`.

use super::{Phase, Phases, shader, split_groups};
use crate::Error;
use crate::config::CULL_GROUP_SIZE;
use crate::renderer::Resources;
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::cull_groups;
use impel_spirv::SpecValue;

/// Culling of groups of instances, for both phases.
pub struct CullGroups {
    pipelines: Phases<Pipeline>,
}

impl CullGroups {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(cull_groups::SHADERS)?;
        let pipelines = Phases::new(|late| {
            let constants = &[("LATE", SpecValue::Bool(late))];
            gpu.compute_pipeline(&ComputePipelineDesc {
                name: "cull groups",
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
        let groups = scene.instance_count.div_ceil(CULL_GROUP_SIZE);
        frame
            .compute(
                phase.pick("early cull groups", "late cull groups"),
                self.pipelines.of(phase),
            )
            .bind(cull_groups::Bindings {
                frame: lists.frame.whole(),
                bounds: scene.group_bounds.whole(),
                states: lists.group_states.whole(),
                groups: lists.groups.whole(),
                counters: lists.counters.whole(),
                hzb: targets.hzb.sampled(sampler),
            })
            .dispatch(split_groups(groups.div_ceil(CULL_GROUP_SIZE)))?;
        Ok(())
    }
}
