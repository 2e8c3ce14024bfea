//! Recording of barriers and events; the older forms become the newer ones.

use super::command::{BufferBarrier, Command, Dependency, ImageBarrier, MemoryBarrier};
use super::handle::slice;
use super::record::commands;
use ash::vk;

/// Stages of Vulkan 1.0 as those of synchronization2, whose bits are the same.
pub(super) fn stages2(stages: vk::PipelineStageFlags) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(stages.as_raw().into())
}

fn access2(access: vk::AccessFlags) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(access.as_raw().into())
}

/// # Safety
/// `info` is valid.
unsafe fn dependency(info: &vk::DependencyInfo<'_>) -> Dependency {
    /// The part that all barriers of synchronization2 have.
    macro_rules! memory {
        ($barrier:expr) => {
            MemoryBarrier {
                src_stages: $barrier.src_stage_mask,
                src_access: $barrier.src_access_mask,
                dst_stages: $barrier.dst_stage_mask,
                dst_access: $barrier.dst_access_mask,
            }
        };
    }
    // SAFETY: the arrays of a valid structure.
    let (memory, buffers, images) = unsafe {
        (
            slice(info.p_memory_barriers, info.memory_barrier_count),
            slice(
                info.p_buffer_memory_barriers,
                info.buffer_memory_barrier_count,
            ),
            slice(
                info.p_image_memory_barriers,
                info.image_memory_barrier_count,
            ),
        )
    };
    Dependency {
        flags: info.dependency_flags,
        memory: memory.iter().map(|barrier| memory!(barrier)).collect(),
        buffers: buffers
            .iter()
            .map(|barrier| BufferBarrier {
                memory: memory!(barrier),
                families: [
                    barrier.src_queue_family_index,
                    barrier.dst_queue_family_index,
                ],
                buffer: barrier.buffer,
                offset: barrier.offset,
                size: barrier.size,
            })
            .collect(),
        images: images
            .iter()
            .map(|barrier| ImageBarrier {
                memory: memory!(barrier),
                families: [
                    barrier.src_queue_family_index,
                    barrier.dst_queue_family_index,
                ],
                image: barrier.image,
                old_layout: barrier.old_layout,
                new_layout: barrier.new_layout,
                range: barrier.subresource_range,
            })
            .collect(),
    }
}

/// The barriers of Vulkan 1.0, whose stages are those of the command.
struct Old<'a> {
    src: vk::PipelineStageFlags,
    dst: vk::PipelineStageFlags,
    flags: vk::DependencyFlags,
    memory: &'a [vk::MemoryBarrier<'a>],
    buffers: &'a [vk::BufferMemoryBarrier<'a>],
    images: &'a [vk::ImageMemoryBarrier<'a>],
}

impl Old<'_> {
    fn dependency(&self) -> Dependency {
        let memory = |src_access, dst_access| MemoryBarrier {
            src_stages: stages2(self.src),
            src_access: access2(src_access),
            dst_stages: stages2(self.dst),
            dst_access: access2(dst_access),
        };
        let mut global: Vec<_> = self
            .memory
            .iter()
            .map(|b| memory(b.src_access_mask, b.dst_access_mask))
            .collect();
        if global.is_empty() {
            // The old command is an execution dependency also without a memory barrier.
            global.push(memory(vk::AccessFlags::empty(), vk::AccessFlags::empty()));
        }
        let buffers = self.buffers.iter().map(|barrier| BufferBarrier {
            memory: memory(barrier.src_access_mask, barrier.dst_access_mask),
            families: [
                barrier.src_queue_family_index,
                barrier.dst_queue_family_index,
            ],
            buffer: barrier.buffer,
            offset: barrier.offset,
            size: barrier.size,
        });
        let images = self.images.iter().map(|barrier| ImageBarrier {
            memory: memory(barrier.src_access_mask, barrier.dst_access_mask),
            families: [
                barrier.src_queue_family_index,
                barrier.dst_queue_family_index,
            ],
            image: barrier.image,
            old_layout: barrier.old_layout,
            new_layout: barrier.new_layout,
            range: barrier.subresource_range,
        });
        Dependency {
            flags: self.flags,
            memory: global,
            buffers: buffers.collect(),
            images: images.collect(),
        }
    }
}

commands! { None;
    fn pipeline_barrier2 as PFN_vkCmdPipelineBarrier2(info: *const vk::DependencyInfo<'_>) {
        Command::PipelineBarrier(dependency(&*info))
    }
    fn pipeline_barrier as PFN_vkCmdPipelineBarrier(
        src: vk::PipelineStageFlags,
        dst: vk::PipelineStageFlags,
        flags: vk::DependencyFlags,
        memory_count: u32,
        memory: *const vk::MemoryBarrier<'_>,
        buffer_count: u32,
        buffers: *const vk::BufferMemoryBarrier<'_>,
        image_count: u32,
        images: *const vk::ImageMemoryBarrier<'_>,
    ) {
        Command::PipelineBarrier(
            Old {
                src,
                dst,
                flags,
                memory: slice(memory, memory_count),
                buffers: slice(buffers, buffer_count),
                images: slice(images, image_count),
            }
            .dependency(),
        )
    }
    fn set_event2 as PFN_vkCmdSetEvent2(event: vk::Event, info: *const vk::DependencyInfo<'_>) {
        Command::SetEvent {
            event,
            dependency: dependency(&*info),
        }
    }
    fn set_event as PFN_vkCmdSetEvent(event: vk::Event, stages: vk::PipelineStageFlags) {
        Command::SetEvent {
            event,
            dependency: Dependency {
                memory: vec![MemoryBarrier {
                    src_stages: stages2(stages),
                    ..MemoryBarrier::default()
                }],
                ..Dependency::default()
            },
        }
    }
    fn reset_event2 as PFN_vkCmdResetEvent2(event: vk::Event, stages: vk::PipelineStageFlags2) {
        Command::ResetEvent { event, stages }
    }
    fn reset_event as PFN_vkCmdResetEvent(event: vk::Event, stages: vk::PipelineStageFlags) {
        Command::ResetEvent {
            event,
            stages: stages2(stages),
        }
    }
    fn wait_events2 as PFN_vkCmdWaitEvents2(
        count: u32,
        events: *const vk::Event,
        infos: *const vk::DependencyInfo<'_>,
    ) {
        Command::WaitEvents {
            events: slice(events, count).to_vec(),
            dependencies: slice(infos, count)
                .iter()
                .map(|info| dependency(info))
                .collect(),
        }
    }
    fn wait_events as PFN_vkCmdWaitEvents(
        count: u32,
        events: *const vk::Event,
        src: vk::PipelineStageFlags,
        dst: vk::PipelineStageFlags,
        memory_count: u32,
        memory: *const vk::MemoryBarrier<'_>,
        buffer_count: u32,
        buffers: *const vk::BufferMemoryBarrier<'_>,
        image_count: u32,
        images: *const vk::ImageMemoryBarrier<'_>,
    ) {
        Command::WaitEvents {
            events: slice(events, count).to_vec(),
            dependencies: vec![
                Old {
                    src,
                    dst,
                    flags: vk::DependencyFlags::empty(),
                    memory: slice(memory, memory_count),
                    buffers: slice(buffers, buffer_count),
                    images: slice(images, image_count),
                }
                .dependency(),
            ],
        }
    }
}
