//! Pipeline statistics and mesh shader queries per pass, in query pools of their own.
//!
//! A pass with mesh shaders must run under no query that counts vertices or primitives of the vertex path (Vulkan,
//! "Programmable Mesh Shading"), so the two kinds of passes have pools with different counters.

use crate::device::Inner;
use crate::pass::Stage;
use crate::pipeline::Pipeline;
use crate::{Error, Result};
use ash::vk;
use std::sync::atomic::Ordering;
use vk::QueryPipelineStatisticFlags as Counter;

/// What the device counted while it ran one pass. Counters that do not belong to the pass's kind of pipeline are zero. The
/// numbers are the driver's: invocations may be more than was drawn (helper invocations) or less (work found to be unneeded).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassStatistics {
    /// Primitives that went into the vertex path.
    pub input_primitives: u64,
    /// Invocations of the vertex shader.
    pub vertex_invocations: u64,
    /// Primitives that came out of clipping; of the vertex path alone.
    pub clipped_primitives: u64,
    /// Invocations of the fragment shader.
    pub fragment_invocations: u64,
    /// Invocations of the compute shader.
    pub compute_invocations: u64,
    /// Invocations of the task shader.
    pub task_invocations: u64,
    /// Invocations of the mesh shader.
    pub mesh_invocations: u64,
    /// Primitives that mesh shaders emitted.
    pub mesh_primitives: u64,
}

/// Queries of a pool at first; more are made room for in the next frame.
const INITIAL_QUERIES: u32 = 64;

/// Query pools of all frames in flight.
pub(crate) struct Statistics {
    /// Whether the passes of the frame being recorded are counted.
    pub(crate) enabled: bool,
    /// Whether the device has queries for mesh shaders.
    mesh: bool,
    frames: Vec<FrameStatistics>,
    current: usize,
    /// The query that is active now.
    active: Option<Query>,
}

#[derive(Default)]
struct FrameStatistics {
    vertex: Pool,
    mesh: Pool,
    mesh_primitives: Pool,
    /// Index of the pass, and its query.
    passes: Vec<(usize, Query)>,
}

#[derive(Clone, Copy)]
enum Query {
    /// In the pool of the vertex path and of compute.
    Vertex(u32),
    /// In both pools of mesh shaders.
    Mesh(u32),
}

#[derive(Default)]
struct Pool {
    handle: vk::QueryPool,
    capacity: u32,
    /// Queries that this frame asked for, room or not.
    used: u32,
}

impl Pool {
    /// Makes room for as many queries as the frame before took, and resets them.
    fn begin_frame(&mut self, gpu: &Inner, kind: vk::QueryType, counters: Counter) -> Result<()> {
        let wanted = self.used.next_power_of_two().max(INITIAL_QUERIES);
        self.used = 0;
        if self.capacity < wanted {
            self.destroy(gpu);
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(kind)
                .pipeline_statistics(counters)
                .query_count(wanted);
            // SAFETY: the counters are those that the device has, which was checked when it was opened.
            self.handle = unsafe { gpu.device.create_query_pool(&info, None) }
                .map_err(Error::vulkan("vkCreateQueryPool", "pass statistics"))?;
            self.capacity = wanted;
        }
        // SAFETY: the device is done with the frame that used the pool before.
        unsafe { gpu.device.reset_query_pool(self.handle, 0, self.capacity) };
        Ok(())
    }

    fn take(&mut self) -> Option<u32> {
        let query = self.used;
        self.used += 1;
        (query < self.capacity).then_some(query)
    }

    /// Results of the queries that were taken; of those that the device has not written, zeros.
    fn results<const N: usize>(&self, gpu: &Inner) -> Result<Vec<[u64; N]>> {
        let mut values = vec![[0; N]; self.used.min(self.capacity) as usize];
        if values.is_empty() {
            return Ok(values);
        }
        // SAFETY: the pool has these queries with N counters each, and the frame that wrote them is done.
        let result = unsafe {
            let flags = vk::QueryResultFlags::TYPE_64;
            gpu.device
                .get_query_pool_results(self.handle, 0, &mut values, flags)
        };
        match result {
            Ok(()) | Err(vk::Result::NOT_READY) => Ok(values),
            Err(result) => Err(Error::vulkan("vkGetQueryPoolResults", "pass statistics")(
                result,
            )),
        }
    }

    /// The device must be done with the pool.
    fn destroy(&mut self, gpu: &Inner) {
        // SAFETY: the caller's promise; destroying a null handle does nothing.
        unsafe { gpu.device.destroy_query_pool(self.handle, None) };
        *self = Pool::default();
    }
}

impl Statistics {
    pub(crate) fn new(gpu: &Inner) -> Statistics {
        let features = &gpu.info.features;
        let frames = gpu.desc.frames_in_flight;
        Statistics {
            enabled: false,
            mesh: features.mesh_shaders && features.mesh_shader_queries,
            frames: (0..frames).map(|_| FrameStatistics::default()).collect(),
            current: 0,
            active: None,
        }
    }

