//! Timing of passes: two GPU timestamps each, and the CPU time that recording took.

use super::PassStatistics;
use super::clock::{Clock, ticks};
use super::markers::Markers;
use crate::device::{DeviceKind, Inner};
use crate::pass::PassName;
use crate::profile::{Moment, PassScopes, SCOPES};
use crate::{Error, Result};
use ash::vk;

/// Measurements of one frame.
#[derive(Clone, Debug, Default)]
pub struct FrameResult {
    /// Number of the frame, counted from 1.
    pub frame: u64,
    /// From the beginning of recording to the submit, in nanoseconds.
    pub cpu_record_ns: u64,
    /// From the first to the last timestamp, in nanoseconds; 0 without timestamps.
    pub gpu_ns: u64,
    /// The frame's passes in order of recording, transfers included.
    pub passes: Vec<PassResult>,
    /// Pipeline barriers recorded.
    pub barriers: u32,
    /// Passes with a full barrier before them, because what they touch was not declared.
    pub full_barriers: u32,
    /// Where the frame lies on the clock of profiles; only while they are collected.
    pub moments: Option<FrameMoments>,
}

/// Moments of a frame on puffin's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMoments {
    /// When the frame was handed to the device.
    pub submit_ns: i64,
    /// The first timestamp, by calibrated timestamps. None where the device has none, or where what they say cannot be:
    /// work that begins before it was submitted, or ends after its results were there.
    pub gpu_start_ns: Option<i64>,
}

/// Measurements of one pass. Passes may overlap on the device: intervals say more than durations.
#[derive(Clone, Debug, Default)]
pub struct PassResult {
    /// Name of the pass.
    pub name: PassName,
    /// Beginning on the device, in nanoseconds since the frame's first timestamp.
    pub gpu_start_ns: u64,
    /// End on the device, in nanoseconds since the frame's first timestamp.
    pub gpu_end_ns: u64,
    /// CPU time since the end of the pass before, in nanoseconds: what preparing and recording it cost.
    pub cpu_ns: u64,
    /// What the device counted; with [`GpuDesc::statistics`](crate::GpuDesc::statistics), for passes with a pipeline.
    pub statistics: Option<PassStatistics>,
}

/// Passes that are timed per frame at first; more are made room for in the next frame.
const INITIAL_PASSES: u32 = 128;

/// Query pools and pass lists of all frames in flight.
pub(crate) struct Timing {
    enabled: bool,
    frames: Vec<FrameTiming>,
    current: usize,
    start: Clock,
    /// Ticks at the end of the pass before.
    last: u64,
    scopes: PassScopes,
    pub(crate) markers: Option<Markers>,
}

/// How far calibrated timestamps may be off before they are not believed, in nanoseconds.
const DEVIATION: i64 = 1_000_000;

#[derive(Default)]
struct FrameTiming {
    number: u64,
    pool: vk::QueryPool,
    /// Passes that the pool has room for; none without timestamps.
    capacity: u32,
    passes: Vec<RecordedPass>,
    /// The names of the passes one after the other, each ended by a zero.
    names: Vec<u8>,
    cpu_record_ns: u64,
    ns_per_tick: f64,
    barriers: u32,
    full_barriers: u32,
    /// When it was submitted, on puffin's clock, and a moment about then on both clocks; while profiles are collected.
    submitted: Option<(i64, Option<Moment>)>,
}

/// What is kept of a pass while its frame is under way.
#[derive(Clone, Copy)]
struct RecordedPass {
    /// Where its name begins.
    name: u32,
    name_len: u32,
    /// CPU time in ticks.
    spent: u64,
}

impl FrameTiming {
    fn name(&self, pass: &RecordedPass) -> PassName {
        let start = pass.name as usize;
        let bytes = self.names.get(start..start + pass.name_len as usize);
        PassName::new(std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default())
    }
}

impl Timing {
    pub(crate) fn new(frames: usize, enabled: bool, markers: Option<Markers>) -> Timing {
        let frames = (0..frames).map(|_| FrameTiming::default()).collect();
        Timing {
            enabled,
            frames,
            current: 0,
            start: Clock::now(),
            last: 0,
            scopes: PassScopes::default(),
            markers,
        }
    }

    pub(crate) fn destroy(&mut self, gpu: &Inner) {
        for frame in &mut self.frames {
            // SAFETY: the device is idle; destroying a null handle does nothing.
            unsafe { gpu.device.destroy_query_pool(frame.pool, None) };
            frame.pool = vk::QueryPool::null();
        }
        if let Some(markers) = &mut self.markers {
            markers.destroy(gpu);
        }
    }

