//! Attachments: what a graphics pass draws to, checked and turned into what `vkCmdBeginRendering` takes.

use super::hazard::{Access, ResourceId};
use super::scope::Scopes;
use crate::binding::BindingSink;
use crate::device::Inner;
use crate::memory::{Numeric, Texture};
use crate::pipeline::AttachmentFormats;
use ash::vk;

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
    accesses: [Access; MAX_COLORS + 1],
    /// Per access, whether the texture is one mip of one layer, all of which is attached.
    single: [bool; MAX_COLORS + 1],
    access_count: usize,
    extent: vk::Extent2D,
    pub(crate) viewport: Option<[f32; 4]>,
    pub(crate) scissor: Option<vk::Rect2D>,
    /// Number of the device that the attachments belong to.
    device: Option<u32>,
    /// The first thing that does not fit; told when the pass is recorded.
    problem: Option<String>,
}

impl Default for Attachments {
    fn default() -> Attachments {
        Attachments {
            formats: AttachmentFormats::default(),
            colors: [vk::RenderingAttachmentInfo::default(); MAX_COLORS],
            depth: None,
            accesses: [(ResourceId::NONE, Scopes::default()); MAX_COLORS + 1],
            single: [false; MAX_COLORS + 1],
            access_count: 0,
            extent: vk::Extent2D::default(),
            viewport: None,
            scissor: None,
            device: None,
            problem: None,
        }
    }
}

impl Attachments {
    /// Forgets the attachments of the pass before.
    pub(crate) fn clear(&mut self) {
        self.formats = AttachmentFormats::default();
        self.depth = None;
        self.access_count = 0;
        self.extent = vk::Extent2D::default();
        self.viewport = None;
        self.scissor = None;
        self.device = None;
        self.problem = None;
    }

    pub(crate) fn color(&mut self, texture: &Texture, load: Load) {
        let index = self.formats.color_count;
        if index == MAX_COLORS {
            self.complain(|| format!("there are more than {MAX_COLORS} colour attachments"));
            return;
        }
        self.check_usage(texture, vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let fits = match load {
            Load::Load | Load::DontCare => true,
            Load::Clear(_) => Numeric::of(texture.format()) == Numeric::Float,
            Load::ClearUint(_) => Numeric::of(texture.format()) == Numeric::Uint,
        };
        if !fits {
            let (name, format) = (texture.name(), texture.format());
            self.complain(|| {
                format!(
                    "{load:?} does not fit attachment {name:?} of {format:?}: Clear is for floating point and normalised formats, ClearUint for unsigned ones"
                )
            });
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

    pub(crate) fn depth(&mut self, texture: &Texture, load: Load) {
        let name = texture.name();
        if self.depth.is_some() {
            self.complain(|| format!("{name:?} is a second depth attachment"));
            return;
        }
        self.check_usage(texture, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
        let fits = match load {
            Load::Load | Load::DontCare => true,
            Load::Clear([depth, ..]) => (0.0..=1.0).contains(&depth),
            Load::ClearUint(_) => false,
        };
        if !fits {
            self.complain(|| {
                format!(
                    "{load:?} does not fit depth attachment {name:?}, which is cleared to 0 to 1"
                )
            });
        }
        self.formats.depth = texture.format();
        self.depth = Some(attachment(texture, load));
        // Tests read what the pass itself has written, so a cleared attachment is read, too.
        self.attach(texture, Scopes::DEPTH_WRITE.union(Scopes::DEPTH_READ));
    }

    /// For a pass without attachments: what it covers, pixels.
    pub(crate) fn area(&mut self, [width, height]: [u32; 2]) {
        if self.access_count > 0 || width == 0 || height == 0 {
            self.complain(|| {
                format!("an area of {width}x{height} was given; it is for passes without attachments, and not empty")
            });
            return;
        }
        self.extent = vk::Extent2D { width, height };
    }

    fn check_usage(&mut self, texture: &Texture, usage: vk::ImageUsageFlags) {
        if !texture.usage().contains(usage) || texture.size()[2] > 1 {
            let (name, what) = (texture.name(), &texture.resource.description);
            self.complain(|| {
                format!("attachment {name:?} must be 2D and made for {usage:?}; it is {what}")
            });
        }
    }

    fn attach(&mut self, texture: &Texture, scopes: Scopes) {
        let [width, height, _] = texture.size();
        let extent = vk::Extent2D { width, height };
        let name = texture.name();
        if self.access_count > 0 && self.extent != extent {
            let before = self.extent;
            self.complain(|| {
                format!(
                    "attachments differ in size: {name:?} is {width}x{height}, the one before {}x{}",
                    before.width, before.height
                )
            });
        }
        let device = texture.resource.device;
        if *self.device.get_or_insert(device) != device {
            self.complain(|| format!("attachment {name:?} belongs to another device"));
        }
        let id = texture.resource.id;
        if self.accesses().iter().any(|(attached, _)| *attached == id) {
            self.complain(|| format!("{name:?} is attached twice"));
        }
        self.extent = extent;
        self.accesses[self.access_count] = (id, scopes);
        self.single[self.access_count] = texture.mips() == 1 && texture.layers == 1;
        self.access_count += 1;
    }

    #[cold]
    fn complain(&mut self, problem: impl FnOnce() -> String) {
        self.problem.get_or_insert_with(problem);
    }

    pub(crate) fn accesses(&self) -> &[Access] {
        &self.accesses[..self.access_count]
    }

    #[inline(never)]
    pub(crate) fn check(&self, gpu: &Inner, sink: &mut BindingSink) {
        let problems = &mut sink.problems;
        if let Some(problem) = &self.problem {
            problems.push(problem.clone());
        }
        if self.access_count == 0 && self.extent == vk::Extent2D::default() {
            problems.push("a graphics pass needs at least one attachment, or an area".into());
        }
        let most = gpu.info.limits.max_texture_size;
        if self.extent.width.max(self.extent.height) > most {
            let vk::Extent2D { width, height } = self.extent;
            problems.push(format!(
                "an area of {width}x{height} is over the device's limit of {most} pixels"
            ));
        }
        if self.device.is_some_and(|device| device != gpu.number) {
            problems.push("the attachments belong to another device".into());
        }
        if let Some([x, y, width, height]) = self.viewport {
            let most = gpu.info.limits.max_texture_size as f32;
            let inside = |at: f32, size: f32| {
                size > 0.0 && size <= most && at >= -most && at + size <= 2.0 * most - 1.0
            };
            if !inside(x, width) || !inside(y, height) {
                problems.push(format!(
                    "viewport {:?} must have a size over 0 and lie within the device's limit of {most} pixels",
                    [x, y, width, height]
                ));
            }
        }
        if let Some(vk::Rect2D { offset, extent }) = self.scissor {
            let inside = |at: i32, size: u32| at >= 0 && at.checked_add_unsigned(size).is_some();
            if !inside(offset.x, extent.width) || !inside(offset.y, extent.height) {
                problems.push(format!(
                    "scissor {}x{} at ({}, {}) must not begin below 0 or overflow",
                    extent.width, extent.height, offset.x, offset.y
                ));
            }
        }
        for (&(id, _), single) in self.accesses().iter().zip(self.single) {
            let read = |&(bound, scopes): &Access| bound == id && !scopes.shader_part().is_empty();
            if single && sink.touched().any(read) {
                sink.problems
                    .push("a texture is attached and read by the shaders of the same pass".into());
            }
        }
    }

    /// # Safety
    /// The command buffer must be being recorded, outside of rendering.
    #[inline(never)]
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
