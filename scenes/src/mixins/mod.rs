//! The scene `mixins`: a grid of spheres, each drawn by a permutation of shader classes of its own.
//!
//! Rows are surfaces, columns lights and features. The recipes are a file; the classes come as SPIR-V with the program, so that
//! composing needs no compiler.

mod grid;
mod window;

pub use grid::{Grid, Label, RECIPES};
pub use window::MixinsContent;

use crate::arguments::RunArguments;
use crate::{Error, picture};
use impel::app::Display;
use impel::gpu::{DeviceKind, Gpu, GpuDesc};
use impel::renderer::RasterPath;
use serde::Serialize;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// What the scene is called.
pub const NAME: &str = "mixins";

/// Size of the picture if none is given.
const SIZE: [u32; 2] = [1280, 960];

/// What a run of the scene says.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are the documentation of the JSON")]
pub struct MixinsReport {
    pub scene: &'static str,
    pub device: String,
    pub size: [u32; 2],
    pub path: &'static str,
    pub permutations: usize,
    pub compose_ms: f64,
    pub pipelines_ms: f64,
    pub picture: Option<PathBuf>,
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
    let gpu = open(arguments, Vec::new())?;
    let path = path(arguments, &gpu)?;
    let size = arguments.size.unwrap_or(SIZE);
    let mut grid = Grid::new(&gpu, size, path)?;
    let mut report = MixinsReport {
        scene: NAME,
        device: gpu.info().name.clone(),
        size,
        path: path.name(),
        permutations: grid.labels.len(),
        compose_ms: grid.compose_ms,
        pipelines_ms: grid.pipelines_ms,
        picture: None,
        labels: grid.labels.clone(),
    };
    let mut frame = gpu.begin_frame()?;
    grid.record(&mut frame)?;
    let back = frame.read_back_texture(grid.picture(), 0)?;
    frame.submit()?;
    let texels = back.wait()?;
    if let Some(out) = &arguments.out {
        picture::write(out, size, &texels)?;
        report.picture = Some(out.clone());
        let side = side_file(out);
        let text = serde_json::to_string_pretty(&report.labels)
            .map_err(|reason| Error::file(&side, reason))?;
        std::fs::write(&side, text + "\n").map_err(|reason| Error::file(&side, reason))?;
    }
    crate::window::check_validation(&gpu)?;
    Ok(report)
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
        let place = self.picture.as_ref().map_or_else(
            || "none; --out FILE keeps it".to_owned(),
            |path| {
                format!(
                    "{}, labels in {}",
                    path.display(),
                    side_file(path).display()
                )
            },
        );
        format!(
            "{} on {}, {}x{}, {} path\n{} permutations: composed in {:.1} ms, pipelines in {:.1} ms\npicture: {place}\n",
            self.scene,
            self.device,
            self.size[0],
            self.size[1],
            self.path,
            self.permutations,
            self.compose_ms,
            self.pipelines_ms
        )
    }
}
