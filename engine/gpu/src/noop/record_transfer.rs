//! Recording of fills, copies, blits and clears; the older forms and those with a structure become the same commands.

use super::command::Command;
use super::handle::slice;
use super::record::commands;
use super::record_draw::clear_bits;
use ash::vk;
use std::ffi::c_void;

fn buffer_copy(region: &vk::BufferCopy2<'_>) -> vk::BufferCopy {
    vk::BufferCopy {
        src_offset: region.src_offset,
        dst_offset: region.dst_offset,
        size: region.size,
    }
}

fn image_copy(region: &vk::ImageCopy2<'_>) -> vk::ImageCopy {
    vk::ImageCopy {
        src_subresource: region.src_subresource,
        src_offset: region.src_offset,
        dst_subresource: region.dst_subresource,
        dst_offset: region.dst_offset,
        extent: region.extent,
    }
}

fn image_blit(region: &vk::ImageBlit2<'_>) -> vk::ImageBlit {
    vk::ImageBlit {
        src_subresource: region.src_subresource,
        src_offsets: region.src_offsets,
        dst_subresource: region.dst_subresource,
        dst_offsets: region.dst_offsets,
    }
}

fn image_resolve(region: &vk::ImageResolve2<'_>) -> vk::ImageResolve {
    vk::ImageResolve {
        src_subresource: region.src_subresource,
        src_offset: region.src_offset,
        dst_subresource: region.dst_subresource,
        dst_offset: region.dst_offset,
        extent: region.extent,
    }
}

fn buffer_image_copy(region: &vk::BufferImageCopy2<'_>) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: region.buffer_offset,
        buffer_row_length: region.buffer_row_length,
        buffer_image_height: region.buffer_image_height,
        image_subresource: region.image_subresource,
        image_offset: region.image_offset,
        image_extent: region.image_extent,
    }
}

/// The regions of a structure in their older form.
///
/// # Safety
/// `first` points to `count` regions.
unsafe fn regions<S, T>(first: *const S, count: u32, convert: fn(&S) -> T) -> Vec<T> {
    // SAFETY: by the condition above.
    unsafe { slice(first, count) }.iter().map(convert).collect()
}

