//! Swapchains in simple form: images go round in turn, and presentation ends at once.

use super::handle::{self, enumerate, slice};
use super::loader::{Function, Level, Row, functions};
use super::resource::Image;
use super::state::State;
use super::sync::Fence;
use ash::vk::{self, Handle};

struct Swapchain {
    images: Vec<vk::Image>,
    acquired: Vec<bool>,
    /// The image that comes next.
    next: usize,
    /// A newer swapchain took its place.
    retired: bool,
}

impl State {
    /// Hands out the next image that the program does not hold.
    fn acquire(
        &mut self,
        swapchain: vk::SwapchainKHR,
        timeout: u64,
        semaphore: vk::Semaphore,
        fence: vk::Fence,
    ) -> Result<u32, vk::Result> {
        let function = "vkAcquireNextImageKHR";
        if semaphore.is_null() && fence.is_null() {
            self.error(format!("{function}: neither a semaphore nor a fence"));
        }
        let data = self
            .data::<Swapchain>(swapchain, function)
            .ok_or(vk::Result::ERROR_SURFACE_LOST_KHR)?;
        if data.retired {
            return Err(vk::Result::ERROR_OUT_OF_DATE_KHR);
        }
        let count = data.images.len();
        let free = (0..count)
            .map(|step| (data.next + step) % count)
            .find(|&image| !data.acquired[image]);
        let Some(image) = free else {
            if timeout > 0 {
                self.error(format!(
                    "{function}: all {count} images of {swapchain:?} are held: a wait for ever"
                ));
            }
            return Err(if timeout > 0 {
                vk::Result::TIMEOUT
            } else {
                vk::Result::NOT_READY
            });
        };
        data.acquired[image] = true;
        data.next = (image + 1) % count;
        if !semaphore.is_null() {
            self.signal(semaphore, 0, function);
        }
        if !fence.is_null()
            && let Some(fence) = self.data::<Fence>(fence, function)
        {
            fence.signaled = true;
        }
        Ok(image as u32)
    }

    fn give_back(&mut self, swapchain: vk::SwapchainKHR, index: u32, function: &str) {
        let held = self
            .data::<Swapchain>(swapchain, function)
            .and_then(|data| {
                data.acquired
                    .get_mut(index as usize)
                    .map(|held| std::mem::replace(held, false))
            });
        if held != Some(true) {
            self.error(format!(
                "{function}: image {index} of {swapchain:?} was not acquired"
            ));
        }
    }
}

functions! { Device, Some("VK_KHR_swapchain");
    result fn create_swapchain as PFN_vkCreateSwapchainKHR(
        device: vk::Device,
        info: *const vk::SwapchainCreateInfoKHR<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        swapchain: *mut vk::SwapchainKHR,
    ) {
        let mut state = handle::shared(device).state();
        let info = &*info;
        let able = state.surface_capabilities(info.surface)?;
        let (wanted, current) = (info.image_extent, able.current_extent);
        let too_large = wanted.width > able.max_image_extent.width
            || wanted.height > able.max_image_extent.height;
        let other = current.width != u32::MAX && current != wanted;
        if wanted.width == 0 || wanted.height == 0 || too_large || other {
            state.error(format!(
                "vkCreateSwapchainKHR: extent {wanted:?}, the surface's is {current:?}"
            ));
        }
        if info.min_image_count < able.min_image_count
            || able.max_image_count != 0 && info.min_image_count > able.max_image_count
        {
            state.error(format!(
                "vkCreateSwapchainKHR: {} images, the surface has {} to {}",
                info.min_image_count, able.min_image_count, able.max_image_count
            ));
        }
        if !able
            .supported_composite_alpha
            .contains(info.composite_alpha)
            || !able.supported_usage_flags.contains(info.image_usage)
        {
            state.error(format!(
                "vkCreateSwapchainKHR: {:?} or {:?} is not offered by the surface",
                info.composite_alpha, info.image_usage
            ));
        }
        if !info.old_swapchain.is_null()
            && let Some(old) = state.data::<Swapchain>(info.old_swapchain, "vkCreateSwapchainKHR")
        {
            old.retired = true;
        }
        let count = info.min_image_count as usize;
        let data = Swapchain {
            images: Vec::new(),
            acquired: vec![false; count],
            next: 0,
            retired: false,
        };
        let handle: vk::SwapchainKHR = state.create(device, data);
        let bytes = u64::from(wanted.width) * u64::from(wanted.height) * 4;
        let images: Vec<vk::Image> = (0..count)
            .map(|_| {
                state.create_owned(
                    device,
                    handle.as_raw(),
                    Image {
                        bytes,
                        address: Some(0),
                    },
                )
            })
            .collect();
        if let Some(data) = state.data::<Swapchain>(handle, "vkCreateSwapchainKHR") {
            data.images = images;
        }
        swapchain.write(handle);
        Ok(())
    }
    call fn destroy_swapchain as PFN_vkDestroySwapchainKHR(
        device: vk::Device,
        swapchain: vk::SwapchainKHR,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(swapchain, "vkDestroySwapchainKHR");
    }
    result fn get_images as PFN_vkGetSwapchainImagesKHR(
        device: vk::Device,
        swapchain: vk::SwapchainKHR,
        count: *mut u32,
        images: *mut vk::Image,
    ) {
        let mut state = handle::shared(device).state();
        let Some(data) = state.data::<Swapchain>(swapchain, "vkGetSwapchainImagesKHR") else {
            return Err(vk::Result::ERROR_SURFACE_LOST_KHR);
        };
        enumerate(&data.images, count, images)
    }
    result fn acquire as PFN_vkAcquireNextImageKHR(
        device: vk::Device,
        swapchain: vk::SwapchainKHR,
        timeout: u64,
        semaphore: vk::Semaphore,
        fence: vk::Fence,
        index: *mut u32,
    ) {
        index.write(
            handle::shared(device)
                .state()
                .acquire(swapchain, timeout, semaphore, fence)?,
        );
        Ok(())
    }
    result fn acquire2 as PFN_vkAcquireNextImage2KHR(
        device: vk::Device,
        info: *const vk::AcquireNextImageInfoKHR<'_>,
        index: *mut u32,
    ) {
        let info = &*info;
        index.write(handle::shared(device).state().acquire(
            info.swapchain,
            info.timeout,
            info.semaphore,
            info.fence,
        )?);
        Ok(())
    }
    result fn get_group_capabilities as PFN_vkGetDeviceGroupPresentCapabilitiesKHR(
        _device: vk::Device,
        out: *mut vk::DeviceGroupPresentCapabilitiesKHR<'_>,
    ) {
        (*out).present_mask = [0; vk::MAX_DEVICE_GROUP_SIZE];
        (*out).present_mask[0] = 1;
        (*out).modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
        Ok(())
    }
    result fn get_group_modes as PFN_vkGetDeviceGroupSurfacePresentModesKHR(
        _device: vk::Device,
        _surface: vk::SurfaceKHR,
        modes: *mut vk::DeviceGroupPresentModeFlagsKHR,
    ) {
        modes.write(vk::DeviceGroupPresentModeFlagsKHR::LOCAL);
        Ok(())
    }
}

