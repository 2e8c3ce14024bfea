//! Progress bars, on a terminal only.

use impel::geometry::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A bar for the frames of a run. It goes to standard error, and nowhere when that is no terminal.
#[must_use]
pub fn frames(count: u64) -> ProgressBar {
    counted(
        "{prefix:>24} {bar:32} {pos}/{len} {per_sec}",
        "frames",
        count,
    )
}

/// A bar for things that are done one after the other.
#[must_use]
pub fn step(name: &'static str, count: u64) -> ProgressBar {
    counted("{prefix:>24} {bar:32} {pos}/{len}", name, count)
}

fn counted(template: &str, name: &'static str, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count);
    bar.set_style(style(template));
    bar.set_prefix(name);
    bar
}

/// Something that takes its time and does not say how far it is.
#[must_use]
pub fn busy(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(style("{prefix:>24} {spinner} {elapsed}"));
    bar.set_prefix(name);
    bar.enable_steady_tick(Duration::from_millis(100));
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
