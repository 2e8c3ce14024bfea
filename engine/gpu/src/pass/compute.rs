//! The upper tier for compute passes.

use super::execute::{Pass, RawPass, ResourceRef};
use super::scope::Scopes;
use crate::binding::Bindings;
use crate::frame::Frame;
use crate::memory::Buffer;
use crate::pipeline::Pipeline;
use crate::{Error, Result};
use ash::vk;
use bytemuck::NoUninit;

/// A compute pass being described; a dispatch records it.
#[must_use = "a pass is recorded by its dispatch"]
pub struct ComputePass<'a> {
    frame: &'a mut Frame,
    name: &'a str,
    pipeline: &'a Pipeline,
    push_constants: &'a [u8],
    declared: bool,
    uses_all: bool,
}

impl Frame {
    /// Begins to describe a compute pass.
    pub fn compute<'a>(&'a mut self, name: &'a str, pipeline: &'a Pipeline) -> ComputePass<'a> {
        self.clear_sink();
        ComputePass {
            frame: self,
            name,
            pipeline,
            push_constants: &[],
            declared: false,
            uses_all: false,
        }
    }
}

impl<'a> ComputePass<'a> {
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

    /// Declares that the shader reads `resource` through a device address or heap index.
    pub fn reads(self, resource: &dyn ResourceRef) -> Self {
        self.declare(resource, false)
    }

    /// Declares that the shader writes (and may read) `resource` through a device address or heap index.
    pub fn writes(self, resource: &dyn ResourceRef) -> Self {
        self.declare(resource, true)
    }

    /// Declares that the shader may touch anything: a full barrier goes before and after.
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

    /// Runs so many workgroups.
    ///
    /// # Errors
    /// [`Error::Pass`] with all mismatches of bindings, push constants and limits.
    pub fn dispatch(self, groups: [u32; 3]) -> Result<()> {
        let limit = self.frame.limits().max_workgroups;
        if groups
            .iter()
            .zip(limit)
            .any(|(&groups, limit)| groups > limit)
        {
            self.frame.problem(format!(
                "{groups:?} workgroups are over the device's limit of {limit:?}"
            ));
        }
        self.record(|raw| {
            let [x, y, z] = groups;
            // SAFETY: within limits, and the pass has bound all that the pipeline needs.
            unsafe { raw.device.cmd_dispatch(raw.commands, x, y, z) };
        })
    }

    /// Runs at least so many threads: their number divided by the reflected local size, rounded up.
    ///
    /// # Errors
    /// As [`ComputePass::dispatch`].
    pub fn dispatch_threads(self, threads: [u32; 3]) -> Result<()> {
        let size = self.pipeline.local_size;
        let groups = [0, 1, 2].map(|axis: usize| threads[axis].div_ceil(size[axis]));
        self.dispatch(groups)
    }

    /// Runs as many workgroups as three `u32` at `offset` in `arguments` say when the device gets there.
    ///
    /// # Errors
    /// As [`ComputePass::dispatch`], or for an offset that does not fit.
    pub fn dispatch_indirect(self, arguments: &Buffer, offset: u64) -> Result<()> {
        self.frame.indirect(arguments, offset, 12);
        let buffer = arguments.handle;
        self.record(|raw| {
            // SAFETY: the buffer may hold indirect arguments and has room for them at the offset.
            unsafe {
                raw.device
                    .cmd_dispatch_indirect(raw.commands, buffer, offset);
            };
        })
    }

    /// Records the pass around a closure that dispatches by itself.
    ///
    /// # Errors
    /// As [`ComputePass::dispatch`].
    pub fn record(self, body: impl FnOnce(&RawPass<'_>)) -> Result<()> {
        let full_barriers = self.uses_all || (self.pipeline.opaque_accesses && !self.declared);
        let pass = Pass {
            name: self.name,
            pipeline: Some(self.pipeline),
            push_constants: self.push_constants,
            attachments: None,
            full_barriers,
        };
        let (gpu, recorder) = self.frame.parts()?;
        recorder.pass(gpu, &pass, body)
    }
}

impl Frame {
    /// Notes indirect arguments: their access, and what is wrong with them.
    pub(crate) fn indirect(&mut self, buffer: &Buffer, offset: u64, bytes: u64) {
        let fits = offset
            .checked_add(bytes)
            .is_some_and(|end| end <= buffer.size());
        if !fits
            || !offset.is_multiple_of(4)
            || !buffer
                .usage()
                .contains(vk::BufferUsageFlags::INDIRECT_BUFFER)
        {
            self.problem(format!(
                "indirect arguments need {bytes} bytes at an offset that is a multiple of 4 in an INDIRECT_BUFFER; given offset {offset} in {:?}, {}",
                buffer.name(),
                buffer.resource.description
            ));
        }
        if buffer.resource.device != self.gpu.inner.number {
            self.problem(format!(
                "indirect arguments {:?} belong to another device",
                buffer.name()
            ));
        }
        if let Some(recorder) = self.recorder_mut() {
            recorder
                .sink
                .accesses
                .push((buffer.resource.id, Scopes::INDIRECT_READ));
        }
    }

    /// Notes an array of indirect arguments: `count` structures of `size` bytes, `stride` bytes apart.
    pub(crate) fn indirect_array(
        &mut self,
        buffer: &Buffer,
        offset: u64,
        count: u32,
        stride: u32,
        size: u64,
    ) {
        let most = self.limits().max_draw_indirect_count;
        if count > most {
            self.problem(format!(
                "{count} indirect draws are over the device's limit of {most}"
            ));
        }
        if !stride.is_multiple_of(4) || u64::from(stride) < size {
            self.problem(format!(
                "the stride of indirect arguments must be a multiple of 4 and at least {size}; given {stride}"
            ));
        }
        let bytes = u64::from(count.saturating_sub(1)) * u64::from(stride) + size;
        self.indirect(buffer, offset, bytes);
    }

    pub(crate) fn problem(&mut self, problem: String) {
        if let Some(recorder) = self.recorder_mut() {
            recorder.sink.problems.push(problem);
        }
    }

    /// The parts of a frame that recording needs.
    pub(crate) fn parts(&mut self) -> Result<(&crate::device::Inner, &mut crate::frame::Recorder)> {
        match &mut self.recorder {
            Some(recorder) => Ok((&self.gpu.inner, recorder)),
            None => Err(Error::invalid("frame", "it was submitted already")),
        }
    }
}
