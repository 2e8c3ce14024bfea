//! The upper tier for graphics passes: draws.

use super::attachments::{Attachments, Load};
use super::builder::PassBuilder;
use super::execute::RawPass;
use super::scope::Stage;
use crate::Result;
use crate::frame::Frame;
use crate::memory::{Buffer, Texture};
use crate::pipeline::Pipeline;
use ash::vk;
use std::ops::Range;

/// Marks graphics passes.
pub struct Graphics;

/// A graphics pass being described; a draw records it.
pub type GraphicsPass<'a> = PassBuilder<'a, Graphics>;

impl Frame {
    /// Begins to describe a graphics pass.
    pub fn graphics<'a>(&'a mut self, name: &'a str, pipeline: &'a Pipeline) -> GraphicsPass<'a> {
        if let Some(recorder) = self.recorder_mut() {
            recorder.attachments.clear();
        }
        PassBuilder::new(self, name, pipeline, true)
    }
}

impl GraphicsPass<'_> {
    /// Adds a colour attachment.
    pub fn color(mut self, texture: &Texture, load: Load) -> Self {
        self.attach(|attachments| attachments.color(texture, load));
        self
    }

    /// Sets the depth attachment.
    pub fn depth(mut self, texture: &Texture, load: Load) -> Self {
        self.attach(|attachments| attachments.depth(texture, load));
        self
    }

    /// For a pass without attachments, whose shaders write to buffers or storage images: width and height in pixels.
    pub fn area(mut self, size: [u32; 2]) -> Self {
        self.attach(|attachments| attachments.area(size));
        self
    }

    /// Draws to a part of the attachments: x, y, width, height in pixels from the upper left. All of them by default.
    pub fn viewport(mut self, viewport: [f32; 4]) -> Self {
        self.attach(|attachments| attachments.viewport = Some(viewport));
        self
    }

    /// Drops fragments outside of a rectangle.
    pub fn scissor(mut self, scissor: vk::Rect2D) -> Self {
        self.attach(|attachments| attachments.scissor = Some(scissor));
        self
    }

    fn attach(&mut self, change: impl FnOnce(&mut Attachments)) {
        if let Some(recorder) = self.frame.recorder_mut() {
            change(&mut recorder.attachments);
        }
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

    /// Draws several ranges of vertices, each within a scissor of its own: offset and size in pixels from the upper left.
    ///
    /// # Errors
    /// As [`GraphicsPass::draw`], or for a scissor that begins below 0 or overflows.
    pub fn draw_ranges(self, ranges: &[(vk::Rect2D, Range<u32>)]) -> Result<()> {
        for (scissor, _) in ranges {
            let vk::Rect2D { offset, extent } = *scissor;
            let inside = |at: i32, size: u32| at >= 0 && at.checked_add_unsigned(size).is_some();
            if !inside(offset.x, extent.width) || !inside(offset.y, extent.height) {
                self.frame.problem(format!(
                    "scissor {extent:?} at {offset:?} must not begin below 0 or overflow"
                ));
            }
        }
        self.vertices(|raw| {
            for (scissor, vertices) in ranges {
                let count = vertices.end.saturating_sub(vertices.start);
                // SAFETY: see `draw`; the scissor was checked above.
                unsafe {
                    raw.device.cmd_set_scissor(raw.commands, 0, &[*scissor]);
                    raw.device
                        .cmd_draw(raw.commands, count, 1, vertices.start, 0);
                }
            }
        })
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
}
