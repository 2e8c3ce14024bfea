//! The grid: recipes, effects, and the passes that draw them.

use crate::report::Camera;
use crate::{Error, progress};
use impel::effects::{EffectDesc, Effects};
use impel::gpu::{Buffer, BufferDesc, Frame, Gpu, GraphicsState, Load, Texture, TextureDesc, vk};
use impel::renderer::RasterPath;
use impel::spirv::Stage;
use impel::spirv::compose::{Library, Recipe, Recipes};
use serde::Serialize;
use std::time::Instant;

/// The recipe file as messages call it.
pub const RECIPES: &str = "scenes/recipes/mixins.toml";
const RECIPES_TEXT: &str = include_str!("../../recipes/mixins.toml");

/// Rows: the first word of an effect's name.
const SURFACES: [&str; 6] = [
    "flat",
    "checker",
    "triplanar noise",
    "metal/rough",
    "clear coat",
    "toon",
];

/// Two columns each, the second with features: what follows in the name.
const LIGHTS: [(&str, &[&str]); 4] = [
    ("directional", &["fog"]),
    ("point array", &["rim"]),
    ("hemisphere", &["wireframe"]),
    ("unlit", &["rim", "fog"]),
];

/// Columns and rows of the grid.
const COLUMNS: usize = LIGHTS.len() * 2;
const ROWS: usize = SURFACES.len();

/// Of one sphere: vertices in the vertex path, workgroups in the mesh path.
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

/// All effects, and what they draw into.
pub struct Grid {
    effects: Effects,
    /// In the order of the cells, row by row.
    recipes: Vec<Recipe>,
    /// The same order. Rectangles and sizes are those of the beginning.
    pub(super) labels: Vec<Label>,
    /// Milliseconds that composing and making the pipelines took.
    pub(super) compose_ms: f64,
    pub(super) pipelines_ms: f64,
    path: RasterPath,
    uniform: Buffer,
    /// The size of picture that the uniform's values are for.
    uniform_is_for: [u32; 2],
    targets: Targets,
}

struct Targets {
    size: [u32; 2],
    colour: Texture,
    depth: Texture,
}

impl Targets {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, Error> {
        let texture = |name, format, usage| {
            gpu.texture(&TextureDesc {
                name,
                format,
                size: [size[0], size[1], 1],
                usage: usage | vk::ImageUsageFlags::SAMPLED,
                ..TextureDesc::default()
            })
        };
        // Copied to files, and the window's panels are drawn over it.
        let shown = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let attached = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        Ok(Self {
            size,
            colour: texture("grid", vk::Format::R8G8B8A8_UNORM, shown)?,
            depth: texture("grid depth", vk::Format::D32_SFLOAT, attached)?,
        })
    }
}

impl Grid {
    /// Composes the effects of all cells and makes their pipelines.
    ///
    /// # Errors
    /// What composing finds wrong, or the Vulkan layer.
    pub fn new(gpu: &Gpu, size: [u32; 2], path: RasterPath) -> Result<Self, Error> {
        let library =
            Library::from_code(impel::mixins::CLASSES).map_err(impel::gpu::Error::from)?;
        let recipes = Recipes::parse(RECIPES, RECIPES_TEXT).map_err(impel::gpu::Error::from)?;
        let mut this = Self {
            effects: Effects::new(gpu, library),
            recipes: Vec::new(),
            labels: Vec::new(),
            compose_ms: 0.0,
            pipelines_ms: 0.0,
            path,
            uniform: gpu.buffer(&BufferDesc::uniform("frame", size_of::<FrameData>() as u64))?,
            uniform_is_for: [0, 0],
            targets: Targets::new(gpu, size)?,
        };
        let bar = progress::step("effects", (ROWS * COLUMNS) as u64);
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                this.add(&recipes, row, column)?;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(this)
    }

    /// Makes the effect of a cell.
    fn add(&mut self, recipes: &Recipes, row: usize, column: usize) -> Result<(), Error> {
        let (surface, (lighting, features)) = (SURFACES[row], LIGHTS[column / 2]);
        let features = if column.is_multiple_of(2) {
            &[]
        } else {
            features
        };
        let name = [&[surface, lighting], features].concat().join(", ");
        let mut recipe = recipes
            .effect(&name)
            .map_err(impel::gpu::Error::from)?
            .clone();
        let geometry = match self.path {
            RasterPath::Mesh => Stage::Mesh,
            _ => Stage::Vertex,
        };
        recipe.stages = vec![geometry, Stage::Fragment];
        let start = Instant::now();
        let composer = self.effects.composer();
        let effect = composer.compose(&recipe).map_err(impel::gpu::Error::from)?;
        self.compose_ms += start.elapsed().as_secs_f64() * 1e3;
        // Without those of the stage that is left out.
        let parts = composer
            .class_stages(&recipe)
            .map_err(impel::gpu::Error::from)?;
        let takes_part = |class: &&String| parts.iter().any(|(part, _)| part == *class);
        let [width, height] = [
            self.targets.size[0] / COLUMNS as u32,
            self.targets.size[1] / ROWS as u32,
        ];
        self.labels.push(Label {
            effect: name,
            rect: [column as u32 * width, row as u32 * height, width, height],
            surface,
            lighting,
            features: features.to_vec(),
            classes: effect.classes.iter().filter(takes_part).cloned().collect(),
            words: effect.stages.iter().map(|stage| stage.words.len()).sum(),
        });
        let start = Instant::now();
        self.effects.pipeline(&desc(&recipe))?;
        self.pipelines_ms += start.elapsed().as_secs_f64() * 1e3;
        self.recipes.push(recipe);
        Ok(())
    }

