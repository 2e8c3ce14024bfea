//! Submissions: what was submitted, and its fake execution.

use super::command::Command;
use super::handle::{self, CommandBuffer, Phase, Queue, chain, object, slice};
use super::loader::functions;
use super::resource::View;
use super::state::{Shared, State};
use super::sync::{Event, Fence, Semaphore};
use ash::vk::{self, Handle};
use std::collections::HashSet;
use std::sync::Arc;

/// A command buffer with the commands that it had when it was submitted.
#[derive(Clone, Debug)]
pub struct RecordedBuffer {
    /// Its handle.
    pub handle: vk::CommandBuffer,
    /// Its commands; empty when nothing is recorded.
    pub commands: Arc<Vec<Command>>,
}

/// A semaphore that a submission waits for or signals.
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreUse {
    /// The semaphore.
    pub semaphore: vk::Semaphore,
    /// Value, of a timeline.
    pub value: u64,
    /// Stages that wait, or are waited for.
    pub stages: vk::PipelineStageFlags2,
}

/// One `VkSubmitInfo2`, as it was when submitted.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Where to.
    pub queue: vk::Queue,
    /// The queue's family.
    pub family: u32,
    /// Semaphores waited for.
    pub waits: Vec<SemaphoreUse>,
    /// Command buffers, in order.
    pub buffers: Vec<RecordedBuffer>,
    /// Semaphores signaled.
    pub signals: Vec<SemaphoreUse>,
    /// The fence of the whole call, at its last submission; else null.
    pub fence: vk::Fence,
}

impl Submission {
    /// All commands, in order over the command buffers.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.buffers
            .iter()
            .flat_map(|buffer| buffer.commands.iter())
    }
}

/// A submission that has not finished.
pub(super) struct Pending {
    device: u64,
    submission: Submission,
    /// Commands that have taken effect already.
    executed: usize,
    /// All handles that it uses.
    pub(super) uses: HashSet<u64>,
}

impl State {
    /// Signals a timeline, whose values must increase, or a binary semaphore, which must not be signaled.
    pub(super) fn signal(&mut self, semaphore: vk::Semaphore, value: u64, function: &str) {
        let Some(data) = self.data::<Semaphore>(semaphore, function) else {
            return;
        };
        let (old, timeline) = (data.value, data.timeline);
        data.value = if timeline { value } else { 1 };
        if timeline && value <= old {
            self.error(format!(
                "{function}: {semaphore:?} is signaled with {value}, but is {old} already"
            ));
        } else if !timeline && old != 0 {
            self.error(format!(
                "{function}: {semaphore:?} is signaled twice without a wait between"
            ));
        }
    }

    /// Uses up a binary semaphore. A timeline is not waited for here: its value may come later.
    pub(super) fn consume(&mut self, semaphore: vk::Semaphore, function: &str) {
        let Some(data) = self.data::<Semaphore>(semaphore, function) else {
            return;
        };
        if !data.timeline && std::mem::replace(&mut data.value, 0) == 0 {
            self.error(format!(
                "{function}: waits for {semaphore:?}, which nothing signals"
            ));
        }
    }

    pub(super) fn check_idle(&mut self, raw: u64, function: &str) {
        if self
            .pending
            .iter()
            .any(|pending| pending.uses.contains(&raw))
        {
            self.error(format!(
                "{function}: {raw:#x} is in use by a submission that has not finished"
            ));
        }
    }

    /// Lets pending submissions finish, oldest first, until `done`.
    pub(super) fn finish_until(&mut self, done: &dyn Fn(&State) -> bool) {
        while !self.pending.is_empty() && !done(self) {
            let pending = self.pending.remove(0);
            self.execute(&pending.submission, pending.executed);
        }
    }

    /// Lets the next commands of the oldest pending submission take effect, and nothing else of it.
    pub(super) fn run_some(&mut self, count: usize) {
        let Some(pending) = self.pending.first_mut() else {
            return;
        };
        let commands: Vec<Command> = pending
            .submission
            .commands()
            .skip(pending.executed)
            .take(count)
            .cloned()
            .collect();
        pending.executed += commands.len();
        let queue = pending.submission.queue;
        // SAFETY: the queue was given to `vkQueueSubmit2`.
        let shared = unsafe { handle::shared(queue) };
        for command in &commands {
            self.run(shared, queue, command);
        }
    }

    /// Lets all pending submissions of a device finish.
    pub(super) fn finish_all(&mut self, device: u64) {
        self.finish_until(&|state| state.pending.iter().all(|pending| pending.device != device));
    }

    fn is_timeline(&self, semaphore: vk::Semaphore) -> bool {
        self.peek::<Semaphore>(semaphore)
            .is_some_and(|semaphore| semaphore.timeline)
    }

