//! Builds the hierarchical depth buffer from depth or from the visibility buffer: `hzb.comp` in one dispatch, or
//! `hzb_downsample.comp` once a level.

use super::shader;
use crate::Error;
use crate::config::MAX_HZB_LEVELS;
use crate::math::mip_size;
use crate::renderer::{Resources, VisibilityTargets};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline, ShaderCode};
use impel_shaders::{hzb, hzb_downsample, hzb_downsample_visibility, hzb_visibility};

/// Texels of level 0 that a group of `hzb.comp` reduces, each way.
const TILE: u32 = 64;

/// Reduces depth to the minimum (the farthest), level by level.
pub struct DownsampleDepth {
    by_depth: Pipelines,
    /// None on devices without 64-bit atomics.
    by_visibility: Option<Pipelines>,
}

struct Pipelines {
    /// None on devices that cannot push a descriptor for each level.
    single: Option<Pipeline>,
    /// Level 0.
    first: Pipeline,
    /// The other levels.
    next: Pipeline,
}

impl Pipelines {
    fn new(gpu: &Gpu, single: &[ShaderCode], first: &[ShaderCode]) -> Result<Self, Error> {
        let pipeline = |name, code: &[ShaderCode]| -> Result<Pipeline, Error> {
            let shader = shader(code)?;
            let constants = &[];
            Ok(gpu.compute_pipeline(&ComputePipelineDesc {
                name,
                shader: &shader,
                constants,
            })?)
        };
        let fits = gpu.info().limits.max_push_descriptors >= MAX_HZB_LEVELS + 2;
        Ok(Self {
            single: fits.then(|| pipeline("hzb", single)).transpose()?,
            first: pipeline("hzb downsample", first)?,
            next: pipeline("hzb downsample", hzb_downsample::SHADERS)?,
        })
    }
}

impl DownsampleDepth {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let atomics = gpu.info().features.buffer_int64_atomics;
        let (single, first) = (hzb_visibility::SHADERS, hzb_downsample_visibility::SHADERS);
        Ok(Self {
            by_depth: Pipelines::new(gpu, hzb::SHADERS, hzb_downsample::SHADERS)?,
            by_visibility: atomics
                .then(|| Pipelines::new(gpu, single, first))
                .transpose()?,
        })
    }

    /// From the visibility buffer, if one is given, else from the depth attachment.
    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        let sets = [Some(&mut self.by_depth), self.by_visibility.as_mut()];
        sets.into_iter()
            .flatten()
            .flat_map(|set| {
                let single = set.single.as_mut();
                single.into_iter().chain([&mut set.first, &mut set.next])
            })
            .collect()
    }

    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        resources: &Resources<'_>,
        visibility: Option<&VisibilityTargets>,
    ) -> Result<(), Error> {
        let (pipelines, visibility) = match (&self.by_visibility, visibility) {
            (Some(pipelines), Some(visibility)) => (pipelines, Some(visibility)),
            _ => (&self.by_depth, None),
        };
        match &pipelines.single {
            Some(pipeline) if resources.settings.single_dispatch_hzb => {
                record_single(frame, pipeline, resources, visibility)
            }
            _ => record_levels(frame, pipelines, resources, visibility),
        }
    }
}

fn record_single(
    frame: &mut Frame,
    pipeline: &Pipeline,
    resources: &Resources<'_>,
    visibility: Option<&VisibilityTargets>,
) -> Result<(), Error> {
    let Resources {
        lists,
        targets,
        sampler,
        ..
    } = resources;
    let last = targets.hzb.mips() - 1;
    // Elements beyond the last level are not used; something has to be there.
    let levels = std::array::from_fn(|level| targets.hzb.mip(last.min(level as u32)).storage());
    let counters = lists.counters.whole();
    let size = targets.hzb_size;
    let pass = frame.compute("hzb", pipeline);
    let pass = match visibility {
        Some(visibility) => pass.bind(hzb_visibility::Bindings {
            pixels: visibility.pixels.whole(),
            levels,
            counters,
        }),
        None => pass.bind(hzb::Bindings {
            source: targets.depth.sampled(sampler),
            levels,
            counters,
        }),
    };
    pass.push(&hzb::Push {
        source_size: targets.size,
        size,
        levels: targets.hzb.mips(),
    })
    .dispatch([size[0].div_ceil(TILE), size[1].div_ceil(TILE), 1])?;
    Ok(())
}

fn record_levels(
    frame: &mut Frame,
    pipelines: &Pipelines,
    resources: &Resources<'_>,
    visibility: Option<&VisibilityTargets>,
) -> Result<(), Error> {
    let Resources {
        targets, sampler, ..
    } = resources;
    let mut source_size = targets.size;
    for level in 0..targets.hzb.mips() {
        let target_size = mip_size(targets.hzb_size, level);
        let name = LEVEL_NAMES.get(level as usize).copied().unwrap_or("hzb");
        let target = targets.hzb.mip(level).storage();
        let pass =
            match (level, visibility) {
                (0, Some(visibility)) => frame.compute(name, &pipelines.first).bind(
                    hzb_downsample_visibility::Bindings {
                        pixels: visibility.pixels.whole(),
                        target,
                    },
                ),
                (0, None) => frame
                    .compute(name, &pipelines.first)
                    .bind(hzb_downsample::Bindings {
                        source: targets.depth.sampled(sampler),
                        target,
                    }),
                (_, _) => frame
                    .compute(name, &pipelines.next)
                    .bind(hzb_downsample::Bindings {
                        source: targets.hzb.mip(level - 1).sampled(sampler),
                        target,
                    }),
            };
        pass.push(&hzb_downsample::Push {
            source_size,
            target_size,
        })
        .dispatch_threads([target_size[0], target_size[1], 1])?;
        source_size = target_size;
    }
    Ok(())
}

/// Names of the passes, a level each.
const LEVEL_NAMES: [&str; MAX_HZB_LEVELS as usize] = [
    "hzb 0", "hzb 1", "hzb 2", "hzb 3", "hzb 4", "hzb 5", "hzb 6", "hzb 7", "hzb 8", "hzb 9",
    "hzb 10", "hzb 11", "hzb 12", "hzb 13", "hzb 14",
];
