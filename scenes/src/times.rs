//! The times of a run's frames, and its profiles.

use crate::Error;
use crate::arguments::RunArguments;
use impel::gpu::{FrameResult, Gpu, Profiler};

/// Frames in flight whose times are not known yet.
const IN_FLIGHT: usize = 2;

/// Gathers what frames took.
pub(crate) struct Times {
    gpu: Gpu,
    profiler: Option<Profiler>,
    first_frame: Option<u64>,
    /// Of this run's frames, in order.
    pub(crate) results: Vec<FrameResult>,
}

impl Times {
    /// Begins, with profiles where the arguments ask for them.
    pub(crate) fn start(gpu: &Gpu, arguments: &RunArguments) -> Result<Self, Error> {
        let mut profiler = None;
        if arguments.puffin.is_some() || arguments.serve_puffin.is_some() {
            let mut started = Profiler::start(gpu)?;
            if let Some(path) = &arguments.puffin {
                started.write_to(path)?;
            }
            if let Some(address) = &arguments.serve_puffin {
                started.serve(address)?;
            }
            profiler = Some(started);
        }
        Ok(Self {
            gpu: gpu.clone(),
            profiler,
            first_frame: None,
            results: Vec::new(),
        })
    }

    /// Whether a frame of the run has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.first_frame.is_some()
    }

    /// A frame of the run begins, by its number.
    pub(crate) fn begin(&mut self, frame: u64) {
        self.first_frame.get_or_insert(frame);
    }

    /// Keeps the times of frames of this run; uploads before it made frames of their own.
    pub(crate) fn take(&mut self) {
        let first = self.first_frame.unwrap_or(u64::MAX);
        let results = self.gpu.frame_results();
        if let Some(profiler) = &mut self.profiler {
            profiler.add_results(&results);
        }
        let of_run = results.into_iter().filter(|result| result.frame >= first);
        self.results.extend(of_run);
    }

    /// The frame is recorded and on its way.
    pub(crate) fn end(&mut self) {
        self.take();
        if let Some(profiler) = &mut self.profiler {
            profiler.end_frame();
        }
    }

    /// Waits for the times of all frames of the run, and ends the profiles.
    pub(crate) fn finish(&mut self, frames: usize) -> Result<(), Error> {
        self.gpu.wait_idle()?;
        self.take();
        if self.results.len() < frames {
            // The last frames' times are known when the next frame takes their place; it is empty and not counted.
            for _ in 0..IN_FLIGHT {
                self.gpu.begin_frame()?.submit()?.wait()?;
            }
            self.take();
        }
        self.results.truncate(frames);
        match self.profiler.take() {
            Some(profiler) => Ok(profiler.finish()?),
            None => Ok(()),
        }
    }
}
