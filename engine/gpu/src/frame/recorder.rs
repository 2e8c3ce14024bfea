//! The recorder: one for a device, taken by the frame that is being recorded.

use super::FrameResult;
use super::in_flight::{InFlight, wait_with};
use super::inspect::Inspection;
use super::markers::Markers;
use super::statistics::Statistics;
use super::target::PresentTarget;
use super::timing::Timing;
use crate::binding::BindingSink;
use crate::device::Inner;
use crate::memory::Upload;
use crate::pass::{Attachments, Number, Tracker};
use crate::{Error, Result};
use ash::vk;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

/// Results of more frames than this are dropped, oldest first, when nobody asks for them.
const MAX_RESULTS: usize = 1024;

/// What recording needs and keeps from frame to frame.
pub(crate) struct Recorder {
    pub(crate) tracker: Tracker,
    pub(crate) sink: BindingSink,
    pub(crate) attachments: Attachments,
    pub(crate) image_barriers: Vec<vk::ImageMemoryBarrier2<'static>>,
    /// Command buffer of the current frame.
    pub(crate) commands: vk::CommandBuffer,
    /// A full barrier must go before whatever comes next.
    pub(crate) full_barrier_next: bool,
    /// Whether the host reads something when the frame is done.
    pub(crate) reads_back: bool,
    /// Barriers of the current frame, and how many of its passes had a full one before.
    pub(crate) barriers: u32,
    pub(crate) full_barriers: u32,
    pub(crate) timing: Timing,
    pub(crate) statistics: Statistics,
    pub(crate) results: VecDeque<FrameResult>,
    pub(crate) inspection: Inspection,
    pub(super) in_flight: Vec<InFlight>,
    pub(super) current: usize,
    /// Number of the last frame that had passes.
    pub(super) last_with_passes: u64,
    /// How many passes were counted ahead of the current frame's own.
    passes_before: Number,
    /// Whether the current frame waits for copies on the transfer queue.
    pub(super) waits_for_transfer: bool,
    pub(super) uploads: Vec<Upload>,
    /// The window image that the current frame draws to.
    pub(super) present: Option<PresentTarget>,
    /// Set while the closure of a pass runs. If it unwinds, what it began is never ended.
    pub(crate) in_closure: bool,
    /// Why a frame could not be submitted. Layouts and hazards were tracked as if it had been, so it was the last one.
    pub(super) failed: Option<(&'static str, vk::Result)>,
}

impl Recorder {
    pub(crate) fn new(gpu: &Inner) -> Result<Recorder> {
        let mut recorder = Recorder {
            tracker: Tracker::default(),
            sink: BindingSink::default(),
            attachments: Attachments::default(),
            image_barriers: Vec::new(),
            commands: vk::CommandBuffer::null(),
            full_barrier_next: false,
            reads_back: false,
            barriers: 0,
            full_barriers: 0,
            timing: Timing::new(
                gpu.desc.frames_in_flight as usize,
                gpu.desc.timestamps && gpu.info.limits.timestamp_bits > 0,
                Markers::new(gpu)?,
            ),
            statistics: Statistics::new(gpu),
            results: VecDeque::new(),
            inspection: Inspection::default(),
            in_flight: Vec::new(),
            current: 0,
            last_with_passes: 0,
            passes_before: 0,
            waits_for_transfer: false,
            uploads: Vec::new(),
            present: None,
            in_closure: false,
            failed: None,
        };
        for _ in 0..gpu.desc.frames_in_flight {
            match InFlight::new(gpu) {
                Ok(frame) => recorder.in_flight.push(frame),
                Err(error) => {
                    recorder.destroy(gpu);
                    return Err(error);
                }
            }
        }
        Ok(recorder)
    }

    /// Frees everything. The device must be idle.
    pub(crate) fn destroy(&mut self, gpu: &Inner) {
        self.timing.destroy(gpu);
        self.statistics.destroy(gpu);
        for frame in self.in_flight.drain(..) {
            // SAFETY: the device is idle.
            unsafe { frame.destroy(gpu) };
        }
    }

    /// Waits for the fences of frames that are done.
    fn settle_fences(&mut self, gpu: &Inner, done: u64) -> Result<()> {
        for frame in &mut self.in_flight {
            if frame.fence_pending && frame.number <= done {
                let fences = [frame.fence];
                // SAFETY: the fence was given to a submit, and nobody else knows it.
                unsafe {
                    gpu.device
                        .wait_for_fences(&fences, true, u64::MAX)
                        .and_then(|()| gpu.device.reset_fences(&fences))
                }
                .map_err(Error::vulkan("vkWaitForFences", "a frame in flight"))?;
                frame.fence_pending = false;
            }
        }
        Ok(())
    }

