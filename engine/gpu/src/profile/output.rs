//! Where finished frames go: a view, a file, a server.

use crate::{Error, Result};
use puffin::{
    FrameData, FrameSink, FrameSinkId, FrameView, GlobalProfiler, ScopeCollection, StreamInfo,
    ThreadInfo,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// Hands finished frames to the server, which takes plain functions and so needs something static. puffin's own profiler
/// cannot serve: its sinks get frames without the GPU.
static FINISHED: LazyLock<Mutex<GlobalProfiler>> = LazyLock::new(Mutex::default);

pub(crate) fn add_server(sink: FrameSink) -> FrameSinkId {
    crate::lock(&FINISHED).add_sink(sink)
}

pub(crate) fn remove_server(id: FrameSinkId) {
    crate::lock(&FINISHED).remove_sink(id);
}

pub(crate) struct Output {
    view: Mutex<FrameView>,
    file: Option<Capture>,
}

struct Capture {
    path: PathBuf,
    file: BufWriter<File>,
    /// Every scope so far; all of them go with the first frame.
    scopes: Option<ScopeCollection>,
    /// The first thing that went wrong.
    failure: Option<std::io::Error>,
}

impl Output {
    pub(crate) fn new() -> Output {
        Output {
            view: Mutex::default(),
            file: None,
        }
    }

    pub(crate) fn view(&self) -> MutexGuard<'_, FrameView> {
        crate::lock(&self.view)
    }

    pub(crate) fn write_to(&mut self, path: &Path) -> Result<()> {
        let wrong = |error| Error::File {
            path: path.display().to_string(),
            error,
        };
        let mut file = BufWriter::new(File::create(path).map_err(wrong)?);
        file.write_all(b"PUF0").map_err(wrong)?;
        let scopes = self.view().scope_collection().clone();
        self.file = Some(Capture {
            path: path.to_owned(),
            file,
            scopes: Some(scopes),
            failure: None,
        });
        Ok(())
    }

    /// Adds the GPU's stream to a frame and hands it on.
    pub(crate) fn emit(&mut self, cpu: &FrameData, name: String, gpu: Option<StreamInfo>) {
        let Ok(unpacked) = cpu.unpacked() else { return };
        let mut streams: BTreeMap<ThreadInfo, StreamInfo> = unpacked
            .thread_streams
            .iter()
            .map(|(thread, stream)| (thread.clone(), (**stream).clone()))
            .collect();
        if let Some(gpu) = gpu {
            let thread = ThreadInfo {
                // Sorts after every thread.
                start_time_ns: Some(i64::MAX),
                name,
            };
            streams.insert(thread, gpu);
        }
        let made = FrameData::new(
            cpu.frame_index(),
            streams,
            cpu.scope_delta.clone(),
            cpu.full_delta,
        );
        let Ok(frame) = made.map(Arc::new) else {
            return;
        };
        if let Some(capture) = &mut self.file {
            capture.write(&frame);
        }
        crate::lock(&FINISHED).add_frame(frame.clone());
        self.view().add_frame(frame);
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        let Some(mut capture) = self.file.take() else {
            return Ok(());
        };
        let flushed = capture.file.flush();
        match capture.failure.map_or(flushed, Err) {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::File {
                path: capture.path.display().to_string(),
                error,
            }),
        }
    }
}

impl Capture {
    fn write(&mut self, frame: &FrameData) {
        if self.failure.is_some() {
            return;
        }
        let scopes = self.scopes.take().map(|mut scopes| {
            for scope in &frame.scope_delta {
                scopes.insert(scope.clone());
            }
            scopes
        });
        if let Err(error) = frame.write_into(scopes.as_ref(), &mut self.file) {
            self.failure = Some(std::io::Error::other(format!("{error:#}")));
        }
    }
}
