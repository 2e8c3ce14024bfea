//! Rasterises clusters of small triangles into the visibility buffer: `raster.comp`.

use super::{Phase, shader};
use crate::Error;
use crate::renderer::{Resources, VisibilityTargets, arguments};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::raster;

/// The compute rasteriser.
pub struct Raster {
    pipeline: Pipeline,
}

impl Raster {
    /// Builds the pipeline, on a device with 64-bit atomics.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(raster::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "raster",
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
        resources: &Resources<'_>,
        visibility: &VisibilityTargets,
    ) -> Result<(), Error> {
        let Resources { scene, lists, .. } = resources;
        frame
            .compute(phase.pick("early raster", "late raster"), &self.pipeline)
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
            })
            .push(&raster::Push {
                phase: phase as u32,
            })
            .dispatch_indirect(&lists.arguments, arguments::raster(phase as u32))?;
        Ok(())
    }
}
