//! What each of the frames in flight has to itself.

use super::Recorder;
use crate::device::{DeviceKind, Inner};
use crate::{Error, Result};
use ash::vk;
use std::sync::atomic::Ordering;

/// What one of the frames in flight has to itself.
pub(super) struct InFlight {
    pub(super) pool: vk::CommandPool,
    pub(super) commands: vk::CommandBuffer,
    /// The same for the transfer queue.
    pub(super) transfer: Option<(vk::CommandPool, vk::CommandBuffer)>,
    /// Number of the frame that used it last; 0 if none did.
    pub(super) number: u64,
    /// With validation only: layers of the age of 1.3.239 learn that work is done from fences, not from the host's waits
    /// for timeline semaphores, and would take memory that is used again for a race.
    pub(super) fence: vk::Fence,
    pub(super) fence_pending: bool,
}

impl InFlight {
    pub(super) fn new(gpu: &Inner) -> Result<InFlight> {
        let mut frame = InFlight {
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            transfer: None,
            number: 0,
            fence: vk::Fence::null(),
            fence_pending: false,
        };
        match frame.fill(gpu) {
            Ok(()) => Ok(frame),
            Err(error) => {
                // SAFETY: nothing uses what was made.
                unsafe { frame.destroy(gpu) };
                Err(error)
            }
        }
    }

    fn fill(&mut self, gpu: &Inner) -> Result<()> {
        self.pool = pool(gpu, gpu.queue_family)?;
        self.commands = commands(gpu, self.pool)?;
        if let Some(transfer) = &gpu.transfer {
            let pool = pool(gpu, transfer.family)?;
            self.transfer = Some((pool, vk::CommandBuffer::null()));
            self.transfer = Some((pool, commands(gpu, pool)?));
        }
        if gpu.instance.layer.is_some() {
            // SAFETY: the device is alive.
            self.fence = unsafe { gpu.device.create_fence(&Default::default(), None) }
                .map_err(Error::vulkan("vkCreateFence", "a frame in flight"))?;
        }
        Ok(())
    }

    /// # Safety
    /// The device must be done with the frame.
    pub(super) unsafe fn destroy(&self, gpu: &Inner) {
        // SAFETY: the caller's promise; destroying a pool frees its command buffers, and nothing happens to null handles.
        unsafe {
            gpu.device.destroy_fence(self.fence, None);
            gpu.device.destroy_command_pool(self.pool, None);
            if let Some((pool, _)) = self.transfer {
                gpu.device.destroy_command_pool(pool, None);
            }
        }
    }
}

fn pool(gpu: &Inner, family: u32) -> Result<vk::CommandPool> {
    let info = vk::CommandPoolCreateInfo::default()
        .queue_family_index(family)
        .flags(vk::CommandPoolCreateFlags::TRANSIENT);
    // SAFETY: the family belongs to the device.
    unsafe { gpu.device.create_command_pool(&info, None) }
        .map_err(Error::vulkan("vkCreateCommandPool", "a frame in flight"))
}

fn commands(gpu: &Inner, pool: vk::CommandPool) -> Result<vk::CommandBuffer> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(1);
    // SAFETY: the pool belongs to the device.
    let made = unsafe { gpu.device.allocate_command_buffers(&info) }.map_err(Error::vulkan(
        "vkAllocateCommandBuffers",
        "a frame in flight",
    ))?;
    Ok(made.first().copied().unwrap_or_default())
}

/// Whoever waits longer than this for a GPU is told so, in nanoseconds.
const PATIENCE: u64 = 10_000_000_000;

/// Waits until the device is done with a frame, and says so now and then when that takes long: not every driver reports that
/// a pass hangs or has hit memory that is not its own. (One of NVIDIA's, 580.159 on an H200, logs the fault, and then no
/// call fails and no wait ends.) Drivers on the CPU take their time, so nothing is said of them. It ends without success where
/// there is a limit.
pub(crate) fn wait_for(gpu: &Inner, frame: u64) -> Result<()> {
    wait_and_tell(gpu, frame, |error| gpu.name_passes(error), || gpu.stalled())
}

/// As [`wait_for`], while the recorder is in the caller's hands.
pub(super) fn wait_with(gpu: &Inner, recorder: &Recorder, frame: u64) -> Result<()> {
    wait_and_tell(
        gpu,
        frame,
        |error| recorder.name_passes(gpu, error),
        || recorder.stalled(gpu),
    )
}

fn wait_and_tell(
    gpu: &Inner,
    frame: u64,
    name_passes: impl FnOnce(Error) -> Error,
    stalled: impl Fn() -> String,
) -> Result<()> {
    let (semaphores, values) = ([gpu.timeline], [frame]);
    let info = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    let limit = match gpu.is_hung.load(Ordering::Acquire) {
        true => 0,
        false => gpu.wait_limit.load(Ordering::Relaxed),
    };
    let mut waited: u64 = 0;
    loop {
        let patience = PATIENCE.min(limit.saturating_sub(waited));
        // SAFETY: the timeline semaphore lives as long as the device; the frame has been submitted, so its signal will come.
        match unsafe { gpu.device.wait_semaphores(&info, patience) } {
            Err(vk::Result::TIMEOUT) => {
                waited += patience;
                let seconds = waited as f64 / 1e9;
                if waited >= limit {
                    gpu.is_hung.store(true, Ordering::Release);
                    let passes = stalled();
                    return Err(Error::Hung {
                        frame,
                        seconds,
                        passes,
                    });
                }
                if gpu.info.kind != DeviceKind::Cpu {
                    log::warn!("frame {frame} is not done after {seconds} s: {}", stalled());
                }
            }
            result => {
                return result
                    .map_err(Error::vulkan("vkWaitSemaphores", format!("frame {frame}")))
                    .map_err(name_passes);
            }
        }
    }
}
