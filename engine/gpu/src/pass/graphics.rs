//! The upper tier for graphics passes: draws.

use super::attachments::{Attachments, Load};
use super::execute::{Pass, RawPass, ResourceRef};
use super::scope::Stage;
use crate::Result;
use crate::binding::Bindings;
use crate::frame::Frame;
use crate::memory::{Buffer, Texture};
use crate::pipeline::Pipeline;
use ash::vk;
use bytemuck::NoUninit;

/// A graphics pass being described; a draw records it.
#[must_use = "a pass is recorded by its draw"]
pub struct GraphicsPass<'a> {
    frame: &'a mut Frame,
    name: &'a str,
    pipeline: &'a Pipeline,
    attachments: Attachments,
    push_constants: &'a [u8],
    declared: bool,
    uses_all: bool,
}

impl Frame {
    /// Begins to describe a graphics pass.
    pub fn graphics<'a>(&'a mut self, name: &'a str, pipeline: &'a Pipeline) -> GraphicsPass<'a> {
        self.clear_sink();
        GraphicsPass {
            frame: self,
            name,
            pipeline,
            attachments: Attachments::empty(),
            push_constants: &[],
            declared: false,
            uses_all: false,
        }
    }
}

impl<'a> GraphicsPass<'a> {
    /// Adds a colour attachment.
    pub fn color(mut self, texture: &Texture, load: Load) -> Self {
        self.attachments.color(texture, load);
        self
    }

    /// Sets the depth attachment.
    pub fn depth(mut self, texture: &Texture, load: Load) -> Self {
        self.attachments.depth(texture, load);
        self
    }

    /// For a pass without attachments, whose shaders write to buffers or storage images: width and height in pixels.
    pub fn area(mut self, size: [u32; 2]) -> Self {
        self.attachments.area(size);
        self
    }

    /// Draws to a part of the attachments: x, y, width, height in pixels from the upper left. All of them by default.
    pub fn viewport(mut self, viewport: [f32; 4]) -> Self {
        self.attachments.viewport = Some(viewport);
        self
    }

    /// Drops fragments outside of a rectangle.
    pub fn scissor(mut self, scissor: vk::Rect2D) -> Self {
        self.attachments.scissor = Some(scissor);
        self
    }

    /// Binds resources to the pipeline's slots.
    pub fn bind(self, bindings: impl Bindings) -> Self {
        if let Some(recorder) = self.frame.recorder_mut() {
            recorder.bind(self.pipeline, bindings);
        }
        self
    }

    /// Sets the push constants: a struct of exactly the size of the pipeline's range.
    pub fn push<T: NoUninit>(mut self, constants: &'a T) -> Self {
        self.push_constants = bytemuck::bytes_of(constants);
        self
    }

    /// Declares that a shader reads `resource` through a device address or heap index.
    pub fn reads(self, resource: &dyn ResourceRef) -> Self {
        self.declare(resource, false)
    }

    /// Declares that a shader writes (and may read) `resource` through a device address or heap index.
    pub fn writes(self, resource: &dyn ResourceRef) -> Self {
        self.declare(resource, true)
    }

    /// Declares that the shaders may touch anything: a full barrier goes before and after.
    pub fn uses_all(mut self) -> Self {
        self.uses_all = true;
        self
    }

    fn declare(mut self, resource: &dyn ResourceRef, write: bool) -> Self {
        self.declared = true;
        if let Some(recorder) = self.frame.recorder_mut() {
            recorder.declare(self.pipeline, resource, write);
        }
        self
    }

