//! Recording of draws, dispatches and rendering.

use super::command::{Attachment, ClearBits, Command};
use super::handle::{self, slice};
use super::queue::recorded;
use super::record::commands;
use ash::vk;

/// The bits of a clear value.
pub(super) fn clear_bits(value: vk::ClearColorValue) -> ClearBits {
    // SAFETY: all members of the union are four words, of which any bits are valid.
    ClearBits(unsafe { value.uint32 })
}

/// The bits of a clear value of either kind.
pub(super) fn clear_value(value: vk::ClearValue) -> ClearBits {
    // SAFETY: the colour is the largest member; of depth and stencil the last two words may be anything.
    clear_bits(unsafe { value.color })
}

fn attachment(info: &vk::RenderingAttachmentInfo<'_>) -> Attachment {
    let clears = info.load_op == vk::AttachmentLoadOp::CLEAR;
    Attachment {
        view: info.image_view,
        layout: info.image_layout,
        load_op: info.load_op,
        store_op: info.store_op,
        clear: if clears {
            clear_value(info.clear_value)
        } else {
            ClearBits([0; 4])
        },
        resolve_mode: info.resolve_mode,
        resolve_view: info.resolve_image_view,
    }
}

/// # Safety
/// `info` is valid.
unsafe fn begin_rendering_command(info: &vk::RenderingInfo<'_>) -> Command {
    // SAFETY: the arrays of a valid structure.
    unsafe {
        Command::BeginRendering {
            flags: info.flags,
            render_area: info.render_area,
            layer_count: info.layer_count,
            view_mask: info.view_mask,
            colors: slice(info.p_color_attachments, info.color_attachment_count)
                .iter()
                .map(attachment)
                .collect(),
            depth: info.p_depth_attachment.as_ref().map(attachment),
            stencil: info.p_stencil_attachment.as_ref().map(attachment),
        }
    }
}

fn begin_pass(info: &vk::RenderPassBeginInfo<'_>) -> Command {
    Command::BeginRenderPass {
        render_pass: info.render_pass,
        framebuffer: info.framebuffer,
        render_area: info.render_area,
    }
}

/// # Safety
/// `buffer` and `secondary` are live command buffers.
unsafe fn execute(buffer: vk::CommandBuffer, secondary: &[vk::CommandBuffer]) -> Command {
    // SAFETY: by the condition above.
    let mut state = unsafe { handle::shared(buffer) }.state();
    let buffers = secondary.iter().map(|&secondary| {
        // SAFETY: as above.
        unsafe { recorded(&mut state, secondary, "vkCmdExecuteCommands") }
    });
    Command::ExecuteCommands {
        buffers: buffers.collect(),
    }
}

