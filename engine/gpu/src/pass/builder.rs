//! The upper tier: a pass is described call by call, and the call that runs something records it.

use super::execute::{Pass, RawPass, ResourceRef};
use crate::Result;
use crate::binding::Bindings;
use crate::frame::Frame;
use crate::pipeline::Pipeline;
use bytemuck::NoUninit;
use std::marker::PhantomData;

/// A pass being described: what [compute](super::ComputePass) and [graphics](super::GraphicsPass) passes have in common.
/// Its last call records it.
#[must_use = "a pass is recorded by its dispatch or draw"]
pub struct PassBuilder<'a, Kind> {
    pub(super) frame: &'a mut Frame,
    pub(super) pipeline: &'a Pipeline,
    pass: Pass<'a>,
    uses_all: bool,
    kind: PhantomData<Kind>,
}

impl<'a, Kind> PassBuilder<'a, Kind> {
    #[inline]
    pub(super) fn new(
        frame: &'a mut Frame,
        name: &'a str,
        pipeline: &'a Pipeline,
        graphics: bool,
    ) -> Self {
        frame.clear_sink();
        PassBuilder {
            frame,
            pipeline,
            pass: Pass {
                name,
                pipeline: Some(pipeline),
                push_constants: &[],
                graphics,
                // Until something is declared.
                full_barriers: pipeline.opaque_accesses,
            },
            uses_all: false,
            kind: PhantomData,
        }
    }

    /// Binds resources to the pipeline's slots.
    #[inline]
    pub fn bind(self, bindings: impl Bindings) -> Self {
        if let Some(recorder) = self.frame.recorder_mut() {
            recorder.bind(self.pipeline, bindings);
        }
        self
    }

    /// Sets the push constants: a struct of exactly the size of the pipeline's range.
    #[inline]
    pub fn push<T: NoUninit>(mut self, constants: &'a T) -> Self {
        self.pass.push_constants = bytemuck::bytes_of(constants);
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
        self.pass.full_barriers = true;
        self
    }

    fn declare(mut self, resource: &dyn ResourceRef, write: bool) -> Self {
        self.pass.full_barriers = self.uses_all;
        if let Some(recorder) = self.frame.recorder_mut() {
            recorder.declare(self.pipeline, resource, write);
        }
        self
    }

    /// Records the pass around a closure that dispatches or draws by itself.
    ///
    /// # Errors
    /// [`Error::Pass`](crate::Error::Pass) with all mismatches of bindings, push constants, attachments and limits.
    #[inline]
    pub fn record(self, body: impl FnOnce(&RawPass<'_>)) -> Result<()> {
        let (gpu, recorder) = self.frame.parts()?;
        recorder.pass(gpu, &self.pass, body)
    }
}
