//! A window's image on its way through a frame: waited for, drawn to, handed over.

use super::{Frame, Recorder};
use crate::device::Inner;
use ash::vk;

/// A window image that a frame draws to.
#[derive(Clone, Copy)]
pub(crate) struct PresentTarget {
    pub(crate) image: vk::Image,
    /// Signalled when the image may be drawn to.
    pub(crate) acquired: vk::Semaphore,
    /// To be signalled when it has been drawn.
    pub(crate) drawn: vk::Semaphore,
}

impl PresentTarget {
    /// The only stage that waits for the image: passes before the one that draws to it can run ahead, as long as they draw
    /// to nothing themselves.
    pub(super) const STAGE: vk::PipelineStageFlags2 =
        vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;

    fn barrier(
        &self,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) -> vk::ImageMemoryBarrier2<'static> {
        vk::ImageMemoryBarrier2::default()
            .image(self.image)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            })
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
    }
}

impl Recorder {
    /// Records the transition of the window's image to what presentation wants.
    pub(super) fn hand_over(&mut self, gpu: &Inner, target: &PresentTarget) {
        // No pass has drawn to it: the barrier that was to come before still waits.
        let undrawn = self
            .image_barriers
            .iter()
            .position(|barrier| barrier.image == target.image);
        let from = match undrawn {
            Some(index) => {
                let _ = self.image_barriers.swap_remove(index);
                vk::ImageLayout::UNDEFINED
            }
            None => vk::ImageLayout::GENERAL,
        };
        // Whatever pass drew to it. The semaphore that follows, which all stages signal, makes it visible; it must find the
        // transition in one of them.
        let barrier = [target
            .barrier(from, vk::ImageLayout::PRESENT_SRC_KHR)
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: the command buffer is being recorded, outside of rendering.
        unsafe { gpu.device.cmd_pipeline_barrier2(self.commands, &info) };
        self.barriers += 1;
    }
}

impl Frame {
    /// Lets the frame wait for a window's image, take it to `GENERAL` with the next pass's barrier, and hand it over at its end.
    pub(crate) fn set_present_target(&mut self, target: PresentTarget) {
        if let Some(recorder) = &mut self.recorder {
            recorder.image_barriers.push(
                target
                    .barrier(vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL)
                    // After the semaphore, which this stage waits for.
                    .src_stage_mask(PresentTarget::STAGE)
                    .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                    .dst_access_mask(
                        vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE,
                    ),
            );
            recorder.present = Some(target);
        }
    }
}
