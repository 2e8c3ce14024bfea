//! Times of the last frames, for plots and tables.

use impel_gpu::FrameResult;
use std::collections::VecDeque;

/// Frames that the plots show.
pub(super) const FRAMES: usize = 240;
/// Weight of a new value in the running averages: about the last twenty frames.
const WEIGHT: f64 = 0.05;

/// Times of one pass, averaged.
#[derive(Clone, Debug)]
pub(super) struct PassTimes {
    pub(super) name: String,
    pub(super) gpu_ms: f64,
    pub(super) cpu_us: f64,
}

/// What the last frames took.
#[derive(Default)]
pub(in super::super) struct History {
    /// From frame to frame, milliseconds.
    pub(super) frame_ms: VecDeque<f32>,
    /// On the device, milliseconds.
    pub(super) gpu_ms: VecDeque<f32>,
    pub(super) passes: Vec<PassTimes>,
    /// The newest frame that the device is done with.
    pub(super) last: FrameResult,
}

impl History {
    pub(in super::super) fn add(&mut self, seconds: f64, results: Vec<FrameResult>) {
        if seconds > 0.0 {
            push(&mut self.frame_ms, (seconds * 1e3) as f32);
        }
        for result in results {
            // Frames that only upload tell nothing.
            if result.passes.len() < 2 {
                continue;
            }
            push(&mut self.gpu_ms, (result.gpu_ns as f64 / 1e6) as f32);
            self.average(&result);
            self.last = result;
        }
    }

    fn average(&mut self, result: &FrameResult) {
        let same = self.passes.len() == result.passes.len()
            && self
                .passes
                .iter()
                .zip(&result.passes)
                .all(|(known, pass)| known.name == pass.name.as_str());
        if !same {
            self.passes = result
                .passes
                .iter()
                .map(|pass| PassTimes {
                    name: pass.name.to_string(),
                    gpu_ms: pass.gpu_end_ns.saturating_sub(pass.gpu_start_ns) as f64 / 1e6,
                    cpu_us: pass.cpu_ns as f64 / 1e3,
                })
                .collect();
            return;
        }
        for (known, pass) in self.passes.iter_mut().zip(&result.passes) {
            let gpu = pass.gpu_end_ns.saturating_sub(pass.gpu_start_ns) as f64 / 1e6;
            known.gpu_ms += (gpu - known.gpu_ms) * WEIGHT;
            known.cpu_us += (pass.cpu_ns as f64 / 1e3 - known.cpu_us) * WEIGHT;
        }
    }

    /// One line.
    pub(super) fn summary(&self) -> String {
        let mean = |times: &VecDeque<f32>| {
            let last = times.iter().rev().take(30);
            let count = last.len().max(1) as f32;
            last.sum::<f32>() / count
        };
        let frame = mean(&self.frame_ms);
        if frame > 0.0 {
            let (rate, gpu) = (1e3 / frame, mean(&self.gpu_ms));
            format!("{rate:.0} frames/s, {frame:.1} ms, GPU {gpu:.2} ms")
        } else {
            String::new()
        }
    }
}

fn push(times: &mut VecDeque<f32>, value: f32) {
    if times.len() == FRAMES {
        times.pop_front();
    }
    times.push_back(value);
}