    pub(crate) fn destroy(&mut self, gpu: &Inner) {
        for frame in &mut self.frames {
            for pool in [
                &mut frame.vertex,
                &mut frame.mesh,
                &mut frame.mesh_primitives,
            ] {
                pool.destroy(gpu);
            }
        }
    }

    pub(crate) fn begin_frame(&mut self, gpu: &Inner, index: usize) -> Result<()> {
        self.current = index;
        self.enabled = gpu.statistics.load(Ordering::Relaxed);
        let Some(frame) = self.frames.get_mut(index) else {
            return Ok(());
        };
        frame.passes.clear();
        if !self.enabled {
            return Ok(());
        }
        let vertex = Counter::INPUT_ASSEMBLY_PRIMITIVES
            | Counter::VERTEX_SHADER_INVOCATIONS
            | Counter::CLIPPING_PRIMITIVES
            | Counter::FRAGMENT_SHADER_INVOCATIONS
            | Counter::COMPUTE_SHADER_INVOCATIONS;
        let kind = vk::QueryType::PIPELINE_STATISTICS;
        frame.vertex.begin_frame(gpu, kind, vertex)?;
        if self.mesh {
            let mesh = Counter::FRAGMENT_SHADER_INVOCATIONS
                | Counter::TASK_SHADER_INVOCATIONS_EXT
                | Counter::MESH_SHADER_INVOCATIONS_EXT;
            frame.mesh.begin_frame(gpu, kind, mesh)?;
            let kind = vk::QueryType::MESH_PRIMITIVES_GENERATED_EXT;
            frame
                .mesh_primitives
                .begin_frame(gpu, kind, Counter::empty())?;
        }
        Ok(())
    }

    /// Begins to count for a pass with a pipeline, outside of rendering.
    #[inline(never)]
    pub(crate) fn begin(
        &mut self,
        gpu: &Inner,
        commands: vk::CommandBuffer,
        pass: usize,
        pipeline: &Pipeline,
    ) {
        let mesh = pipeline.has_stage(Stage::Mesh);
        let Some(frame) = self
            .frames
            .get_mut(self.current)
            .filter(|_| self.mesh || !mesh)
        else {
            return;
        };
        let query = if mesh {
            // Both pools have as many queries.
            frame
                .mesh
                .take()
                .zip(frame.mesh_primitives.take())
                .map(|(query, _)| Query::Mesh(query))
        } else {
            frame.vertex.take().map(Query::Vertex)
        };
        let Some(query) = query else { return };
        frame.passes.push((pass, query));
        self.active = Some(query);
        for (pool, query) in frame.pools(query) {
            let flags = vk::QueryControlFlags::empty();
            // SAFETY: the query was reset when the frame began; it is ended in `end`.
            unsafe { gpu.device.cmd_begin_query(commands, pool, query, flags) };
        }
    }

    #[inline(never)]
    pub(crate) fn end(&mut self, gpu: &Inner, commands: vk::CommandBuffer) {
        let (Some(query), Some(frame)) = (self.active.take(), self.frames.get(self.current)) else {
            return;
        };
        for (pool, query) in frame.pools(query) {
            // SAFETY: the query was begun in `begin`.
            unsafe { gpu.device.cmd_end_query(commands, pool, query) };
        }
    }

    /// What was counted in a frame that the device is done with, by index of the pass.
    pub(crate) fn collect(
        &mut self,
        gpu: &Inner,
        index: usize,
    ) -> Result<Vec<(usize, PassStatistics)>> {
        let Some(frame) = self
            .frames
            .get_mut(index)
            .filter(|frame| !frame.passes.is_empty())
        else {
            return Ok(Vec::new());
        };
        let vertex = frame.vertex.results::<5>(gpu)?;
        let mesh = frame.mesh.results::<3>(gpu)?;
        let primitives = frame.mesh_primitives.results::<1>(gpu)?;
        // Counters come in the order of their bits.
        let statistics = frame.passes.drain(..).map(|(pass, query)| {
            let mut counted = PassStatistics::default();
            match query {
                Query::Vertex(query) => {
                    [
                        counted.input_primitives,
                        counted.vertex_invocations,
                        counted.clipped_primitives,
                        counted.fragment_invocations,
                        counted.compute_invocations,
                    ] = vertex.get(query as usize).copied().unwrap_or_default();
                }
                Query::Mesh(query) => {
                    [
                        counted.fragment_invocations,
                        counted.task_invocations,
                        counted.mesh_invocations,
                    ] = mesh.get(query as usize).copied().unwrap_or_default();
                    [counted.mesh_primitives] =
                        primitives.get(query as usize).copied().unwrap_or_default();
                }
            }
            (pass, counted)
        });
        Ok(statistics.collect())
    }
}

impl FrameStatistics {
    fn pools(&self, query: Query) -> impl Iterator<Item = (vk::QueryPool, u32)> {
        let (first, second, query) = match query {
            Query::Vertex(query) => (&self.vertex, None, query),
            Query::Mesh(query) => (&self.mesh, Some(self.mesh_primitives.handle), query),
        };
        [Some(first.handle), second]
            .into_iter()
            .flatten()
            .map(move |pool| (pool, query))
    }
}
