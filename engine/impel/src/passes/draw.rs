//! Draws clusters by mesh or by vertex shaders, to be shaded at once (`draw.frag`) or into the visibility buffer
//! (`visibility.frag`).

use super::Phase;
use crate::Error;
use crate::config::MAX_MESH_DRAWS;
use crate::renderer::{DebugView, RasterPath, Resources, arguments};
use impel_gpu::{
    Bound, Frame, Gpu, GraphicsPass, GraphicsPipelineDesc, GraphicsState, Load, Pipeline, Shader,
    ShaderCode,
};
use impel_shaders::{draw_mesh, draw_task, draw_vertex, visibility_mesh, visibility_vertex};
use impel_spirv::SpecValue;

/// Draws clusters.
pub struct Draw {
    shaded: Pipelines,
    /// Into the visibility buffer, without and with counting overdraw; none on devices without 64-bit atomics.
    visibility: Option<[Pipelines; 2]>,
    /// With task shaders, early and late; none on devices without.
    task: Option<[Pipeline; 2]>,
}

struct Pipelines {
    /// None on devices without mesh shaders.
    mesh: Option<Pipeline>,
    vertex: Pipeline,
}

impl Pipelines {
    fn new(
        gpu: &Gpu,
        mesh: &[ShaderCode],
        vertex: &[ShaderCode],
        constants: &[(&str, SpecValue)],
    ) -> Result<Self, Error> {
        let mesh_shaders = gpu.info().features.mesh_shaders;
        Ok(Self {
            mesh: mesh_shaders
                .then(|| pipeline(gpu, "draw by mesh shaders", mesh, constants))
                .transpose()?,
            vertex: pipeline(gpu, "draw by vertex shaders", vertex, constants)?,
        })
    }
}

