//! A look at what a frame records: passes with their bindings.

use super::Recorder;
use crate::device::{Gpu, Inner};
use crate::pass::PassName;
use crate::pipeline::Pipeline;

/// One pass of a frame that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassRecord {
    /// Its name.
    pub name: String,
    /// Name of its pipeline; empty for transfers and raw passes without one.
    pub pipeline: String,
    /// The pipeline's bindings as reflected, one line each.
    pub bindings: Vec<String>,
    /// What the pass reads and writes, attachments and indirect arguments included, one line each.
    pub resources: Vec<String>,
}

/// Passes noted down, and whether more are to be.
#[derive(Default)]
pub(crate) struct Inspection {
    wanted: bool,
    pub(crate) noting: bool,
    records: Vec<PassRecord>,
}

impl Inspection {
    pub(crate) fn begin_frame(&mut self) {
        self.noting = std::mem::take(&mut self.wanted);
        if self.noting {
            self.records.clear();
        }
    }

    pub(crate) fn end_frame(&mut self) {
        self.noting = false;
    }
}

impl Recorder {
    /// Notes down the pass whose accesses are in the sink.
    #[cold]
    pub(crate) fn note(&mut self, gpu: &Inner, name: &str, pipeline: Option<&Pipeline>) {
        let bindings = pipeline.map_or(Vec::new(), |pipeline| {
            let mut lines: Vec<_> = pipeline
                .slots
                .iter()
                .filter(|slot| slot.element == 0)
                .map(|slot| {
                    let what = match slot.scopes.writes().is_empty() {
                        true => "read",
                        false if slot.scopes.reads().is_empty() => "written",
                        false => "read and written",
                    };
                    let kind = slot.descriptor_type.name().replace('_', " ");
                    format!(
                        "{}.{} {}: {kind}, {what}",
                        slot.set, slot.binding, slot.name
                    )
                })
                .collect();
            if let Some(push) = &pipeline.push {
                lines.push(format!("push constants: {} bytes", push.size));
            }
            lines
        });
        let mut resources: Vec<(String, bool, bool)> = Vec::new();
        for (id, scopes) in self.sink.touched() {
            let name = gpu.ids.name(*id);
            let (reads, writes) = (!scopes.reads().is_empty(), !scopes.writes().is_empty());
            match resources.iter_mut().find(|known| known.0 == name) {
                Some(known) => (known.1, known.2) = (known.1 | reads, known.2 | writes),
                None => resources.push((name, reads, writes)),
            }
        }
        let resources = resources
            .into_iter()
            .map(|(name, reads, writes)| match (reads, writes) {
                (true, true) => format!("reads and writes {name}"),
                (_, true) => format!("writes {name}"),
                _ => format!("reads {name}"),
            })
            .collect();
        self.inspection.records.push(PassRecord {
            // As it stands in labels and timings.
            name: PassName::new(name).as_str().to_owned(),
            pipeline: pipeline.map_or(String::new(), |pipeline| pipeline.name.clone()),
            bindings,
            resources,
        });
    }
}

impl Gpu {
    /// Has the next frame's passes noted down, for [`Gpu::inspected`]. It costs that frame some time.
    pub fn inspect_next_frame(&self) {
        if let Some(recorder) = crate::lock(&self.inner.recorder).as_mut() {
            recorder.inspection.wanted = true;
        }
    }

    /// The passes that were noted down, in order of recording; nothing if they were taken before.
    pub fn inspected(&self) -> Vec<PassRecord> {
        match crate::lock(&self.inner.recorder).as_mut() {
            Some(recorder) => std::mem::take(&mut recorder.inspection.records),
            None => Vec::new(),
        }
    }
}
