//! The executor: what happens around the command of every pass.
//!
//! Checks, then hazards and at most one barrier, then label and timestamp, attachments, pipeline, push constants,
//! descriptors, the body, and the ends of all that. Nothing here allocates once its lists have grown to size.

use super::attachments::Attachments;
use super::hazard::{Barrier, ResourceId};
use super::name::PassName;
use super::scope::{Scopes, ShaderAccess, Stage};
use crate::binding::{BindingSink, Bindings, Bound, SlotList};
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

/// What a pass is recorded with, apart from bindings and accesses, which are in the recorder by now.
pub(crate) struct Pass<'a> {
    pub(crate) name: &'a str,
    pub(crate) pipeline: Option<&'a Pipeline>,
    pub(crate) push_constants: &'a [u8],
    pub(crate) attachments: Option<&'a Attachments>,
    /// Full barriers on both sides, because something it touches is not known.
    pub(crate) full_barriers: bool,
}

impl Recorder {
    /// Starts to collect the bindings of a pass.
    pub(crate) fn bind(&mut self, pipeline: &Pipeline, bindings: impl Bindings) {
        check_names(pipeline, &mut self.sink, &bindings);
        bindings.slots(&mut SlotList {
            slots: &pipeline.slots,
            sink: &mut self.sink,
        });
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
    pub(crate) fn pass(
        &mut self,
        gpu: &Inner,
        pass: &Pass<'_>,
        body: impl FnOnce(&RawPass<'_>),
    ) -> Result<()> {
        self.check(gpu, pass)?;
        let graphics = match (
            pass.pipeline.map(|pipeline| &pipeline.kind),
            pass.attachments,
        ) {
            (Some(PipelineKind::Graphics(variants)), Some(attachments)) => {
                let layout = pass
                    .pipeline
                    .map_or(vk::PipelineLayout::null(), |pipeline| pipeline.layout);
                variants.get(gpu, layout, &attachments.formats)?
            }
            _ => vk::Pipeline::null(),
        };
        if let Some(attachments) = pass.attachments {
            self.sink.accesses.extend_from_slice(attachments.accesses());
        }
        self.begin(gpu, pass.name, pass.full_barriers);
        let commands = self.commands;
        let device = &gpu.device;
        if let (true, Some(pipeline)) = (self.statistics.enabled, pass.pipeline) {
            let index = self.timing.last_pass();
            self.statistics.begin(gpu, commands, index, pipeline);
        }
        // SAFETY: the command buffer is being recorded, by us alone; pipeline, layout and template belong together, the
        // data has one entry per descriptor of the template (checked above), and all handles live until the frame is done.
        unsafe {
            if let Some(attachments) = pass.attachments {
                attachments.begin(device, commands);
            }
            if let Some(pipeline) = pass.pipeline {
                match pipeline.kind {
                    PipelineKind::Compute(handle) => {
                        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, handle);
                    }
                    PipelineKind::Graphics(_) => device.cmd_bind_pipeline(
                        commands,
                        vk::PipelineBindPoint::GRAPHICS,
                        graphics,
                    ),
                }
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
                    let data = self.sink.bindings.as_ptr().cast();
                    let push = gpu
                        .push_descriptor
                        .fp()
                        .cmd_push_descriptor_set_with_template_khr;
                    push(commands, pipeline.template, pipeline.layout, 0, data);
                }
            }
        }
        self.in_closure = true;
        body(&RawPass {
            commands,
            device,
            push_descriptor: &gpu.push_descriptor,
            mesh_shader: gpu.mesh_shader.as_ref(),
        });
        self.in_closure = false;
        if pass.attachments.is_some() {
            // SAFETY: rendering was begun above.
            unsafe { device.cmd_end_rendering(commands) };
        }
        self.statistics.end(gpu, commands);
        self.end(gpu);
        self.full_barrier_next |= pass.full_barriers;
        self.sink.clear();
        Ok(())
    }

    /// Records a transfer: no pipeline, no attachments. The accesses are in the sink.
    pub(crate) fn transfer(
        &mut self,
        gpu: &Inner,
        name: &str,
        body: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) {
        self.begin(gpu, name, false);
        body(&gpu.device, self.commands);
        self.end(gpu);
        self.sink.clear();
    }

