//! The executor: what happens around the command of every pass.
//!
//! Checks, then hazards and at most one barrier, then label and timestamp, attachments, pipeline, push constants,
//! descriptors, the body, and the ends of all that. Nothing here allocates once its lists have grown to size.

use super::hazard::ResourceId;
use super::scope::{Scopes, ShaderAccess, Stage};
use crate::binding::{Bindings, Bound, SlotList, compare_names};
use crate::device::Inner;
use crate::frame::{Frame, Recorder};
use crate::memory::{Buffer, Texture};
use crate::pipeline::{Pipeline, PipelineKind};
use crate::{Error, Result};
use ash::vk;
use std::sync::atomic::Ordering;

/// A resource that a pass can declare to touch.
pub trait ResourceRef {
    /// Its identity for the hazard tracker.
    fn id(&self) -> ResourceId;

    /// Whether shaders may sample it, too.
    fn is_texture(&self) -> bool;
}

impl ResourceRef for Buffer {
    fn id(&self) -> ResourceId {
        self.resource.id
    }

    fn is_texture(&self) -> bool {
        false
    }
}

impl ResourceRef for Texture {
    fn id(&self) -> ResourceId {
        self.resource.id
    }

    fn is_texture(&self) -> bool {
        true
    }
}

/// A pass in full, for the lower tier: [`Frame::pass`] records it around a closure that gets the raw command buffer.
#[derive(Clone, Copy, Default)]
pub struct PassDesc<'a> {
    /// Name, for labels, timings and errors.
    pub name: &'a str,
    /// Pipeline to bind; without one the closure binds its own.
    pub pipeline: Option<&'a Pipeline>,
    /// Resources of the pipeline's slots, in slot order.
    pub bindings: &'a [Bound<'a>],
    /// Push constants: exactly the bytes of the pipeline's range.
    pub push_constants: &'a [u8],
    /// Colour attachments.
    pub colors: &'a [super::Color<'a>],
    /// Depth attachment.
    pub depth: Option<super::Depth<'a>>,
    /// All other resources that the closure touches, and how.
    pub accesses: &'a [(ResourceId, Scopes)],
    /// Whether the closure touches what is not listed: a full barrier goes before and after.
    pub uses_all: bool,
}

/// What a raw closure gets: the command buffer, in the state that the pass has set up, and Vulkan's functions.
pub struct RawPass<'a> {
    /// The command buffer being recorded.
    pub commands: vk::CommandBuffer,
    /// The device's functions.
    pub device: &'a ash::Device,
    /// Commands that push descriptors.
    pub push_descriptor: &'a ash::khr::push_descriptor::Device,
    /// Mesh shader commands, where the device has them.
    pub mesh_shader: Option<&'a ash::ext::mesh_shader::Device>,
}

/// What a pass is recorded with, apart from bindings, attachments and accesses, which are in the recorder by now.
pub(crate) struct Pass<'a> {
    pub(crate) name: &'a str,
    pub(crate) pipeline: Option<&'a Pipeline>,
    pub(crate) push_constants: &'a [u8],
    /// Whether it draws to the recorder's attachments.
    pub(crate) graphics: bool,
    /// Full barriers on both sides, because something it touches is not known.
    pub(crate) full_barriers: bool,
}

/// All commands and all memory before it come before all after it.
const FULL_BARRIER: vk::MemoryBarrier2<'static> = vk::MemoryBarrier2 {
    s_type: vk::StructureType::MEMORY_BARRIER_2,
    p_next: std::ptr::null(),
    src_stage_mask: vk::PipelineStageFlags2::ALL_COMMANDS,
    src_access_mask: vk::AccessFlags2::MEMORY_WRITE,
    dst_stage_mask: vk::PipelineStageFlags2::ALL_COMMANDS,
    dst_access_mask: vk::AccessFlags2::from_raw(
        vk::AccessFlags2::MEMORY_READ.as_raw() | vk::AccessFlags2::MEMORY_WRITE.as_raw(),
    ),
    _marker: std::marker::PhantomData,
};

