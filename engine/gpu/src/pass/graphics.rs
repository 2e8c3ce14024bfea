//! The upper tier for graphics passes: attachments, draws.

use super::execute::{Pass, RawPass, ResourceRef};
use super::hazard::ResourceId;
use super::scope::Scopes;
use crate::Result;
use crate::binding::Bindings;
use crate::device::Inner;
use crate::frame::Frame;
use crate::memory::{Buffer, Texture};
use crate::pipeline::{AttachmentFormats, Pipeline};
use ash::vk;
use bytemuck::NoUninit;

/// What an attachment holds when a pass begins.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// What it held before.
    Load,
    /// This colour; for a depth attachment the first value.
    Clear([f32; 4]),
    /// These integers, for a colour attachment of an unsigned format.
    ClearUint([u32; 4]),
    /// Anything: the pass overwrites all of it.
    DontCare,
}

/// A colour attachment.
#[derive(Clone, Copy)]
pub struct Color<'a> {
    /// The texture; its first mip and layer are drawn to.
    pub texture: &'a Texture,
    /// What it holds at the beginning.
    pub load: Load,
}

/// A depth attachment.
#[derive(Clone, Copy)]
pub struct Depth<'a> {
    /// The texture; its first mip and layer are drawn to.
    pub texture: &'a Texture,
    /// What it holds at the beginning.
    pub load: Load,
}

/// Most colour attachments of a pass.
const MAX_COLORS: usize = 8;

/// The attachments of a pass, ready to begin rendering.
pub(crate) struct Attachments {
    pub(crate) formats: AttachmentFormats,
    colors: [vk::RenderingAttachmentInfo<'static>; MAX_COLORS],
    depth: Option<vk::RenderingAttachmentInfo<'static>>,
    accesses: [(ResourceId, Scopes); MAX_COLORS + 1],
    access_count: usize,
    extent: vk::Extent2D,
    pub(crate) viewport: Option<[f32; 4]>,
    pub(crate) scissor: Option<vk::Rect2D>,
    /// Set when something does not fit; told when the pass is recorded.
    problem: Option<&'static str>,
}

impl Attachments {
    fn empty() -> Attachments {
        Attachments {
            formats: AttachmentFormats::default(),
            colors: [vk::RenderingAttachmentInfo::default(); MAX_COLORS],
            depth: None,
            accesses: [(
                ResourceId {
                    index: 0,
                    generation: 0,
                },
                Scopes::default(),
            ); MAX_COLORS + 1],
            access_count: 0,
            extent: vk::Extent2D::default(),
            viewport: None,
            scissor: None,
            problem: None,
        }
    }

    pub(crate) fn new(colors: &[Color<'_>], depth: Option<Depth<'_>>) -> Attachments {
        let mut this = Attachments::empty();
        for color in colors {
            this.color(color.texture, color.load);
        }
        if let Some(depth) = depth {
            this.depth(depth.texture, depth.load);
        }
        this
    }

    fn color(&mut self, texture: &Texture, load: Load) {
        let index = self.formats.color_count;
        if index == MAX_COLORS {
            self.problem = Some("there are more than 8 colour attachments");
            return;
        }
        if !texture
            .usage()
            .contains(vk::ImageUsageFlags::COLOR_ATTACHMENT)
        {
            self.problem = Some("a colour attachment was made without that usage");
        }
        self.formats.colors[index] = texture.format();
        self.formats.color_count += 1;
        self.colors[index] = attachment(texture, load);
        let reads = if matches!(load, Load::Load) {
            Scopes::COLOR_READ
        } else {
            Scopes::default()
        };
        self.attach(texture, Scopes::COLOR_WRITE.union(reads));
    }

    fn depth(&mut self, texture: &Texture, load: Load) {
        if !texture
            .usage()
            .contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT)
        {
            self.problem = Some("the depth attachment was made without that usage");
        }
        self.formats.depth = texture.format();
        self.depth = Some(attachment(texture, load));
        // Tests read what the pass itself has written, so a cleared attachment is read, too.
        self.attach(texture, Scopes::DEPTH_WRITE.union(Scopes::DEPTH_READ));
    }

    fn attach(&mut self, texture: &Texture, scopes: Scopes) {
        let [width, height, _] = texture.size();
        let extent = vk::Extent2D { width, height };
        if self.access_count > 0 && self.extent != extent {
            self.problem = Some("the attachments differ in size");
        }
        self.extent = extent;
        self.accesses[self.access_count] = (texture.resource.id, scopes);
        self.access_count += 1;
    }

    pub(crate) fn accesses(&self) -> &[(ResourceId, Scopes)] {
        &self.accesses[..self.access_count]
    }

    pub(crate) fn check(&self, _gpu: &Inner, problems: &mut Vec<String>) {
        if let Some(problem) = self.problem {
            problems.push(problem.into());
        }
        if self.access_count == 0 {
            problems.push("a graphics pass needs at least one attachment".into());
        }
    }

