//! The upper tier for compute passes.

use super::builder::PassBuilder;
use super::scope::Scopes;
use crate::frame::Frame;
use crate::memory::Buffer;
use crate::pipeline::Pipeline;
use crate::{Error, Result};
use ash::vk;

/// Marks compute passes.
pub struct Compute;

/// A compute pass being described; a dispatch records it.
pub type ComputePass<'a> = PassBuilder<'a, Compute>;

impl Frame {
    /// Begins to describe a compute pass.
    #[inline]
    pub fn compute<'a>(&'a mut self, name: &'a str, pipeline: &'a Pipeline) -> ComputePass<'a> {
        PassBuilder::new(self, name, pipeline, false)
    }
}

impl ComputePass<'_> {
    /// Runs so many workgroups.
    ///
    /// # Errors
    /// [`Error::Pass`] with all mismatches of bindings, push constants and limits.
    #[inline]
    pub fn dispatch(self, groups: [u32; 3]) -> Result<()> {
        let limit = &self.frame.limits().max_workgroups;
        if groups[0] > limit[0] || groups[1] > limit[1] || groups[2] > limit[2] {
            self.frame.too_many_workgroups(groups);
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
    #[inline]
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
}

impl Frame {
    #[cold]
    fn too_many_workgroups(&mut self, groups: [u32; 3]) {
        let limit = self.limits().max_workgroups;
        self.problem(format!(
            "{groups:?} workgroups are over the device's limit of {limit:?}"
        ));
    }

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
    #[inline]
    pub(crate) fn parts(&mut self) -> Result<(&crate::device::Inner, &mut crate::frame::Recorder)> {
        match &mut self.recorder {
            Some(recorder) => Ok((&self.gpu.inner, recorder)),
            None => Err(Error::invalid("frame", "it was submitted already")),
        }
    }
}