impl Recorder {
    /// Starts to collect the bindings of a pass.
    #[inline]
    pub(crate) fn bind(&mut self, pipeline: &Pipeline, bindings: impl Bindings) {
        self.check_names(pipeline, &bindings);
        let mut slots = SlotList::new(&pipeline.slots, &mut self.sink);
        bindings.slots(&mut slots);
        self.sink.given = slots.given;
    }

    /// Compares the slots that bindings were generated for with the pipeline's; once, for the answer stays the same.
    #[inline]
    fn check_names<B: Bindings>(&mut self, pipeline: &Pipeline, _: &B) {
        let known = B::NAMES.as_ptr().cast_mut();
        if B::NAMES.is_empty() || pipeline.known_names.load(Ordering::Relaxed) == known {
            return;
        }
        match compare_names(B::NAMES, &pipeline.slots) {
            Ok(()) => pipeline.known_names.store(known, Ordering::Relaxed),
            Err(problem) => self.sink.problems.push(problem),
        }
    }

    /// Declares an access that no binding shows.
    pub(crate) fn declare(&mut self, pipeline: &Pipeline, resource: &dyn ResourceRef, write: bool) {
        for stage in [
            Stage::Vertex,
            Stage::Task,
            Stage::Mesh,
            Stage::Fragment,
            Stage::Compute,
        ] {
            if !pipeline.has_stage(stage) {
                continue;
            }
            let mut scopes = Scopes::shader(stage, ShaderAccess::StorageRead);
            if resource.is_texture() {
                scopes = scopes.union(Scopes::shader(stage, ShaderAccess::Sampled));
            }
            if write {
                scopes = scopes.union(Scopes::shader(stage, ShaderAccess::StorageWrite));
            }
            self.sink.accesses.push((resource.id(), scopes));
        }
    }

    /// Records a pass around `body`.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        gpu: &Inner,
        pass: &Pass<'_>,
        body: impl FnOnce(&RawPass<'_>),
    ) -> Result<()> {
        self.begin_pass(gpu, pass)?;
        self.in_closure = true;
        body(&RawPass {
            commands: self.commands,
            device: &gpu.device,
            push_descriptor: &gpu.push_descriptor,
            mesh_shader: gpu.mesh_shader.as_ref(),
        });
        self.in_closure = false;
        self.end_pass(gpu, pass);
        Ok(())
    }

    /// Records all that comes before the body of a pass.
    #[inline(never)]
    fn begin_pass(&mut self, gpu: &Inner, pass: &Pass<'_>) -> Result<()> {
        self.check(gpu, pass)?;
        let (point, handle) = match pass.pipeline.map(|pipeline| &pipeline.kind) {
            None => (vk::PipelineBindPoint::COMPUTE, vk::Pipeline::null()),
            Some(PipelineKind::Compute(handle)) => (vk::PipelineBindPoint::COMPUTE, *handle),
            Some(PipelineKind::Graphics(_)) => {
                (vk::PipelineBindPoint::GRAPHICS, self.variant(gpu, pass)?)
            }
        };
        if pass.graphics {
            let attached = self.attachments.accesses();
            self.sink.accesses.extend_from_slice(attached);
        }
        if self.inspection.noting {
            self.note(gpu, pass.name, pass.pipeline);
        }
        self.begin(gpu, pass.name, pass.full_barriers);
        let (device, commands) = (&gpu.device, self.commands);
        if let (true, Some(pipeline)) = (self.statistics.enabled, pass.pipeline) {
            let index = self.timing.last_pass();
            self.statistics.begin(gpu, commands, index, pipeline);
        }
        // SAFETY: the command buffer is being recorded, by us alone; pipeline, layout and template belong together, the
        // data has one entry per descriptor of the template (checked above), and all handles live until the frame is done.
        unsafe {
            if pass.graphics {
                self.attachments.begin(device, commands);
            }
            if let Some(pipeline) = pass.pipeline {
                device.cmd_bind_pipeline(commands, point, handle);
                if let Some(range) = pipeline.push {
                    device.cmd_push_constants(
                        commands,
                        pipeline.layout,
                        range.stages,
                        range.offset,
                        pass.push_constants,
                    );
                }
                if pipeline.template != vk::DescriptorUpdateTemplate::null() {
                    let data = self.sink.data().cast();
                    let push = gpu
                        .push_descriptor
                        .fp()
                        .cmd_push_descriptor_set_with_template_khr;
                    push(commands, pipeline.template, pipeline.layout, 0, data);
                }
            }
        }
        Ok(())
    }

