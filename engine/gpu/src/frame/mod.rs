//! Frames: the recording of one submission, with a fixed number of them in flight.

mod clock;
mod in_flight;
mod inspect;
mod loss;
mod markers;
mod recorder;
mod statistics;
mod target;
mod timing;
mod transfer;
mod uploads;

pub(crate) use in_flight::wait_for;
pub use inspect::PassRecord;
pub(crate) use loss::FaultReport;
pub(crate) use markers::EXTENSIONS as MARKER_EXTENSIONS;
pub(crate) use recorder::Recorder;
pub use statistics::PassStatistics;
pub(crate) use target::PresentTarget;
pub use timing::{FrameMoments, FrameResult, PassResult};
pub(crate) use transfer::TransferQueue;

use crate::device::{Gpu, Limits};
use crate::{Error, Result};
use std::sync::atomic::Ordering;

/// A frame being recorded. [`submit`](Frame::submit) hands it to the device; a frame that is dropped before is
/// submitted as far as it was recorded, since the state of its resources counts on it.
pub struct Frame {
    pub(crate) gpu: Gpu,
    pub(crate) recorder: Option<Box<Recorder>>,
}

/// A frame on its way.
pub struct SubmittedFrame {
    gpu: Gpu,
    number: u64,
}

impl Gpu {
    /// Begins to record a frame. Waits while the device is as many frames behind as may be in flight.
    ///
    /// # Errors
    /// [`Error::Invalid`] while another frame is being recorded, [`Error::DeviceLost`], [`Error::Vulkan`].
    pub fn begin_frame(&self) -> Result<Frame> {
        let recorder = crate::lock(&self.inner.recorder).take();
        let Some(mut recorder) = recorder else {
            return Err(Error::invalid(
                "frame",
                "another frame is being recorded; submit it first",
            ));
        };
        match recorder.begin_frame(&self.inner) {
            Ok(()) => Ok(Frame {
                gpu: self.clone(),
                recorder: Some(recorder),
            }),
            Err(error) => {
                *crate::lock(&self.inner.recorder) = Some(recorder);
                Err(error)
            }
        }
    }

    /// The measurements of all frames that were completed since the last call; at most the last 1024. A frame's are
    /// known when its place in flight is needed again, or after [`Gpu::wait_idle`] and one more frame.
    pub fn frame_results(&self) -> Vec<FrameResult> {
        match crate::lock(&self.inner.recorder).as_mut() {
            Some(recorder) => {
                recorder.collect_finished(&self.inner);
                recorder.results.drain(..).collect()
            }
            None => Vec::new(),
        }
    }
}

impl Frame {
    /// Number of this frame, counted from 1.
    pub fn number(&self) -> u64 {
        self.gpu.inner.frame_number.load(Ordering::Acquire)
    }

    /// The device that the frame is for.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Turns the loss of the device into an error that names the passes under way.
    pub(crate) fn name_passes(&self, error: Error) -> Error {
        match &self.recorder {
            Some(recorder) => recorder.name_passes(&self.gpu.inner, error),
            None => error,
        }
    }

    #[inline]
    pub(crate) fn recorder_mut(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_deref_mut()
    }

    #[inline]
    pub(crate) fn clear_sink(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sink.clear();
        }
    }

    #[inline]
    pub(crate) fn limits(&self) -> &Limits {
        &self.gpu.inner.info.limits
    }

    /// Hands the frame to the device.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] with the passes that were under way, [`Error::Vulkan`].
    pub fn submit(mut self) -> Result<SubmittedFrame> {
        let number = self.finish()?;
        Ok(SubmittedFrame {
            gpu: self.gpu.clone(),
            number,
        })
    }

    fn finish(&mut self) -> Result<u64> {
        let Some(mut recorder) = self.recorder.take() else {
            return Err(Error::invalid("frame", "it was submitted already"));
        };
        let result = recorder.submit(&self.gpu.inner);
        *crate::lock(&self.gpu.inner.recorder) = Some(recorder);
        result
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if self.recorder.is_some()
            && let Err(error) = self.finish()
        {
            log::error!("a frame that was dropped could not be submitted: {error}");
        }
    }
}

impl SubmittedFrame {
    /// Number of the frame, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits until the device is done with the frame.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] with the passes that were under way, [`Error::Vulkan`].
    pub fn wait(&self) -> Result<()> {
        wait_for(&self.gpu.inner, self.number)
    }
}