    fn check(&mut self, gpu: &Inner, pass: &Pass<'_>) -> Result<()> {
        if let Some(pipeline) = pass.pipeline {
            if !pipeline.is_of(gpu) {
                self.sink
                    .problems
                    .push("the pipeline belongs to another device".into());
            }
            let expected = pipeline.push.map_or(0, |range| range.size as usize);
            if pass.push_constants.len() != expected {
                let given = pass.push_constants.len();
                self.sink.problems.push(format!(
                    "the push constants take {expected} bytes; given {given}"
                ));
            }
            let (given, slots) = (self.sink.bindings.len(), pipeline.slots.len());
            if given < slots {
                let missing: Vec<_> = pipeline.slots[given..]
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                self.sink
                    .problems
                    .push(format!("no resource was given for {}", missing.join(", ")));
            }
            if matches!(pipeline.kind, PipelineKind::Graphics(_)) != pass.attachments.is_some() {
                self.sink.problems.push(
                    "graphics pipelines need attachments, compute pipelines take none".into(),
                );
            }
        }
        if let Some(attachments) = pass.attachments {
            attachments.check(gpu, &mut self.sink);
        }
        if self.sink.problems.is_empty() {
            return Ok(());
        }
        let problems = std::mem::take(&mut self.sink.problems);
        self.sink.clear();
        Err(Error::Pass {
            pass: pass.name.to_owned(),
            pipeline: pass
                .pipeline
                .map_or("no pipeline", |pipeline| &pipeline.name)
                .to_owned(),
            problems,
        })
    }

    /// Barrier, label, first timestamp.
    fn begin(&mut self, gpu: &Inner, name: &str, full_barrier: bool) {
        let full = full_barrier || self.full_barrier_next || self.tracker.is_exhausted();
        if full {
            self.tracker.full_barrier();
            self.full_barrier_next = false;
            self.full_barriers += 1;
        }
        let barrier = self.tracker.pass(&self.sink.accesses);
        gpu.new_textures.drain(&mut self.image_barriers);
        if full || !barrier.is_empty() || !self.image_barriers.is_empty() {
            self.barrier(gpu, barrier, full);
        }
        let name = PassName::new(name);
        if let Some(debug) = &gpu.debug {
            let label = name.label();
            // SAFETY: the command buffer is being recorded; the label is ended in `end`.
            unsafe { debug.cmd_begin_debug_utils_label(self.commands, &label) };
        }
        self.begin_timing(gpu, name);
    }

    fn end(&mut self, gpu: &Inner) {
        self.end_timing(gpu);
        if let Some(debug) = &gpu.debug {
            // SAFETY: a label was begun in `begin`.
            unsafe { debug.cmd_end_debug_utils_label(self.commands) };
        }
    }

    fn barrier(&mut self, gpu: &Inner, barrier: Barrier, full: bool) {
        let all = vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE);
        let memory = [if full { all } else { barrier.to_vk() }];
        let mut info = vk::DependencyInfo::default().image_memory_barriers(&self.image_barriers);
        if full || !barrier.is_empty() {
            info = info.memory_barriers(&memory);
        }
        // SAFETY: the command buffer is being recorded, outside of rendering.
        unsafe { gpu.device.cmd_pipeline_barrier2(self.commands, &info) };
        self.image_barriers.clear();
        self.barriers += 1;
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

/// Compares the slots that bindings were generated for with the pipeline's; once, for the answer stays the same.
fn check_names<B: Bindings>(pipeline: &Pipeline, sink: &mut BindingSink, _: &B) {
    let names = B::NAMES;
    if names.is_empty() || pipeline.known_names.load(Ordering::Relaxed) == names.as_ptr().cast_mut()
    {
        return;
    }
    if (SlotList {
        slots: &pipeline.slots,
        sink,
    })
    .expect(names)
    {
        pipeline
            .known_names
            .store(names.as_ptr().cast_mut(), Ordering::Relaxed);
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
        let attachments = (!desc.colors.is_empty() || desc.depth.is_some())
            .then(|| Attachments::new(desc.colors, desc.depth));
        // A pass that was described and then given up may have left something.
        self.clear_sink();
        let (gpu, recorder) = self.parts()?;
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
                attachments: attachments.as_ref(),
                full_barriers: desc.uses_all || unknown,
            },
            body,
        )
    }
}