    /// The effects of a submission that can be seen, but for those of its first commands: queries, events, markers, timelines
    /// and the fence.
    fn execute(&mut self, submission: &Submission, executed: usize) {
        // SAFETY: the queue was given to `vkQueueSubmit2`.
        let (shared, device) = unsafe {
            let device = vk::Device::from_raw(object::<Queue>(submission.queue).device);
            (
                handle::shared(device),
                object::<handle::Device>(device).index,
            )
        };
        if shared.desc.record {
            self.now(shared, device);
        }
        for command in submission.commands().skip(executed) {
            self.run(shared, submission.queue, command);
        }
        for signal in &submission.signals {
            if self.is_timeline(signal.semaphore) {
                self.signal(signal.semaphore, signal.value, "vkQueueSubmit2");
            }
        }
        if let Some(fence) = self.fence(submission.fence) {
            fence.signaled = true;
        }
    }

    fn fence(&mut self, fence: vk::Fence) -> Option<&mut Fence> {
        if fence.is_null() {
            None
        } else {
            self.data::<Fence>(fence, "vkQueueSubmit2")
        }
    }

    fn run(&mut self, shared: &Shared, queue: vk::Queue, command: &Command) {
        match *command {
            Command::ResetQueryPool { pool, first, count } => {
                self.reset_queries(pool, first, count, "vkCmdResetQueryPool");
            }
            Command::WriteTimestamp { pool, query, .. } | Command::EndQuery { pool, query } => {
                self.complete_query(shared, queue, pool, query);
            }
            Command::WriteBufferMarker {
                buffer,
                offset,
                marker,
                ..
            } => self.write_word(buffer, offset, marker, "vkCmdWriteBufferMarkerAMD"),
            Command::SetCheckpoint { marker } => self.checkpoint = Some(marker),
            Command::SetEvent { event, .. } | Command::ResetEvent { event, .. } => {
                if let Some(data) = self.data::<Event>(event, "vkQueueSubmit2") {
                    data.set = matches!(command, Command::SetEvent { .. });
                }
            }
            Command::ExecuteCommands { ref buffers } => {
                for buffer in buffers {
                    buffer
                        .commands
                        .iter()
                        .for_each(|command| self.run(shared, queue, command));
                }
            }
            _ => {}
        }
    }

    /// Takes one submission: checks it, keeps it, executes it now or later.
    fn submit(&mut self, shared: &Shared, device: u64, submission: Submission) {
        let function = "vkQueueSubmit2";
        for wait in &submission.waits {
            self.consume(wait.semaphore, function);
        }
        let mut handles = Vec::new();
        for command in submission.commands() {
            command.handles(&mut handles);
        }
        for &(kind, raw) in &handles {
            self.check_raw(kind, raw, function);
        }
        for signal in &submission.signals {
            if !self.is_timeline(signal.semaphore) {
                self.signal(signal.semaphore, signal.value, function);
            }
        }
        if self
            .fence(submission.fence)
            .is_some_and(|fence| fence.signaled)
        {
            self.error(format!(
                "{function}: {:?} is signaled already",
                submission.fence
            ));
        }
        if shared.desc.record {
            self.submissions.push(submission.clone());
        }
        if !shared.desc.defer {
            return self.execute(&submission, 0);
        }
        let mut uses: HashSet<u64> = handles.iter().map(|&(_, raw)| raw).collect();
        let images = handles
            .iter()
            .filter_map(|&(_, raw)| self.objects.get(&raw)?.data.downcast_ref::<View>());
        uses.extend(images.map(|view| view.image.as_raw()));
        uses.extend(
            submission
                .buffers
                .iter()
                .map(|buffer| buffer.handle.as_raw()),
        );
        uses.extend(
            submission
                .waits
                .iter()
                .chain(&submission.signals)
                .map(|used| used.semaphore.as_raw()),
        );
        uses.insert(submission.fence.as_raw());
        uses.remove(&0);
        self.pending.push(Pending {
            device,
            submission,
            executed: 0,
            uses,
        });
    }
}

/// A command buffer as it goes into a submission.
///
/// # Safety
/// `buffer` is a live command buffer.
pub(super) unsafe fn recorded(
    state: &mut State,
    buffer: vk::CommandBuffer,
    function: &str,
) -> RecordedBuffer {
    if !state.check(buffer, function) {
        return RecordedBuffer {
            handle: buffer,
            commands: Arc::default(),
        };
    }
    // SAFETY: it was checked to be one.
    let mut recording = unsafe { object::<CommandBuffer>(buffer) }.recording();
    if recording.phase != Phase::Executable {
        state.error(format!(
            "{function}: {buffer:?} is {:?}, not ended",
            recording.phase
        ));
    }
    if recording.one_time {
        recording.phase = Phase::Spent;
    }
    RecordedBuffer {
        handle: buffer,
        commands: Arc::clone(&recording.commands),
    }
}

