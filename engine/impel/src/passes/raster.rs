//! Rasterises clusters of small triangles into the visibility buffer: `raster.comp`.

use super::{Phase, shader};
use crate::Error;
use crate::renderer::{DebugView, Resources, VisibilityTargets, arguments};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::raster;
use impel_spirv::SpecValue;

/// The compute rasteriser.
pub struct Raster {
    plain: Pipeline,
    counting: Pipeline,
}

impl Raster {
    /// Builds the pipeline, on a device with 64-bit atomics.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(raster::SHADERS)?;
        let pipeline = |count: bool| {
            gpu.compute_pipeline(&ComputePipelineDesc {
                name: "raster",
                shader: &shader,
                constants: &[("COUNT_OVERDRAW", SpecValue::Bool(count))],
            })
        };
        Ok(Self {
            plain: pipeline(false)?,
            counting: pipeline(true)?,
        })
    }

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        vec![&mut self.plain, &mut self.counting]
    }

    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        phase: Phase,
        resources: &Resources<'_>,
        visibility: &VisibilityTargets,
    ) -> Result<(), Error> {
        let Resources { scene, lists, .. } = resources;
        let pipeline = match resources.settings.view {
            DebugView::Overdraw => &self.counting,
            _ => &self.plain,
        };
        frame
            .compute(phase.pick("early raster", "late raster"), pipeline)
            .bind(raster::Bindings {
                frame: lists.frame.whole(),
                instances: scene.instances.whole(),
                meshes: scene.meshes.whole(),
                meshlets: scene.meshlets.whole(),
                meshlet_vertices: scene.meshlet_vertices.whole(),
                meshlet_triangles: scene.meshlet_triangles.whole(),
                vertices: scene.vertices.whole(),
                clusters: lists.clusters.whole(),
                counters: lists.counters.whole(),
                pixels: visibility.pixels.whole(),
                overdraw: visibility.overdraw.whole(),
            })
            .push(&raster::Push {
                phase: phase as u32,
            })
            .dispatch_indirect(&lists.arguments, arguments::raster(phase as u32))?;
        Ok(())
    }
}
