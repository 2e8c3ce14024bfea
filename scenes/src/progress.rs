//! Progress bars, on a terminal only.

use impel::geometry::{Progress, Stage};
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

/// The stages of a mesh, each with its share of the time, in thousandths.
const SHARES: [(Stage, f32); 4] = [
    (Stage::Load, 50.0),
    (Stage::Optimise, 200.0),
    (Stage::Simplify, 350.0),
    (Stage::Meshlets, 400.0),
];

/// A bar for each mesh that takes its time.
pub struct MeshBars {
    all: MultiProgress,
    /// By the mesh's name, with the thousandths done of each stage.
    bars: Mutex<BTreeMap<String, (ProgressBar, [f32; SHARES.len()])>>,
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
        let (bar, done) = bars.entry(step.mesh.to_owned()).or_insert_with(|| {
            let bar = self.all.add(ProgressBar::new(1000));
            bar.set_style(style("{prefix:>24} {bar:32} {msg}"));
            bar.set_prefix(step.mesh.to_owned());
            (bar, Default::default())
        });
        // Some stages go on side by side, so the bar shows what all of them have done.
        for (done, (stage, share)) in done.iter_mut().zip(SHARES) {
            if step.stage == Stage::Done {
                *done = share;
            } else if step.stage == stage {
                *done = share * step.fraction.clamp(0.0, 1.0);
            }
        }
        bar.set_position(done.iter().sum::<f32>() as u64);
        bar.set_message(format!("{:?}", step.stage).to_lowercase());
    }

    /// Takes the bars away.
    pub fn finish(&self) {
        let bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        for (bar, _) in bars.values() {
            bar.finish_and_clear();
        }
    }
}

impl Default for MeshBars {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_never_goes_back_and_ends_full() {
        let bars = MeshBars::new();
        let steps = [
            (Stage::Load, 0.0),
            (Stage::Load, 1.0),
            (Stage::Optimise, 0.0),
            (Stage::Optimise, 1.0),
            (Stage::Simplify, 0.5),
            (Stage::Meshlets, 0.25),
            (Stage::Simplify, 0.75),
            (Stage::Meshlets, 0.5),
            (Stage::Done, 1.0),
        ];
        let positions = steps.map(|(stage, fraction)| {
            bars.show(Progress {
                mesh: "mesh",
                stage,
                fraction,
            });
            bars.bars.lock().unwrap()["mesh"].0.position()
        });
        assert_eq!(positions, [0, 50, 50, 250, 425, 525, 612, 712, 1000]);
    }
}
