//! Lists that are filled at once or in order (`compaction.glsl`), and the pass between counting and placing: `scan.comp`.

use super::{Phase, shader};
use crate::Error;
use crate::renderer::Resources;
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline, Shader, ShaderCode};
use impel_shaders::scan;
use impel_spirv::SpecValue;
use std::sync::OnceLock;

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
    at_once: [Pipeline; 2],
    /// Counting and placing; made when a frame is first filled in order.
    in_order: OnceLock<[[Pipeline; 2]; 2]>,
    gpu: Gpu,
    name: &'static str,
    shader: Shader,
}

impl Compacting {
    pub(crate) fn all(&mut self) -> Vec<&mut Pipeline> {
        let in_order = self.in_order.get_mut().into_iter().flatten();
        self.at_once.iter_mut().chain(in_order.flatten()).collect()
    }

    pub(crate) fn new(gpu: &Gpu, name: &'static str, code: &[ShaderCode]) -> Result<Self, Error> {
        let shader = shader(code)?;
        Ok(Self {
            at_once: pipelines(gpu, name, &shader, Step::AtOnce)?,
            in_order: OnceLock::new(),
            gpu: gpu.clone(),
            name,
            shader,
        })
    }

    pub(crate) fn of(&self, phase: Phase, step: Step) -> Result<&Pipeline, Error> {
        let in_order = || -> Result<_, Error> {
            if let Some(made) = self.in_order.get() {
                return Ok(made);
            }
            let make = |step| pipelines(&self.gpu, self.name, &self.shader, step);
            let made = [make(Step::Count)?, make(Step::Place)?];
            Ok(self.in_order.get_or_init(|| made))
        };
        let [early, late] = match step {
            Step::AtOnce => &self.at_once,
            Step::Count => &in_order()?[0],
            Step::Place => &in_order()?[1],
        };
        Ok(match phase {
            Phase::Early => early,
            Phase::Late => late,
        })
    }
}

fn pipelines(gpu: &Gpu, name: &str, shader: &Shader, step: Step) -> Result<[Pipeline; 2], Error> {
    let pipeline = |late: bool| {
        let constants = &[
            ("LATE", SpecValue::Bool(late)),
            ("STEP", SpecValue::U32(step as u32)),
        ];
        gpu.compute_pipeline(&ComputePipelineDesc {
            name,
            shader,
            constants,
        })
    };
    Ok([pipeline(false)?, pipeline(true)?])
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

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        vec![&mut self.pipeline]
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