impl Draw {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let atomics = gpu.info().features.buffer_int64_atomics;
        let counting = |count| {
            let constants = &[("COUNT_OVERDRAW", SpecValue::Bool(count))];
            let (mesh, vertex) = (visibility_mesh::SHADERS, visibility_vertex::SHADERS);
            Pipelines::new(gpu, mesh, vertex, constants)
        };
        let task = |late| {
            let constants = &[("LATE", SpecValue::Bool(late))];
            pipeline(gpu, "draw by task shaders", draw_task::SHADERS, constants)
        };
        let task_shaders = gpu.info().features.mesh_shaders;
        Ok(Self {
            task: task_shaders
                .then(|| Ok::<_, Error>([task(false)?, task(true)?]))
                .transpose()?,
            shaded: Pipelines::new(gpu, draw_mesh::SHADERS, draw_vertex::SHADERS, &[])?,
            visibility: atomics
                .then(|| Ok::<_, Error>([counting(false)?, counting(true)?]))
                .transpose()?,
        })
    }

    pub(crate) fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        let visibility = self.visibility.iter_mut().flatten();
        let of_sets = std::iter::once(&mut self.shaded)
            .chain(visibility)
            .flat_map(|set| set.mesh.as_mut().into_iter().chain([&mut set.vertex]));
        of_sets.chain(self.task.iter_mut().flatten()).collect()
    }

    /// Draws the clusters that the hardware has in a phase; when shading at once the early one clears.
    pub(crate) fn record(
        &self,
        frame: &mut Frame,
        phase: Phase,
        resources: &Resources<'_>,
    ) -> Result<(), Error> {
        let Resources {
            settings,
            scene,
            lists,
            targets,
            ..
        } = resources;
        let name = phase.pick("early draw", "late draw");
        let load = |clear: [f32; 4]| match phase {
            Phase::Early => Load::Clear(clear),
            Phase::Late => Load::Load,
        };
        let [a, b, c, d, e, f, g, h] = [
            lists.frame.whole(),
            scene.instances.whole(),
            scene.meshes.whole(),
            scene.meshlets.whole(),
            scene.meshlet_vertices.whole(),
            scene.meshlet_triangles.whole(),
            scene.vertices.whole(),
            lists.clusters.whole(),
        ];
        let counters = lists.counters.whole();
        let missing = |expected| Err(Error::value("path", expected, settings.path.name()));
        let visibility = self.visibility.as_ref().zip(targets.visibility.as_ref());
        match (settings.path, visibility) {
            (RasterPath::Hybrid, Some(([plain, counting], target))) => {
                let (pixels, overdraw) = (target.pixels.whole(), target.overdraw.whole());
                let pipelines = match settings.view {
                    DebugView::Overdraw => counting,
                    _ => plain,
                };
                match pipelines.mesh.as_ref().filter(|_| settings.mesh_shaders) {
                    Some(pipeline) => {
                        let pass = frame.graphics(name, pipeline);
                        let pass = pass.area(targets.size);
                        let slots = [a, b, c, d, e, f, g, h, counters, pixels, overdraw];
                        draw_meshes(pass, phase, resources, slots)
                    }
                    None => {
                        let pass = frame.graphics(name, &pipelines.vertex);
                        let pass = pass.area(targets.size);
                        let slots = [a, b, c, d, e, f, g, h, pixels, overdraw];
                        draw_vertices(pass, phase, resources, slots)
                    }
                }
            }
            (RasterPath::Hybrid, None) => missing(
                "mesh or vertex, as the device has no 64-bit atomics or the picture is too large for them",
            ),
            (RasterPath::Mesh, _) => match &self.shaded.mesh {
                Some(pipeline) => {
                    let pass = frame.graphics(name, pipeline);
                    let pass = pass.color(&targets.colour, load([0.0, 0.0, 0.0, 1.0]));
                    let pass = pass.depth(&targets.depth, load([0.0; 4]));
                    draw_meshes(pass, phase, resources, [a, b, c, d, e, f, g, h, counters])
                }
                None => missing("vertex or hybrid, as the device has no mesh shaders"),
            },
            (RasterPath::Task, _) => match &self.task {
                Some(pipelines) => {
                    let [early, late] = pipelines;
                    let pipeline = match phase {
                        Phase::Early => early,
                        Phase::Late => late,
                    };
                    let pass = frame.graphics(name, pipeline);
                    let pass = pass.color(&targets.colour, load([0.0, 0.0, 0.0, 1.0]));
                    let pass = pass.depth(&targets.depth, load([0.0; 4]));
                    let bindings = draw_task::Bindings {
                        frame: a,
                        instances: b,
                        meshes: c,
                        meshlets: d,
                        meshlet_vertices: e,
                        meshlet_triangles: f,
                        vertices: g,
                        counters,
                        chunks: lists.chunks.whole(),
                        rejects: lists.rejects.whole(),
                        hzb: targets.hzb.sampled(resources.sampler),
                        previous: scene.previous.whole(),
                    };
                    let stride = arguments::MESH_DRAW_STRIDE;
                    pass.bind(bindings).draw_mesh_tasks_indirect(
                        &lists.arguments,
                        arguments::dispatch(phase as u32),
                        1,
                        stride,
                    )?;
                    Ok(())
                }
                None => missing("vertex or hybrid, as the device has no task shaders"),
            },
            (RasterPath::Vertex, _) => {
                let pass = frame.graphics(name, &self.shaded.vertex);
                let pass = pass.color(&targets.colour, load([0.0, 0.0, 0.0, 1.0]));
                let pass = pass.depth(&targets.depth, load([0.0; 4]));
                draw_vertices(pass, phase, resources, [a, b, c, d, e, f, g, h])
            }
        }
    }
}

fn draw_meshes<const N: usize>(
    pass: GraphicsPass<'_>,
    phase: Phase,
    resources: &Resources<'_>,
    slots: [Bound<'_>; N],
) -> Result<(), Error> {
    let arguments = &resources.lists.arguments;
    let phase = phase as u32;
    pass.bind(slots)
        .push(&draw_mesh::Push { phase })
        .draw_mesh_tasks_indirect_count(
            arguments,
            arguments::mesh_draws(phase),
            arguments,
            arguments::mesh_draw_count(phase),
            MAX_MESH_DRAWS,
            arguments::MESH_DRAW_STRIDE,
        )?;
    Ok(())
}

fn draw_vertices<const N: usize>(
    pass: GraphicsPass<'_>,
    phase: Phase,
    resources: &Resources<'_>,
    slots: [Bound<'_>; N],
) -> Result<(), Error> {
    pass.bind(slots).draw_indirect(
        &resources.lists.arguments,
        arguments::vertex_draw(phase as u32),
        1,
        arguments::VERTEX_DRAW_STRIDE,
    )?;
    Ok(())
}

fn pipeline(
    gpu: &Gpu,
    name: &str,
    code: &[ShaderCode],
    constants: &[(&str, SpecValue)],
) -> Result<Pipeline, Error> {
    let shaders = code
        .iter()
        .map(Shader::from_code)
        .collect::<Result<Vec<_>, _>>()?;
    let shaders: Vec<&Shader> = shaders.iter().collect();
    let desc = GraphicsPipelineDesc {
        name,
        shaders: &shaders,
        constants,
        state: GraphicsState::default(),
    };
    Ok(gpu.graphics_pipeline(&desc)?)
}
