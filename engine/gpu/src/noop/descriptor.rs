//! Descriptors as values: from writes, and from the raw data of an update template.

use super::handle::slice;
use ash::vk;
use std::ffi::c_void;

/// What one descriptor refers to.
#[derive(Clone, Debug)]
pub enum DescriptorValue {
    /// Samplers, images, attachments and combined image samplers.
    Image(vk::DescriptorImageInfo),
    /// Uniform and storage buffers.
    Buffer(vk::DescriptorBufferInfo),
    /// Texel buffers.
    TexelBuffer(vk::BufferView),
    /// Acceleration structures.
    AccelerationStructure(vk::AccelerationStructureKHR),
    /// Types that the no-op driver does not interpret.
    Other,
}

/// One descriptor of a push or an update.
#[derive(Clone, Debug)]
pub struct DescriptorWrite {
    /// The binding's number.
    pub binding: u32,
    /// Element of the binding's array.
    pub element: u32,
    /// Type of the descriptor.
    pub kind: vk::DescriptorType,
    /// What it refers to.
    pub value: DescriptorValue,
}

/// How the data of a descriptor is given.
enum Form {
    Image,
    Buffer,
    TexelBuffer,
    AccelerationStructure,
    Other,
}

fn form(kind: vk::DescriptorType) -> Form {
    use vk::DescriptorType as D;
    match kind {
        D::SAMPLER
        | D::COMBINED_IMAGE_SAMPLER
        | D::SAMPLED_IMAGE
        | D::STORAGE_IMAGE
        | D::INPUT_ATTACHMENT => Form::Image,
        D::UNIFORM_BUFFER
        | D::STORAGE_BUFFER
        | D::UNIFORM_BUFFER_DYNAMIC
        | D::STORAGE_BUFFER_DYNAMIC => Form::Buffer,
        D::UNIFORM_TEXEL_BUFFER | D::STORAGE_TEXEL_BUFFER => Form::TexelBuffer,
        D::ACCELERATION_STRUCTURE_KHR => Form::AccelerationStructure,
        _ => Form::Other,
    }
}

/// The descriptors of one `VkWriteDescriptorSet`.
///
/// # Safety
/// `write` is valid.
pub(super) unsafe fn read_write(write: &vk::WriteDescriptorSet<'_>) -> Vec<DescriptorWrite> {
    let count = write.descriptor_count;
    // SAFETY: the array that belongs to the type has `count` elements.
    let values: Vec<DescriptorValue> = unsafe {
        match form(write.descriptor_type) {
            Form::Image => slice(write.p_image_info, count)
                .iter()
                .map(|&i| DescriptorValue::Image(i))
                .collect(),
            Form::Buffer => slice(write.p_buffer_info, count)
                .iter()
                .map(|&b| DescriptorValue::Buffer(b))
                .collect(),
            Form::TexelBuffer => slice(write.p_texel_buffer_view, count)
                .iter()
                .map(|&v| DescriptorValue::TexelBuffer(v))
                .collect(),
            Form::AccelerationStructure | Form::Other => {
                vec![DescriptorValue::Other; count as usize]
            }
        }
    };
    let writes = (write.dst_array_element..)
        .zip(values)
        .map(|(element, value)| DescriptorWrite {
            binding: write.dst_binding,
            element,
            kind: write.descriptor_type,
            value,
        });
    writes.collect()
}

/// The descriptors that a template finds in `data`.
///
/// # Safety
/// `data` has all that the entries reach.
pub(super) unsafe fn read_template(
    entries: &[vk::DescriptorUpdateTemplateEntry],
    data: *const c_void,
) -> Vec<DescriptorWrite> {
    let mut writes = Vec::new();
    for entry in entries {
        for index in 0..entry.descriptor_count {
            let place = data
                .cast::<u8>()
                .wrapping_add(entry.offset + index as usize * entry.stride);
            // SAFETY: by the condition above; the place need not be aligned.
            let value = unsafe {
                match form(entry.descriptor_type) {
                    Form::Image => DescriptorValue::Image(
                        place.cast::<vk::DescriptorImageInfo>().read_unaligned(),
                    ),
                    Form::Buffer => DescriptorValue::Buffer(
                        place.cast::<vk::DescriptorBufferInfo>().read_unaligned(),
                    ),
                    Form::TexelBuffer => DescriptorValue::TexelBuffer(
                        place.cast::<vk::BufferView>().read_unaligned(),
                    ),
                    Form::AccelerationStructure => DescriptorValue::AccelerationStructure(
                        place
                            .cast::<vk::AccelerationStructureKHR>()
                            .read_unaligned(),
                    ),
                    Form::Other => DescriptorValue::Other,
                }
            };
            let element = entry.dst_array_element + index;
            writes.push(DescriptorWrite {
                binding: entry.dst_binding,
                element,
                kind: entry.descriptor_type,
                value,
            });
        }
    }
    writes
}
