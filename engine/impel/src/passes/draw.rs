//! Draws clusters by mesh or by vertex shaders: `draw.mesh`, `draw.vert`, `draw.frag`.

use super::Phase;
use crate::Error;
use crate::config::MAX_MESH_DRAWS;
use crate::renderer::{Lists, RasterPath, SceneBuffers, Targets, arguments};
use impel_gpu::{
    Frame, Gpu, GraphicsPipelineDesc, GraphicsState, Load, Pipeline, Shader, ShaderCode,
};
use impel_shaders::{draw_mesh, draw_vertex};

/// Draws clusters.
pub struct Draw {
    /// None on devices without mesh shaders.
    mesh: Option<Pipeline>,
    vertex: Pipeline,
}

impl Draw {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let mesh_shaders = gpu.info().features.mesh_shaders;
        let mesh = mesh_shaders
            .then(|| pipeline(gpu, "draw by mesh shaders", draw_mesh::SHADERS))
            .transpose()?;
        Ok(Self {
            mesh,
            vertex: pipeline(gpu, "draw by vertex shaders", draw_vertex::SHADERS)?,
        })
    }

    /// Draws the clusters of a phase; the early one clears.
    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        phase: Phase,
        path: RasterPath,
        scene: &SceneBuffers,
        lists: &Lists,
        targets: &Targets,
    ) -> Result<(), Error> {
        let name = phase.pick("early draw", "late draw");
        let load = |clear: [f32; 4]| match phase {
            Phase::Early => Load::Clear(clear),
            Phase::Late => Load::Load,
        };
        let (colour, depth) = (load([0.0, 0.0, 0.0, 1.0]), load([0.0; 4]));
        match (path, &self.mesh) {
            (RasterPath::Mesh, None) => {
                return Err(Error::value(
                    "path",
                    "vertex, as the device has no mesh shaders",
                    "mesh",
                ));
            }
            (RasterPath::Mesh, Some(pipeline)) => frame
                .graphics(name, pipeline)
                .color(&targets.colour, colour)
                .depth(&targets.depth, depth)
                .bind(draw_mesh::Bindings {
                    frame: lists.frame.whole(),
                    instances: scene.instances.whole(),
                    meshes: scene.meshes.whole(),
                    meshlets: scene.meshlets.whole(),
                    meshlet_vertices: scene.meshlet_vertices.whole(),
                    meshlet_triangles: scene.meshlet_triangles.whole(),
                    vertices: scene.vertices.whole(),
                    clusters: lists.clusters.whole(),
                    counters: lists.counters.whole(),
                })
                .push(&draw_mesh::Push {
                    phase: phase as u32,
                })
                .draw_mesh_tasks_indirect_count(
                    &lists.arguments,
                    arguments::mesh_draws(phase as u32),
                    &lists.arguments,
                    arguments::mesh_draw_count(phase as u32),
                    MAX_MESH_DRAWS,
                    arguments::MESH_DRAW_STRIDE,
                )?,
            (RasterPath::Vertex, _) => frame
                .graphics(name, &self.vertex)
                .color(&targets.colour, colour)
                .depth(&targets.depth, depth)
                .bind(draw_vertex::Bindings {
                    frame: lists.frame.whole(),
                    instances: scene.instances.whole(),
                    meshes: scene.meshes.whole(),
                    meshlets: scene.meshlets.whole(),
                    meshlet_vertices: scene.meshlet_vertices.whole(),
                    meshlet_triangles: scene.meshlet_triangles.whole(),
                    vertices: scene.vertices.whole(),
                    clusters: lists.clusters.whole(),
                })
                .draw_indirect(
                    &lists.arguments,
                    arguments::vertex_draw(phase as u32),
                    1,
                    arguments::VERTEX_DRAW_STRIDE,
                )?,
        }
        Ok(())
    }
}

fn pipeline(gpu: &Gpu, name: &str, code: &[ShaderCode]) -> Result<Pipeline, Error> {
    let shaders = code
        .iter()
        .map(Shader::from_code)
        .collect::<Result<Vec<_>, _>>()?;
    let shaders: Vec<&Shader> = shaders.iter().collect();
    let desc = GraphicsPipelineDesc {
        name,
        shaders: &shaders,
        constants: &[],
        state: GraphicsState::default(),
    };
    Ok(gpu.graphics_pipeline(&desc)?)
}
