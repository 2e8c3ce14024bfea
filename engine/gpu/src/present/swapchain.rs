//! A swapchain with what belongs to it: images as textures, and per image a semaphore and a fence for its presentation.

use super::surface::Choice;
use crate::device::{Gpu, Inner};
use crate::memory::Texture;
use crate::{Error, Result};
use ash::vk;

/// One image and what presenting it takes.
pub(crate) struct Image {
    pub(crate) texture: Texture,
    view: vk::ImageView,
    /// Signalled by the frame that draws to the image, waited for by its presentation. One per image: when the image comes
    /// round again the presentation has waited for it, which a frame's end would not say.
    pub(crate) drawn: vk::Semaphore,
    /// Signalled when presentation is done with semaphore and image; null where the device cannot tell.
    presented: vk::Fence,
    /// Whether a presentation has been given the fence.
    pending: bool,
}

pub(crate) struct Swapchain {
    pub(crate) handle: vk::SwapchainKHR,
    pub(crate) choice: Choice,
    pub(crate) images: Vec<Image>,
    /// Number of the last frame that draws to one of its images.
    pub(crate) last_frame: u64,
}

impl Swapchain {
    /// Makes a swapchain and retires `old`, which may be null.
    pub(crate) fn new(
        gpu: &Gpu,
        functions: &ash::khr::swapchain::Device,
        surface: vk::SurfaceKHR,
        choice: Choice,
        old: vk::SwapchainKHR,
        name: &str,
    ) -> Result<Swapchain, vk::Result> {
        let inner = &gpu.inner;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(choice.images)
            .image_format(choice.format.format)
            .image_color_space(choice.format.color_space)
            .image_extent(choice.extent)
            .image_array_layers(1)
            .image_usage(choice.usage)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(choice.transform)
            .composite_alpha(choice.alpha)
            .present_mode(choice.mode)
            .clipped(true)
            .old_swapchain(old);
        // SAFETY: every choice is among what the surface offers, and `old` belongs to the same surface.
        let handle = unsafe { functions.create_swapchain(&info, None) }?;
        let mut this = Swapchain {
            handle,
            choice,
            images: Vec::new(),
            last_frame: 0,
        };
        inner.name(handle, name);
        // SAFETY: the swapchain was just made.
        let made = unsafe { functions.get_swapchain_images(handle) }
            .and_then(|images| this.add_images(gpu, &images, name));
        match made {
            Ok(()) => Ok(this),
            Err(result) => {
                this.destroy(inner, functions);
                Err(result)
            }
        }
    }

    fn add_images(
        &mut self,
        gpu: &Gpu,
        images: &[vk::Image],
        name: &str,
    ) -> Result<(), vk::Result> {
        let inner = &gpu.inner;
        let device = &inner.device;
        for (index, &image) in images.iter().enumerate() {
            let name = format!("{name} image {index}");
            let range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(self.choice.format.format)
                .subresource_range(range);
            let fences = inner.swapchain_maintenance;
            // SAFETY: the image belongs to the swapchain; whatever is made here is destroyed with it.
            unsafe {
                let view = device.create_image_view(&info, None)?;
                let vk::Extent2D { width, height } = self.choice.extent;
                self.images.push(Image {
                    texture: Texture::of_swapchain(
                        gpu,
                        image,
                        view,
                        self.choice.format.format,
                        [width, height],
                        self.choice.usage,
                        &name,
                    ),
                    view,
                    drawn: vk::Semaphore::null(),
                    presented: vk::Fence::null(),
                    pending: false,
                });
                let semaphore = device.create_semaphore(&Default::default(), None)?;
                let made = self.images.last_mut().ok_or(vk::Result::ERROR_UNKNOWN)?;
                made.drawn = semaphore;
                if fences {
                    made.presented = device.create_fence(&Default::default(), None)?;
                }
                inner.name(semaphore, &format!("{name} drawn"));
            }
        }
        Ok(())
    }

    /// The fence to give to the presentation of an image; null where the device takes none. Waits for the one before.
    pub(crate) fn fence(&mut self, gpu: &Inner, index: u32) -> Result<vk::Fence> {
        let Some(image) = self.images.get_mut(index as usize) else {
            return Ok(vk::Fence::null());
        };
        if image.pending {
            let fences = [image.presented];
            // SAFETY: the fence was given to a presentation, and nobody else knows it.
            unsafe {
                gpu.device
                    .wait_for_fences(&fences, true, u64::MAX)
                    .and_then(|()| gpu.device.reset_fences(&fences))
            }
            .map_err(Error::vulkan("vkWaitForFences", "a presented image"))?;
        }
        image.pending = image.presented != vk::Fence::null();
        Ok(image.presented)
    }

    /// The presentation of an image did not come about, and its fence will not be signalled.
    pub(crate) fn forget_fence(&mut self, index: u32) {
        if let Some(image) = self.images.get_mut(index as usize) {
            image.pending = false;
        }
    }

    /// Whether neither frames up to `done` nor presentation use it any more.
    pub(crate) fn is_unused(&self, gpu: &Inner, done: u64) -> bool {
        self.last_frame <= done
            && self.images.iter().all(|image| {
                // SAFETY: the fence is alive.
                !image.pending
                    || unsafe { gpu.device.get_fence_status(image.presented) }.unwrap_or(true)
            })
    }

    /// Waits until presentation does not use it any more.
    pub(crate) fn wait(&self, gpu: &Inner) {
        let fences: Vec<_> = self
            .images
            .iter()
            .filter(|image| image.pending)
            .map(|image| image.presented)
            .collect();
        if !fences.is_empty() {
            // A second, not for ever: a window system that is gone signals nothing.
            // SAFETY: the fences were given to presentations.
            let _ = unsafe { gpu.device.wait_for_fences(&fences, true, 1_000_000_000) };
        }
    }

    /// Destroys everything. Neither frames nor presentation may use it any more.
    pub(crate) fn destroy(&mut self, gpu: &Inner, functions: &ash::khr::swapchain::Device) {
        // SAFETY: the caller's promise; destroying a null handle does nothing.
        unsafe {
            for image in self.images.drain(..) {
                gpu.device.destroy_semaphore(image.drawn, None);
                gpu.device.destroy_fence(image.presented, None);
                gpu.device.destroy_image_view(image.view, None);
            }
            functions.destroy_swapchain(self.handle, None);
        }
        self.handle = vk::SwapchainKHR::null();
    }
}