/// Presents. Also when a failure is injected: the semaphores are waited for and the images go back, as the specification
/// demands of `OUT_OF_DATE`, `SURFACE_LOST` and `SUBOPTIMAL`.
unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    let function = "vkQueuePresentKHR";
    // SAFETY: the caller gives a live queue, a valid structure, and results for as many swapchains as there are.
    unsafe {
        let driver = handle::shared(queue);
        let injected = driver.injected(function);
        let mut state = driver.state();
        let info = &*info;
        for &semaphore in slice(info.p_wait_semaphores, info.wait_semaphore_count) {
            state.consume(semaphore, function);
        }
        let mut worst = injected.unwrap_or(vk::Result::SUCCESS);
        let indices = slice(info.p_image_indices, info.swapchain_count);
        for (number, &swapchain) in slice(info.p_swapchains, info.swapchain_count)
            .iter()
            .enumerate()
        {
            state.give_back(swapchain, indices[number], function);
            let retired = state
                .peek::<Swapchain>(swapchain)
                .is_some_and(|data| data.retired);
            let result = match injected {
                None if retired => vk::Result::ERROR_OUT_OF_DATE_KHR,
                injected => injected.unwrap_or(vk::Result::SUCCESS),
            };
            worst = if worst == vk::Result::SUCCESS {
                result
            } else {
                worst
            };
            if !info.p_results.is_null() {
                info.p_results.add(number).write(result);
            }
        }
        for link in handle::chain(info.p_next) {
            if (*link).s_type == vk::StructureType::SWAPCHAIN_PRESENT_FENCE_INFO_EXT {
                let link = &*link.cast::<vk::SwapchainPresentFenceInfoEXT<'_>>();
                for &fence in slice(link.p_fences, link.swapchain_count) {
                    if let Some(fence) = state.data::<Fence>(fence, function) {
                        fence.signaled = true;
                    }
                }
            }
        }
        worst
    }
}

pub(in crate::noop) const PRESENT_ROWS: &[Row] = &[{
    let function: vk::PFN_vkQueuePresentKHR = queue_present;
    // SAFETY: one function pointer becomes another, which is only called after it was turned back.
    let function = unsafe { std::mem::transmute::<vk::PFN_vkQueuePresentKHR, Function>(function) };
    let extension = Some("VK_KHR_swapchain");
    Row {
        pointer_type: "PFN_vkQueuePresentKHR",
        level: Level::Device,
        extension,
        function,
        quiet: function,
    }
}];

pub(super) mod maintenance1 {
    use super::*;

    functions! { Device, Some("VK_EXT_swapchain_maintenance1");
        result fn release_images as PFN_vkReleaseSwapchainImagesEXT(
            device: vk::Device,
            info: *const vk::ReleaseSwapchainImagesInfoEXT<'_>,
        ) {
            let mut state = handle::shared(device).state();
            let info = &*info;
            for &index in slice(info.p_image_indices, info.image_index_count) {
                state.give_back(info.swapchain, index, "vkReleaseSwapchainImagesEXT");
            }
            Ok(())
        }
    }
}
