//! What a surface offers, and what a window's swapchain takes of it.

use ash::vk;

/// What a swapchain is made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) format: vk::SurfaceFormatKHR,
    pub(crate) mode: vk::PresentModeKHR,
    pub(crate) alpha: vk::CompositeAlphaFlagsKHR,
    pub(crate) transform: vk::SurfaceTransformFlagsKHR,
    pub(crate) usage: vk::ImageUsageFlags,
    pub(crate) extent: vk::Extent2D,
    pub(crate) images: u32,
}

/// A format for 8-bit sRGB values: without conversion by the hardware if there is one (or with, if that is asked for), in
/// the usual colour space if there is one.
pub(crate) fn format(offered: &[vk::SurfaceFormatKHR], srgb: bool) -> Option<vk::SurfaceFormatKHR> {
    use vk::Format as F;
    let (plain, converting) = (
        [F::B8G8R8A8_UNORM, F::R8G8B8A8_UNORM],
        [F::B8G8R8A8_SRGB, F::R8G8B8A8_SRGB],
    );
    let order = if srgb {
        [converting, plain]
    } else {
        [plain, converting]
    };
    // One entry without a format says that any will do.
    if let [only] = offered
        && only.format == F::UNDEFINED
    {
        return Some(vk::SurfaceFormatKHR {
            format: order[0][0],
            color_space: only.color_space,
        });
    }
    let usual =
        |offer: &&vk::SurfaceFormatKHR| offer.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR;
    order
        .as_flattened()
        .iter()
        .find_map(|&format| {
            offered
                .iter()
                .filter(usual)
                .find(|offer| offer.format == format)
        })
        .or_else(|| offered.iter().find(usual))
        .or_else(|| offered.first())
        .copied()
}

/// In step with the display, or as fast as there is a way. `FIFO` is always there.
pub(crate) fn mode(offered: &[vk::PresentModeKHR], vsync: bool) -> vk::PresentModeKHR {
    use vk::PresentModeKHR as M;
    let free = [M::IMMEDIATE, M::MAILBOX, M::FIFO_RELAXED];
    if vsync {
        return M::FIFO;
    }
    free.into_iter()
        .find(|mode| offered.contains(mode))
        .unwrap_or(M::FIFO)
}

/// Opaque where that is offered, else what comes closest.
pub(crate) fn alpha(offered: vk::CompositeAlphaFlagsKHR) -> vk::CompositeAlphaFlagsKHR {
    use vk::CompositeAlphaFlagsKHR as A;
    [A::OPAQUE, A::INHERIT, A::PRE_MULTIPLIED, A::POST_MULTIPLIED]
        .into_iter()
        .find(|&alpha| offered.contains(alpha))
        .unwrap_or(A::OPAQUE)
}

/// The size of the images; `None` while there is nothing to see. A surface that has no size of its own takes the window's.
pub(crate) fn extent(able: &vk::SurfaceCapabilitiesKHR, window: [u32; 2]) -> Option<vk::Extent2D> {
    let [width, height] = window;
    let (least, most) = (able.min_image_extent, able.max_image_extent);
    let extent = if able.current_extent.width == u32::MAX {
        if width == 0 || height == 0 {
            return None;
        }
        vk::Extent2D {
            width: width.max(least.width).min(most.width),
            height: height.max(least.height).min(most.height),
        }
    } else {
        able.current_extent
    };
    (extent.width > 0 && extent.height > 0).then_some(extent)
}

/// The number of images nearest to the one asked for. A maximum of zero means that there is none.
pub(crate) fn images(able: &vk::SurfaceCapabilitiesKHR, wanted: u32) -> u32 {
    let most = match able.max_image_count {
        0 => u32::MAX,
        most => most,
    };
    wanted.max(able.min_image_count).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::{Format as F, PresentModeKHR as M};

    fn offer(format: F) -> vk::SurfaceFormatKHR {
        vk::SurfaceFormatKHR {
            format,
            color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
        }
    }

    #[test]
    fn formats() {
        let wide = vk::SurfaceFormatKHR {
            format: F::R8G8B8A8_UNORM,
            color_space: vk::ColorSpaceKHR::DISPLAY_P3_NONLINEAR_EXT,
        };
        let all = [wide, offer(F::B8G8R8A8_SRGB), offer(F::R8G8B8A8_UNORM)];
        assert_eq!(format(&all, false), Some(offer(F::R8G8B8A8_UNORM)));
        assert_eq!(format(&all, true), Some(offer(F::B8G8R8A8_SRGB)));
        assert_eq!(format(&all[..2], false), Some(offer(F::B8G8R8A8_SRGB)));
        assert_eq!(format(&all[..1], false), Some(wide));
        let any = offer(F::UNDEFINED);
        assert_eq!(format(&[any], false), Some(offer(F::B8G8R8A8_UNORM)));
        assert_eq!(format(&[], false), None);
        let other = offer(F::A2B10G10R10_UNORM_PACK32);
        assert_eq!(format(&[other], false), Some(other));
    }

    #[test]
    fn modes_and_alpha() {
        assert_eq!(mode(&[M::FIFO, M::MAILBOX, M::IMMEDIATE], true), M::FIFO);
        assert_eq!(mode(&[M::FIFO, M::MAILBOX], false), M::MAILBOX);
        assert_eq!(mode(&[M::FIFO], false), M::FIFO);
        use vk::CompositeAlphaFlagsKHR as A;
        assert_eq!(alpha(A::OPAQUE | A::INHERIT), A::OPAQUE);
        assert_eq!(alpha(A::POST_MULTIPLIED | A::INHERIT), A::INHERIT);
    }

    #[test]
    fn sizes_and_counts() {
        let size = |width, height| vk::Extent2D { width, height };
        let mut able = vk::SurfaceCapabilitiesKHR {
            min_image_count: 2,
            current_extent: size(u32::MAX, u32::MAX),
            min_image_extent: size(1, 1),
            max_image_extent: size(4096, 4096),
            ..Default::default()
        };
        assert_eq!(extent(&able, [5000, 7]), Some(size(4096, 7)));
        assert_eq!(extent(&able, [0, 7]), None);
        able.current_extent = size(30, 20);
        assert_eq!(extent(&able, [5000, 7]), Some(size(30, 20)));
        able.current_extent = size(0, 0);
        assert_eq!(extent(&able, [5000, 7]), None);
        assert_eq!((images(&able, 3), images(&able, 1)), (3, 2));
        able.max_image_count = 2;
        assert_eq!(images(&able, 8), 2);
    }
}