    pub(super) fn begin_frame(&mut self, gpu: &Inner) -> Result<()> {
        let number = gpu.frame_number.load(Ordering::Acquire);
        if let Some((call, result)) = self.failed {
            return Err(self.name_passes(
                gpu,
                Error::Vulkan {
                    call,
                    what: format!("frame {number}, so that no other can follow"),
                    result,
                },
            ));
        }
        self.current = (number % self.in_flight.len() as u64) as usize;
        let frame = &self.in_flight[self.current];
        if frame.number > 0 {
            puffin::profile_scope!("wait for the device");
            wait_with(gpu, self, frame.number)?;
        }
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe { gpu.device.get_semaphore_counter_value(gpu.timeline) }
            .map_err(Error::vulkan(
                "vkGetSemaphoreCounterValue",
                "the frame timeline",
            ))
            .map_err(|error| self.name_passes(gpu, error))?;
        // With validation no more than had to be waited for counts as done, so that what the layer sees of the last frames
        // does not hang on the device's speed.
        let done = if gpu.instance.layer.is_some() {
            frame.number
        } else {
            done
        };
        self.settle_fences(gpu, done)?;
        gpu.deletions.collect(gpu, done);
        let collected = self.collect(gpu, self.current);
        if let Some(result) = collected.map_err(|error| self.name_passes(gpu, error))? {
            if self.results.len() == MAX_RESULTS {
                self.results.pop_front();
            }
            self.results.push_back(result);
        }
        let frame = &self.in_flight[self.current];
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the device is done with the frame that used this pool before.
        unsafe {
            gpu.device
                .reset_command_pool(frame.pool, vk::CommandPoolResetFlags::empty())
                .and_then(|()| gpu.device.begin_command_buffer(frame.commands, &info))
        }
        .map_err(Error::vulkan(
            "vkBeginCommandBuffer",
            format!("frame {number}"),
        ))?;
        self.commands = frame.commands;
        self.barriers = 0;
        self.full_barriers = 0;
        self.reads_back = false;
        self.inspection.begin_frame();
        self.timing.begin_frame(gpu, self.current, number)?;
        self.statistics.begin_frame(gpu, self.current)?;
        self.waits_for_transfer = false;
        self.record_uploads(gpu, number, done)?;
        self.passes_before = self.tracker.now();
        Ok(())
    }

    pub(super) fn submit(&mut self, gpu: &Inner) -> Result<u64> {
        let number = gpu.frame_number.load(Ordering::Acquire);
        self.inspection.end_frame();
        if self.in_closure {
            self.in_closure = false;
            self.failed = Some(("a pass's closure", vk::Result::ERROR_UNKNOWN));
            return Err(Error::invalid(
                format!("frame {number}"),
                "the closure of one of its passes panicked, so it cannot be submitted",
            ));
        }
        if self.reads_back {
            self.host_barrier(gpu);
        }
        let present = self.present.take();
        if let Some(target) = &present {
            self.hand_over(gpu, target);
        }
        self.timing.end_frame(
            gpu,
            self.commands,
            self.current,
            self.barriers,
            self.full_barriers,
        );
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(self.commands)];
        let semaphore = |semaphore, stages| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(semaphore)
                .stage_mask(stages)
        };
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let target = present.unwrap_or(PresentTarget {
            image: vk::Image::null(),
            acquired: vk::Semaphore::null(),
            drawn: vk::Semaphore::null(),
        });
        let copied = gpu.transfer.as_ref().filter(|_| self.waits_for_transfer);
        let acquired = semaphore(target.acquired, PresentTarget::STAGE);
        let waits = [
            copied.map_or(acquired, |transfer| {
                semaphore(transfer.timeline, all).value(number)
            }),
            acquired,
        ];
        let signals = [
            semaphore(gpu.timeline, all).value(number),
            semaphore(target.drawn, all),
        ];
        let windows = usize::from(present.is_some());
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&commands)
            .wait_semaphore_infos(&waits[usize::from(copied.is_none())..1 + windows])
            .signal_semaphore_infos(&signals[..1 + windows]);
        let fence = self.in_flight[self.current].fence;
        // SAFETY: all that was begun in the command buffer has been ended.
        let ended = unsafe { gpu.device.end_command_buffer(self.commands) };
        let submitted = ended
            .map_err(|result| ("vkEndCommandBuffer", result))
            .and_then(|()| {
                puffin::profile_scope!("submit");
                let _queue = crate::lock(&gpu.queue_access);
                // SAFETY: the command buffer is complete; nobody else uses the queue, since that needs the lock.
                unsafe { gpu.device.queue_submit2(gpu.queue, &[info], fence) }
                    .map_err(|result| ("vkQueueSubmit2", result))
            });
        if let Err((call, result)) = submitted {
            self.failed = Some((call, result));
            let error = Error::vulkan(call, format!("frame {number}"))(result);
            return Err(self.name_passes(gpu, error));
        }
        let frame = &mut self.in_flight[self.current];
        frame.number = number;
        frame.fence_pending = fence != vk::Fence::null();
        if self.tracker.now() != self.passes_before {
            self.last_with_passes = number;
        }
        gpu.frame_number.store(number + 1, Ordering::Release);
        crate::lock(&gpu.uploads).mark(number);
        Ok(number)
    }
}

impl Recorder {
    /// Takes the measurements of one frame that is done; nothing if they were taken before.
    fn collect(&mut self, gpu: &Inner, index: usize) -> Result<Option<FrameResult>> {
        let mut result = self.timing.collect(gpu, index)?;
        let counted = self.statistics.collect(gpu, index)?;
        if let Some(result) = &mut result {
            for (pass, statistics) in counted {
                if let Some(pass) = result.passes.get_mut(pass) {
                    pass.statistics = Some(statistics);
                }
            }
        }
        Ok(result)
    }

    /// Takes the measurements of the frames that are done by now, in order.
    pub(super) fn collect_finished(&mut self, gpu: &Inner) {
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe { gpu.device.get_semaphore_counter_value(gpu.timeline) }.unwrap_or(0);
        let mut finished: Vec<_> = self
            .in_flight
            .iter()
            .enumerate()
            .filter(|(_, frame)| frame.number > 0 && frame.number <= done)
            .map(|(index, frame)| (frame.number, index))
            .collect();
        finished.sort_unstable();
        for (_, index) in finished {
            if let Ok(Some(result)) = self.collect(gpu, index) {
                self.results.push_back(result);
            }
        }
    }
}
