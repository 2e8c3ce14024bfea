//! Textures: an image with its views. Images live in `GENERAL` from their first use on.

use super::{Garbage, Resource, Sampler, aspect_of, has_stencil};
use crate::binding::{Bound, Flaw};
use crate::device::{Gpu, Inner};
use crate::{Error, Result};
use ash::vk;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use vk_mem::Alloc;

/// How to make a texture.
#[derive(Clone, Copy, Debug)]
pub struct TextureDesc<'a> {
    /// Name, shown in errors, debuggers and captures.
    pub name: &'a str,
    /// Format of the texels.
    pub format: vk::Format,
    /// Width, height and depth in texels; a depth over 1 makes a 3D texture.
    pub size: [u32; 3],
    /// Mip levels.
    pub mips: u32,
    /// Array layers; over 1 the texture is an array of 2D textures.
    pub layers: u32,
    /// What it will be used for.
    pub usage: vk::ImageUsageFlags,
}

impl Default for TextureDesc<'_> {
    fn default() -> Self {
        TextureDesc {
            name: "",
            format: vk::Format::R8G8B8A8_UNORM,
            size: [1, 1, 1],
            mips: 1,
            layers: 1,
            usage: vk::ImageUsageFlags::SAMPLED,
        }
    }
}

/// Images that have not been used yet and are still in `UNDEFINED`. The next barrier takes all of them to `GENERAL`.
#[derive(Default)]
pub(crate) struct NewTextures {
    any: AtomicBool,
    list: Mutex<Vec<(vk::Image, vk::ImageSubresourceRange)>>,
}

impl NewTextures {
    fn add(&self, image: vk::Image, range: vk::ImageSubresourceRange) {
        crate::lock(&self.list).push((image, range));
        self.any.store(true, Ordering::Release);
    }

    fn remove(&self, image: vk::Image) {
        if self.any.load(Ordering::Acquire) {
            crate::lock(&self.list).retain(|(new, _)| *new != image);
        }
    }

    /// Moves the barriers for all new images into `out`.
    #[inline]
    pub(crate) fn drain(&self, out: &mut Vec<vk::ImageMemoryBarrier2<'static>>) {
        // A plain load first: this is asked for every pass.
        if self.any.load(Ordering::Acquire) {
            self.drain_list(out);
        }
    }

    #[cold]
    fn drain_list(&self, out: &mut Vec<vk::ImageMemoryBarrier2<'static>>) {
        if !self.any.swap(false, Ordering::AcqRel) {
            return;
        }
        out.extend(crate::lock(&self.list).drain(..).map(|(image, range)| {
            vk::ImageMemoryBarrier2::default()
                .image(image)
                .subresource_range(range)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::GENERAL)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                // Once in the life of an image: whatever comes later comes after it.
                .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
        }));
    }
}

/// A texture. It frees itself when dropped, once the device is done with it.
pub struct Texture {
    pub(crate) image: vk::Image,
    /// All mips and layers.
    pub(crate) view: vk::ImageView,
    /// One view per mip; the first is `view` when there is just one.
    mip_views: Vec<vk::ImageView>,
    pub(crate) format: vk::Format,
    pub(crate) size: [u32; 3],
    pub(crate) mips: u32,
    pub(crate) layers: u32,
    usage: vk::ImageUsageFlags,
    allocation: Option<vk_mem::Allocation>,
    pub(crate) resource: Resource,
    gpu: Arc<Inner>,
}

// SAFETY: handles may be used from any thread; VMA guards the allocation with its own lock.
unsafe impl Send for Texture {}
// SAFETY: as above.
unsafe impl Sync for Texture {}

