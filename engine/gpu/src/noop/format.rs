//! What is supported of each format, and how large its texels are.

use super::desc::NoopDevice;
use crate::memory::Numeric;
use ash::vk;

/// Bytes of one texel; of block-compressed formats the mean, rounded up. Unknown formats count as 16.
pub(super) fn texel_size(format: vk::Format) -> u64 {
    // The numbers are those of VkFormat, whose core formats are ordered by component size.
    match format.as_raw() {
        1 | 9..=15 | 127 | 131..=170 => 1,
        2..=8 | 16..=22 | 70..=76 | 124 => 2,
        23..=36 | 128 => 3,
        37..=69 | 77..=83 | 98..=100 | 122 | 123 | 125 | 126 | 129 => 4,
        84..=90 => 6,
        91..=97 | 101..=103 | 110..=112 | 130 => 8,
        104..=106 => 12,
        116..=118 => 24,
        119..=121 => 32,
        _ => 16,
    }
}

fn is_depth(format: vk::Format) -> bool {
    (vk::Format::D16_UNORM.as_raw()..=vk::Format::D32_SFLOAT_S8_UINT.as_raw())
        .contains(&format.as_raw())
}

fn is_compressed(format: vk::Format) -> bool {
    (vk::Format::BC1_RGB_UNORM_BLOCK.as_raw()..=vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw())
        .contains(&format.as_raw())
}

pub(super) fn properties(device: &NoopDevice, format: vk::Format) -> vk::FormatProperties {
    use vk::FormatFeatureFlags as F;
    if format == vk::Format::UNDEFINED || device.missing_formats.contains(&format) {
        return vk::FormatProperties::default();
    }
    let sampled = F::SAMPLED_IMAGE
        | F::SAMPLED_IMAGE_FILTER_LINEAR
        | F::SAMPLED_IMAGE_FILTER_MINMAX
        | F::TRANSFER_SRC
        | F::TRANSFER_DST
        | F::BLIT_SRC;
    let image = if is_depth(format) {
        sampled | F::DEPTH_STENCIL_ATTACHMENT | F::BLIT_DST
    } else if is_compressed(format) {
        sampled
    } else {
        sampled
            | F::STORAGE_IMAGE
            | F::STORAGE_IMAGE_ATOMIC
            | F::COLOR_ATTACHMENT
            | F::BLIT_DST
            | if Numeric::of(format) == Numeric::Float {
                F::COLOR_ATTACHMENT_BLEND
            } else {
                F::empty()
            }
    };
    let texel_buffer = F::UNIFORM_TEXEL_BUFFER
        | F::STORAGE_TEXEL_BUFFER
        | F::STORAGE_TEXEL_BUFFER_ATOMIC
        | F::VERTEX_BUFFER;
    let plain = !is_depth(format) && !is_compressed(format);
    vk::FormatProperties {
        linear_tiling_features: if plain { sampled } else { F::empty() },
        optimal_tiling_features: image,
        buffer_features: if plain { texel_buffer } else { F::empty() },
    }
}

pub(super) fn image_properties(
    device: &NoopDevice,
    format: vk::Format,
    kind: vk::ImageType,
    usage: vk::ImageUsageFlags,
) -> Result<vk::ImageFormatProperties, vk::Result> {
    use vk::{FormatFeatureFlags as F, ImageUsageFlags as U};
    let features = properties(device, format).optimal_tiling_features;
    let needs = [
        (U::SAMPLED, F::SAMPLED_IMAGE),
        (U::STORAGE, F::STORAGE_IMAGE),
        (U::COLOR_ATTACHMENT, F::COLOR_ATTACHMENT),
        (U::DEPTH_STENCIL_ATTACHMENT, F::DEPTH_STENCIL_ATTACHMENT),
    ];
    let lacking = needs
        .iter()
        .any(|&(usage_bit, feature)| usage.contains(usage_bit) && !features.contains(feature));
    if features.is_empty() || lacking {
        return Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    }
    let limits = &device.limits;
    let (width, height, depth) = match kind {
        vk::ImageType::TYPE_1D => (limits.max_image_dimension1_d, 1, 1),
        vk::ImageType::TYPE_3D => (
            limits.max_image_dimension3_d,
            limits.max_image_dimension3_d,
            limits.max_image_dimension3_d,
        ),
        _ => (
            limits.max_image_dimension2_d,
            limits.max_image_dimension2_d,
            1,
        ),
    };
    Ok(vk::ImageFormatProperties {
        max_extent: vk::Extent3D {
            width,
            height,
            depth,
        },
        max_mip_levels: u32::BITS - width.leading_zeros(),
        max_array_layers: if kind == vk::ImageType::TYPE_3D {
            1
        } else {
            limits.max_image_array_layers
        },
        sample_counts: if is_depth(format) {
            limits.framebuffer_depth_sample_counts
        } else {
            limits.framebuffer_color_sample_counts
        },
        max_resource_size: 1 << 40,
    })
}
