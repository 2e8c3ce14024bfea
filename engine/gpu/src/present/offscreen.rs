//! Pictures without a window: a few images in turn, read back on demand.

use crate::device::Gpu;
use crate::frame::Frame;
use crate::memory::{ReadBack, Texture, TextureDesc, features_of};
use crate::{Error, Result};
use ash::vk;

/// How to make an [`Offscreen`] presenter.
#[derive(Clone, Copy, Debug)]
pub struct OffscreenDesc<'a> {
    /// Name of the images, shown in errors, debuggers and captures.
    pub name: &'a str,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Format of the images.
    pub format: vk::Format,
    /// How many images are used in turn, 1 to 16. With more than one, a frame need not wait until the picture before it
    /// has been copied.
    pub images: u32,
}

impl Default for OffscreenDesc<'_> {
    fn default() -> Self {
        OffscreenDesc {
            name: "offscreen",
            size: [1, 1],
            format: vk::Format::R8G8B8A8_UNORM,
            images: 2,
        }
    }
}

/// Colour images of one size and format, used in turn. They can be drawn to, sampled, copied, and stored to where the
/// format allows it.
pub struct Offscreen {
    gpu: Gpu,
    name: String,
    format: vk::Format,
    images: Vec<Texture>,
    current: usize,
}

impl Offscreen {
    /// Makes the images.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a size, format or number of images that cannot be, [`Error::Vulkan`] when memory runs out.
    pub fn new(gpu: &Gpu, desc: &OffscreenDesc<'_>) -> Result<Offscreen> {
        if !(1..=16).contains(&desc.images) {
            return Err(Error::invalid(
                format!("offscreen presenter {:?}", desc.name),
                format!("it takes 1 to 16 images; given {}", desc.images),
            ));
        }
        let images = make(gpu, desc)?;
        Ok(Offscreen {
            gpu: gpu.clone(),
            name: desc.name.to_owned(),
            format: desc.format,
            current: images.len() - 1,
            images,
        })
    }

    /// The image for the next picture. What it held before is still there, some pictures old.
    pub fn acquire(&mut self) -> &Texture {
        self.current = (self.current + 1) % self.images.len();
        self.current()
    }

    /// The image that was acquired last.
    pub fn current(&self) -> &Texture {
        &self.images[self.current]
    }

    /// Copies the current picture to the CPU as part of `frame`, after the passes recorded so far: texels in rows from the
    /// upper left, without padding.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a format whose texels have no known size, [`Error::Vulkan`] when memory runs out.
    pub fn read_back(&self, frame: &mut Frame) -> Result<ReadBack> {
        frame.read_back_texture(self.current(), 0)
    }

    /// Makes images of another size; nothing happens if it is the same. The old ones go when the device is done with them.
    ///
    /// # Errors
    /// As [`Offscreen::new`]; the old images stay.
    pub fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        if size != self.size() {
            self.images = make(
                &self.gpu,
                &OffscreenDesc {
                    name: &self.name,
                    size,
                    format: self.format,
                    images: self.images.len() as u32,
                },
            )?;
        }
        Ok(())
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        let [width, height, _] = self.current().size();
        [width, height]
    }

    /// Format of the images.
    pub fn format(&self) -> vk::Format {
        self.format
    }
}

fn make(gpu: &Gpu, desc: &OffscreenDesc<'_>) -> Result<Vec<Texture>> {
    let mut usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    // sRGB formats cannot be stored to on most devices.
    if features_of(&gpu.inner, desc.format).contains(vk::FormatFeatureFlags::STORAGE_IMAGE) {
        usage |= vk::ImageUsageFlags::STORAGE;
    }
    let [width, height] = desc.size;
    (0..desc.images)
        .map(|index| {
            gpu.texture(&TextureDesc {
                name: &format!("{} {index}", desc.name),
                format: desc.format,
                size: [width, height, 1],
                usage,
                ..Default::default()
            })
        })
        .collect()
}
