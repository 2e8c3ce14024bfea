//! What the engine knows of texel formats.

use crate::device::Inner;
use ash::vk;

/// The kind of number that a texel's components are, as far as clears and blits tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numeric {
    /// Floating point and normalised formats.
    Float,
    Uint,
    Sint,
    Depth,
}

impl Numeric {
    pub(crate) fn of(format: vk::Format) -> Numeric {
        use vk::Format as F;
        match format {
            F::R8_UINT
            | F::R8G8_UINT
            | F::R8G8B8_UINT
            | F::B8G8R8_UINT
            | F::R8G8B8A8_UINT
            | F::B8G8R8A8_UINT
            | F::A8B8G8R8_UINT_PACK32
            | F::A2R10G10B10_UINT_PACK32
            | F::A2B10G10R10_UINT_PACK32
            | F::R16_UINT
            | F::R16G16_UINT
            | F::R16G16B16_UINT
            | F::R16G16B16A16_UINT
            | F::R32_UINT
            | F::R32G32_UINT
            | F::R32G32B32_UINT
            | F::R32G32B32A32_UINT
            | F::R64_UINT
            | F::R64G64_UINT
            | F::R64G64B64_UINT
            | F::R64G64B64A64_UINT => Numeric::Uint,
            F::R8_SINT
            | F::R8G8_SINT
            | F::R8G8B8_SINT
            | F::B8G8R8_SINT
            | F::R8G8B8A8_SINT
            | F::B8G8R8A8_SINT
            | F::A8B8G8R8_SINT_PACK32
            | F::A2R10G10B10_SINT_PACK32
            | F::A2B10G10R10_SINT_PACK32
            | F::R16_SINT
            | F::R16G16_SINT
            | F::R16G16B16_SINT
            | F::R16G16B16A16_SINT
            | F::R32_SINT
            | F::R32G32_SINT
            | F::R32G32B32_SINT
            | F::R32G32B32A32_SINT
            | F::R64_SINT
            | F::R64G64_SINT
            | F::R64G64B64_SINT
            | F::R64G64B64A64_SINT => Numeric::Sint,
            _ if aspect_of(format) == vk::ImageAspectFlags::DEPTH => Numeric::Depth,
            _ => Numeric::Float,
        }
    }
}

/// The aspect that a format's texels have.
pub(crate) fn aspect_of(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D16_UNORM | vk::Format::D32_SFLOAT | vk::Format::X8_D24_UNORM_PACK32 => {
            vk::ImageAspectFlags::DEPTH
        }
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Whether texels have a stencil part, which the engine has no use for.
pub(crate) fn has_stencil(format: vk::Format) -> bool {
    matches!(
        format,
        vk::Format::S8_UINT
            | vk::Format::D16_UNORM_S8_UINT
            | vk::Format::D24_UNORM_S8_UINT
            | vk::Format::D32_SFLOAT_S8_UINT
    )
}

/// What the device can do with images of a format.
pub(crate) fn features_of(gpu: &Inner, format: vk::Format) -> vk::FormatFeatureFlags {
    // SAFETY: the physical device is alive.
    let properties = unsafe {
        gpu.instance
            .raw
            .get_physical_device_format_properties(gpu.physical_device, format)
    };
    properties.optimal_tiling_features
}

/// Bytes of one texel in a buffer copy, for the formats that the engine uploads or reads back.
pub(crate) fn texel_bytes(format: vk::Format) -> Option<u64> {
    use vk::Format as F;
    Some(match format {
        F::R8_UNORM | F::R8_UINT | F::R8_SNORM => 1,
        F::R8G8_UNORM | F::R16_SFLOAT | F::R16_UINT | F::R16_UNORM | F::D16_UNORM => 2,
        F::R8G8B8A8_UNORM
        | F::R8G8B8A8_SRGB
        | F::B8G8R8A8_UNORM
        | F::B8G8R8A8_SRGB
        | F::R8G8B8A8_UINT => 4,
        F::R32_SFLOAT
        | F::R32_UINT
        | F::R32_SINT
        | F::D32_SFLOAT
        | F::R16G16_SFLOAT
        | F::B10G11R11_UFLOAT_PACK32 => 4,
        F::A2B10G10R10_UNORM_PACK32 | F::R16G16_UINT => 4,
        F::R16G16B16A16_SFLOAT | F::R32G32_SFLOAT | F::R32G32_UINT | F::R64_UINT => 8,
        F::R32G32B32A32_SFLOAT | F::R32G32B32A32_UINT => 16,
        _ => return None,
    })
}