    pub(crate) fn begin_frame(&mut self, gpu: &Inner, index: usize, number: u64) -> Result<()> {
        self.current = index;
        self.start = Clock::now();
        self.last = self.start.ticks;
        let enabled = self.enabled;
        let Some(frame) = self.frames.get_mut(index) else {
            return Ok(());
        };
        let wanted = (frame.passes.len() as u32)
            .next_power_of_two()
            .max(INITIAL_PASSES);
        frame.number = number;
        if let Some(markers) = &self.markers {
            markers.begin_frame(gpu, index, frame.passes.len())?;
        }
        frame.passes.clear();
        frame.names.clear();
        if !enabled {
            return Ok(());
        }
        if frame.capacity < wanted {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(wanted * 2);
            // SAFETY: the device is done with the frame that used the old pool.
            unsafe {
                gpu.device.destroy_query_pool(frame.pool, None);
                frame.pool = vk::QueryPool::null();
                frame.capacity = 0;
                frame.pool = gpu
                    .device
                    .create_query_pool(&info, None)
                    .map_err(Error::vulkan("vkCreateQueryPool", "pass timestamps"))?;
            }
            frame.capacity = wanted;
        }
        // SAFETY: as above; resetting on the host is a required feature.
        unsafe {
            gpu.device
                .reset_query_pool(frame.pool, 0, frame.capacity * 2);
        };
        Ok(())
    }

    pub(crate) fn end_frame(
        &mut self,
        gpu: &Inner,
        commands: vk::CommandBuffer,
        index: usize,
        barriers: u32,
        full_barriers: u32,
    ) {
        if let Some(frame) = self.frames.get_mut(index) {
            if let Some(markers) = &self.markers {
                markers.end_frame(commands, frame.number);
            }
            frame.submitted = puffin::are_scopes_on().then(|| {
                let moment = gpu.calibrator.as_ref().and_then(|clock| clock.now());
                (puffin::now_ns(), moment)
            });
            (frame.cpu_record_ns, frame.ns_per_tick) = self.start.ns();
            frame.barriers = barriers;
            frame.full_barriers = full_barriers;
        }
    }

    /// Takes the measurements of a frame that the device is done with; nothing if they were taken before.
    pub(crate) fn collect(&mut self, gpu: &Inner, index: usize) -> Result<Option<FrameResult>> {
        let Some(frame) = self.frames.get_mut(index).filter(|frame| frame.number > 0) else {
            return Ok(None);
        };
        let timed = frame.passes.len().min(frame.capacity as usize);
        let mut ticks = vec![0_u64; timed * 2];
        if timed > 0 {
            // SAFETY: the pool has these queries, and the frame that wrote them is done.
            unsafe {
                gpu.device.get_query_pool_results(
                    frame.pool,
                    0,
                    &mut ticks,
                    vk::QueryResultFlags::TYPE_64,
                )
            }
            .or_else(|result| {
                if result == vk::Result::NOT_READY {
                    Ok(())
                } else {
                    Err(result)
                }
            })
            .map_err(Error::vulkan("vkGetQueryPoolResults", "pass timestamps"))?;
        }
        let limits = &gpu.info.limits;
        let mask = if limits.timestamp_bits >= 64 {
            u64::MAX
        } else {
            (1 << limits.timestamp_bits) - 1
        };
        let first = ticks.first().copied().unwrap_or(0);
        let since = |tick: u64| (tick.wrapping_sub(first) & mask) as f64 * limits.timestamp_period;
        let ns_per_tick = frame.ns_per_tick;
        let submitted = frame.submitted.take();
        let passes: Vec<_> = frame
            .passes
            .iter()
            .enumerate()
            .map(|(i, pass)| PassResult {
                name: frame.name(pass),
                gpu_start_ns: ticks.get(i * 2).map_or(0, |&tick| since(tick) as u64),
                gpu_end_ns: ticks.get(i * 2 + 1).map_or(0, |&tick| since(tick) as u64),
                cpu_ns: (pass.spent as f64 * ns_per_tick) as u64,
                statistics: None,
            })
            .collect();
        let gpu_ns = passes.iter().map(|pass| pass.gpu_end_ns).max().unwrap_or(0);
        let moments = submitted.map(|(submit_ns, moment)| {
            let (bits, period) = (limits.timestamp_bits, limits.timestamp_period);
            let start = moment
                .filter(|_| timed > 0)
                .map(|moment| moment.ns_of(first, bits, period));
            let earliest = submit_ns - DEVIATION;
            let latest = puffin::now_ns() + DEVIATION - gpu_ns as i64;
            FrameMoments {
                submit_ns,
                gpu_start_ns: start.filter(|start| (earliest..=latest).contains(start)),
            }
        });
        let result = FrameResult {
            frame: frame.number,
            cpu_record_ns: frame.cpu_record_ns,
            gpu_ns,
            passes,
            barriers: frame.barriers,
            full_barriers: frame.full_barriers,
            moments,
        };
        frame.number = 0;
        Ok(Some(result))
    }

    /// Index of the pass that was begun last in the current frame.
    pub(crate) fn last_pass(&self) -> usize {
        let frame = self.frames.get(self.current);
        frame.map_or(0, |frame| frame.passes.len().saturating_sub(1))
    }

