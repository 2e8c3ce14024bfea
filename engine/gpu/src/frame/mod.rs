//! Frames: the recording of one submission, with a fixed number of them in flight.

mod clock;
mod inspect;
mod statistics;
mod timing;

pub use inspect::PassRecord;
pub use statistics::PassStatistics;
pub use timing::{FrameMoments, FrameResult, PassResult};

use crate::binding::BindingSink;
use crate::device::{Gpu, Inner, Limits};
use crate::memory::{Copy, Upload};
use crate::pass::{Attachments, Barrier, ResourceId, Scopes, Tracker};
use crate::{Error, Result};
use ash::vk;
use inspect::Inspection;
use statistics::Statistics;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use timing::Timing;

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

/// What recording needs and keeps from frame to frame.
pub(crate) struct Recorder {
    pub(crate) tracker: Tracker,
    pub(crate) sink: BindingSink,
    pub(crate) attachments: Attachments,
    pub(crate) image_barriers: Vec<vk::ImageMemoryBarrier2<'static>>,
    /// The barrier that was needed last, as it is and in Vulkan's terms.
    pub(crate) last_barrier: Barrier,
    pub(crate) last_barrier_vk: [vk::MemoryBarrier2<'static>; 1],
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
    in_flight: Vec<InFlight>,
    current: usize,
    uploads: Vec<Upload>,
    /// The window image that the current frame draws to.
    present: Option<PresentTarget>,
    /// Set while the closure of a pass runs. If it unwinds, what it began is never ended.
    pub(crate) in_closure: bool,
    /// Why a frame could not be submitted. Layouts and hazards were tracked as if it had been, so it was the last one.
    failed: Option<(&'static str, vk::Result)>,
}

/// A window image that a frame draws to.
#[derive(Clone, Copy)]
pub(crate) struct PresentTarget {
    pub(crate) image: vk::Image,
    /// Signalled when the image may be drawn to.
    pub(crate) acquired: vk::Semaphore,
    /// To be signalled when it has been drawn.
    pub(crate) drawn: vk::Semaphore,
}

impl PresentTarget {
    /// The only stage that waits for the image: passes before the one that draws to it can run ahead, as long as they draw
    /// to nothing themselves.
    const STAGE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;

    fn barrier(
        &self,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) -> vk::ImageMemoryBarrier2<'static> {
        vk::ImageMemoryBarrier2::default()
            .image(self.image)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            })
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
    }
}

/// What one of the frames in flight has to itself.
struct InFlight {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    /// Number of the frame that used it last; 0 if none did.
    number: u64,
    /// With validation only: layers of the age of 1.3.239 learn that work is done from fences, not from the host's waits
    /// for timeline semaphores, and would take memory that is used again for a race.
    fence: vk::Fence,
    fence_pending: bool,
}

impl Recorder {
    pub(crate) fn new(gpu: &Inner) -> Result<Recorder> {
        let mut recorder = Recorder {
            tracker: Tracker::default(),
            sink: BindingSink::default(),
            attachments: Attachments::default(),
            image_barriers: Vec::new(),
            last_barrier: Barrier::default(),
            last_barrier_vk: Default::default(),
            commands: vk::CommandBuffer::null(),
            full_barrier_next: false,
            reads_back: false,
            barriers: 0,
            full_barriers: 0,
            timing: Timing::new(
                gpu.desc.frames_in_flight as usize,
                gpu.desc.timestamps && gpu.info.limits.timestamp_bits > 0,
            ),
            statistics: Statistics::new(gpu),
            results: VecDeque::new(),
            inspection: Inspection::default(),
            in_flight: Vec::new(),
            current: 0,
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
            // SAFETY: the device is idle; destroying a pool frees its command buffers.
            unsafe {
                gpu.device.destroy_fence(frame.fence, None);
                gpu.device.destroy_command_pool(frame.pool, None);
            }
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

    fn begin_frame(&mut self, gpu: &Inner) -> Result<()> {
        let number = gpu.frame_number.load(Ordering::Acquire);
        if let Some((call, result)) = self.failed {
            return Err(self.timing.name_passes(Error::Vulkan {
                call,
                what: format!("frame {number}, so that no other can follow"),
                result,
            }));
        }
        self.current = (number % self.in_flight.len() as u64) as usize;
        let frame = &self.in_flight[self.current];
        if frame.number > 0 {
            puffin::profile_scope!("wait for the device");
            wait_for(gpu, frame.number).map_err(|error| self.timing.name_passes(error))?;
        }
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe { gpu.device.get_semaphore_counter_value(gpu.timeline) }.map_err(
            Error::vulkan("vkGetSemaphoreCounterValue", "the frame timeline"),
        )?;
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
        if let Some(result) = collected.map_err(|error| self.timing.name_passes(error))? {
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
        self.record_uploads(gpu, done);
        Ok(())
    }

    /// Records the copies that were asked for since the last frame. Copies to different places need no order among
    /// each other; where one would write what another has written, a barrier goes between.
    fn record_uploads(&mut self, gpu: &Inner, done: u64) {
        let mut list = std::mem::take(&mut self.uploads);
        {
            let mut uploads = crate::lock(&gpu.uploads);
            uploads.collect(done);
            std::mem::swap(&mut list, &mut uploads.pending);
        }
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
                    // SAFETY: ranges were checked when the upload was asked for. A target that was dropped since waits in the
                    // deletion queue for this very frame.
                    unsafe {
                        match &upload.copy {
                            Copy::Buffer { target, region } => device.cmd_copy_buffer(
                                commands,
                                upload.staging,
                                *target,
                                &[*region],
                            ),
                            Copy::Texture { target, region } => {
                                device.cmd_copy_buffer_to_image(
                                    commands,
                                    upload.staging,
                                    *target,
                                    vk::ImageLayout::GENERAL,
                                    &[*region],
                                );
                            }
                        }
                    }
                }
            });
            rest = later;
        }
        list.clear();
        self.uploads = list;
    }

    /// Records the transition of the window's image to what presentation wants.
    fn hand_over(&mut self, gpu: &Inner, target: &PresentTarget) {
        // No pass has drawn to it: the barrier that was to come before still waits.
        let undrawn = self
            .image_barriers
            .iter()
            .position(|barrier| barrier.image == target.image);
        let from = match undrawn {
            Some(index) => {
                let _ = self.image_barriers.swap_remove(index);
                vk::ImageLayout::UNDEFINED
            }
            None => vk::ImageLayout::GENERAL,
        };
        // Whatever pass drew to it. The semaphore that follows, which all stages signal, makes it visible; it must find the
        // transition in one of them.
        let barrier = [target
            .barrier(from, vk::ImageLayout::PRESENT_SRC_KHR)
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: the command buffer is being recorded, outside of rendering.
        unsafe { gpu.device.cmd_pipeline_barrier2(self.commands, &info) };
        self.barriers += 1;
    }

    fn submit(&mut self, gpu: &Inner) -> Result<u64> {
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
        self.timing
            .end_frame(gpu, self.current, self.barriers, self.full_barriers);
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
        let waits = [semaphore(target.acquired, PresentTarget::STAGE)];
        let signals = [
            semaphore(gpu.timeline, all).value(number),
            semaphore(target.drawn, all),
        ];
        let windows = usize::from(present.is_some());
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&commands)
            .wait_semaphore_infos(&waits[..windows])
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
            return Err(self.timing.name_passes(error));
        }
        let frame = &mut self.in_flight[self.current];
        frame.number = number;
        frame.fence_pending = fence != vk::Fence::null();
        gpu.frame_number.store(number + 1, Ordering::Release);
        crate::lock(&gpu.uploads).mark(number);
        Ok(number)
    }
}

