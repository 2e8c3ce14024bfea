//! The copies of uploads, which come before a frame's passes.

use super::Recorder;
use crate::Result;
use crate::device::Inner;
use crate::memory::{Copy, Upload};
use crate::pass::{ResourceId, Scopes};
use ash::vk;

impl Recorder {
    /// Records the copies that were asked for since the last frame. Copies to different places need no order among
    /// each other; where one would write what another has written, a barrier goes between.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan), of the transfer queue.
    pub(super) fn record_uploads(&mut self, gpu: &Inner, number: u64, done: u64) -> Result<()> {
        let mut list = std::mem::take(&mut self.uploads);
        {
            let mut uploads = crate::lock(&gpu.uploads);
            uploads.collect(done);
            std::mem::swap(&mut list, &mut uploads.pending);
        }
        self.transfer_uploads(gpu, number, &mut list)?;
        let mut rest = list.as_slice();
        while !rest.is_empty() {
            let count = independent(rest);
            let (batch, later) = rest.split_at(count);
            self.sink.clear();
            for upload in batch {
                self.sink
                    .accesses
                    .push((upload.resource, Scopes::TRANSFER_WRITE));
            }
            self.transfer(gpu, "upload", |device, commands| {
                for upload in batch {
                    copy(device, commands, upload);
                }
            });
            rest = later;
        }
        list.clear();
        self.uploads = list;
        Ok(())
    }
}

/// Records one copy.
pub(super) fn copy(device: &ash::Device, commands: vk::CommandBuffer, upload: &Upload) {
    // SAFETY: ranges were checked when the upload was asked for. A target that was dropped since waits in the deletion queue for
    // the frame that the copy is for.
    unsafe {
        match &upload.copy {
            Copy::Buffer { target, region, .. } => {
                device.cmd_copy_buffer(commands, upload.staging, *target, &[*region]);
            }
            Copy::Texture { target, region } => device.cmd_copy_buffer_to_image(
                commands,
                upload.staging,
                *target,
                vk::ImageLayout::GENERAL,
                &[*region],
            ),
        }
    }
}

/// How many uploads from the start write to different places.
pub(super) fn independent(uploads: &[Upload]) -> usize {
    let range = |upload: &Upload| -> Option<(ResourceId, u64, u64)> {
        match &upload.copy {
            Copy::Buffer { region, .. } => Some((
                upload.resource,
                region.dst_offset,
                region.dst_offset + region.size,
            )),
            Copy::Texture { .. } => None,
        }
    };
    // Compared by pairs, so batches stay short enough for that.
    const LONGEST: usize = 64;
    for (i, upload) in uploads.iter().enumerate().take(LONGEST) {
        let overlaps = uploads[..i]
            .iter()
            .filter(|earlier| earlier.resource == upload.resource)
            .any(|earlier| match (range(earlier), range(upload)) {
                (Some((_, from, to)), Some((_, start, end))) => from < end && start < to,
                _ => true,
            });
        if overlaps {
            return i;
        }
    }
    uploads.len().min(LONGEST)
}