    /// The passes of each frame that was not collected yet, oldest frame first: those that were begun and are not finished,
    /// with `true`, where markers or timestamps tell; else all of them. `done` is the last frame known to be finished.
    pub(crate) fn under_way(&self, gpu: &Inner, done: u64, lost: bool) -> (Vec<String>, bool) {
        let mut frames: Vec<_> = self.frames.iter().enumerate().collect();
        frames.retain(|(_, frame)| frame.number > done);
        frames.sort_by_key(|(_, frame)| frame.number);
        let named = |begun: &dyn Fn(usize, &FrameTiming) -> Vec<usize>| -> Vec<String> {
            let mut passes = Vec::new();
            for &(slot, frame) in &frames {
                let begun = begun(slot, frame);
                let begun = begun.iter().filter_map(|&pass| frame.passes.get(pass));
                passes.extend(
                    begun.map(|pass| format!("{} (frame {})", frame.name(pass), frame.number)),
                );
            }
            passes
        };
        // What the driver keeps of checkpoints may be asked for after a loss only.
        if let Some(markers) = self
            .markers
            .as_ref()
            .filter(|markers| lost || markers.are_readable())
        {
            let begun = |slot, frame: &FrameTiming| {
                markers.under_way(gpu, slot, frame.number, frame.passes.len())
            };
            return (named(&begun), true);
        }
        let begun = named(&|_, frame| frame.begun(gpu));
        if begun.is_empty() {
            return (named(&|_, frame| (0..frame.passes.len()).collect()), false);
        }
        (begun, true)
    }
}

impl FrameTiming {
    /// Passes whose first timestamp is there and whose second is not, as far as the driver tells: after a loss it may not.
    fn begun(&self, gpu: &Inner) -> Vec<usize> {
        let timed = self.passes.len().min(self.capacity as usize);
        // Timestamp and availability, twice for each pass.
        let mut results = vec![[0_u64; 2]; timed * 2];
        // Lavapipe (Mesa 25.0) answers when all that was submitted is done, which is what cannot be waited for here.
        if timed == 0 || gpu.info.kind == DeviceKind::Cpu {
            return Vec::new();
        }
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // SAFETY: the pool has these queries, which were reset when the frame began.
        let read = unsafe {
            gpu.device
                .get_query_pool_results(self.pool, 0, &mut results, flags)
        };
        if !matches!(read, Ok(()) | Err(vk::Result::NOT_READY)) {
            return Vec::new();
        }
        let passes = results.chunks_exact(2).enumerate();
        let begun = passes.filter(|(_, pass)| pass[0][1] != 0 && pass[1][1] == 0);
        begun.map(|(index, _)| index).collect()
    }
}

/// What happens in each pass.
impl Timing {
    /// Notes a pass, begins its label, and takes the time on the device before it.
    #[inline(always)]
    pub(crate) fn begin_pass(&mut self, gpu: &Inner, commands: vk::CommandBuffer, name: &str) {
        if SCOPES && puffin::are_scopes_on() {
            self.scopes.begin(name);
        }
        let Some(frame) = self.frames.get_mut(self.current) else {
            return;
        };
        let pass = frame.passes.len();
        let name = PassName::cut(name);
        let start = frame.names.len();
        frame.names.extend_from_slice(name.as_bytes());
        frame.names.push(0);
        frame.passes.push(RecordedPass {
            name: start as u32,
            name_len: name.len() as u32,
            spent: 0,
        });
        if let Some(debug) = &gpu.debug {
            let label = vk::DebugUtilsLabelEXT {
                p_label_name: frame.names.as_ptr().wrapping_add(start).cast(),
                ..Default::default()
            };
            // SAFETY: the command buffer is being recorded; the name ends with a zero; the label is ended in `end_pass`.
            unsafe { debug.cmd_begin_debug_utils_label(commands, &label) };
        }
        if let Some(markers) = &self.markers {
            markers.begin_pass(commands, self.current, frame.number, pass);
        }
        frame.stamp(gpu, commands, pass, 0);
    }

    /// Takes the time on the device after a pass, and what it took the CPU; ends its label.
    #[inline]
    pub(crate) fn end_pass(&mut self, gpu: &Inner, commands: vk::CommandBuffer) {
        if SCOPES {
            self.scopes.end();
        }
        let now = ticks();
        let Some(frame) = self.frames.get_mut(self.current) else {
            return;
        };
        let pass = frame.passes.len().wrapping_sub(1);
        if let Some(recorded) = frame.passes.last_mut() {
            recorded.spent = now.saturating_sub(self.last);
        }
        self.last = now;
        frame.stamp(gpu, commands, pass, 1);
        if let Some(markers) = &self.markers {
            markers.end_pass(commands, self.current, pass);
        }
        if let Some(debug) = &gpu.debug {
            // SAFETY: a label was begun in `begin_pass`.
            unsafe { debug.cmd_end_debug_utils_label(commands) };
        }
    }
}

impl FrameTiming {
    /// Writes the first or the second timestamp of a pass, if there is room.
    #[inline]
    fn stamp(&self, gpu: &Inner, commands: vk::CommandBuffer, pass: usize, which: u32) {
        if pass < self.capacity as usize {
            let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
            let query = pass as u32 * 2 + which;
            // SAFETY: the pool has the query, which was reset when the frame began.
            unsafe {
                gpu.device
                    .cmd_write_timestamp2(commands, stage, self.pool, query);
            };
        }
    }
}