    /// The Vulkan pipeline for the formats of the attachments.
    #[inline(never)]
    fn variant(&self, gpu: &Inner, pass: &Pass<'_>) -> Result<vk::Pipeline> {
        match pass
            .pipeline
            .map(|pipeline| (pipeline.layout, &pipeline.kind))
        {
            Some((layout, PipelineKind::Graphics(variants))) => {
                variants.get(gpu, layout, &self.attachments.formats)
            }
            _ => Ok(vk::Pipeline::null()),
        }
    }

    /// Records all that comes after the body of a pass.
    #[inline(never)]
    fn end_pass(&mut self, gpu: &Inner, pass: &Pass<'_>) {
        if pass.graphics {
            // SAFETY: rendering was begun in `begin_pass`.
            unsafe { gpu.device.cmd_end_rendering(self.commands) };
        }
        if self.statistics.enabled {
            self.statistics.end(gpu, self.commands);
        }
        self.timing.end_pass(gpu, self.commands);
        self.full_barrier_next |= pass.full_barriers;
    }

    /// Records a transfer: no pipeline, no attachments. The accesses are in the sink.
    pub(crate) fn transfer(
        &mut self,
        gpu: &Inner,
        name: &str,
        body: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) {
        self.begin_transfer(gpu, name);
        body(&gpu.device, self.commands);
        self.end_transfer(gpu);
    }

    #[inline(never)]
    fn begin_transfer(&mut self, gpu: &Inner, name: &str) {
        if self.inspection.noting {
            self.note(gpu, name, None);
        }
        self.begin(gpu, name, false);
    }

    #[inline(never)]
    fn end_transfer(&mut self, gpu: &Inner) {
        self.timing.end_pass(gpu, self.commands);
    }

    /// Checks what the pass was given against what its pipeline takes.
    fn check(&mut self, gpu: &Inner, pass: &Pass<'_>) -> Result<()> {
        if pass.graphics {
            self.attachments.check(gpu, &mut self.sink);
        }
        let fits = pass.pipeline.is_none_or(|pipeline| {
            pipeline.is_of(gpu)
                && pass.push_constants.len() == pipeline.push_size()
                && self.sink.given >= pipeline.slots.len()
                && pipeline.is_graphics() == pass.graphics
        });
        if fits && self.sink.problems.is_empty() {
            return Ok(());
        }
        Err(self.refuse(gpu, pass))
    }

    /// The error of a pass that cannot be recorded.
    #[cold]
    fn refuse(&mut self, gpu: &Inner, pass: &Pass<'_>) -> Error {
        let mut problems = std::mem::take(&mut self.sink.problems);
        if let Some(pipeline) = pass.pipeline {
            if !pipeline.is_of(gpu) {
                problems.push("the pipeline belongs to another device".into());
            }
            let (expected, given) = (pipeline.push_size(), pass.push_constants.len());
            if given != expected {
                problems.push(format!(
                    "the push constants take {expected} bytes; given {given}"
                ));
            }
            let missing = pipeline.slots.get(self.sink.given..);
            if let Some(missing @ [_, ..]) = missing {
                let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
                problems.push(format!("no resource was given for {}", missing.join(", ")));
            }
            if pipeline.is_graphics() != pass.graphics {
                problems.push(
                    "graphics pipelines need attachments, compute pipelines take none".into(),
                );
            }
        }
        Error::Pass {
            pass: pass.name.to_owned(),
            pipeline: pass
                .pipeline
                .map_or("no pipeline", |pipeline| &pipeline.name)
                .to_owned(),
            problems,
        }
    }

