//! Shades the visibility buffer: `resolve.comp`.

use super::shader;
use crate::Error;
use crate::renderer::{Resources, VisibilityTargets};
use impel_gpu::{ComputePipelineDesc, Frame, Gpu, Pipeline};
use impel_shaders::resolve;
use impel_spirv::SpecValue;

/// Turns the visibility buffer into colour, depth and normals.
pub struct Resolve {
    shade: Pipeline,
    inspect: Pipeline,
}

impl Resolve {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shader = shader(resolve::SHADERS)?;
        let pipeline = |inspect: bool| {
            gpu.compute_pipeline(&ComputePipelineDesc {
                name: "resolve",
                shader: &shader,
                constants: &[("INSPECT", SpecValue::Bool(inspect))],
            })
        };
        Ok(Self {
            shade: pipeline(false)?,
            inspect: pipeline(true)?,
        })
    }

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        vec![&mut self.shade, &mut self.inspect]
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
        let pipeline = match resources.settings.view.inspects() {
            true => &self.inspect,
            false => &self.shade,
        };
        frame
            .compute("resolve", pipeline)
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
                hzb: targets.hzb.sampled(resources.sampler),
                overdraw: visibility.overdraw.whole(),
            })
            .dispatch_threads([width, height, 1])?;
        Ok(())
    }
}
