//! Recording of what is bound and pushed.

use super::command::Command;
use super::descriptor::{read_template, read_write};
use super::handle::{self, slice};
use super::layout::Template;
use super::record::commands;
use ash::vk;
use std::ffi::c_void;

commands! { None;
    fn bind_pipeline as PFN_vkCmdBindPipeline(
        bind_point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) {
        Command::BindPipeline {
            bind_point,
            pipeline,
        }
    }
    fn bind_sets as PFN_vkCmdBindDescriptorSets(
        bind_point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first_set: u32,
        count: u32,
        sets: *const vk::DescriptorSet,
        offset_count: u32,
        offsets: *const u32,
    ) {
        Command::BindDescriptorSets {
            bind_point,
            layout,
            first_set,
            sets: slice(sets, count).to_vec(),
            dynamic_offsets: slice(offsets, offset_count).to_vec(),
        }
    }
    fn push_constants as PFN_vkCmdPushConstants(
        layout: vk::PipelineLayout,
        stages: vk::ShaderStageFlags,
        offset: u32,
        size: u32,
        values: *const c_void,
    ) {
        Command::PushConstants {
            layout,
            stages,
            offset,
            data: slice(values.cast::<u8>(), size).to_vec(),
        }
    }
    fn bind_index_buffer as PFN_vkCmdBindIndexBuffer(
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        index_type: vk::IndexType,
    ) {
        Command::BindIndexBuffer {
            buffer,
            offset,
            index_type,
        }
    }
    fn bind_vertex_buffers as PFN_vkCmdBindVertexBuffers(
        first_binding: u32,
        count: u32,
        buffers: *const vk::Buffer,
        offsets: *const vk::DeviceSize,
    ) {
        Command::BindVertexBuffers {
            first_binding,
            buffers: slice(buffers, count).to_vec(),
            offsets: slice(offsets, count).to_vec(),
            sizes: Vec::new(),
            strides: Vec::new(),
        }
    }
    fn bind_vertex_buffers2 as PFN_vkCmdBindVertexBuffers2(
        first_binding: u32,
        count: u32,
        buffers: *const vk::Buffer,
        offsets: *const vk::DeviceSize,
        sizes: *const vk::DeviceSize,
        strides: *const vk::DeviceSize,
    ) {
        Command::BindVertexBuffers {
            first_binding,
            buffers: slice(buffers, count).to_vec(),
            offsets: slice(offsets, count).to_vec(),
            sizes: slice(sizes, count).to_vec(),
            strides: slice(strides, count).to_vec(),
        }
    }
}

/// `VK_KHR_push_descriptor`.
pub(super) mod push {
    use super::*;

    /// A template's bind point, and the descriptors it finds in the data.
    ///
    /// # Safety
    /// `buffer` is a command buffer; `data` has all that the template reaches.
    unsafe fn push_with_template(
        buffer: vk::CommandBuffer,
        template: vk::DescriptorUpdateTemplate,
        layout: vk::PipelineLayout,
        set: u32,
        data: *const c_void,
    ) -> Command {
        // SAFETY: by the condition above.
        unsafe {
            let state = handle::shared(buffer).state();
            let known = state
                .peek::<Template>(template)
                .map(|known| (known.bind_point, read_template(&known.entries, data)));
            let (bind_point, writes) = known.unwrap_or_default();
            Command::PushDescriptorSetWithTemplate {
                template,
                bind_point,
                layout,
                set,
                writes,
            }
        }
    }

    commands! { Some("VK_KHR_push_descriptor");
        fn push_set as PFN_vkCmdPushDescriptorSetKHR(
            bind_point: vk::PipelineBindPoint,
            layout: vk::PipelineLayout,
            set: u32,
            count: u32,
            writes: *const vk::WriteDescriptorSet<'_>,
        ) {
            Command::PushDescriptorSet {
                bind_point,
                layout,
                set,
                writes: slice(writes, count)
                    .iter()
                    .flat_map(|write| read_write(write))
                    .collect(),
            }
        }
        fn push_template as PFN_vkCmdPushDescriptorSetWithTemplateKHR[command_buffer](
            template: vk::DescriptorUpdateTemplate,
            layout: vk::PipelineLayout,
            set: u32,
            data: *const c_void,
        ) {
            push_with_template(command_buffer, template, layout, set, data)
        }
    }
}
