//! What a pass must bind to one descriptor of a pipeline.

use crate::device::Limits;
use crate::pass::{Scopes, ShaderAccess, Stage};
use ash::vk;
use impel_spirv::{DescriptorType, Slot, Stage as ShaderStage};

/// One descriptor of a pipeline's set 0, ready for checking bindings and tracking hazards.
#[derive(Clone, Debug)]
pub(crate) struct SlotInfo {
    /// Number of the device that the pipeline was made from.
    pub(crate) device: u32,
    pub(crate) set: u32,
    pub(crate) binding: u32,
    /// Element of the binding's array; 0 if it is none.
    pub(crate) element: u32,
    pub(crate) name: String,
    pub(crate) descriptor_type: DescriptorType,
    /// `1 << VkDescriptorType`.
    pub(crate) type_bit: u32,
    /// How the stages touch the resource.
    pub(crate) scopes: Scopes,
    /// Of a buffer, bytes that the block takes at least.
    pub(crate) min_size: u64,
    /// Of a buffer, most bytes that the device binds.
    pub(crate) max_size: u64,
    /// Of a buffer, bits that its offset must not have: its alignment is a power of two.
    pub(crate) offset_mask: u64,
}

impl std::fmt::Display for SlotInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.name.is_empty() {
            write!(f, "({}, {})", self.set, self.binding)
        } else {
            write!(f, "{:?} ({}, {})", self.name, self.set, self.binding)
        }
    }
}

impl SlotInfo {
    /// Whether buffers are bound here.
    pub(crate) fn is_buffer(&self) -> bool {
        const BUFFERS: u32 = 1 << vk::DescriptorType::UNIFORM_BUFFER.as_raw()
            | 1 << vk::DescriptorType::STORAGE_BUFFER.as_raw();
        self.type_bit & BUFFERS != 0
    }

    /// One entry per descriptor of a merged slot.
    pub(crate) fn of<'a>(
        slot: &'a Slot,
        device: u32,
        limits: &Limits,
    ) -> impl Iterator<Item = SlotInfo> + 'a {
        let scopes = scopes_of(slot);
        let uniform = slot.descriptor_type == DescriptorType::UniformBuffer;
        let (max_size, alignment) = if uniform {
            (
                limits.max_uniform_buffer_range,
                limits.uniform_buffer_alignment,
            )
        } else {
            (
                limits.max_storage_buffer_range,
                limits.storage_buffer_alignment,
            )
        };
        (0..slot.count).map(move |element| SlotInfo {
            device,
            set: slot.set,
            binding: slot.binding,
            element,
            name: slot.name.clone(),
            descriptor_type: slot.descriptor_type,
            type_bit: type_bit(slot.descriptor_type),
            scopes,
            min_size: slot.block_size.unwrap_or(0),
            max_size,
            offset_mask: alignment.max(1) - 1,
        })
    }
}

/// The bit that stands for a descriptor type; none for those that do not fit into 32 bits, which nothing can bind.
fn type_bit(kind: DescriptorType) -> u32 {
    u32::try_from(kind.vulkan())
        .ok()
        .filter(|&number| number < 32)
        .map_or(0, |number| 1 << number)
}

pub(crate) fn vk_type(kind: DescriptorType) -> vk::DescriptorType {
    vk::DescriptorType::from_raw(kind.vulkan())
}

/// The tracked stage that runs a shader stage; `None` for stages that the engine has no pipelines for.
pub(crate) fn tracked_stage(stage: ShaderStage) -> Option<Stage> {
    Some(match stage {
        ShaderStage::Vertex => Stage::Vertex,
        ShaderStage::Task => Stage::Task,
        ShaderStage::Mesh => Stage::Mesh,
        ShaderStage::Fragment => Stage::Fragment,
        ShaderStage::Compute => Stage::Compute,
        _ => return None,
    })
}

fn scopes_of(slot: &Slot) -> Scopes {
    let mut scopes = Scopes::default();
    for &(stage, access) in &slot.access {
        let Some(stage) = tracked_stage(stage) else {
            continue;
        };
        let read = match slot.descriptor_type {
            DescriptorType::UniformBuffer => ShaderAccess::Uniform,
            DescriptorType::StorageBuffer
            | DescriptorType::StorageImage
            | DescriptorType::StorageTexelBuffer => ShaderAccess::StorageRead,
            DescriptorType::Sampler => continue,
            _ => ShaderAccess::Sampled,
        };
        if access.reads() {
            scopes = scopes.union(Scopes::shader(stage, read));
        }
        if access.writes() {
            scopes = scopes.union(Scopes::shader(stage, ShaderAccess::StorageWrite));
        }
    }
    scopes
}
