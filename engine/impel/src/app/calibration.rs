//! Finds the fastest raster threshold for what is seen at the moment, while the window goes on.

use crate::renderer::{RasterPath, Settings};
use impel_gpu::FrameResult;

/// Frames after a change that tell of the threshold before, or of what it left.
const SKIPPED: usize = 6;
/// Frames that count for a threshold.
const COUNTED: usize = 24;

/// A calibration under way.
pub(super) struct Calibration {
    /// The threshold that goes back where nothing comes of it.
    before: f32,
    /// Index among [`Settings::RASTER_THRESHOLDS`].
    index: usize,
    /// Milliseconds of the frames with it so far.
    times: Vec<f64>,
    best: Option<(f32, f64)>,
}

/// What a step came to.
pub(super) enum Step {
    GoesOn,
    /// It is over; a line says with what.
    Ends(String),
}

impl Calibration {
    /// Begins, where there is a compute rasteriser.
    pub(super) fn begin(settings: &mut Settings) -> Option<Self> {
        if settings.path != RasterPath::Hybrid {
            return None;
        }
        let before = settings.raster_threshold;
        settings.raster_threshold = Settings::RASTER_THRESHOLDS.first().copied()?;
        Some(Self {
            before,
            index: 0,
            times: Vec::new(),
            best: None,
        })
    }

    /// For people.
    pub(super) fn progress(&self) -> String {
        let all = Settings::RASTER_THRESHOLDS;
        let pixels = all.get(self.index).copied().unwrap_or_default();
        format!(
            "trying {pixels} pixels ({} of {})",
            self.index + 1,
            all.len()
        )
    }

    /// Takes the results that came in; sets the next threshold, at the end the fastest.
    pub(super) fn step(&mut self, settings: &mut Settings, results: &[FrameResult]) -> Step {
        let all = Settings::RASTER_THRESHOLDS;
        let tried = all.get(self.index).copied();
        // Somebody has changed path or threshold meanwhile.
        if settings.path != RasterPath::Hybrid || tried != Some(settings.raster_threshold) {
            if tried == Some(settings.raster_threshold) {
                settings.raster_threshold = self.before;
            }
            return Step::Ends("calibration: given up, as settings have changed".into());
        }
        // Frames that only upload tell nothing.
        let drawn = results.iter().filter(|result| result.passes.len() > 1);
        self.times
            .extend(drawn.map(|result| result.gpu_ns as f64 / 1e6));
        if self.times.len() < SKIPPED + COUNTED {
            return Step::GoesOn;
        }
        let mut counted = self.times.split_off(SKIPPED);
        counted.sort_by(f64::total_cmp);
        let median = counted.get(counted.len() / 2).copied().unwrap_or(f64::MAX);
        self.times.clear();
        if self.best.is_none_or(|(_, least)| median < least) {
            self.best = Some((settings.raster_threshold, median));
        }
        self.index += 1;
        if let Some(next) = all.get(self.index) {
            settings.raster_threshold = *next;
            return Step::GoesOn;
        }
        let (threshold, ms) = self.best.unwrap_or((self.before, f64::NAN));
        settings.raster_threshold = threshold;
        Step::Ends(format!(
            "calibration: {threshold} pixels, {ms:.3} ms a frame"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use impel_gpu::PassResult;

    fn hybrid() -> Settings {
        Settings {
            path: RasterPath::Hybrid,
            ..Settings::default()
        }
    }

    fn result(gpu_ns: u64) -> FrameResult {
        FrameResult {
            gpu_ns,
            passes: vec![PassResult::default(); 2],
            ..FrameResult::default()
        }
    }

    #[test]
    fn the_fastest_threshold_stays() {
        let mut settings = hybrid();
        let mut calibration = Calibration::begin(&mut settings).unwrap();
        for frame in 0.. {
            assert!(frame < 1000);
            // 24 is fastest; a frame that is far too fast at first, and one that only uploads, do not count.
            let ns = (settings.raster_threshold - 24.0).abs() as u64 * 1000 + 500;
            let ns = if calibration.times.is_empty() { 1 } else { ns };
            let mut results = vec![result(ns), result(ns)];
            results[1].passes.clear();
            if let Step::Ends(line) = calibration.step(&mut settings, &results) {
                assert!(line.contains("24 pixels"), "{line}");
                break;
            }
        }
        assert_eq!(settings.raster_threshold, 24.0);
    }

    #[test]
    fn whoever_changes_settings_ends_it() {
        let mut settings = hybrid();
        let mut calibration = Calibration::begin(&mut settings).unwrap();
        settings.raster_threshold = 40.0;
        assert!(matches!(
            calibration.step(&mut settings, &[]),
            Step::Ends(_)
        ));
        assert_eq!(settings.raster_threshold, 40.0);

        settings.raster_threshold = 5.0;
        let mut calibration = Calibration::begin(&mut settings).unwrap();
        settings.path = RasterPath::Vertex;
        assert!(matches!(
            calibration.step(&mut settings, &[]),
            Step::Ends(_)
        ));
        assert_eq!(settings.raster_threshold, 5.0, "as before");
        assert!(Calibration::begin(&mut settings).is_none());
    }
}
