//! Passes of one's own: a chain of three small ones behind the renderer's picture.
//!
//! This is also the tutorial. What it takes to add a pass:
//!
//! 1. A shader in `shaders/glsl` (here `edge.comp`, `blur.comp`, `tone_map.comp`) and a line for it in
//!    `shaders/programs.toml`. `cargo run -p impel-cli -- bake shaders` makes SPIR-V and a Rust module of it, with a struct for
//!    its bindings and one for its push constants.
//! 2. A pipeline: `pipeline` below. The layout comes from the shader.
//! 3. A call each frame: [`Chain::record`]. Barriers come from what the shaders say that they read and write; times and
//!    labels come by themselves.
//!
//! `scenes run passes` shows it; in a window the panel "Passes" shows what each pass binds, and "Settings" its numbers.

use crate::Error;
use impel::app::{Content, CullingAudit, Reloadable, RendererContent};
use impel::gpu::{
    ComputePipelineDesc, Frame, Gpu, Pipeline, Sampler, SamplerDesc, Shader, ShaderCode, Texture,
    TextureDesc, vk,
};
use impel::math::Camera;
use impel::renderer::{Settings, Statistics};
use impel::shaders::{blur, edge, tone_map};

/// The passes with what they draw into.
pub struct Chain {
    edge: Pipeline,
    blur: Pipeline,
    tone_map: Pipeline,
    sampler: Sampler,
    images: Images,
    /// May be changed between frames.
    pub look: Look,
}

/// What the passes do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Factor of the edges' strength.
    pub edges: f32,
    /// Standard deviation of the blur, pixels.
    pub blur: f32,
    /// Factor of brightness before it is compressed.
    pub exposure: f32,
    /// How much of the blurred picture is added.
    pub glow: f32,
    /// How dark edges become.
    pub ink: f32,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            edges: 0.6,
            blur: 5.0,
            exposure: 2.0,
            glow: 0.5,
            ink: 0.8,
        }
    }
}

/// Images of one size.
struct Images {
    size: [u32; 2],
    edges: Texture,
    /// Blurred along the first axis, and along both.
    blurred: [Texture; 2],
    result: Texture,
}

impl Images {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, Error> {
        let image = |name, format, more| {
            gpu.texture(&TextureDesc {
                name,
                format,
                size: [size[0], size[1], 1],
                usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE | more,
                ..TextureDesc::default()
            })
        };
        let (grey, colour) = (vk::Format::R8_UNORM, vk::Format::R8G8B8A8_UNORM);
        let none = vk::ImageUsageFlags::empty();
        // It is copied to files, and the window's panels are drawn over it.
        let shown = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::COLOR_ATTACHMENT;
        Ok(Self {
            size,
            edges: image("edges", grey, none)?,
            blurred: [
                image("blurred once", colour, none)?,
                image("blurred", colour, none)?,
            ],
            result: image("result", colour, shown)?,
        })
    }
}

/// A compute pipeline from a generated module's shaders.
fn pipeline(gpu: &Gpu, name: &str, code: &[ShaderCode]) -> Result<Pipeline, Error> {
    let code = code
        .first()
        .ok_or_else(|| Error::value(name, "a shader", "none"))?;
    let shader = Shader::from_code(code)?;
    Ok(gpu.compute_pipeline(&ComputePipelineDesc {
        name,
        shader: &shader,
        constants: &[],
    })?)
}

impl Chain {
    /// Builds pipelines and images.
    ///
    /// # Errors
    /// [`Error::Gpu`] when memory runs out.
    pub fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, Error> {
        Ok(Self {
            edge: pipeline(gpu, "edge", edge::SHADERS)?,
            blur: pipeline(gpu, "blur", blur::SHADERS)?,
            tone_map: pipeline(gpu, "tone map", tone_map::SHADERS)?,
            sampler: gpu.sampler(&SamplerDesc::nearest())?,
            images: Images::new(gpu, size)?,
            look: Look::default(),
        })
    }

    /// The finished picture.
    #[must_use]
    pub fn picture(&self) -> &Texture {
        &self.images.result
    }

