//! Buffers, images, views and samplers.

use super::format::texel_size;
use super::handle;
use super::loader::functions;
use ash::vk;

pub(super) struct Buffer {
    pub(super) size: u64,
    pub(super) usage: vk::BufferUsageFlags,
    /// Device address, once bound.
    pub(super) address: Option<u64>,
}

pub(super) struct Image {
    pub(super) bytes: u64,
    /// Device address, once bound.
    pub(super) address: Option<u64>,
}

/// The image of an image view.
pub(super) struct View {
    pub(super) image: vk::Image,
}

/// Bytes that an image takes: all its mips, layers and samples.
pub(super) fn image_size(info: &vk::ImageCreateInfo<'_>) -> u64 {
    let mip = |level: u32| {
        let side = |length: u32| u64::from((length >> level.min(31)).max(1));
        side(info.extent.width) * side(info.extent.height) * side(info.extent.depth)
    };
    let texels: u64 = (0..info.mip_levels).map(mip).sum();
    texels
        * u64::from(info.array_layers)
        * u64::from(info.samples.as_raw().max(1))
        * texel_size(info.format)
}

functions! { Device, None;
    result fn create_buffer as PFN_vkCreateBuffer(
        device: vk::Device,
        info: *const vk::BufferCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        buffer: *mut vk::Buffer,
    ) {
        let mut state = handle::shared(device).state();
        if (*info).size == 0 || (*info).usage.is_empty() {
            state.error(format!(
                "vkCreateBuffer: size {} and usage {:?} must not be empty",
                (*info).size,
                (*info).usage
            ));
        }
        let data = Buffer {
            size: (*info).size,
            usage: (*info).usage,
            address: None,
        };
        buffer.write(state.create(device, data));
        Ok(())
    }
    call fn destroy_buffer as PFN_vkDestroyBuffer(
        device: vk::Device,
        buffer: vk::Buffer,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(buffer, "vkDestroyBuffer");
    }
    call fn get_address as PFN_vkGetBufferDeviceAddress(
        device: vk::Device,
        info: *const vk::BufferDeviceAddressInfo<'_>,
    ) -> vk::DeviceAddress {
        let mut state = handle::shared(device).state();
        let buffer = (*info).buffer;
        let Some(data) = state.data::<Buffer>(buffer, "vkGetBufferDeviceAddress") else {
            return 0;
        };
        let address = data.address.filter(|_| {
            data.usage
                .contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
        });
        if address.is_none() {
            state.error(format!(
                "vkGetBufferDeviceAddress: {buffer:?} is not bound, or lacks SHADER_DEVICE_ADDRESS"
            ));
        }
        address.unwrap_or(0)
    }
    call fn get_capture_address as PFN_vkGetBufferOpaqueCaptureAddress(
        device: vk::Device,
        info: *const vk::BufferDeviceAddressInfo<'_>,
    ) -> u64 {
        let mut state = handle::shared(device).state();
        state
            .data::<Buffer>((*info).buffer, "vkGetBufferOpaqueCaptureAddress")
            .and_then(|buffer| buffer.address)
            .unwrap_or(0)
    }
    result fn create_buffer_view as PFN_vkCreateBufferView(
        device: vk::Device,
        info: *const vk::BufferViewCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        view: *mut vk::BufferView,
    ) {
        let mut state = handle::shared(device).state();
        state.check((*info).buffer, "vkCreateBufferView");
        view.write(state.create(device, ()));
        Ok(())
    }
    call fn destroy_buffer_view as PFN_vkDestroyBufferView(
        device: vk::Device,
        view: vk::BufferView,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(view, "vkDestroyBufferView");
    }
    result fn create_image as PFN_vkCreateImage(
        device: vk::Device,
        info: *const vk::ImageCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        image: *mut vk::Image,
    ) {
        let mut state = handle::shared(device).state();
        let extent = (*info).extent;
        if extent.width == 0
            || extent.height == 0
            || extent.depth == 0
            || (*info).mip_levels == 0
            || (*info).array_layers == 0
        {
            state.error(format!(
                "vkCreateImage: extent {extent:?}, {} mips and {} layers must not be zero",
                (*info).mip_levels,
                (*info).array_layers
            ));
        }
        let data = Image {
            bytes: image_size(&*info),
            address: None,
        };
        image.write(state.create(device, data));
        Ok(())
    }
    call fn destroy_image as PFN_vkDestroyImage(
        device: vk::Device,
        image: vk::Image,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(image, "vkDestroyImage");
    }
    call fn get_layout as PFN_vkGetImageSubresourceLayout(
        device: vk::Device,
        image: vk::Image,
        _subresource: *const vk::ImageSubresource,
        out: *mut vk::SubresourceLayout,
    ) {
        let size = handle::shared(device)
            .state()
            .data::<Image>(image, "vkGetImageSubresourceLayout")
            .map_or(0, |image| image.bytes);
        out.write(vk::SubresourceLayout {
            size,
            ..Default::default()
        });
    }
    result fn create_image_view as PFN_vkCreateImageView(
        device: vk::Device,
        info: *const vk::ImageViewCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        view: *mut vk::ImageView,
    ) {
        let mut state = handle::shared(device).state();
        let image = (*info).image;
        state.check(image, "vkCreateImageView");
        view.write(state.create(device, View { image }));
        Ok(())
    }
    call fn destroy_image_view as PFN_vkDestroyImageView(
        device: vk::Device,
        view: vk::ImageView,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(view, "vkDestroyImageView");
    }
    result fn create_sampler as PFN_vkCreateSampler(
        device: vk::Device,
        _info: *const vk::SamplerCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        sampler: *mut vk::Sampler,
    ) {
        sampler.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    call fn destroy_sampler as PFN_vkDestroySampler(
        device: vk::Device,
        sampler: vk::Sampler,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(sampler, "vkDestroySampler");
    }
    result fn create_conversion as PFN_vkCreateSamplerYcbcrConversion(
        device: vk::Device,
        _info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        conversion: *mut vk::SamplerYcbcrConversion,
    ) {
        conversion.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    call fn destroy_conversion as PFN_vkDestroySamplerYcbcrConversion(
        device: vk::Device,
        conversion: vk::SamplerYcbcrConversion,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(conversion, "vkDestroySamplerYcbcrConversion");
    }
}
