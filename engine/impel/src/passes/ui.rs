//! Draws egui's output: `ui.vert`, `ui.frag`. Vertices are pulled from a storage buffer, textures are push descriptors.

use crate::Error;
use egui::epaint::{ImageDelta, Primitive, Vertex};
use egui::{ClippedPrimitive, ImageData, Rect, TextureFilter, TextureId, TexturesDelta};
use impel_gpu::{
    Blend, Buffer, BufferDesc, DepthState, Frame, Gpu, GraphicsPipelineDesc, GraphicsState, Load,
    Pipeline, Sampler, SamplerDesc, Shader, Texture, TextureDesc, vk,
};
use impel_shaders::ui;
use std::collections::HashMap;
use std::ops::Range;

/// Draws a user interface over a picture.
pub struct Ui {
    gpu: Gpu,
    pipeline: Pipeline,
    linear: Sampler,
    nearest: Sampler,
    textures: HashMap<TextureId, Image>,
    vertices: Buffer,
    indices: Buffer,
    /// What the next [`Ui::record`] draws.
    draws: Vec<Draw>,
    /// Points of a pixel's edge: egui's measure against the picture's.
    pixels_per_point: f32,
    /// Vertices and indices as they are gathered; kept for their room.
    gathered: (Vec<Vertex>, Vec<u32>),
}

/// A texture of egui's with what it is made of: egui changes parts, and only whole textures are uploaded.
struct Image {
    texture: Texture,
    texels: Vec<egui::Color32>,
    filter: TextureFilter,
}

/// Primitives that follow each other and share a texture.
struct Draw {
    texture: TextureId,
    ranges: Vec<(Rect, Range<u32>)>,
}

impl Ui {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shaders = ui::SHADERS
            .iter()
            .map(Shader::from_code)
            .collect::<Result<Vec<_>, _>>()?;
        let shaders: Vec<&Shader> = shaders.iter().collect();
        let state = GraphicsState {
            depth: DepthState {
                test: false,
                write: false,
                ..DepthState::default()
            },
            cull: vk::CullModeFlags::NONE,
            blend: Some(Blend::Premultiplied),
            ..GraphicsState::default()
        };
        let desc = GraphicsPipelineDesc {
            name: "ui",
            shaders: &shaders,
            constants: &[],
            state,
        };
        Ok(Self {
            gpu: gpu.clone(),
            pipeline: gpu.graphics_pipeline(&desc)?,
            linear: gpu.sampler(&SamplerDesc::default())?,
            nearest: gpu.sampler(&SamplerDesc::nearest())?,
            textures: HashMap::new(),
            vertices: buffer(gpu, "ui vertices", 1 << 16)?,
            indices: buffer(gpu, "ui indices", 1 << 15)?,
            draws: Vec::new(),
            pixels_per_point: 1.0,
            gathered: (Vec::new(), Vec::new()),
        })
    }

    /// The pipeline, so that new shaders can take the place of old ones between frames.
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Takes what egui wants drawn, ahead of the frame that draws it; uploads what has changed.
    ///
    /// # Errors
    /// [`Error::Gpu`] when memory runs out, [`Error::Value`] for a change to a texture that does not fit it.
    pub fn prepare(
        &mut self,
        textures: &TexturesDelta,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
    ) -> Result<(), Error> {
        for (id, delta) in &textures.set {
            self.change(*id, delta)?;
        }
        for id in &textures.free {
            self.textures.remove(id);
        }
        self.pixels_per_point = pixels_per_point;
        self.draws.clear();
        let (vertices, indices) = &mut self.gathered;
        vertices.clear();
        indices.clear();
        for ClippedPrimitive {
            clip_rect,
            primitive,
        } in primitives
        {
            // Nobody draws by callbacks here.
            let Primitive::Mesh(mesh) = primitive else {
                continue;
            };
            let base = vertices.len() as u32;
            let first = indices.len() as u32;
            vertices.extend_from_slice(&mesh.vertices);
            indices.extend(mesh.indices.iter().map(|index| base + index));
            let range = (*clip_rect, first..indices.len() as u32);
            match self.draws.last_mut() {
                Some(draw) if draw.texture == mesh.texture_id => draw.ranges.push(range),
                _ => self.draws.push(Draw {
                    texture: mesh.texture_id,
                    ranges: vec![range],
                }),
            }
        }
        if indices.is_empty() {
            return Ok(());
        }
        let vertices: &[u8] = bytemuck::cast_slice(vertices);
        let indices: &[u8] = bytemuck::cast_slice(indices);
        for (target, bytes) in [(&mut self.vertices, vertices), (&mut self.indices, indices)] {
            if target.size() < bytes.len() as u64 {
                let size = (bytes.len() as u64).next_power_of_two();
                *target = buffer(&self.gpu, target.name(), size)?;
            }
            self.gpu.upload(target, 0, bytes)?;
        }
        Ok(())
    }

    /// Records the passes, over what `target` holds: sRGB values in a format without conversion. `users` are the textures
    /// behind egui's user ids.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn record(
        &self,
        frame: &mut Frame,
        target: &Texture,
        users: &[(TextureId, &Texture)],
    ) -> Result<(), Error> {
        let [width, height, _] = target.size();
        let size = [width, height];
        for draw in &self.draws {
            let user = users.iter().find(|(id, _)| *id == draw.texture);
            let (texture, sampler) = match (self.textures.get(&draw.texture), user) {
                (Some(image), _) => (
                    &image.texture,
                    match image.filter {
                        TextureFilter::Linear => &self.linear,
                        TextureFilter::Nearest => &self.nearest,
                    },
                ),
                (None, Some((_, texture))) => (*texture, &self.nearest),
                // Taken away while it was still shown.
                (None, None) => continue,
            };
            let ranges: Vec<_> = draw
                .ranges
                .iter()
                .filter_map(|(clip, vertices)| {
                    let scissor = scissor(*clip, self.pixels_per_point, size)?;
                    Some((scissor, vertices.clone()))
                })
                .collect();
            frame
                .graphics("ui", &self.pipeline)
                .color(target, Load::Load)
                .bind(ui::Bindings {
                    vertices: self.vertices.whole(),
                    indices: self.indices.whole(),
                    image: texture.sampled(sampler),
                })
                .push(&ui::Push {
                    size: size.map(|pixels| pixels as f32 / self.pixels_per_point),
                })
                .draw_ranges(&ranges)?;
        }
        Ok(())
    }

    fn change(&mut self, id: TextureId, delta: &ImageDelta) -> Result<(), Error> {
        let ImageData::Color(image) = &delta.image;
        let [width, height] = image.size;
        match delta.pos {
            None => {
                let texture = self.gpu.texture(&TextureDesc {
                    name: "ui texture",
                    format: vk::Format::R8G8B8A8_UNORM,
                    size: [width as u32, height as u32, 1],
                    usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
                    ..TextureDesc::default()
                })?;
                let texels = image.pixels.clone();
                let filter = delta.options.magnification;
                self.textures.insert(
                    id,
                    Image {
                        texture,
                        texels,
                        filter,
                    },
                );
            }
            Some([x, y]) => {
                let wrong = || {
                    let given = format!("{width}x{height} at {x}, {y}");
                    Error::value(format!("change of {id:?}"), "a part of the texture", given)
                };
                let whole = self.textures.get_mut(&id).ok_or_else(wrong)?;
                let row = whole.texture.size()[0] as usize;
                for (line, texels) in image.pixels.chunks(width.max(1)).enumerate() {
                    let start = (y + line) * row + x;
                    whole
                        .texels
                        .get_mut(start..start + width)
                        .filter(|_| x + width <= row)
                        .ok_or_else(wrong)?
                        .copy_from_slice(texels);
                }
            }
        }
        if let Some(image) = self.textures.get(&id) {
            let texels = bytemuck::cast_slice(&image.texels);
            self.gpu.upload_texture(&image.texture, 0, 0, texels)?;
        }
        Ok(())
    }
}

