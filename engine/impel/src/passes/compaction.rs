//! Lists that are filled at once or in order (`compaction.glsl`), and the pass between counting and placing: `scan.comp`.

use super::{Phase, shader};
use crate::Error;
use crate::renderer::Resources;
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline, ShaderCode};
use impel_shaders::scan;
use impel_spirv::SpecValue;

/// How a pass fills its lists: `STEP` of `compaction.glsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Step {
    /// In the order of arrival.
    AtOnce = 0,
    /// In order, first half: only counts.
    Count = 1,
    /// In order, second half.
    Place = 2,
}

impl Step {
    /// Name of a pass: early or late, plain or while counting.
    pub(crate) fn pick(self, phase: Phase, names: &[&'static str; 4]) -> &'static str {
        let [early, late, early_count, late_count] = *names;
        match self {
            Self::Count => phase.pick(early_count, late_count),
            Self::AtOnce | Self::Place => phase.pick(early, late),
        }
    }
}

/// A pipeline for each phase and step: the same shader with other constants.
pub(crate) struct Compacting {
    pipelines: [[Pipeline; 3]; 2],
}

impl Compacting {
    pub(crate) fn new(gpu: &Gpu, name: &str, code: &[ShaderCode]) -> Result<Self, Error> {
        let shader = shader(code)?;
        let pipeline = |late: bool, step: Step| {
            let constants = &[
                ("LATE", SpecValue::Bool(late)),
                ("STEP", SpecValue::U32(step as u32)),
            ];
            gpu.compute_pipeline(&ComputePipelineDesc {
                name,
                shader: &shader,
                constants,
            })
        };
        let phase = |late| -> Result<_, Error> {
            Ok([
                pipeline(late, Step::AtOnce)?,
                pipeline(late, Step::Count)?,
                pipeline(late, Step::Place)?,
            ])
        };
        Ok(Self {
            pipelines: [phase(false)?, phase(true)?],
        })
    }

    pub(crate) fn of(&self, phase: Phase, step: Step) -> &Pipeline {
        let [early, late] = &self.pipelines;
        let [at_once, count, place] = match phase {
            Phase::Early => early,
            Phase::Late => late,
        };
        match step {
            Step::AtOnce => at_once,
            Step::Count => count,
            Step::Place => place,
        }
    }
}

/// Whose counts are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Counted {
    /// Those of [`super::CullGroups`], with so many workgroups.
    Groups = 0,
    /// Those of [`super::Cull`].
    Cull = 1,
    /// Those of [`super::Clusters`].
    Clusters = 2,
}

/// Turns counts into offsets.
pub struct Scan {
    pipeline: Pipeline,
}

impl Scan {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(scan::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "scan",
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
        phase: Phase,
        counted: Counted,
        resources: &Resources<'_>,
    ) -> Result<(), Error> {
        let Resources { scene, lists, .. } = resources;
        let name = match counted {
            Counted::Groups => phase.pick("early group offsets", "late group offsets"),
            Counted::Cull => phase.pick("early chunk offsets", "late chunk offsets"),
            Counted::Clusters => phase.pick("early cluster offsets", "late cluster offsets"),
        };
        frame
            .compute(name, &self.pipeline)
            .bind(scan::Bindings {
                frame: lists.frame.whole(),
                arguments: lists.arguments.whole(),
                offsets: lists.offsets.whole(),
                counters: lists.counters.whole(),
            })
            .push(&scan::Push {
                phase: phase as u32,
                pass: counted as u32,
                workgroups: super::cull_groups::workgroups(scene.instance_count)
                    .iter()
                    .product(),
            })
            .dispatch([1, 1, 1])?;
        Ok(())
    }
}
