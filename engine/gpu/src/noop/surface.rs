//! Headless surfaces.

use super::handle::{self, enumerate, enumerate_with};
use super::loader::functions;
use super::state::State;
use ash::vk;

/// A surface; see [`NoopDriver::change_surface`](super::NoopDriver::change_surface).
pub(super) struct Surface {
    pub(super) capabilities: vk::SurfaceCapabilitiesKHR,
}

const FORMATS: [vk::SurfaceFormatKHR; 2] = [
    vk::SurfaceFormatKHR {
        format: vk::Format::B8G8R8A8_SRGB,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    },
    vk::SurfaceFormatKHR {
        format: vk::Format::B8G8R8A8_UNORM,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    },
];

const MODES: [vk::PresentModeKHR; 3] = [
    vk::PresentModeKHR::FIFO,
    vk::PresentModeKHR::MAILBOX,
    vk::PresentModeKHR::IMMEDIATE,
];

/// What a fresh surface can do: two images or more without an upper bound, and an extent that the swapchain chooses.
fn capabilities() -> vk::SurfaceCapabilitiesKHR {
    vk::SurfaceCapabilitiesKHR {
        min_image_count: 2,
        max_image_count: 0,
        current_extent: vk::Extent2D {
            width: u32::MAX,
            height: u32::MAX,
        },
        min_image_extent: vk::Extent2D {
            width: 1,
            height: 1,
        },
        max_image_extent: vk::Extent2D {
            width: 16384,
            height: 16384,
        },
        max_image_array_layers: 1,
        supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
        current_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
        supported_composite_alpha: vk::CompositeAlphaFlagsKHR::OPAQUE,
        supported_usage_flags: vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST
            | vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::SAMPLED,
    }
}

impl State {
    pub(super) fn surface_capabilities(
        &mut self,
        surface: vk::SurfaceKHR,
    ) -> Result<vk::SurfaceCapabilitiesKHR, vk::Result> {
        let data = self.data::<Surface>(surface, "vkGetPhysicalDeviceSurface*");
        data.map(|surface| surface.capabilities)
            .ok_or(vk::Result::ERROR_SURFACE_LOST_KHR)
    }
}

functions! { Instance, Some("VK_KHR_surface");
    call fn destroy_surface as PFN_vkDestroySurfaceKHR(
        instance: vk::Instance,
        surface: vk::SurfaceKHR,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(instance)
            .state()
            .destroy(surface, "vkDestroySurfaceKHR");
    }
    result fn get_support as PFN_vkGetPhysicalDeviceSurfaceSupportKHR(
        physical: vk::PhysicalDevice,
        family: u32,
        surface: vk::SurfaceKHR,
        supported: *mut vk::Bool32,
    ) {
        handle::shared(physical)
            .state()
            .check(surface, "vkGetPhysicalDeviceSurfaceSupportKHR");
        let device = super::features::physical_device(physical);
        let graphics = device
            .queue_families
            .get(family as usize)
            .is_some_and(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS));
        supported.write(graphics.into());
        Ok(())
    }
    result fn get_capabilities as PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(
        physical: vk::PhysicalDevice,
        surface: vk::SurfaceKHR,
        out: *mut vk::SurfaceCapabilitiesKHR,
    ) {
        out.write(
            handle::shared(physical)
                .state()
                .surface_capabilities(surface)?,
        );
        Ok(())
    }
    result fn get_formats as PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(
        _physical: vk::PhysicalDevice,
        _surface: vk::SurfaceKHR,
        count: *mut u32,
        formats: *mut vk::SurfaceFormatKHR,
    ) {
        enumerate(&FORMATS, count, formats)
    }
    result fn get_present_modes as PFN_vkGetPhysicalDeviceSurfacePresentModesKHR(
        _physical: vk::PhysicalDevice,
        _surface: vk::SurfaceKHR,
        count: *mut u32,
        modes: *mut vk::PresentModeKHR,
    ) {
        enumerate(&MODES, count, modes)
    }
}

pub(super) mod capabilities2 {
    use super::*;

    functions! { Instance, Some("VK_KHR_get_surface_capabilities2");
        result fn get_capabilities2 as PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(
            physical: vk::PhysicalDevice,
            info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
            out: *mut vk::SurfaceCapabilities2KHR<'_>,
        ) {
            (*out).surface_capabilities = handle::shared(physical)
                .state()
                .surface_capabilities((*info).surface)?;
            Ok(())
        }
        result fn get_formats2 as PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(
            _physical: vk::PhysicalDevice,
            _info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
            count: *mut u32,
            formats: *mut vk::SurfaceFormat2KHR<'_>,
        ) {
            enumerate_with(&FORMATS, count, formats, |format, slot| {
                // SAFETY: `enumerate_with` gives valid places.
                unsafe { (*slot).surface_format = *format };
            })
        }
    }
}

pub(super) mod headless {
    use super::*;

    functions! { Instance, Some("VK_EXT_headless_surface");
        result fn create_surface as PFN_vkCreateHeadlessSurfaceEXT(
            instance: vk::Instance,
            _info: *const vk::HeadlessSurfaceCreateInfoEXT<'_>,
            _allocator: *const vk::AllocationCallbacks<'_>,
            surface: *mut vk::SurfaceKHR,
        ) {
            surface.write(handle::shared(instance).state().create(
                instance,
                Surface {
                    capabilities: capabilities(),
                },
            ));
            Ok(())
        }
    }
}

pub(super) mod rectangles {
    use super::*;

    functions! { Instance, Some("VK_KHR_swapchain");
        result fn get_rectangles as PFN_vkGetPhysicalDevicePresentRectanglesKHR(
            _physical: vk::PhysicalDevice,
            _surface: vk::SurfaceKHR,
            count: *mut u32,
            rectangles: *mut vk::Rect2D,
        ) {
            enumerate(&[], count, rectangles)
        }
    }
}