impl Gpu {
    /// Makes a texture. Its contents are undefined until written.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a size, mip count or format that the device does not take, [`Error::Vulkan`] when memory
    /// runs out.
    pub fn texture(&self, desc: &TextureDesc<'_>) -> Result<Texture> {
        let gpu = &self.inner;
        let [width, height, depth] = desc.size;
        let thing = || format!("texture {:?}", desc.name);
        let full_chain = 32 - desc.size.into_iter().max().unwrap_or(0).leading_zeros();
        if desc.size.contains(&0)
            || desc.layers == 0
            || desc.mips == 0
            || desc.mips > full_chain
            || desc.usage.is_empty()
        {
            return Err(Error::invalid(
                thing(),
                format!(
                    "size, layers, mips and usage must not be empty and mips at most {full_chain}; given {width}x{height}x{depth}, \
                     {} layers, {} mips, {:?}",
                    desc.layers, desc.mips, desc.usage
                ),
            ));
        }
        if has_stencil(desc.format) {
            return Err(Error::invalid(
                thing(),
                format!(
                    "{:?} has a stencil part; take a format without",
                    desc.format
                ),
            ));
        }
        let image_type = if depth > 1 {
            vk::ImageType::TYPE_3D
        } else {
            vk::ImageType::TYPE_2D
        };
        // SAFETY: the physical device is alive.
        let offered = unsafe {
            gpu.instance
                .raw
                .get_physical_device_image_format_properties(
                    gpu.physical_device,
                    desc.format,
                    image_type,
                    vk::ImageTiling::OPTIMAL,
                    desc.usage,
                    vk::ImageCreateFlags::empty(),
                )
        }
        .map_err(|_| {
            Error::invalid(
                thing(),
                format!("the device has no {:?} for {:?}", desc.format, desc.usage),
            )
        })?;
        let most = offered.max_extent;
        if width > most.width
            || height > most.height
            || depth > most.depth
            || desc.layers > offered.max_array_layers
            || desc.mips > offered.max_mip_levels
        {
            return Err(Error::invalid(
                thing(),
                format!(
                    "the device takes at most {}x{}x{}, {} layers and {} mips; given {width}x{height}x{depth}, {} and {}",
                    most.width,
                    most.height,
                    most.depth,
                    offered.max_array_layers,
                    offered.max_mip_levels,
                    desc.layers,
                    desc.mips
                ),
            ));
        }
        let info = vk::ImageCreateInfo::default()
            .image_type(image_type)
            .format(desc.format)
            .extent(vk::Extent3D {
                width,
                height,
                depth,
            })
            .mip_levels(desc.mips)
            .array_layers(desc.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(desc.usage);
        let create = vk_mem::AllocationCreateInfo {
            usage: vk_mem::MemoryUsage::AutoPreferDevice,
            ..Default::default()
        };
        // SAFETY: the description was checked against what the device offers.
        let (image, allocation) = unsafe { gpu.allocator.create_image(&info, &create) }
            .map_err(Error::vulkan("vmaCreateImage", thing()))?;
        gpu.name(image, desc.name);
        let mut texture = Texture {
            image,
            view: vk::ImageView::null(),
            mip_views: Vec::new(),
            format: desc.format,
            size: desc.size,
            mips: desc.mips,
            layers: desc.layers,
            usage: desc.usage,
            allocation: Some(allocation),
            resource: Resource {
                id: gpu.ids.take(desc.name),
                device: gpu.number,
                name: desc.name.to_owned(),
                accepts: 0,
                size: 0,
                description: format!(
                    "a {width}x{height}x{depth} texture of {:?} for {:?}",
                    desc.format, desc.usage
                ),
            },
            gpu: gpu.clone(),
        };
        let viewable = vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        if desc.usage.intersects(viewable) {
            texture.view = texture.make_view(0, desc.mips)?;
            if desc.mips > 1 {
                for mip in 0..desc.mips {
                    let view = texture.make_view(mip, 1)?;
                    texture.mip_views.push(view);
                }
            }
        }
        gpu.new_textures.add(image, texture.whole_range());
        Ok(texture)
    }
}

impl Texture {
    /// An image of a swapchain, which owns image and view and outlives the texture's last use. Its layout is the
    /// presenter's business.
    pub(crate) fn of_swapchain(
        gpu: &Gpu,
        image: vk::Image,
        view: vk::ImageView,
        format: vk::Format,
        [width, height]: [u32; 2],
        usage: vk::ImageUsageFlags,
        name: &str,
    ) -> Texture {
        let gpu = &gpu.inner;
        gpu.name(image, name);
        Texture {
            image,
            view,
            mip_views: Vec::new(),
            format,
            size: [width, height, 1],
            mips: 1,
            layers: 1,
            usage,
            allocation: None,
            resource: Resource {
                id: gpu.ids.take(name),
                device: gpu.number,
                name: name.to_owned(),
                accepts: 0,
                size: 0,
                description: format!("a {width}x{height} window image of {format:?} for {usage:?}"),
            },
            gpu: gpu.clone(),
        }
    }

    fn make_view(&self, mip: u32, mips: u32) -> Result<vk::ImageView> {
        let kind = match (self.size[2] > 1, self.layers > 1) {
            (true, _) => vk::ImageViewType::TYPE_3D,
            (_, true) => vk::ImageViewType::TYPE_2D_ARRAY,
            _ => vk::ImageViewType::TYPE_2D,
        };
        let range = vk::ImageSubresourceRange {
            base_mip_level: mip,
            level_count: mips,
            ..self.whole_range()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(self.image)
            .view_type(kind)
            .format(self.format)
            .subresource_range(range);
        // SAFETY: the image is alive and has the mips that the view names.
        let view = unsafe { self.gpu.device.create_image_view(&info, None) }.map_err(
            Error::vulkan("vkCreateImageView", format!("texture {:?}", self.name())),
        )?;
        self.gpu.name(view, self.name());
        Ok(view)
    }

    pub(crate) fn whole_range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: aspect_of(self.format),
            base_mip_level: 0,
            level_count: self.mips,
            base_array_layer: 0,
            layer_count: self.layers,
        }
    }

