//! The transfer queue, where the device has one: uploads to buffers that no pass can have touched yet go there, beside the
//! passes of the frames before.
//!
//! A buffer is such a one if it was made after the last frame that had a pass. Nothing needs to be tracked for it: the frame that
//! follows waits for the copies by a semaphore, which also makes visible what they wrote. All other uploads are copies ahead
//! of the frame's passes, on the frame's own queue.

use super::Recorder;
use super::uploads::{copy, independent};
use crate::device::Inner;
use crate::memory::{Copy, Upload};
use crate::{Error, Result};
use ash::vk;

/// A queue for copies alone, beside the one of the frames.
pub(crate) struct TransferQueue {
    pub(crate) queue: vk::Queue,
    pub(crate) family: u32,
    /// Signalled with a frame's number when the copies that this frame waits for are done.
    pub(crate) timeline: vk::Semaphore,
}

/// Copies wait for the copies before them.
const BETWEEN: vk::MemoryBarrier2<'static> = vk::MemoryBarrier2 {
    src_stage_mask: vk::PipelineStageFlags2::ALL_TRANSFER,
    src_access_mask: vk::AccessFlags2::TRANSFER_WRITE,
    dst_stage_mask: vk::PipelineStageFlags2::ALL_TRANSFER,
    dst_access_mask: vk::AccessFlags2::TRANSFER_WRITE,
    s_type: vk::StructureType::MEMORY_BARRIER_2,
    p_next: std::ptr::null(),
    _marker: std::marker::PhantomData,
};

impl Recorder {
    /// Hands the uploads that may go there to the transfer queue, and takes them out of the list.
    ///
    /// # Errors
    /// [`Error::Vulkan`].
    pub(super) fn transfer_uploads(
        &mut self,
        gpu: &Inner,
        number: u64,
        uploads: &mut Vec<Upload>,
    ) -> Result<()> {
        let own = self.in_flight[self.current].transfer;
        let (Some(transfer), Some((pool, commands))) = (&gpu.transfer, own) else {
            return Ok(());
        };
        let last_with_passes = self.last_with_passes;
        let is_new = |upload: &Upload| matches!(upload.copy, Copy::Buffer { made_in, .. } if made_in > last_with_passes);
        // Mostly none is: then nothing is allocated.
        if !uploads.iter().any(is_new) {
            return Ok(());
        }
        let (ours, others): (Vec<_>, Vec<_>) = uploads.drain(..).partition(is_new);
        *uploads = others;
        record_and_submit(gpu, transfer, pool, commands, number, &ours).map_err(
            |(call, result)| {
                // The uploads are lost.
                self.failed = Some((call, result));
                let error = Error::vulkan(call, format!("uploads for frame {number}"))(result);
                self.name_passes(gpu, error)
            },
        )?;
        self.waits_for_transfer = true;
        Ok(())
    }
}

fn record_and_submit(
    gpu: &Inner,
    transfer: &TransferQueue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    number: u64,
    uploads: &[Upload],
) -> std::result::Result<(), (&'static str, vk::Result)> {
    let begin =
        vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    // SAFETY: the device is done with the frame that used this pool before, and so with the copies that it waited for.
    unsafe {
        gpu.device
            .reset_command_pool(pool, vk::CommandPoolResetFlags::empty())
            .and_then(|()| gpu.device.begin_command_buffer(commands, &begin))
    }
    .map_err(|result| ("vkBeginCommandBuffer", result))?;
    let mut rest = uploads;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(independent(rest));
        let barriers = [BETWEEN];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the command buffer is being recorded.
        unsafe { gpu.device.cmd_pipeline_barrier2(commands, &info) };
        for upload in batch {
            copy(&gpu.device, commands, upload);
        }
        rest = later;
    }
    // SAFETY: it is being recorded, and nothing in it is left open.
    unsafe { gpu.device.end_command_buffer(commands) }
        .map_err(|result| ("vkEndCommandBuffer", result))?;
    let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
    let signals = [vk::SemaphoreSubmitInfo::default()
        .semaphore(transfer.timeline)
        .value(number)
        .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
    let info = vk::SubmitInfo2::default()
        .command_buffer_infos(&buffers)
        .signal_semaphore_infos(&signals);
    let _queues = crate::lock(&gpu.queue_access);
    // SAFETY: the command buffer is complete; nobody else uses a queue, since that needs the lock.
    unsafe {
        gpu.device
            .queue_submit2(transfer.queue, &[info], vk::Fence::null())
    }
    .map_err(|result| ("vkQueueSubmit2", result))
}