    /// The effects, so that edited classes reach them.
    pub fn effects(&mut self) -> &mut Effects {
        &mut self.effects
    }

    /// What was drawn: sRGB values.
    #[must_use]
    pub fn picture(&self) -> &Texture {
        &self.targets.colour
    }

    /// Its depth.
    #[must_use]
    pub fn depth(&self) -> &Texture {
        &self.targets.depth
    }

    /// Triangles of all spheres.
    #[must_use]
    pub fn triangles(&self) -> u64 {
        u64::from(VERTICES / 3) * self.recipes.len() as u64
    }

    /// Draws at another size from the next frame on.
    ///
    /// # Errors
    /// [`Error::Gpu`] when memory runs out.
    pub fn resize(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<(), Error> {
        if size != self.targets.size {
            self.targets = Targets::new(gpu, size)?;
        }
        Ok(())
    }

    /// Records the passes: one for each effect.
    ///
    /// # Errors
    /// As [`Grid::new`].
    pub fn record(&mut self, frame: &mut Frame) -> Result<(), Error> {
        let Targets {
            size,
            colour,
            depth,
        } = &self.targets;
        // Width of a cell; its height is 1.
        let cell = size[0] as f32 / COLUMNS as f32 * ROWS as f32 / size[1] as f32;
        let (width, height) = (COLUMNS as f32 * cell, ROWS as f32);
        if self.uniform_is_for != *size {
            let data = frame_data(width, height);
            frame.upload(&self.uniform, 0, bytemuck::bytes_of(&data))?;
            self.uniform_is_for = *size;
        }
        for (index, recipe) in self.recipes.iter().enumerate() {
            let (row, column) = ((index / COLUMNS) as f32, (index % COLUMNS) as f32);
            let hue = row * 1.05 + 0.4;
            let channel = |shift: f32| 0.55 + 0.4 * (hue + shift).cos();
            let object = Object {
                sphere: [
                    (column + 0.5) * cell - width / 2.0,
                    height / 2.0 - row - 0.5,
                    0.0,
                    0.42 * cell.min(1.0),
                ],
                tint: [channel(0.0), channel(4.2), channel(2.1), 1.0],
            };
            let (color, z) = if index == 0 {
                (Load::Clear([0.15, 0.15, 0.17, 1.0]), Load::Clear([0.0; 4]))
            } else {
                (Load::Load, Load::Load)
            };
            let pipeline = self.effects.pipeline(&desc(recipe))?;
            let pass = frame
                .graphics(pipeline.name(), &pipeline)
                .color(colour, color)
                .depth(depth, z)
                .bind([self.uniform.whole()])
                .push(&object);
            match self.path {
                RasterPath::Mesh => pass.draw_mesh_tasks([WORKGROUPS, 1, 1])?,
                _ => pass.draw(VERTICES, 1)?,
            }
        }
        Ok(())
    }
}

fn desc(recipe: &Recipe) -> EffectDesc<'_> {
    EffectDesc {
        recipe,
        state: GraphicsState::default(),
        constants: &[],
    }
}

/// Of the look at the grid, along -Z: where it comes from, and distances.
const EYE: f32 = 20.0;
const NEAR: f32 = 0.1;
const FAR: f32 = 40.0;

/// The look at the grid, which is parallel: an angle of zero.
pub(super) fn camera() -> Camera {
    Camera {
        position: [0.0, 0.0, EYE],
        forward: [0.0, 0.0, -1.0],
        near: NEAR,
        draw_distance: Some(FAR),
        ..Camera::default()
    }
}

/// An orthographic look from there at a grid of this width and height; reversed depth, as everywhere.
fn frame_data(width: f32, height: f32) -> FrameData {
    let (near, far, eye) = (NEAR, FAR, EYE);
    let scale = 1.0 / (far - near);
    FrameData {
        view_projection: [
            [2.0 / width, 0.0, 0.0, 0.0],
            [0.0, 2.0 / height, 0.0, 0.0],
            [0.0, 0.0, scale, 0.0],
            [0.0, 0.0, (far - eye) * scale, 1.0],
        ],
        eye: [0.0, 0.0, eye, 1.0],
        sun: [0.398, 0.597, 0.697, 0.9],
        fog: [0.35, 0.4, 0.5, 1.0],
    }
}
