//! Which objects a command names: for the check that they live.

use super::command::{Command, Dependency};
use super::descriptor::{DescriptorValue, DescriptorWrite};
use ash::vk::{self, Handle};

/// Collects handles; null ones are left out.
struct Collector<'a>(&'a mut Vec<(vk::ObjectType, u64)>);

impl Collector<'_> {
    fn add<T: Handle + Copy>(&mut self, handle: T) {
        if !handle.is_null() {
            self.0.push((T::TYPE, handle.as_raw()));
        }
    }

    fn dependency(&mut self, dependency: &Dependency) {
        dependency
            .buffers
            .iter()
            .for_each(|barrier| self.add(barrier.buffer));
        dependency
            .images
            .iter()
            .for_each(|barrier| self.add(barrier.image));
    }

    fn writes(&mut self, writes: &[DescriptorWrite]) {
        use vk::DescriptorType as D;
        for write in writes {
            match write.value {
                DescriptorValue::Image(info) => {
                    // The members that the type does not use may hold anything.
                    if matches!(write.kind, D::SAMPLER | D::COMBINED_IMAGE_SAMPLER) {
                        self.add(info.sampler);
                    }
                    if write.kind != D::SAMPLER {
                        self.add(info.image_view);
                    }
                }
                DescriptorValue::Buffer(info) => self.add(info.buffer),
                DescriptorValue::TexelBuffer(view) => self.add(view),
                DescriptorValue::AccelerationStructure(_) | DescriptorValue::Other => {}
            }
        }
    }
}

impl Command {
    /// All objects that the command names.
    pub(super) fn handles(&self, handles: &mut Vec<(vk::ObjectType, u64)>) {
        use Command as C;
        let mut all = Collector(handles);
        match self {
            C::BindPipeline { pipeline, .. } => all.add(*pipeline),
            C::BindDescriptorSets { layout, sets, .. } => {
                all.add(*layout);
                sets.iter().for_each(|&set| all.add(set));
            }
            C::PushDescriptorSet { layout, writes, .. } => {
                all.add(*layout);
                all.writes(writes);
            }
            C::PushDescriptorSetWithTemplate {
                template,
                layout,
                writes,
                ..
            } => {
                all.add(*template);
                all.add(*layout);
                all.writes(writes);
            }
            C::PushConstants { layout, .. } => all.add(*layout),
            C::BindVertexBuffers { buffers, .. } => {
                buffers.iter().for_each(|&buffer| all.add(buffer));
            }
            C::BindIndexBuffer { buffer, .. }
            | C::DispatchIndirect { buffer, .. }
            | C::DrawIndirect { buffer, .. }
            | C::DrawIndexedIndirect { buffer, .. }
            | C::DrawMeshTasksIndirect { buffer, .. }
            | C::FillBuffer { buffer, .. }
            | C::UpdateBuffer { buffer, .. }
            | C::WriteBufferMarker { buffer, .. } => all.add(*buffer),
            C::DrawIndirectCount {
                buffer,
                count_buffer,
                ..
            }
            | C::DrawIndexedIndirectCount {
                buffer,
                count_buffer,
                ..
            }
            | C::DrawMeshTasksIndirectCount {
                buffer,
                count_buffer,
                ..
            } => {
                all.add(*buffer);
                all.add(*count_buffer);
            }
            C::ExecuteCommands { buffers } => {
                for buffer in buffers {
                    all.add(buffer.handle);
                    buffer
                        .commands
                        .iter()
                        .for_each(|command| command.handles(all.0));
                }
            }
            C::BeginRendering {
                colors,
                depth,
                stencil,
                ..
            } => {
                for attachment in colors.iter().chain(depth).chain(stencil) {
                    all.add(attachment.view);
                    if !attachment.resolve_mode.is_empty() {
                        all.add(attachment.resolve_view);
                    }
                }
            }
            C::BeginRenderPass {
                render_pass,
                framebuffer,
                ..
            } => {
                all.add(*render_pass);
                all.add(*framebuffer);
            }
            C::CopyBuffer { src, dst, .. } => {
                all.add(*src);
                all.add(*dst);
            }
            C::CopyImage { src, dst, .. }
            | C::BlitImage { src, dst, .. }
            | C::ResolveImage { src, dst, .. } => {
                all.add(*src);
                all.add(*dst);
            }
            C::CopyBufferToImage { src, dst, .. } => {
                all.add(*src);
                all.add(*dst);
            }
            C::CopyImageToBuffer { src, dst, .. } => {
                all.add(*src);
                all.add(*dst);
            }
            C::ClearColorImage { image, .. } | C::ClearDepthStencilImage { image, .. } => {
                all.add(*image);
            }
            C::PipelineBarrier(dependency) => all.dependency(dependency),
            C::SetEvent { event, dependency } => {
                all.add(*event);
                all.dependency(dependency);
            }
            C::ResetEvent { event, .. } => all.add(*event),
            C::WaitEvents {
                events,
                dependencies,
            } => {
                events.iter().for_each(|&event| all.add(event));
                dependencies
                    .iter()
                    .for_each(|dependency| all.dependency(dependency));
            }
            C::BeginQuery { pool, .. }
            | C::EndQuery { pool, .. }
            | C::ResetQueryPool { pool, .. }
            | C::WriteTimestamp { pool, .. } => all.add(*pool),
            C::CopyQueryPoolResults { pool, buffer, .. } => {
                all.add(*pool);
                all.add(*buffer);
            }
            // No objects: draws, dispatches, labels, dynamic state.
            _ => {}
        }
    }
}