    /// Records the passes over a picture, which has sRGB values.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn record(&mut self, frame: &mut Frame, picture: &Texture) -> Result<(), Error> {
        let [width, height, _] = picture.size();
        let size = [width, height];
        if size != self.images.size {
            self.images = Images::new(frame.gpu(), size)?;
        }
        let Self {
            images,
            look,
            sampler,
            ..
        } = self;
        frame
            .compute("edge", &self.edge)
            .bind(edge::Bindings {
                picture: picture.sampled(sampler),
                edges: images.edges.storage(),
            })
            .push(&edge::Push {
                size,
                strength: look.edges,
            })
            .dispatch_threads([width, height, 1])?;
        let [once, twice] = &images.blurred;
        for (name, axis, source, target) in [
            ("blur across", [1, 0], picture, once),
            ("blur down", [0, 1], once, twice),
        ] {
            frame
                .compute(name, &self.blur)
                .bind(blur::Bindings {
                    source: source.sampled(sampler),
                    target: target.storage(),
                })
                .push(&blur::Push {
                    size,
                    axis,
                    radius: look.blur,
                })
                .dispatch_threads([width, height, 1])?;
        }
        frame
            .compute("tone map", &self.tone_map)
            .bind(tone_map::Bindings {
                picture: picture.sampled(sampler),
                blurred: twice.sampled(sampler),
                edges: images.edges.sampled(sampler),
                result: images.result.storage(),
            })
            .push(&tone_map::Push {
                size,
                exposure: look.exposure,
                glow: look.glow,
                ink: look.ink,
            })
            .dispatch_threads([width, height, 1])?;
        Ok(())
    }
}

/// A scene with the chain behind it, in a window.
pub struct ChainContent {
    scene: RendererContent,
    chain: Chain,
}

impl ChainContent {
    /// Puts both together.
    #[must_use]
    pub fn new(scene: RendererContent, chain: Chain) -> Self {
        Self { scene, chain }
    }
}

impl Content for ChainContent {
    fn resize(&mut self, size: [u32; 2]) -> Result<(), impel::Error> {
        self.scene.resize(size)
    }

    fn record(&mut self, frame: &mut Frame, camera: &Camera) -> Result<(), impel::Error> {
        self.scene.record(frame, camera)?;
        self.chain
            .record(frame, self.scene.picture())
            .map_err(Error::into_engine)
    }

    fn picture(&self) -> &Texture {
        self.chain.picture()
    }

    fn settings(&mut self) -> Option<&mut Settings> {
        self.scene.settings()
    }

    fn audit(&mut self) -> Option<&mut CullingAudit> {
        self.scene.audit()
    }

    fn statistics(&self) -> Option<Statistics> {
        self.scene.statistics()
    }

    fn triangles(&self) -> u64 {
        self.scene.triangles()
    }

    fn images(&self) -> Vec<&Texture> {
        let mut images = self.scene.images();
        let Images { edges, blurred, .. } = &self.chain.images;
        images.extend([self.scene.picture(), edges, &blurred[0], &blurred[1]]);
        images
    }

    fn shaders(&mut self) -> Reloadable<'_> {
        let mut shaders = self.scene.shaders();
        let Chain {
            edge,
            blur,
            tone_map,
            ..
        } = &mut self.chain;
        shaders.pipelines.extend([edge, blur, tone_map]);
        shaders
    }

    fn panel(&mut self, ui: &mut impel::app::egui::Ui) {
        use impel::app::egui::Slider;
        let look = &mut self.chain.look;
        ui.add_space(4.0);
        ui.strong("Passes of this scene");
        ui.add(Slider::new(&mut look.exposure, 0.1..=10.0).text("exposure"));
        ui.add(Slider::new(&mut look.glow, 0.0..=2.0).text("glow"));
        ui.add(Slider::new(&mut look.blur, 0.5..=12.0).text("blur, pixels"));
        ui.add(Slider::new(&mut look.edges, 0.0..=4.0).text("edges"));
        ui.add(Slider::new(&mut look.ink, 0.0..=1.0).text("ink"));
        if ui.button("Reset the look").clicked() {
            *look = Look::default();
        }
    }
}
