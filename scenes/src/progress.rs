//! Progress bars, on a terminal only.

use impel::geometry::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A bar for the frames of a run. It goes to standard error, and nowhere when that is no terminal.
#[must_use]
pub fn frames(count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count);
    bar.set_style(style("{prefix:>12} {bar:32} {pos}/{len} {per_sec}"));
    bar.set_prefix("frames");
    bar
}

/// A bar for each mesh that takes its time.
pub struct MeshBars {
    all: MultiProgress,
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

impl MeshBars {
    /// No bars yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            all: MultiProgress::new(),
            bars: Mutex::default(),
        }
    }

    /// Shows a step; called from all working threads.
    pub fn show(&self, step: Progress<'_>) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bars.entry(step.mesh.to_owned()).or_insert_with(|| {
            let bar = self.all.add(ProgressBar::new(1000));
            bar.set_style(style("{prefix:>24} {bar:32} {msg}"));
            bar.set_prefix(step.mesh.to_owned());
            bar
        });
        bar.set_position((f64::from(step.fraction.clamp(0.0, 1.0)) * 1000.0) as u64);
        bar.set_message(format!("{:?}", step.stage).to_lowercase());
    }

    /// Takes the bars away.
    pub fn finish(&self) {
        let bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        for bar in bars.values() {
            bar.finish_and_clear();
        }
    }
}

impl Default for MeshBars {
    fn default() -> Self {
        Self::new()
    }
}