/// Results of more frames than this are dropped, oldest first, when nobody asks for them.
const MAX_RESULTS: usize = 1024;

/// How many uploads from the start write to different places.
fn independent(uploads: &[Upload]) -> usize {
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

impl InFlight {
    fn new(gpu: &Inner) -> Result<InFlight> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family belongs to the device.
        let pool = unsafe { gpu.device.create_command_pool(&info, None) }
            .map_err(Error::vulkan("vkCreateCommandPool", "a frame in flight"))?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool was just made.
        let made = unsafe { gpu.device.allocate_command_buffers(&info) };
        let fence = || match gpu.instance.layer {
            // SAFETY: the device is alive.
            Some(_) => unsafe { gpu.device.create_fence(&Default::default(), None) },
            None => Ok(vk::Fence::null()),
        };
        let made = made
            .map(|buffers| buffers.first().copied().unwrap_or_default())
            .map_err(|result| ("vkAllocateCommandBuffers", result))
            .and_then(|commands| {
                Ok((
                    commands,
                    fence().map_err(|result| ("vkCreateFence", result))?,
                ))
            });
        match made {
            Ok((commands, fence)) => Ok(InFlight {
                pool,
                commands,
                number: 0,
                fence,
                fence_pending: false,
            }),
            Err((call, result)) => {
                // SAFETY: nothing uses the pool.
                unsafe { gpu.device.destroy_command_pool(pool, None) };
                Err(Error::vulkan(call, "a frame in flight")(result))
            }
        }
    }
}

/// Waits until the device is done with a frame.
pub(crate) fn wait_for(gpu: &Inner, frame: u64) -> Result<()> {
    let (semaphores, values) = ([gpu.timeline], [frame]);
    let info = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    // SAFETY: the timeline semaphore lives as long as the device; the frame has been submitted, so its signal will come.
    unsafe { gpu.device.wait_semaphores(&info, u64::MAX) }
        .map_err(Error::vulkan("vkWaitSemaphores", format!("frame {frame}")))
        .map_err(|error| gpu.name_passes(error))
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
    fn collect_finished(&mut self, gpu: &Inner) {
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

impl Frame {
    /// Number of this frame, counted from 1.
    pub fn number(&self) -> u64 {
        self.gpu.inner.frame_number.load(Ordering::Acquire)
    }

    /// The device that the frame is for.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Lets the frame wait for a window's image, take it to `GENERAL` with the next pass's barrier, and hand it over at its end.
    pub(crate) fn set_present_target(&mut self, target: PresentTarget) {
        if let Some(recorder) = &mut self.recorder {
            recorder.image_barriers.push(
                target
                    .barrier(vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL)
                    // After the semaphore, which this stage waits for.
                    .src_stage_mask(PresentTarget::STAGE)
                    .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                    .dst_access_mask(
                        vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE,
                    ),
            );
            recorder.present = Some(target);
        }
    }

    /// Turns the loss of the device into an error that names the passes under way.
    pub(crate) fn name_passes(&self, error: Error) -> Error {
        match &self.recorder {
            Some(recorder) => recorder.timing.name_passes(error),
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
