//! Objects that were dropped and wait until the device is done with them.

use super::RawBuffer;
use crate::device::Inner;
use ash::vk;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// A Vulkan object whose owner is gone.
pub(crate) enum Garbage {
    Buffer(RawBuffer),
    Image {
        image: vk::Image,
        views: Vec<vk::ImageView>,
        allocation: vk_mem::Allocation,
    },
    Pipeline(vk::Pipeline),
    PipelineLayout {
        layout: vk::PipelineLayout,
        set_layouts: Vec<vk::DescriptorSetLayout>,
        template: vk::DescriptorUpdateTemplate,
    },
}

// SAFETY: an allocation is a handle; VMA's own lock guards what it refers to.
unsafe impl Send for Garbage {}

impl Garbage {
    fn destroy(self, gpu: &Inner) {
        // SAFETY: the queue only lets go of objects that the device has finished with, and each is here once.
        unsafe {
            match self {
                Garbage::Buffer(mut buffer) => buffer.destroy(gpu),
                Garbage::Image {
                    image,
                    views,
                    mut allocation,
                } => {
                    for view in views {
                        gpu.device.destroy_image_view(view, None);
                    }
                    gpu.allocator.destroy_image(image, &mut allocation);
                }
                Garbage::Pipeline(pipeline) => gpu.device.destroy_pipeline(pipeline, None),
                Garbage::PipelineLayout {
                    layout,
                    set_layouts,
                    template,
                } => {
                    gpu.device
                        .destroy_descriptor_update_template(template, None);
                    gpu.device.destroy_pipeline_layout(layout, None);
                    for set_layout in set_layouts {
                        gpu.device.destroy_descriptor_set_layout(set_layout, None);
                    }
                }
            }
        }
    }
}

/// First in, first out, each entry with the number of the last frame that can have used it.
#[derive(Default)]
pub(crate) struct DeletionQueue {
    entries: Mutex<VecDeque<(u64, Garbage)>>,
}

impl DeletionQueue {
    /// Takes over an object; it goes once the frame being recorded now is done.
    pub(crate) fn push(&self, gpu: &Inner, garbage: Garbage) {
        let mut entries = crate::lock(&self.entries);
        entries.push_back((gpu.frame_number.load(Ordering::Acquire), garbage));
    }

    /// Destroys everything whose frame is at most `done`.
    pub(crate) fn collect(&self, gpu: &Inner, done: u64) {
        loop {
            let garbage = {
                let mut entries = crate::lock(&self.entries);
                match entries.front() {
                    Some((frame, _)) if *frame <= done => entries.pop_front(),
                    _ => None,
                }
            };
            let Some((_, garbage)) = garbage else { return };
            garbage.destroy(gpu);
        }
    }
}
