//! Culls instances and chooses their level of detail: `cull.comp`.

use super::{Phase, Phases, shader};
use crate::Error;
use crate::renderer::{Resources, arguments};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::cull;
use impel_spirv::SpecValue;

/// Instance culling, for both phases.
pub struct Cull {
    pipelines: Phases<Pipeline>,
}

impl Cull {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(cull::SHADERS)?;
        let pipelines = Phases::new(|late| {
            let constants = &[("LATE", SpecValue::Bool(late))];
            gpu.compute_pipeline(&ComputePipelineDesc {
                name: "cull",
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
                phase.pick("early cull", "late cull"),
                self.pipelines.of(phase),
            )
            .bind(cull::Bindings {
                frame: lists.frame.whole(),
                instances: scene.instances.whole(),
                meshes: scene.meshes.whole(),
                visibility: lists.visibility.whole(),
                chunks: lists.chunks.whole(),
                counters: lists.counters.whole(),
                hzb: targets.hzb.sampled(sampler),
                groups: lists.groups.whole(),
                states: lists.group_states.whole(),
            })
            .dispatch_indirect(&lists.arguments, arguments::cull(phase as u32))?;
        Ok(())
    }
}