commands! { None;
    fn fill_buffer as PFN_vkCmdFillBuffer(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        data: u32,
    ) {
        Command::FillBuffer {
            buffer,
            offset,
            size,
            data,
        }
    }
    fn update_buffer as PFN_vkCmdUpdateBuffer(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        data: *const c_void,
    ) {
        Command::UpdateBuffer {
            buffer,
            offset,
            data: slice(data.cast::<u8>(), size as u32).to_vec(),
        }
    }
    fn copy_buffer as PFN_vkCmdCopyBuffer(
        src: vk::Buffer,
        dst: vk::Buffer,
        count: u32,
        regions: *const vk::BufferCopy,
    ) {
        Command::CopyBuffer {
            src,
            dst,
            regions: slice(regions, count).to_vec(),
        }
    }
    fn copy_buffer2 as PFN_vkCmdCopyBuffer2(info: *const vk::CopyBufferInfo2<'_>) {
        Command::CopyBuffer {
            src: (*info).src_buffer,
            dst: (*info).dst_buffer,
            regions: regions((*info).p_regions, (*info).region_count, buffer_copy),
        }
    }
    fn copy_image as PFN_vkCmdCopyImage(
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::ImageCopy,
    ) {
        Command::CopyImage {
            src,
            src_layout,
            dst,
            dst_layout,
            regions: slice(regions, count).to_vec(),
        }
    }
    fn copy_image2 as PFN_vkCmdCopyImage2(info: *const vk::CopyImageInfo2<'_>) {
        Command::CopyImage {
            src: (*info).src_image,
            src_layout: (*info).src_image_layout,
            dst: (*info).dst_image,
            dst_layout: (*info).dst_image_layout,
            regions: regions((*info).p_regions, (*info).region_count, image_copy),
        }
    }
    fn blit_image as PFN_vkCmdBlitImage(
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::ImageBlit,
        filter: vk::Filter,
    ) {
        Command::BlitImage {
            src,
            src_layout,
            dst,
            dst_layout,
            regions: slice(regions, count).to_vec(),
            filter,
        }
    }
    fn blit_image2 as PFN_vkCmdBlitImage2(info: *const vk::BlitImageInfo2<'_>) {
        Command::BlitImage {
            src: (*info).src_image,
            src_layout: (*info).src_image_layout,
            dst: (*info).dst_image,
            dst_layout: (*info).dst_image_layout,
            regions: regions((*info).p_regions, (*info).region_count, image_blit),
            filter: (*info).filter,
        }
    }
    fn resolve_image as PFN_vkCmdResolveImage(
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::ImageResolve,
    ) {
        Command::ResolveImage {
            src,
            src_layout,
            dst,
            dst_layout,
            regions: slice(regions, count).to_vec(),
        }
    }
    fn resolve_image2 as PFN_vkCmdResolveImage2(info: *const vk::ResolveImageInfo2<'_>) {
        Command::ResolveImage {
            src: (*info).src_image,
            src_layout: (*info).src_image_layout,
            dst: (*info).dst_image,
            dst_layout: (*info).dst_image_layout,
            regions: regions((*info).p_regions, (*info).region_count, image_resolve),
        }
    }
    fn copy_buffer_to_image as PFN_vkCmdCopyBufferToImage(
        src: vk::Buffer,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::BufferImageCopy,
    ) {
        Command::CopyBufferToImage {
            src,
            dst,
            dst_layout,
            regions: slice(regions, count).to_vec(),
        }
    }
    fn copy_buffer_to_image2 as PFN_vkCmdCopyBufferToImage2(
        info: *const vk::CopyBufferToImageInfo2<'_>,
    ) {
        Command::CopyBufferToImage {
            src: (*info).src_buffer,
            dst: (*info).dst_image,
            dst_layout: (*info).dst_image_layout,
            regions: regions((*info).p_regions, (*info).region_count, buffer_image_copy),
        }
    }
    fn copy_image_to_buffer as PFN_vkCmdCopyImageToBuffer(
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Buffer,
        count: u32,
        regions: *const vk::BufferImageCopy,
    ) {
        Command::CopyImageToBuffer {
            src,
            src_layout,
            dst,
            regions: slice(regions, count).to_vec(),
        }
    }
    fn copy_image_to_buffer2 as PFN_vkCmdCopyImageToBuffer2(
        info: *const vk::CopyImageToBufferInfo2<'_>,
    ) {
        Command::CopyImageToBuffer {
            src: (*info).src_image,
            src_layout: (*info).src_image_layout,
            dst: (*info).dst_buffer,
            regions: regions((*info).p_regions, (*info).region_count, buffer_image_copy),
        }
    }
    fn clear_color_image as PFN_vkCmdClearColorImage(
        image: vk::Image,
        layout: vk::ImageLayout,
        color: *const vk::ClearColorValue,
        count: u32,
        ranges: *const vk::ImageSubresourceRange,
    ) {
        Command::ClearColorImage {
            image,
            layout,
            color: clear_bits(*color),
            ranges: slice(ranges, count).to_vec(),
        }
    }
    fn clear_depth_stencil_image as PFN_vkCmdClearDepthStencilImage(
        image: vk::Image,
        layout: vk::ImageLayout,
        value: *const vk::ClearDepthStencilValue,
        count: u32,
        ranges: *const vk::ImageSubresourceRange,
    ) {
        Command::ClearDepthStencilImage {
            image,
            layout,
            depth: (*value).depth,
            stencil: (*value).stencil,
            ranges: slice(ranges, count).to_vec(),
        }
    }
}

/// `VK_NV_device_diagnostic_checkpoints`. Commands take effect at once, so both ends of the pipeline are at the last one.
pub(super) mod checkpoint {
    use super::*;
    use crate::noop::handle;

    commands! { Some("VK_NV_device_diagnostic_checkpoints");
        fn set_checkpoint as PFN_vkCmdSetCheckpointNV(marker: *const c_void) {
            Command::SetCheckpoint { marker: marker as u64 }
        }
    }

    pub(in crate::noop) mod queue {
        use super::*;
        use crate::noop::loader::functions;

        functions! { Device, Some("VK_NV_device_diagnostic_checkpoints");
            call fn get_checkpoints as PFN_vkGetQueueCheckpointDataNV(
                queue: vk::Queue,
                count: *mut u32,
                data: *mut vk::CheckpointDataNV<'_>,
            ) {
                let last = handle::shared(queue).state().checkpoint;
                let stages = [
                    vk::PipelineStageFlags::TOP_OF_PIPE,
                    vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                ];
                let known = if last.is_some() { stages.len() as u32 } else { 0 };
                if data.is_null() {
                    count.write(known);
                    return;
                }
                let room = (*count).min(known);
                count.write(room);
                for (at, stage) in (0..room as usize).zip(stages) {
                    (*data.add(at)).stage = stage;
                    (*data.add(at)).p_checkpoint_marker = last.unwrap_or(0) as usize as *mut c_void;
                }
            }
        }
    }
}

/// `VK_AMD_buffer_marker`.
pub(super) mod marker {
    use super::*;

    commands! { Some("VK_AMD_buffer_marker");
        fn write_buffer_marker as PFN_vkCmdWriteBufferMarkerAMD(
            stage: vk::PipelineStageFlags,
            buffer: vk::Buffer,
            offset: vk::DeviceSize,
            marker: u32,
        ) {
            Command::WriteBufferMarker {
                stage,
                buffer,
                offset,
                marker,
            }
        }
    }
}
