//! Tries raster thresholds on a scene and proposes the fastest.

use crate::Error;
use crate::arguments::RunArguments;
use crate::run;
use impel::renderer::{RasterPath, Settings};
use std::fmt::Write as _;

/// Runs the scene once for each threshold and gives a table that ends with a proposal.
///
/// # Errors
/// As [`run::run`]; [`Error::Value`] for another path than hybrid.
pub fn calibrate(arguments: &RunArguments) -> Result<String, Error> {
    if let Some(path) = arguments.path.filter(|path| *path != RasterPath::Hybrid) {
        return Err(Error::value("calibrate", "path hybrid", path.name()));
    }
    let mut text = String::new();
    let mut best: Option<(f32, f64)> = None;
    for threshold in Settings::RASTER_THRESHOLDS {
        let report = run::run(&RunArguments {
            path: Some(RasterPath::Hybrid),
            raster_threshold: Some(threshold),
            out: None,
            every: None,
            json: None,
            ..arguments.clone()
        })?;
        let ms = report.gpu_frame_ms_median;
        if text.is_empty() {
            let _ = writeln!(text, "{} on {}", report.scene, report.device.name);
            let _ = writeln!(
                text,
                "threshold, pixels   GPU frame median ms   p95 ms   triangles by compute"
            );
        }
        let share = report.triangles_by_compute as f64 / (report.triangles_drawn.max(1)) as f64;
        let p95 = report.gpu_frame_ms_p95;
        let _ = writeln!(
            text,
            "{threshold:>17} {ms:>21.3} {p95:>8.3} {:>20.1} %",
            share * 100.0
        );
        if best.is_none_or(|(_, least)| ms < least) {
            best = Some((threshold, ms));
        }
    }
    if let Some((threshold, _)) = best {
        let _ = writeln!(text, "proposal: --raster-threshold {threshold}");
    }
    Ok(text)
}
