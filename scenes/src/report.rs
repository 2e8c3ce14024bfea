//! A run's numbers: for machines as JSON, for people as a table.

use impel::gpu::{DeviceInfo, FrameResult, Gpu};
use impel::renderer::{Settings, Statistics};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Version of the JSON's layout.
pub const SCHEMA: u32 = 1;

/// Everything that is told of a run. The fields' names are those of the JSON.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the names are the documentation of the JSON")]
pub struct Report {
    pub schema: u32,
    pub scene: String,
    pub device: Device,
    pub size: [u32; 2],
    pub frames: u64,
    pub path: &'static str,
    pub binding: &'static str,
    pub version: &'static str,
    pub command: String,
    pub seed: u64,
    pub warmup: u64,
    pub camera: Camera,
    pub settings: SettingsReport,
    pub triangles_in_scene: u64,
    pub triangles_drawn: u64,
    pub triangles_by_compute: u64,
    pub lod_histogram: [u64; 8],
    pub barriers: u32,
    pub frames_detail: Vec<FrameDetail>,
    pub instances: Instances,
    pub meshlets: Meshlets,
    pub overflow: Overflow,
    pub passes: Vec<Pass>,
    pub gpu_frame_ms_median: f64,
    pub gpu_frame_ms_p95: f64,
    pub cpu_record_ms_median: f64,
    pub load_ms: f64,
    pub peak_device_bytes: u64,
    /// Present when culling was audited.
    pub audit: Option<AuditSum>,
    pub validation: Validation,
    pub picture: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Device {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub driver: String,
    pub api: String,
}

#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Camera {
    pub name: String,
    pub position: [f32; 3],
    pub forward: [f32; 3],
    pub fov_degrees: f32,
    pub near: f32,
    /// None when nothing is too far.
    pub draw_distance: Option<f32>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct SettingsReport {
    pub cull: BTreeMap<&'static str, bool>,
    pub lod: String,
    pub view: &'static str,
    pub fog_distance: f32,
    pub freeze_camera: bool,
    pub raster_threshold: f32,
    pub deterministic: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct FrameDetail {
    pub early: u64,
    pub late: u64,
    pub gpu_ms: f64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Instances {
    pub total: u64,
    pub frustum_culled: u64,
    pub occlusion_culled: u64,
    pub early: u64,
    pub late: u64,
    pub drawn: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Meshlets {
    pub tested: u64,
    pub cone_culled: u64,
    pub frustum_culled: u64,
    pub occlusion_culled: u64,
    pub drawn: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Overflow {
    pub draws: u64,
    pub clusters: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Pass {
    pub name: String,
    pub gpu_ms_median: f64,
    pub gpu_ms_p95: f64,
    pub cpu_us_median: f64,
}

/// What the culling auditor found in all frames.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct AuditSum {
    pub frames: u64,
    pub false_pixels: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Validation {
    pub enabled: bool,
    pub layer: Option<String>,
    pub messages: u64,
}

impl Validation {
    /// For people; empty where nothing was validated.
    pub(crate) fn row(&self) -> String {
        if !self.enabled {
            return String::new();
        }
        let layer = self.layer.as_deref().unwrap_or("validation layer");
        format!(
            "{:<22} {:>18}   {layer}\n",
            "validation messages", self.messages
        )
    }

    /// What validation has said so far.
    #[must_use]
    pub fn of(gpu: &Gpu) -> Self {
        let said = gpu.validation();
        Self {
            enabled: said.enabled,
            layer: said.layer,
            messages: said.messages,
        }
    }
}

impl From<&DeviceInfo> for Device {
    fn from(info: &DeviceInfo) -> Self {
        Self {
            name: info.name.clone(),
            kind: info.kind.as_str(),
            driver: info.driver.clone(),
            api: info.api.clone(),
        }
    }
}

impl Camera {
    /// What a camera is, for the record.
    #[must_use]
    pub fn new(name: &str, camera: &impel::math::Camera) -> Self {
        let lens = camera.lens;
        Self {
            name: name.into(),
            position: camera.position.to_array(),
            forward: camera.forward().to_array(),
            fov_degrees: lens.fov_y.to_degrees(),
            near: lens.near,
            draw_distance: lens.draw_distance.is_finite().then_some(lens.draw_distance),
        }
    }
}

impl From<&Settings> for SettingsReport {
    fn from(settings: &Settings) -> Self {
        use impel::math::LodMode;
        let mut culling = settings.culling;
        Self {
            cull: culling
                .stages()
                .into_iter()
                .map(|(name, on)| (name, *on))
                .collect(),
            lod: match settings.lod {
                LodMode::Error { pixels } => format!("error={pixels}"),
                LodMode::Forced { lod } => format!("force={lod}"),
                LodMode::Distance { base, step } => format!("distance={base},{step}"),
            },
            view: settings.view.name(),
            fog_distance: settings.fog_distance,
            freeze_camera: settings.freeze_camera,
            raster_threshold: settings.raster_threshold,
            deterministic: settings.deterministic,
        }
    }
}

impl Report {
    /// Takes over the last frame's counts.
    pub fn count(&mut self, statistics: &Statistics) {
        let (instances, meshlets) = (statistics.instances, statistics.meshlets);
        self.instances = Instances {
            total: instances.total,
            frustum_culled: instances.frustum_culled,
            occlusion_culled: instances.occlusion_culled,
            early: instances.early,
            late: instances.late,
            drawn: instances.drawn,
        };
        self.meshlets = Meshlets {
            tested: meshlets.tested,
            cone_culled: meshlets.cone_culled,
            frustum_culled: meshlets.frustum_culled,
            occlusion_culled: meshlets.occlusion_culled,
            drawn: meshlets.drawn,
        };
        self.overflow = Overflow {
            draws: statistics.overflow.draws,
            clusters: statistics.overflow.clusters,
        };
        self.triangles_drawn = statistics.triangles_drawn;
        self.triangles_by_compute = statistics.triangles_by_compute;
        self.lod_histogram = statistics.lod_histogram;
    }

    /// Takes over the times of the frames that count.
    pub fn time(&mut self, frames: &[FrameResult]) {
        let ms = |ns: u64| ns as f64 / 1e6;
        let of_frames = |value: fn(&FrameResult) -> u64| {
            frames
                .iter()
                .map(|frame| ms(value(frame)))
                .collect::<Vec<_>>()
        };
        let gpu = of_frames(|frame| frame.gpu_ns);
        self.gpu_frame_ms_median = quantile(&gpu, 0.5);
        self.gpu_frame_ms_p95 = quantile(&gpu, 0.95);
        self.cpu_record_ms_median = quantile(&of_frames(|frame| frame.cpu_record_ns), 0.5);
        self.barriers = frames.last().map_or(0, |frame| frame.barriers);
        // Passes by name, in the order of the frame in which each is seen first; those of one name in a frame together.
        let mut passes: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
        for frame in frames {
            let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
            for pass in &frame.passes {
                let sum = sums.entry(group(&pass.name)).or_default();
                sum.0 += pass.gpu_end_ns.saturating_sub(pass.gpu_start_ns);
                sum.1 += pass.cpu_ns;
                if !passes.iter().any(|(name, ..)| name == group(&pass.name)) {
                    passes.push((group(&pass.name).to_owned(), Vec::new(), Vec::new()));
                }
            }
            for (name, gpu, cpu) in &mut passes {
                if let Some((gpu_ns, cpu_ns)) = sums.get(name.as_str()) {
                    gpu.push(ms(*gpu_ns));
                    cpu.push(*cpu_ns as f64 / 1e3);
                }
            }
        }
        self.passes = passes
            .into_iter()
            .map(|(name, gpu, cpu)| Pass {
                name,
                gpu_ms_median: quantile(&gpu, 0.5),
                gpu_ms_p95: quantile(&gpu, 0.95),
                cpu_us_median: quantile(&cpu, 0.5),
            })
            .collect();
    }

    /// The table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = self.times();
        let i = self.instances;
        let row = |out: &mut String, what: &str, value: u64, note: String| {
            let _ = writeln!(out, "{what:<22} {:>18}   {note}", grouped(value));
        };
        let note = format!(
            "{} outside of view, {} hidden, {} drawn ({} early, {} late)",
            grouped(i.frustum_culled),
            grouped(i.occlusion_culled),
            grouped(i.drawn),
            grouped(i.early),
            grouped(i.late)
        );
        row(&mut out, "instances", i.total, note);
        let m = self.meshlets;
        let note = format!(
            "{} facing away, {} outside of view, {} hidden, {} drawn",
            grouped(m.cone_culled),
            grouped(m.frustum_culled),
            grouped(m.occlusion_culled),
            grouped(m.drawn)
        );
        row(&mut out, "meshlets", m.tested, note);
        row(
            &mut out,
            "triangles in the scene",
            self.triangles_in_scene,
            "at the finest level".into(),
        );
        row(
            &mut out,
            "triangles drawn",
            self.triangles_drawn,
            format!("{} by compute", grouped(self.triangles_by_compute)),
        );
        let _ = writeln!(
            out,
            "{:<22} {:>14.1} MiB",
            "device memory",
            self.peak_device_bytes as f64 / f64::from(1 << 20)
        );
        let _ = writeln!(out, "{:<22} {:>14.1} ms", "loading", self.load_ms);
        if self.overflow.draws + self.overflow.clusters > 0 {
            let Overflow { draws, clusters } = self.overflow;
            let _ = writeln!(
                out,
                "NOT DRAWN for want of room: {draws} instances, {clusters} meshlets"
            );
        }
        out.push_str(&self.validation.row());
        if let Some(audit) = self.audit {
            let note = format!(
                "of {} frames differ from those without culling",
                audit.frames
            );
            row(&mut out, "pixels", audit.false_pixels, note);
        }
        let picture = self.picture.as_deref();
        let _ = writeln!(
            out,
            "picture: {}",
            picture.unwrap_or("none; --out FILE keeps it")
        );
        out
    }

    /// What was run on what, and a table of what the passes took.
    #[must_use]
    pub fn times(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{} on {} ({}, {})",
            self.scene, self.device.name, self.device.kind, self.device.driver
        );
        let _ = writeln!(
            out,
            "{} x {}, {} frames ({} not timed), {} path, camera {}\n",
            self.size[0], self.size[1], self.frames, self.warmup, self.path, self.camera.name
        );
        let longest = self.passes.iter().map(|pass| pass.name.chars().count());
        let width = longest.max().unwrap_or(0).max(22);
        let _ = writeln!(
            out,
            "{:<width$} {:>14} {:>12} {:>14}",
            "pass", "GPU median ms", "p95 ms", "CPU median us"
        );
        for pass in &self.passes {
            let Pass {
                name,
                gpu_ms_median,
                gpu_ms_p95,
                cpu_us_median,
            } = pass;
            let _ = writeln!(
                out,
                "{name:<width$} {gpu_ms_median:>14.3} {gpu_ms_p95:>12.3} {cpu_us_median:>14.1}"
            );
        }
        let _ = writeln!(
            out,
            "{:<width$} {:>14.3} {:>12.3} {:>14.1}\n",
            "frame",
            self.gpu_frame_ms_median,
            self.gpu_frame_ms_p95,
            self.cpu_record_ms_median * 1e3
        );
        out
    }
}

/// Passes that are many steps of one thing are shown as one.
fn group(name: &str) -> &str {
    if name.starts_with("hzb ") {
        "hzb"
    } else {
        name
    }
}

/// The `part` quantile (0.5: median) by nearest rank; 0 of nothing.
#[must_use]
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// A number with its digits in threes.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index % 3 == first {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_nearest_rank() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), 2.0);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&hundred, 0.95), 95.0);
        assert_eq!(quantile(&[7.0], 0.95), 7.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn digits_in_threes() {
        for (value, text) in [
            (0, "0"),
            (12, "12"),
            (123, "123"),
            (1234, "1,234"),
            (28_944_000_000, "28,944,000,000"),
        ] {
            assert_eq!(grouped(value), text);
        }
    }
}