fn buffer(gpu: &Gpu, name: &str, size: u64) -> Result<Buffer, Error> {
    Ok(gpu.buffer(&BufferDesc::storage(name, size))?)
}

/// The pixels of a clip rectangle in points, within the picture; `None` when there are none.
fn scissor(clip: Rect, pixels_per_point: f32, size: [u32; 2]) -> Option<vk::Rect2D> {
    // Whole pixels, as egui rounds the edges of what it draws. Infinite ones end at the picture's.
    let pixel = |points: f32, most: u32| {
        let pixels = (points * pixels_per_point).round();
        // Also for NaN this gives a number.
        pixels.max(0.0).min(most as f32) as u32
    };
    let [left, right] = [clip.min.x, clip.max.x].map(|x| pixel(x, size[0]));
    let [top, bottom] = [clip.min.y, clip.max.y].map(|y| pixel(y, size[1]));
    (left < right && top < bottom).then(|| vk::Rect2D {
        offset: vk::Offset2D {
            x: left as i32,
            y: top as i32,
        },
        extent: vk::Extent2D {
            width: right - left,
            height: bottom - top,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Pos2, pos2};

    fn clipped(min: Pos2, max: Pos2, scale: f32) -> Option<[i64; 4]> {
        let rect = scissor(Rect::from_min_max(min, max), scale, [100, 50])?;
        Some([
            rect.offset.x.into(),
            rect.offset.y.into(),
            rect.extent.width.into(),
            rect.extent.height.into(),
        ])
    }

    #[test]
    fn scissors_stay_within_the_picture() {
        assert_eq!(
            clipped(pos2(-5.0, 2.0), pos2(500.0, 10.0), 1.0),
            Some([0, 2, 100, 8])
        );
        assert_eq!(
            clipped(pos2(1.0, 1.0), pos2(3.0, 3.0), 1.25),
            Some([1, 1, 3, 3])
        );
        assert_eq!(clipped(pos2(200.0, 1.0), pos2(300.0, 3.0), 1.0), None);
        assert_eq!(clipped(pos2(5.0, 5.0), pos2(4.0, 9.0), 1.0), None);
        assert_eq!(clipped(pos2(f32::NAN, 0.0), pos2(f32::NAN, 9.0), 1.0), None);
        let everything = [f32::NEG_INFINITY, f32::INFINITY].map(|edge| pos2(edge, edge));
        assert_eq!(
            clipped(everything[0], everything[1], 1.5),
            Some([0, 0, 100, 50])
        );
    }
}
