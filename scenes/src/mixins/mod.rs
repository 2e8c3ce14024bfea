//! The scene `mixins`: a grid of spheres, each drawn by a permutation of shader classes of its own.
//!
//! Rows are surfaces, columns lights and features. The classes come as SPIR-V with the program; composing needs no compiler.

use crate::arguments::RunArguments;
use crate::{Error, picture};
use impel::effects::{EffectDesc, Effects};
use impel::gpu::{
    BufferDesc, DeviceKind, Gpu, GpuDesc, GraphicsState, Load, Offscreen, OffscreenDesc,
    TextureDesc, vk,
};
use impel::renderer::RasterPath;
use impel::spirv::Stage;
use impel::spirv::compose::{Filling, Library, Mix, Recipe};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What the scene is called.
pub const NAME: &str = "mixins";

/// Columns and rows of the grid.
const COLUMNS: usize = 8;
const ROWS: usize = 6;

const SURFACES: [(&str, &str); ROWS] = [
    ("flat", "FlatSurface"),
    ("checker", "Checker<6>"),
    ("triplanar noise", "TriplanarNoise"),
    ("metal/rough", "MetalRough"),
    ("clear coat", "ClearCoat"),
    ("toon", "Toon<3>"),
];

const LIGHTS: [(&str, &[&str]); 4] = [
    ("directional", &["DirectionalLight"]),
    ("point array", &["PointLights<4>"]),
    ("hemisphere", &["HemisphereLight"]),
    ("unlit", &["Unlit"]),
];

/// Features of each second column; the columns between have none.
const FEATURES: [&[(&str, &str)]; 4] = [
    &[("fog", "Fog")],
    &[("rim", "Rim")],
    &[("wireframe", "Wireframe")],
    &[("rim", "Rim"), ("fog", "Fog")],
];

/// Triangles of one sphere, in both paths.
const VERTICES: u32 = 8 * 4 * 8 * 8 * 6;
const WORKGROUPS: u32 = 8 * 4 * 2;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct FrameData {
    view_projection: [[f32; 4]; 4],
    eye: [f32; 4],
    sun: [f32; 4],
    fog: [f32; 4],
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Object {
    sphere: [f32; 4],
    tint: [f32; 4],
}

/// One cell of the grid, as the picture's side file has it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are the documentation of the JSON")]
pub struct Label {
    pub effect: String,
    /// x, y, width, height in pixels from the upper left.
    pub rect: [u32; 4],
    pub surface: &'static str,
    pub lighting: &'static str,
    pub features: Vec<&'static str>,
    /// All classes that the effect is composed of.
    pub classes: Vec<String>,
    pub words: usize,
}

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

/// The effect of a cell.
fn recipe(row: usize, column: usize, path: RasterPath) -> Option<(Recipe, Label)> {
    let (surface, class) = SURFACES.get(row)?;
    let (lighting, lights) = LIGHTS.get(column / 2)?;
    let features: &[_] = if column.is_multiple_of(2) {
        &[]
    } else {
        FEATURES.get(column / 2)?
    };
    let (geometry, stage) = match path {
        RasterPath::Mesh => ("SphereMesh", Stage::Mesh),
        _ => ("SphereVertex", Stage::Vertex),
    };
    let mut mixins = vec![geometry, class];
    mixins.extend(features.iter().map(|(_, class)| *class));
    let mix = Mix::of(&mixins).slot(
        "lights",
        Filling::Many(lights.iter().map(|light| Mix::of(&[light])).collect()),
    );
    let name = format!(
        "{surface}, {lighting}{}",
        features
            .iter()
            .map(|(name, _)| format!(", {name}"))
            .collect::<String>()
    );
    let label = Label {
        effect: name.clone(),
        rect: [0; 4],
        surface,
        lighting,
        features: features.iter().map(|(name, _)| *name).collect(),
        classes: Vec::new(),
        words: 0,
    };
    Some((Recipe::new(&name, mix, &[stage, Stage::Fragment]), label))
}

/// Composes all permutations and draws them.
///
/// # Errors
/// A device that cannot, a file that cannot be written, validation messages.
pub fn run(arguments: &RunArguments) -> Result<MixinsReport, Error> {
    let gpu = Gpu::new(&GpuDesc {
        app_name: "scenes".into(),
        device: arguments.device.clone(),
        validation: arguments.validate,
        ..GpuDesc::default()
    })?;
    let mesh_shaders = gpu.info().features.mesh_shaders;
    let path = match arguments.path {
        Some(RasterPath::Mesh) if !mesh_shaders => {
            return Err(Error::value(
                "--path",
                "vertex on a device without mesh shaders",
                "mesh",
            ));
        }
        Some(path @ (RasterPath::Mesh | RasterPath::Vertex)) => path,
        Some(other) => {
            return Err(Error::value(
                "--path",
                "mesh or vertex for this scene",
                other.name(),
            ));
        }
        None if mesh_shaders && gpu.info().kind != DeviceKind::Cpu => RasterPath::Mesh,
        None => RasterPath::Vertex,
    };
    let size = arguments.size.unwrap_or([1280, 960]);
    let library = Library::from_code(impel::mixins::CLASSES).map_err(impel::gpu::Error::from)?;
    let mut effects = Effects::new(&gpu, library);
    let mut report = MixinsReport {
        scene: NAME,
        device: gpu.info().name.clone(),
        size,
        path: path.name(),
        permutations: 0,
        compose_ms: 0.0,
        pipelines_ms: 0.0,
        picture: None,
        labels: Vec::new(),
    };
    let mut cells = Vec::new();
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let Some((recipe, mut label)) = recipe(row, column, path) else {
                continue;
            };
            let start = Instant::now();
            let effect = effects
                .composer()
                .compose(&recipe)
                .map_err(impel::gpu::Error::from)?;
            report.compose_ms += start.elapsed().as_secs_f64() * 1e3;
            label.classes.clone_from(&effect.classes);
            label.words = effect.stages.iter().map(|stage| stage.words.len()).sum();
            let [width, height] = [size[0] / COLUMNS as u32, size[1] / ROWS as u32];
            label.rect = [column as u32 * width, row as u32 * height, width, height];
            report.labels.push(label);
            let start = Instant::now();
            let desc = EffectDesc {
                recipe: &recipe,
                state: GraphicsState::default(),
                constants: &[],
            };
            cells.push((row, column, effects.pipeline(&desc)?));
            report.pipelines_ms += start.elapsed().as_secs_f64() * 1e3;
        }
    }
    report.permutations = cells.len();
    let texels = draw(&gpu, &cells, size, path)?;
    if let Some(out) = &arguments.out {
        picture::write(out, size, &texels)?;
        report.picture = Some(out.clone());
        let side = side_file(out);
        let text = serde_json::to_string_pretty(&report.labels)
            .map_err(|reason| Error::file(&side, reason))?;
        std::fs::write(&side, text + "\n").map_err(|reason| Error::file(&side, reason))?;
    }
    let messages = gpu.validation().messages;
    if messages > 0 {
        return Err(Error::value(
            "validation",
            "no messages",
            messages.to_string(),
        ));
    }
    Ok(report)
}