    /// Barrier, label, first timestamp.
    #[inline(always)]
    fn begin(&mut self, gpu: &Inner, name: &str, full_barrier: bool) {
        let full = full_barrier || self.full_barrier_next || self.tracker.is_exhausted();
        if full {
            self.tracker.full_barrier();
            self.full_barrier_next = false;
            self.full_barriers += 1;
        }
        let barrier = self.tracker.pass(self.sink.take_touched());
        let memory = if full { Some(&FULL_BARRIER) } else { barrier };
        gpu.new_textures.drain(&mut self.image_barriers);
        if memory.is_some() || !self.image_barriers.is_empty() {
            let mut info = vk::DependencyInfo::default();
            // Lists are only named when they hold something: drivers that copy commands allocate for one that is empty.
            if let Some(memory) = memory {
                info = info.memory_barriers(std::slice::from_ref(memory));
            }
            if !self.image_barriers.is_empty() {
                info = info.image_memory_barriers(&self.image_barriers);
            }
            // SAFETY: the command buffer is being recorded, outside of rendering.
            unsafe { gpu.device.cmd_pipeline_barrier2(self.commands, &info) };
            self.image_barriers.clear();
            self.barriers += 1;
        }
        self.timing.begin_pass(gpu, self.commands, name);
    }

    /// The barrier that makes read-backs visible to the host, at the end of a frame.
    pub(crate) fn host_barrier(&mut self, gpu: &Inner) {
        let memory = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        // SAFETY: the command buffer is being recorded, outside of rendering.
        unsafe {
            gpu.device.cmd_pipeline_barrier2(
                self.commands,
                &vk::DependencyInfo::default().memory_barriers(&memory),
            );
        };
        self.barriers += 1;
    }
}

impl Frame {
    /// Records a pass of the lower tier. `body` gets the raw command buffer with pipeline, push constants, descriptors and
    /// attachments set up; it must leave the attachments' rendering active.
    ///
    /// Without declared accesses (and without a pipeline whose bindings tell them) nobody can know what `body` touches: a
    /// full barrier goes before and after, and is counted.
    ///
    /// # Errors
    /// [`Error::Pass`] with all mismatches.
    pub fn pass(&mut self, desc: &PassDesc<'_>, body: impl FnOnce(&RawPass<'_>)) -> Result<()> {
        let (gpu, recorder) = self.parts()?;
        recorder.sink.clear();
        let graphics = !desc.colors.is_empty() || desc.depth.is_some();
        if graphics {
            recorder.attachments.clear();
            for color in desc.colors {
                recorder.attachments.color(color.texture, color.load);
            }
            if let Some(depth) = desc.depth {
                recorder.attachments.depth(depth.texture, depth.load);
            }
        }
        if let Some(pipeline) = desc.pipeline {
            recorder.bind(pipeline, desc.bindings);
        } else if !desc.bindings.is_empty() || !desc.push_constants.is_empty() {
            recorder.sink.problems.push(
                "bindings and push constants need a pipeline; without one the closure binds its own"
                    .into(),
            );
        }
        recorder.sink.accesses.extend_from_slice(desc.accesses);
        let unknown = desc.accesses.is_empty()
            && desc
                .pipeline
                .is_none_or(|pipeline| pipeline.opaque_accesses);
        recorder.pass(
            gpu,
            &Pass {
                name: desc.name,
                pipeline: desc.pipeline,
                push_constants: desc.push_constants,
                graphics,
                full_barriers: desc.uses_all || unknown,
            },
            body,
        )
    }
}