commands! { None;
    fn dispatch as PFN_vkCmdDispatch(x: u32, y: u32, z: u32) {
        Command::Dispatch {
            base: [0; 3],
            groups: [x, y, z],
        }
    }
    fn dispatch_base as PFN_vkCmdDispatchBase(
        base_x: u32,
        base_y: u32,
        base_z: u32,
        x: u32,
        y: u32,
        z: u32,
    ) {
        Command::Dispatch {
            base: [base_x, base_y, base_z],
            groups: [x, y, z],
        }
    }
    fn dispatch_indirect as PFN_vkCmdDispatchIndirect(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
    ) {
        Command::DispatchIndirect { buffer, offset }
    }
    fn draw as PFN_vkCmdDraw(
        vertex_count: u32,
        instance_count: u32,
        first_vertex: u32,
        first_instance: u32,
    ) {
        Command::Draw {
            vertex_count,
            instance_count,
            first_vertex,
            first_instance,
        }
    }
    fn draw_indexed as PFN_vkCmdDrawIndexed(
        index_count: u32,
        instance_count: u32,
        first_index: u32,
        vertex_offset: i32,
        first_instance: u32,
    ) {
        Command::DrawIndexed {
            index_count,
            instance_count,
            first_index,
            vertex_offset,
            first_instance,
        }
    }
    fn draw_indirect as PFN_vkCmdDrawIndirect(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        draw_count: u32,
        stride: u32,
    ) {
        Command::DrawIndirect {
            buffer,
            offset,
            draw_count,
            stride,
        }
    }
    fn draw_indexed_indirect as PFN_vkCmdDrawIndexedIndirect(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        draw_count: u32,
        stride: u32,
    ) {
        Command::DrawIndexedIndirect {
            buffer,
            offset,
            draw_count,
            stride,
        }
    }
    fn draw_indirect_count as PFN_vkCmdDrawIndirectCount(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        count_buffer: vk::Buffer,
        count_offset: vk::DeviceSize,
        max_draw_count: u32,
        stride: u32,
    ) {
        Command::DrawIndirectCount {
            buffer,
            offset,
            count_buffer,
            count_offset,
            max_draw_count,
            stride,
        }
    }
    fn draw_indexed_indirect_count as PFN_vkCmdDrawIndexedIndirectCount(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        count_buffer: vk::Buffer,
        count_offset: vk::DeviceSize,
        max_draw_count: u32,
        stride: u32,
    ) {
        Command::DrawIndexedIndirectCount {
            buffer,
            offset,
            count_buffer,
            count_offset,
            max_draw_count,
            stride,
        }
    }
    fn execute_commands as PFN_vkCmdExecuteCommands[command_buffer](
        count: u32,
        buffers: *const vk::CommandBuffer,
    ) {
        execute(command_buffer, slice(buffers, count))
    }
    fn begin_rendering as PFN_vkCmdBeginRendering(info: *const vk::RenderingInfo<'_>) {
        begin_rendering_command(&*info)
    }
    fn end_rendering as PFN_vkCmdEndRendering() {
        Command::EndRendering
    }
    fn begin_render_pass as PFN_vkCmdBeginRenderPass(
        info: *const vk::RenderPassBeginInfo<'_>,
        _contents: vk::SubpassContents,
    ) {
        begin_pass(&*info)
    }
    fn begin_render_pass2 as PFN_vkCmdBeginRenderPass2(
        info: *const vk::RenderPassBeginInfo<'_>,
        _begin: *const vk::SubpassBeginInfo<'_>,
    ) {
        begin_pass(&*info)
    }
    fn next_subpass as PFN_vkCmdNextSubpass(_contents: vk::SubpassContents) {
        Command::NextSubpass
    }
    fn next_subpass2 as PFN_vkCmdNextSubpass2(
        _begin: *const vk::SubpassBeginInfo<'_>,
        _end: *const vk::SubpassEndInfo<'_>,
    ) {
        Command::NextSubpass
    }
    fn end_render_pass as PFN_vkCmdEndRenderPass() {
        Command::EndRenderPass
    }
    fn end_render_pass2 as PFN_vkCmdEndRenderPass2(_end: *const vk::SubpassEndInfo<'_>) {
        Command::EndRenderPass
    }
    fn clear_attachments as PFN_vkCmdClearAttachments(
        count: u32,
        attachments: *const vk::ClearAttachment,
        rect_count: u32,
        rects: *const vk::ClearRect,
    ) {
        Command::ClearAttachments {
            attachments: slice(attachments, count)
                .iter()
                .map(|a| {
                    (
                        a.aspect_mask,
                        a.color_attachment,
                        clear_value(a.clear_value),
                    )
                })
                .collect(),
            rects: slice(rects, rect_count).to_vec(),
        }
    }
    fn set_device_mask as PFN_vkCmdSetDeviceMask(mask: u32) {
        Command::SetDeviceMask { mask }
    }
}

/// `VK_EXT_mesh_shader`.
pub(super) mod mesh {
    use super::*;

    commands! { Some("VK_EXT_mesh_shader");
        fn draw_mesh_tasks as PFN_vkCmdDrawMeshTasksEXT(x: u32, y: u32, z: u32) {
            Command::DrawMeshTasks { groups: [x, y, z] }
        }
        fn draw_mesh_tasks_indirect as PFN_vkCmdDrawMeshTasksIndirectEXT(
            buffer: vk::Buffer,
            offset: vk::DeviceSize,
            draw_count: u32,
            stride: u32,
        ) {
            Command::DrawMeshTasksIndirect {
                buffer,
                offset,
                draw_count,
                stride,
            }
        }
        fn draw_mesh_tasks_indirect_count as PFN_vkCmdDrawMeshTasksIndirectCountEXT(
            buffer: vk::Buffer,
            offset: vk::DeviceSize,
            count_buffer: vk::Buffer,
            count_offset: vk::DeviceSize,
            max_draw_count: u32,
            stride: u32,
        ) {
            Command::DrawMeshTasksIndirectCount {
                buffer,
                offset,
                count_buffer,
                count_offset,
                max_draw_count,
                stride,
            }
        }
    }
}