/// # Safety
/// `queue` is a live queue; `submits` are valid.
unsafe fn submit(
    queue: vk::Queue,
    fence: vk::Fence,
    submits: &[(Vec<SemaphoreUse>, Vec<vk::CommandBuffer>, Vec<SemaphoreUse>)],
) {
    // SAFETY: by the condition above.
    let (shared, object) = unsafe { (handle::shared(queue), object::<Queue>(queue)) };
    let mut state = shared.state();
    let nothing = [(Vec::new(), Vec::new(), Vec::new())];
    // A fence alone is signaled when all earlier submissions have finished: a submission of nothing does that.
    let submits = if submits.is_empty() && !fence.is_null() {
        &nothing
    } else {
        submits
    };
    for (index, (waits, buffers, signals)) in submits.iter().enumerate() {
        let buffers = buffers.iter().map(|&buffer| {
            if shared.desc.record {
                // SAFETY: the caller gives command buffers of this device.
                unsafe { recorded(&mut state, buffer, "vkQueueSubmit2") }
            } else {
                RecordedBuffer {
                    handle: buffer,
                    commands: Arc::default(),
                }
            }
        });
        let submission = Submission {
            queue,
            family: object.family,
            waits: waits.clone(),
            buffers: buffers.collect(),
            signals: signals.clone(),
            fence: if index + 1 == submits.len() {
                fence
            } else {
                vk::Fence::null()
            },
        };
        state.submit(shared, object.device, submission);
    }
}

functions! { Device, None;
    result fn submit2 as PFN_vkQueueSubmit2(
        queue: vk::Queue,
        count: u32,
        submits: *const vk::SubmitInfo2<'_>,
        fence: vk::Fence,
    ) {
        let semaphores = |first: *const vk::SemaphoreSubmitInfo<'_>, count| -> Vec<SemaphoreUse> {
            // SAFETY: the arrays of a valid structure.
            let infos = unsafe { slice(first, count) };
            infos
                .iter()
                .map(|info| SemaphoreUse {
                    semaphore: info.semaphore,
                    value: info.value,
                    stages: info.stage_mask,
                })
                .collect()
        };
        let submits: Vec<_> = slice(submits, count)
            .iter()
            .map(|info| {
                // SAFETY: the array of a valid structure.
                let buffers =
                    unsafe { slice(info.p_command_buffer_infos, info.command_buffer_info_count) };
                (
                    semaphores(info.p_wait_semaphore_infos, info.wait_semaphore_info_count),
                    buffers.iter().map(|info| info.command_buffer).collect(),
                    semaphores(
                        info.p_signal_semaphore_infos,
                        info.signal_semaphore_info_count,
                    ),
                )
            })
            .collect();
        submit(queue, fence, &submits);
        Ok(())
    }
    result fn submit1 as PFN_vkQueueSubmit(
        queue: vk::Queue,
        count: u32,
        submits: *const vk::SubmitInfo<'_>,
        fence: vk::Fence,
    ) {
        let mut all = Vec::new();
        for info in slice(submits, count) {
            let (mut wait_values, mut signal_values): (&[u64], &[u64]) = (&[], &[]);
            for link in chain(info.p_next) {
                if (*link).s_type == vk::StructureType::TIMELINE_SEMAPHORE_SUBMIT_INFO {
                    let link = &*link.cast::<vk::TimelineSemaphoreSubmitInfo<'_>>();
                    wait_values = slice(
                        link.p_wait_semaphore_values,
                        link.wait_semaphore_value_count,
                    );
                    signal_values = slice(
                        link.p_signal_semaphore_values,
                        link.signal_semaphore_value_count,
                    );
                }
            }
            let semaphores = |semaphores: &[vk::Semaphore],
                              values: &[u64],
                              stages: &[vk::PipelineStageFlags]|
             -> Vec<SemaphoreUse> {
                let one = |(index, &semaphore): (usize, &vk::Semaphore)| {
                    let stages = stages
                        .get(index)
                        .map_or(vk::PipelineStageFlags2::ALL_COMMANDS, |stages| {
                            super::barrier::stages2(*stages)
                        });
                    SemaphoreUse {
                        semaphore,
                        value: values.get(index).copied().unwrap_or(0),
                        stages,
                    }
                };
                semaphores.iter().enumerate().map(one).collect()
            };
            let stages = slice(info.p_wait_dst_stage_mask, info.wait_semaphore_count);
            all.push((
                semaphores(
                    slice(info.p_wait_semaphores, info.wait_semaphore_count),
                    wait_values,
                    stages,
                ),
                slice(info.p_command_buffers, info.command_buffer_count).to_vec(),
                semaphores(
                    slice(info.p_signal_semaphores, info.signal_semaphore_count),
                    signal_values,
                    &[],
                ),
            ));
        }
        submit(queue, fence, &all);
        Ok(())
    }
    result fn bind_sparse as PFN_vkQueueBindSparse(
        _queue: vk::Queue,
        _count: u32,
        _infos: *const vk::BindSparseInfo<'_>,
        _fence: vk::Fence,
    ) {
        Err(vk::Result::ERROR_FEATURE_NOT_PRESENT)
    }
    result fn queue_wait_idle as PFN_vkQueueWaitIdle(queue: vk::Queue) {
        let device = object::<Queue>(queue).device;
        handle::shared(queue).state().finish_all(device);
        Ok(())
    }
    result fn device_wait_idle as PFN_vkDeviceWaitIdle(device: vk::Device) {
        handle::shared(device).state().finish_all(device.as_raw());
        Ok(())
    }
}
