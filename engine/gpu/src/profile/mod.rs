//! Profiles for puffin: what the CPU did and what the GPU did for it, in one frame and on one time axis.
//!
//! Results of the GPU come frames later than the scopes of the CPU that asked for them, and puffin can only add to the frame
//! that is under way. So [`Profiler`] holds each of puffin's frames until its GPU results are in, adds a stream named after the
//! device, and hands the whole to a file, to a view in a window, and to a server for `puffin_viewer`.

mod calibration;
mod gpu_stream;
mod output;
mod scopes;

pub(crate) use calibration::{Calibrator, Moment};
pub(crate) use scopes::PassScopes;

use crate::device::Gpu;
use crate::frame::FrameResult;
use crate::{Error, Result};
use output::Output;
use puffin::{FrameData, FrameSinkId, FrameView, GlobalProfiler, ScopeDetails, ScopeId};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Whether passes have scopes at all. Built with the variable `IMPEL_WITHOUT_SCOPES` they have none: so the bench `profiling`
/// measures what scopes cost while profiles are switched off.
pub(crate) const SCOPES: bool = option_env!("IMPEL_WITHOUT_SCOPES").is_none();

/// Frames that wait for their GPU results; beyond it they go without. Far more than can be in flight.
const MOST_HELD: usize = 32;

/// puffin is one for the whole process, so there is one of these at a time.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Collects profiles while it lives.
pub struct Profiler {
    gpu: Gpu,
    /// What puffin has collected since it was last looked at.
    collected: Arc<Mutex<Vec<Arc<FrameData>>>>,
    sink: FrameSinkId,
    held: VecDeque<Held>,
    results: BTreeMap<u64, FrameResult>,
    /// Number of the first GPU frame that belongs to the CPU frame under way.
    next: u64,
    frame_scope: ScopeId,
    /// End of the last GPU frame, on puffin's clock.
    last_end: i64,
    output: Output,
    server: Option<puffin_http::Server>,
}

/// A CPU frame and the numbers of the GPU frames that were recorded in it.
struct Held {
    data: Arc<FrameData>,
    gpu_frames: std::ops::Range<u64>,
}

impl Profiler {
    /// Switches puffin's scopes on and begins to collect.
    ///
    /// # Errors
    /// [`Error::Invalid`] while there is another.
    pub fn start(gpu: &Gpu) -> Result<Profiler> {
        if RUNNING.swap(true, Ordering::AcqRel) {
            return Err(Error::invalid(
                "profiler",
                "there is one already, and puffin is one for the whole process",
            ));
        }
        let collected = Arc::new(Mutex::new(Vec::new()));
        let mut global = GlobalProfiler::lock();
        // What other sinks have been told before.
        global.emit_scope_snapshot();
        let into = collected.clone();
        let sink = global.add_sink(Box::new(move |frame| crate::lock(&into).push(frame)));
        let ids = global.register_user_scopes(&[ScopeDetails::from_scope_name("GPU frame")]);
        drop(global);
        let Some(&frame_scope) = ids.first() else {
            RUNNING.store(false, Ordering::Release);
            return Err(Error::invalid("profiler", "puffin gave no scope"));
        };
        puffin::set_scopes_on(true);
        Ok(Profiler {
            gpu: gpu.clone(),
            collected,
            sink,
            held: VecDeque::new(),
            results: BTreeMap::new(),
            next: gpu.inner.frame_number.load(Ordering::Acquire),
            frame_scope,
            last_end: 0,
            output: Output::new(),
            server: None,
        })
    }

    /// Writes every frame from now on to a file that `puffin_viewer` loads.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be made.
    pub fn write_to(&mut self, path: &Path) -> Result<()> {
        self.output.write_to(path)
    }

    /// Sends every frame from now on to whoever connects to an address such as `127.0.0.1:8585`, as `puffin_viewer` does.
    ///
    /// # Errors
    /// [`Error::Invalid`] when nobody can listen there.
    pub fn serve(&mut self, address: &str) -> Result<()> {
        let server =
            puffin_http::Server::new_custom(address, output::add_server, output::remove_server)
                .map_err(|error| {
                    Error::invalid(format!("profile server {address}"), format!("{error:#}"))
                })?;
        self.server = Some(server);
        Ok(())
    }

    /// How many viewers are connected to the server.
    pub fn viewers(&self) -> usize {
        self.server
            .as_ref()
            .map_or(0, puffin_http::Server::num_clients)
    }

    /// The latest and the slowest frames, for a view such as `puffin_egui`'s.
    pub fn view(&self) -> MutexGuard<'_, FrameView> {
        self.output.view()
    }

    /// Ends a CPU frame: all scopes since the last call, and all GPU frames submitted since then, belong together. To be
    /// called outside of scopes that are to be part of it.
    pub fn end_frame(&mut self) {
        GlobalProfiler::lock().new_frame();
        let next = self.gpu.inner.frame_number.load(Ordering::Acquire);
        let collected = std::mem::take(&mut *crate::lock(&self.collected));
        if collected.is_empty() {
            // puffin drops a frame without scopes, and with it the names that were registered since the one before.
            GlobalProfiler::lock().emit_scope_snapshot();
        }
        for data in collected {
            let gpu_frames = self.next..next;
            self.next = next;
            self.held.push_back(Held { data, gpu_frames });
        }
        self.release();
    }

    /// Takes the results of GPU frames, as [`Gpu::frame_results`] gives them.
    pub fn add_results(&mut self, results: &[FrameResult]) {
        for result in results {
            self.results.insert(result.frame, result.clone());
        }
        self.release();
    }

    /// Waits for the last results, and sees to it that file and viewers have everything.
    ///
    /// # Errors
    /// [`Error::File`] when the file could not be written, [`Error::Vulkan`] when the device is lost.
    pub fn finish(mut self) -> Result<()> {
        self.gpu.wait_idle()?;
        let results = self.gpu.frame_results();
        self.add_results(&results);
        while let Some(held) = self.held.pop_front() {
            self.emit(&held);
        }
        self.output.finish()
    }

    /// Hands on the frames whose results are in.
    fn release(&mut self) {
        loop {
            // Results come in order: those of later frames say that nothing more is to come for earlier ones.
            let newest = self.results.last_key_value().map_or(0, |(frame, _)| *frame);
            match self.held.front() {
                Some(held) if held.gpu_frames.end <= newest + 1 || self.held.len() > MOST_HELD => {}
                _ => return,
            }
            if let Some(held) = self.held.pop_front() {
                self.emit(&held);
            }
        }
    }

    fn emit(&mut self, held: &Held) {
        let later = self.results.split_off(&held.gpu_frames.end);
        let results = std::mem::replace(&mut self.results, later);
        let stream = gpu_stream::stream(
            results
                .range(held.gpu_frames.clone())
                .map(|(_, result)| result),
            self.frame_scope,
            &mut self.last_end,
        );
        let name = format!("GPU: {}", self.gpu.info().name);
        self.output.emit(&held.data, name, stream);
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        puffin::set_scopes_on(false);
        GlobalProfiler::lock().remove_sink(self.sink);
        // Waits until its frames are sent.
        self.server = None;
        RUNNING.store(false, Ordering::Release);
    }
}