    /// # Safety
    /// The command buffer must be being recorded, outside of rendering.
    pub(crate) unsafe fn begin(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let area = vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent: self.extent,
        };
        let mut info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&self.colors[..self.formats.color_count]);
        if let Some(depth) = &self.depth {
            info = info.depth_attachment(depth);
        }
        let [x, y, width, height] = self.viewport.unwrap_or([
            0.0,
            0.0,
            self.extent.width as f32,
            self.extent.height as f32,
        ]);
        // A negative height turns the picture so that +Y is up in clip space.
        let viewport = vk::Viewport {
            x,
            y: y + height,
            width,
            height: -height,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: the caller's promise; the attachments live until the frame is done.
        unsafe {
            device.cmd_begin_rendering(commands, &info);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[self.scissor.unwrap_or(area)]);
        }
    }
}

fn attachment(texture: &Texture, load: Load) -> vk::RenderingAttachmentInfo<'static> {
    let depth = crate::memory::aspect_of(texture.format()) == vk::ImageAspectFlags::DEPTH;
    let (load_op, clear_value) = match load {
        Load::Load => (vk::AttachmentLoadOp::LOAD, vk::ClearValue::default()),
        Load::DontCare => (vk::AttachmentLoadOp::DONT_CARE, vk::ClearValue::default()),
        Load::Clear([depth_value, ..]) if depth => {
            let depth_stencil = vk::ClearDepthStencilValue {
                depth: depth_value,
                stencil: 0,
            };
            (
                vk::AttachmentLoadOp::CLEAR,
                vk::ClearValue { depth_stencil },
            )
        }
        Load::Clear(float32) => (
            vk::AttachmentLoadOp::CLEAR,
            vk::ClearValue {
                color: vk::ClearColorValue { float32 },
            },
        ),
        Load::ClearUint(uint32) => (
            vk::AttachmentLoadOp::CLEAR,
            vk::ClearValue {
                color: vk::ClearColorValue { uint32 },
            },
        ),
    };
    vk::RenderingAttachmentInfo::default()
        .image_view(texture.mip_view(0))
        .image_layout(vk::ImageLayout::GENERAL)
        .load_op(load_op)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear_value)
}

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

    /// Draws vertices without an index buffer.
    ///
    /// # Errors
    /// [`Error::Pass`](crate::Error::Pass) with all mismatches of bindings, push constants, attachments and limits.
    pub fn draw(self, vertices: u32, instances: u32) -> Result<()> {
        // SAFETY (this and the draws below): the pass has bound all that the pipeline needs; indirect arguments were
        // checked to lie in their buffers.
        self.record(|raw| unsafe { raw.device.cmd_draw(raw.commands, vertices, instances, 0, 0) })
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
            .indirect(arguments, offset, span(count, stride, 16));
        let buffer = arguments.handle;
        // SAFETY: see `draw`.
        self.record(|raw| unsafe {
            raw.device
                .cmd_draw_indirect(raw.commands, buffer, offset, count, stride)
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
            .indirect(arguments, offset, span(max_count, stride, 16));
        self.frame.indirect(count_buffer, count_offset, 4);
        let (buffer, counts) = (arguments.handle, count_buffer.handle);
        // SAFETY: see `draw`.
        self.record(|raw| unsafe {
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
        let total = groups
            .iter()
            .map(|&groups| u64::from(groups))
            .product::<u64>();
        if groups
            .iter()
            .zip(limits.max_mesh_workgroups)
            .any(|(&groups, most)| groups > most)
            || total > u64::from(limits.max_mesh_workgroups_total)
        {
            self.frame.problem(format!(
                "{groups:?} mesh workgroups are over the device's limit of {:?} and {} in all",
                limits.max_mesh_workgroups, limits.max_mesh_workgroups_total
            ));
        }
        let [x, y, z] = groups;
        // SAFETY: see `draw`.
        self.mesh(|raw, mesh| unsafe { mesh.cmd_draw_mesh_tasks(raw.commands, x, y, z) })
    }

    /// Runs as many task or mesh workgroups as `count` structures of three `u32` say.
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
            .indirect(arguments, offset, span(count, stride, 12));
        let buffer = arguments.handle;
        // SAFETY: see `draw`.
        self.mesh(|raw, mesh| unsafe {
            mesh.cmd_draw_mesh_tasks_indirect(raw.commands, buffer, offset, count, stride)
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
            .indirect(arguments, offset, span(max_count, stride, 12));
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

    fn mesh(self, body: impl FnOnce(&RawPass<'_>, &ash::ext::mesh_shader::Device)) -> Result<()> {
        if !self.pipeline.has_stage(super::Stage::Mesh) {
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

/// Bytes from the first to the end of the last of `count` structures.
fn span(count: u32, stride: u32, size: u64) -> u64 {
    u64::from(count.saturating_sub(1)) * u64::from(stride) + size
}