    /// Draws vertices without an index buffer. Nothing is drawn when either number is zero.
    ///
    /// # Errors
    /// [`Error::Pass`](crate::Error::Pass) with all mismatches of bindings, push constants, attachments and limits.
    pub fn draw(self, vertices: u32, instances: u32) -> Result<()> {
        // SAFETY: this and the draws below: the pass has bound all that the pipeline needs; indirect arguments were checked
        // to lie in their buffers.
        let draw = |raw: &RawPass<'_>| unsafe {
            raw.device.cmd_draw(raw.commands, vertices, instances, 0, 0);
        };
        self.vertices(draw)
    }

    /// Draws what `count` structures of `VkDrawIndirectCommand` say, `stride` bytes apart from `offset` on.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`].
    pub fn draw_indirect(
        self,
        arguments: &Buffer,
        offset: u64,
        count: u32,
        stride: u32,
    ) -> Result<()> {
        self.frame
            .indirect_array(arguments, offset, count, stride, 16);
        let buffer = arguments.handle;
        // SAFETY: see `draw`.
        self.vertices(|raw| unsafe {
            raw.device
                .cmd_draw_indirect(raw.commands, buffer, offset, count, stride);
        })
    }

    /// As [`draw_indirect`](Self::draw_indirect), with the number of draws read from `count_buffer`, at most `max_count`.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`].
    pub fn draw_indirect_count(
        self,
        arguments: &Buffer,
        offset: u64,
        count_buffer: &Buffer,
        count_offset: u64,
        max_count: u32,
        stride: u32,
    ) -> Result<()> {
        self.frame
            .indirect_array(arguments, offset, max_count, stride, 16);
        self.frame.indirect(count_buffer, count_offset, 4);
        let (buffer, counts) = (arguments.handle, count_buffer.handle);
        // SAFETY: see `draw`.
        self.vertices(|raw| unsafe {
            raw.device.cmd_draw_indirect_count(
                raw.commands,
                buffer,
                offset,
                counts,
                count_offset,
                max_count,
                stride,
            );
        })
    }

    /// Runs so many task or mesh workgroups.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`].
    pub fn draw_mesh_tasks(self, groups: [u32; 3]) -> Result<()> {
        let limits = self.frame.limits();
        let (kind, most, most_in_all) = if self.pipeline.has_stage(Stage::Task) {
            (
                "task",
                limits.max_task_workgroups,
                limits.max_task_workgroups_total,
            )
        } else {
            (
                "mesh",
                limits.max_mesh_workgroups,
                limits.max_mesh_workgroups_total,
            )
        };
        // Three numbers of 32 bits overflow 64.
        let total: u128 = groups.iter().map(|&groups| u128::from(groups)).product();
        if groups.iter().zip(most).any(|(&groups, most)| groups > most)
            || total > u128::from(most_in_all)
        {
            self.frame.problem(format!(
                "{groups:?} {kind} workgroups are over the device's limit of {most:?} and {most_in_all} in all"
            ));
        }
        let [x, y, z] = groups;
        // SAFETY: see `draw`.
        self.mesh(|raw, mesh| unsafe { mesh.cmd_draw_mesh_tasks(raw.commands, x, y, z) })
    }

    /// Runs as many task or mesh workgroups as `count` structures of three `u32` say, `stride` bytes apart from `offset` on.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`].
    pub fn draw_mesh_tasks_indirect(
        self,
        arguments: &Buffer,
        offset: u64,
        count: u32,
        stride: u32,
    ) -> Result<()> {
        self.frame
            .indirect_array(arguments, offset, count, stride, 12);
        let buffer = arguments.handle;
        // SAFETY: see `draw`.
        self.mesh(|raw, mesh| unsafe {
            mesh.cmd_draw_mesh_tasks_indirect(raw.commands, buffer, offset, count, stride);
        })
    }

    /// As [`draw_mesh_tasks_indirect`](Self::draw_mesh_tasks_indirect), with the number of draws read from
    /// `count_buffer`, at most `max_count`.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`].
    pub fn draw_mesh_tasks_indirect_count(
        self,
        arguments: &Buffer,
        offset: u64,
        count_buffer: &Buffer,
        count_offset: u64,
        max_count: u32,
        stride: u32,
    ) -> Result<()> {
        self.frame
            .indirect_array(arguments, offset, max_count, stride, 12);
        self.frame.indirect(count_buffer, count_offset, 4);
        let (buffer, counts) = (arguments.handle, count_buffer.handle);
        // SAFETY: see `draw`.
        self.mesh(|raw, mesh| unsafe {
            mesh.cmd_draw_mesh_tasks_indirect_count(
                raw.commands,
                buffer,
                offset,
                counts,
                count_offset,
                max_count,
                stride,
            );
        })
    }

    fn vertices(self, body: impl FnOnce(&RawPass<'_>)) -> Result<()> {
        if !self.pipeline.has_stage(Stage::Vertex) {
            self.frame
                .problem("vertices were drawn with a pipeline that has no vertex shader".into());
        }
        self.record(body)
    }

    fn mesh(self, body: impl FnOnce(&RawPass<'_>, &ash::ext::mesh_shader::Device)) -> Result<()> {
        if !self.pipeline.has_stage(Stage::Mesh) {
            self.frame
                .problem("mesh tasks were drawn with a pipeline that has no mesh shader".into());
        }
        self.record(|raw| {
            if let Some(mesh) = raw.mesh_shader {
                body(raw, mesh);
            }
        })
    }

    /// Records the pass around a closure that draws by itself.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`].
    pub fn record(self, body: impl FnOnce(&RawPass<'_>)) -> Result<()> {
        let full_barriers = self.uses_all || (self.pipeline.opaque_accesses && !self.declared);
        let pass = Pass {
            name: self.name,
            pipeline: Some(self.pipeline),
            push_constants: self.push_constants,
            attachments: Some(&self.attachments),
            full_barriers,
        };
        let (gpu, recorder) = self.frame.parts()?;
        recorder.pass(gpu, &pass, body)
    }
}
