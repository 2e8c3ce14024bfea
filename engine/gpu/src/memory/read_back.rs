//! Read-backs: copies to mapped memory that the CPU looks at when the frame is done.

use super::{Garbage, RawBuffer};
use crate::device::Inner;
use crate::frame::wait_for;
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Data on its way from the device to the CPU.
pub struct ReadBack {
    pub(crate) buffer: Option<RawBuffer>,
    pub(crate) size: usize,
    pub(crate) frame: u64,
    pub(crate) gpu: Arc<Inner>,
}

impl ReadBack {
    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The data, if the device has written it; never waits.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Vulkan`].
    pub fn try_get(&self) -> Result<Option<Vec<u8>>> {
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe {
            self.gpu
                .device
                .get_semaphore_counter_value(self.gpu.timeline)
        }
        .map_err(Error::vulkan("vkGetSemaphoreCounterValue", "a read-back"))
        .map_err(|error| self.gpu.name_passes(error))?;
        if done < self.frame {
            Ok(None)
        } else {
            self.read().map(Some)
        }
    }

    /// Waits for the device and gives the data.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the frame has not been submitted, [`Error::DeviceLost`], [`Error::Vulkan`].
    pub fn wait(&self) -> Result<Vec<u8>> {
        if self.frame >= self.gpu.frame_number.load(Ordering::Acquire) {
            return Err(Error::invalid(
                "read-back",
                "its frame has not been submitted",
            ));
        }
        wait_for(&self.gpu, self.frame)?;
        self.read()
    }

    fn read(&self) -> Result<Vec<u8>> {
        match &self.buffer {
            Some(buffer) => buffer.read(&self.gpu, 0, self.size),
            None => Ok(Vec::new()),
        }
    }
}

impl Drop for ReadBack {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.gpu.deletions.push(&self.gpu, Garbage::Buffer(buffer));
        }
    }
}