    pub(crate) fn mip_view(&self, mip: u32) -> vk::ImageView {
        self.mip_views
            .get(mip as usize)
            .copied()
            .unwrap_or(self.view)
    }

    /// Name given at creation.
    pub fn name(&self) -> &str {
        &self.resource.name
    }

    /// Width, height and depth of the first mip, in texels.
    pub fn size(&self) -> [u32; 3] {
        self.size
    }

    /// Size of one mip, in texels.
    pub fn mip_size(&self, mip: u32) -> [u32; 3] {
        self.size.map(|texels| (texels >> mip.min(31)).max(1))
    }

    /// Number of mips.
    pub fn mips(&self) -> u32 {
        self.mips
    }

    /// Format of the texels.
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// What the texture was made for.
    pub fn usage(&self) -> vk::ImageUsageFlags {
        self.usage
    }

    /// The Vulkan handle.
    pub fn raw(&self) -> vk::Image {
        self.image
    }

    /// The Vulkan view of all mips; null for a texture that is only copied.
    pub fn raw_view(&self) -> vk::ImageView {
        self.view
    }

    /// All mips, for a combined image sampler slot.
    pub fn sampled<'a>(&'a self, sampler: &'a Sampler) -> Bound<'a> {
        if sampler.device() != self.resource.device {
            return Bound::flawed(&self.resource, Flaw::Sampler);
        }
        self.bind(
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::ImageUsageFlags::SAMPLED,
            sampler.handle,
            self.view,
        )
    }

    /// All mips, for a sampled image slot.
    pub fn image(&self) -> Bound<'_> {
        self.bind(
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::ImageUsageFlags::SAMPLED,
            vk::Sampler::null(),
            self.view,
        )
    }

    /// The first mip, for a storage image slot.
    pub fn storage(&self) -> Bound<'_> {
        self.mip(0).storage()
    }

    /// One mip. A number past the last mip is caught when it is bound.
    pub fn mip(&self, mip: u32) -> MipView<'_> {
        MipView { texture: self, mip }
    }

    fn bind(
        &self,
        kind: vk::DescriptorType,
        needs: vk::ImageUsageFlags,
        sampler: vk::Sampler,
        view: vk::ImageView,
    ) -> Bound<'_> {
        let accepts = if self.usage.contains(needs) {
            1 << kind.as_raw()
        } else {
            0
        };
        Bound::image(&self.resource, sampler, view, accepts)
    }
}

/// One mip of a texture, to be bound.
#[derive(Clone, Copy)]
pub struct MipView<'a> {
    texture: &'a Texture,
    mip: u32,
}

impl<'a> MipView<'a> {
    fn bind(
        self,
        kind: vk::DescriptorType,
        needs: vk::ImageUsageFlags,
        sampler: vk::Sampler,
    ) -> Bound<'a> {
        if self.mip >= self.texture.mips {
            return Bound::flawed(&self.texture.resource, Flaw::Mip);
        }
        self.texture
            .bind(kind, needs, sampler, self.texture.mip_view(self.mip))
    }

    /// For a storage image slot.
    pub fn storage(self) -> Bound<'a> {
        self.bind(
            vk::DescriptorType::STORAGE_IMAGE,
            vk::ImageUsageFlags::STORAGE,
            vk::Sampler::null(),
        )
    }

    /// For a sampled image slot.
    pub fn image(self) -> Bound<'a> {
        self.bind(
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::ImageUsageFlags::SAMPLED,
            vk::Sampler::null(),
        )
    }

    /// For a combined image sampler slot.
    pub fn sampled(self, sampler: &Sampler) -> Bound<'a> {
        if sampler.device() != self.texture.resource.device {
            return Bound::flawed(&self.texture.resource, Flaw::Sampler);
        }
        self.bind(
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::ImageUsageFlags::SAMPLED,
            sampler.handle,
        )
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        self.gpu.ids.give_back(self.resource.id);
        self.gpu.new_textures.remove(self.image);
        let mut views = std::mem::take(&mut self.mip_views);
        if self.view != vk::ImageView::null() {
            views.push(self.view);
        }
        if let Some(allocation) = self.allocation.take() {
            self.gpu.deletions.push(
                &self.gpu,
                Garbage::Image {
                    image: self.image,
                    views,
                    allocation,
                },
            );
        }
    }
}
