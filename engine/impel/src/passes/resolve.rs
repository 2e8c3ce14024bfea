//! Shades the visibility buffer: `resolve.comp`.

use super::shader;
use crate::Error;
use crate::renderer::{Resources, VisibilityTargets};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::resolve;

/// Turns the visibility buffer into colour, depth and normals.
pub struct Resolve {
    pipeline: Pipeline,
}

impl Resolve {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(resolve::SHADERS)?;
        let desc = ComputePipelineDesc {
            name: "resolve",
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
        resources: &Resources<'_>,
        visibility: &VisibilityTargets,
    ) -> Result<(), Error> {
        let Resources {
            scene,
            lists,
            targets,
            ..
        } = resources;
        let [width, height] = targets.size;
        frame
            .compute("resolve", &self.pipeline)
            .bind(resolve::Bindings {
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
                colour: targets.colour.storage(),
                depth: visibility.depth.storage(),
                normals: visibility.normals.storage(),
            })
            .dispatch_threads([width, height, 1])?;
        Ok(())
    }
}
