//! The scene `mixins`: a grid of spheres, each drawn by a permutation of shader classes of its own.
//!
//! Rows are surfaces, columns lights and features. The recipes are a file; the classes come as SPIR-V with the program, so that
//! composing needs no compiler.

mod grid;
mod window;

pub use grid::{Grid, Label, RECIPES};
pub use window::MixinsContent;

use crate::arguments::RunArguments;
use crate::report::{Camera, Device, Report, SCHEMA, Validation};
use crate::run::{frames, limit_waits};
use crate::times::Times;
use crate::{Error, picture, progress};
use impel::app::Display;
use impel::gpu::{DeviceKind, Gpu, GpuDesc, puffin};
use impel::renderer::{RasterPath, Settings};
use serde::Serialize;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What the scene is called.
pub const NAME: &str = "mixins";

/// Size of the picture if none is given.
const SIZE: [u32; 2] = [1280, 960];

/// What a run of the scene says: what every run does (counts of instances and meshlets are zero), and more.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are the documentation of the JSON")]
pub struct MixinsReport {
    #[serde(flatten)]
    pub run: Report,
    pub permutations: usize,
    pub compose_ms: f64,
    pub pipelines_ms: f64,
    pub labels: Vec<Label>,
}

fn open(arguments: &RunArguments, surface_extensions: Vec<&'static CStr>) -> Result<Gpu, Error> {
    Ok(Gpu::new(&GpuDesc {
        app_name: "scenes".into(),
        device: arguments.device.clone(),
        validation: arguments.validate,
        surface_extensions,
        ..GpuDesc::default()
    })?)
}

/// The path to draw with.
fn path(arguments: &RunArguments, gpu: &Gpu) -> Result<RasterPath, Error> {
    let mesh_shaders = gpu.info().features.mesh_shaders;
    match arguments.path {
        Some(RasterPath::Mesh) if !mesh_shaders => Err(Error::value(
            "--path",
            "vertex on a device without mesh shaders",
            "mesh",
        )),
        Some(path @ (RasterPath::Mesh | RasterPath::Vertex)) => Ok(path),
        Some(other) => Err(Error::value(
            "--path",
            "mesh or vertex for this scene",
            other.name(),
        )),
        None if mesh_shaders && gpu.info().kind != DeviceKind::Cpu => Ok(RasterPath::Mesh),
        None => Ok(RasterPath::Vertex),
    }
}

/// Composes all permutations and draws them.
///
/// # Errors
/// A device that cannot, a file that cannot be written, validation messages.
pub fn run(arguments: &RunArguments) -> Result<MixinsReport, Error> {
    let start = Instant::now();
    let gpu = open(arguments, Vec::new())?;
    limit_waits(&gpu, arguments);
    let path = path(arguments, &gpu)?;
    let size = arguments.size.unwrap_or(SIZE);
    let mut grid = Grid::new(&gpu, size, path)?;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;

    let frames = frames(&gpu, arguments);
    let warmup = arguments.warmup.unwrap_or(2).min(frames - 1);
    let mut times = Times::start(&gpu, arguments)?;
    let bar = progress::frames(frames);
    let mut peak_device_bytes = 0;
    for number in 1..=frames {
        let wanted = arguments.out.is_some() && number == frames;
        if let Some(texels) = draw(&gpu, &mut grid, &mut times, wanted)?
            && let Some(out) = &arguments.out
        {
            picture::write(out, size, &texels)?;
        }
        times.end();
        peak_device_bytes = gpu.allocated_bytes().max(peak_device_bytes);
        bar.inc(1);
    }
    times.finish(frames as usize)?;
    bar.finish_and_clear();
    if let Some(out) = &arguments.out {
        write_labels(out, &grid.labels)?;
    }
    crate::window::check_validation(&gpu)?;
    let picture = arguments.out.as_deref().map(crate::run::absolute);
    let mut report = MixinsReport {
        run: Report {
            schema: SCHEMA,
            scene: NAME.into(),
            device: Device::from(gpu.info()),
            size,
            frames,
            path: path.name(),
            binding: "push",
            version: env!("CARGO_PKG_VERSION"),
            command: std::env::args().collect::<Vec<_>>().join(" "),
            warmup,
            camera: Camera {
                name: "fixed".into(),
                ..grid::camera()
            },
            settings: (&Settings::default()).into(),
            triangles_in_scene: grid.triangles(),
            triangles_drawn: grid.triangles(),
            load_ms,
            peak_device_bytes,
            validation: Validation::of(&gpu),
            picture: picture.map(|path| path.display().to_string()),
            ..Report::default()
        },
        permutations: grid.labels.len(),
        compose_ms: grid.compose_ms,
        pipelines_ms: grid.pipelines_ms,
        labels: grid.labels,
    };
    let counted = times.results.get(warmup as usize..).unwrap_or_default();
    report.run.time(counted);
    Ok(report)
}

/// Draws a frame; gives its texels where they are wanted.
fn draw(
    gpu: &Gpu,
    grid: &mut Grid,
    times: &mut Times,
    wanted: bool,
) -> Result<Option<Vec<u8>>, Error> {
    puffin::profile_scope!("frame");
    let mut frame = gpu.begin_frame()?;
    times.begin(frame.number());
    grid.record(&mut frame)?;
    let texels = match wanted {
        true => Some(frame.read_back_texture(grid.picture(), 0)?),
        false => None,
    };
    frame.submit()?;
    Ok(texels.map(|texels| texels.wait()).transpose()?)
}

fn write_labels(picture: &Path, labels: &[Label]) -> Result<(), Error> {
    let side = side_file(picture);
    let wrong = |reason: &dyn std::fmt::Display| Error::file(&side, reason);
    let text = serde_json::to_string_pretty(labels).map_err(|reason| wrong(&reason))?;
    std::fs::write(&side, text + "\n").map_err(|reason| wrong(&reason))
}

/// Shows the scene until the window closes.
///
/// # Errors
/// As [`run`], and no display.
pub fn run_in_window(arguments: &RunArguments) -> Result<(), Error> {
    let display = Display::connect()?;
    let gpu = open(arguments, display.surface_extensions()?)?;
    let size = arguments.size.unwrap_or(SIZE);
    let grid = Grid::new(&gpu, size, path(arguments, &gpu)?)?;
    let content = Box::new(MixinsContent::new(&gpu, grid));
    let title = "a grid of effects composed from classes";
    let camera = MixinsContent::camera();
    crate::window::show(display, &gpu, content, camera, title, size, arguments)
}

/// The file beside a picture that says what is in each cell: `a.png` has `a.labels.json`.
#[must_use]
pub fn side_file(picture: &Path) -> PathBuf {
    picture.with_extension("labels.json")
}

impl MixinsReport {
    /// For people.
    #[must_use]
    pub fn table(&self) -> String {
        let place = self.run.picture.as_ref().map_or_else(
            || "none; --out FILE keeps it".to_owned(),
            |path| format!("{path}, labels in {}", side_file(Path::new(path)).display()),
        );
        format!(
            "{}{} permutations: composed in {:.1} ms, pipelines in {:.1} ms\n{}picture: {place}\n",
            self.run.times(),
            self.permutations,
            self.compose_ms,
            self.pipelines_ms,
            self.run.validation.row()
        )
    }
}
