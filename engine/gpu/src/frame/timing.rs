//! Timing of passes: two GPU timestamps each, and the CPU time that recording took.

use super::clock::{Clock, ticks};
use super::{PassStatistics, Recorder};
use crate::device::Inner;
use crate::pass::PassName;
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
}

#[derive(Default)]
struct FrameTiming {
    number: u64,
    pool: vk::QueryPool,
    /// Passes that the pool has room for.
    capacity: u32,
    /// Name and CPU time in ticks of each pass.
    passes: Vec<(PassName, u64)>,
    cpu_record_ns: u64,
    ns_per_tick: f64,
    barriers: u32,
    full_barriers: u32,
}

impl Timing {
    pub(crate) fn new(frames: usize, enabled: bool) -> Timing {
        let frames = (0..frames).map(|_| FrameTiming::default()).collect();
        Timing {
            enabled,
            frames,
            current: 0,
            start: Clock::now(),
            last: 0,
        }
    }

    pub(crate) fn destroy(&mut self, gpu: &Inner) {
        for frame in &mut self.frames {
            // SAFETY: the device is idle; destroying a null handle does nothing.
            unsafe { gpu.device.destroy_query_pool(frame.pool, None) };
            frame.pool = vk::QueryPool::null();
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
        frame.passes.clear();
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

    pub(crate) fn end_frame(&mut self, index: usize, barriers: u32, full_barriers: u32) {
        if let Some(frame) = self.frames.get_mut(index) {
            (frame.cpu_record_ns, frame.ns_per_tick) = self.start.ns();
            frame.barriers = barriers;
            frame.full_barriers = full_barriers;
        }
    }

    /// Takes the measurements of a frame that the device is done with; nothing if they were taken before.
    pub(crate) fn collect(&mut self, gpu: &Inner, index: usize) -> Result<Option<FrameResult>> {
        let enabled = self.enabled;
        let Some(frame) = self.frames.get_mut(index).filter(|frame| frame.number > 0) else {
            return Ok(None);
        };
        let timed = if enabled {
            frame.passes.len().min(frame.capacity as usize)
        } else {
            0
        };
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
        let passes: Vec<_> = frame
            .passes
            .iter()
            .enumerate()
            .map(|(i, (name, spent))| PassResult {
                name: *name,
                gpu_start_ns: ticks.get(i * 2).map_or(0, |&tick| since(tick) as u64),
                gpu_end_ns: ticks.get(i * 2 + 1).map_or(0, |&tick| since(tick) as u64),
                cpu_ns: (*spent as f64 * ns_per_tick) as u64,
                statistics: None,
            })
            .collect();
        let result = FrameResult {
            frame: frame.number,
            cpu_record_ns: frame.cpu_record_ns,
            gpu_ns: passes.iter().map(|pass| pass.gpu_end_ns).max().unwrap_or(0),
            passes,
            barriers: frame.barriers,
            full_barriers: frame.full_barriers,
        };
        frame.number = 0;
        Ok(Some(result))
    }

    /// Index of the pass that was begun last in the current frame.
    pub(crate) fn last_pass(&self) -> usize {
        let frame = self.frames.get(self.current);
        frame.map_or(0, |frame| frame.passes.len().saturating_sub(1))
    }

    /// Turns the loss of the device into an error that names the passes under way.
    pub(crate) fn name_passes(&self, error: Error) -> Error {
        match error {
            Error::Vulkan {
                result: vk::Result::ERROR_DEVICE_LOST,
                ..
            } => {
                let mut frames: Vec<_> = self
                    .frames
                    .iter()
                    .filter(|frame| frame.number > 0)
                    .collect();
                frames.sort_by_key(|frame| frame.number);
                let passes: Vec<_> = frames
                    .iter()
                    .flat_map(|frame| {
                        frame.passes.iter().map(move |(name, _)| {
                            format!("{} (frame {})", name.as_str(), frame.number)
                        })
                    })
                    .collect();
                Error::DeviceLost {
                    passes: passes.join(", "),
                }
            }
            other => other,
        }
    }
}

impl Recorder {
    pub(crate) fn begin_timing(&mut self, gpu: &Inner, name: PassName) {
        let timing = &mut self.timing;
        let enabled = timing.enabled;
        let Some(frame) = timing.frames.get_mut(timing.current) else {
            return;
        };
        let index = frame.passes.len() as u32;
        frame.passes.push((name, 0));
        if enabled && index < frame.capacity {
            // SAFETY: the pool has the query, which was reset when the frame began.
            unsafe {
                gpu.device.cmd_write_timestamp2(
                    self.commands,
                    vk::PipelineStageFlags2::ALL_COMMANDS,
                    frame.pool,
                    index * 2,
                );
            };
        }
    }

    pub(crate) fn end_timing(&mut self, gpu: &Inner) {
        let timing = &mut self.timing;
        let now = ticks();
        let enabled = timing.enabled;
        let Some(frame) = timing.frames.get_mut(timing.current) else {
            return;
        };
        let index = (frame.passes.len() as u32).wrapping_sub(1);
        if let Some((_, spent)) = frame.passes.last_mut() {
            *spent = now.saturating_sub(timing.last);
        }
        timing.last = now;
        if enabled && index < frame.capacity {
            // SAFETY: as in `begin_timing`.
            unsafe {
                gpu.device.cmd_write_timestamp2(
                    self.commands,
                    vk::PipelineStageFlags2::ALL_COMMANDS,
                    frame.pool,
                    index * 2 + 1,
                );
            };
        }
    }
}