/// The file beside a picture that says what is in each cell: `a.png` has `a.labels.json`.
#[must_use]
pub fn side_file(picture: &Path) -> PathBuf {
    picture.with_extension("labels.json")
}

type Cell = (usize, usize, std::sync::Arc<impel::gpu::Pipeline>);

fn draw(gpu: &Gpu, cells: &[Cell], size: [u32; 2], path: RasterPath) -> Result<Vec<u8>, Error> {
    let mut target = Offscreen::new(
        gpu,
        &OffscreenDesc {
            name: "mixins",
            size,
            format: vk::Format::R8G8B8A8_SRGB,
            images: 1,
        },
    )?;
    let depth = gpu.texture(&TextureDesc {
        name: "depth",
        format: vk::Format::D32_SFLOAT,
        size: [size[0], size[1], 1],
        usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        ..Default::default()
    })?;
    // An orthographic look along -Z, from z = 20, at a grid of unit cells; reversed depth, as everywhere.
    let (width, height) = (COLUMNS as f32, ROWS as f32);
    let (near, far, eye) = (0.1, 40.0, 20.0);
    let scale = 1.0 / (far - near);
    let frame_data = FrameData {
        view_projection: [
            [2.0 / width, 0.0, 0.0, 0.0],
            [0.0, 2.0 / height, 0.0, 0.0],
            [0.0, 0.0, scale, 0.0],
            [0.0, 0.0, (far - eye) * scale, 1.0],
        ],
        eye: [0.0, 0.0, eye, 1.0],
        sun: [0.398, 0.597, 0.697, 0.9],
        fog: [0.35, 0.4, 0.5, 1.0],
    };
    let uniform = gpu.buffer(&BufferDesc::uniform("frame", size_of::<FrameData>() as u64))?;
    gpu.upload(&uniform, 0, bytemuck::bytes_of(&frame_data))?;
    let mut frame = gpu.begin_frame()?;
    target.acquire();
    for (index, (row, column, pipeline)) in cells.iter().enumerate() {
        let hue = *row as f32 * 1.05 + 0.4;
        let channel = |shift: f32| 0.55 + 0.4 * (hue + shift).cos();
        let object = Object {
            sphere: [
                *column as f32 + 0.5 - width / 2.0,
                height / 2.0 - *row as f32 - 0.5,
                0.0,
                0.42,
            ],
            tint: [channel(0.0), channel(4.2), channel(2.1), 1.0],
        };
        let (color, z) = if index == 0 {
            (Load::Clear([0.02, 0.02, 0.025, 1.0]), Load::Clear([0.0; 4]))
        } else {
            (Load::Load, Load::Load)
        };
        let pass = frame
            .graphics(pipeline.name(), pipeline)
            .color(target.current(), color)
            .depth(&depth, z)
            .bind([uniform.whole()])
            .push(&object);
        match path {
            RasterPath::Mesh => pass.draw_mesh_tasks([WORKGROUPS, 1, 1])?,
            _ => pass.draw(VERTICES, 1)?,
        }
    }
    let back = target.read_back(&mut frame)?;
    frame.submit()?;
    gpu.wait_idle()?;
    Ok(back.wait()?)
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
