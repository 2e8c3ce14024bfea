//! What buffers and textures have in common: identity, name, and the descriptor types they can be bound as.

use crate::pass::ResourceId;
use std::sync::Mutex;

/// The part of a resource that bindings and the hazard tracker look at.
pub(crate) struct Resource {
    pub(crate) id: ResourceId,
    /// Number of the device that it was made from.
    pub(crate) device: u32,
    pub(crate) name: String,
    /// Bit per Vulkan descriptor type (its number) that the resource's usage flags allow.
    pub(crate) accepts: u32,
    /// Bytes of a buffer; 0 for anything else.
    pub(crate) size: u64,
    /// What it is and was made for, for error messages.
    pub(crate) description: String,
}

/// Hands out resource ids; an index is used again with a new generation.
#[derive(Default)]
pub(crate) struct IdPool {
    state: Mutex<(Vec<u32>, Vec<u32>)>,
}

impl IdPool {
    pub(crate) fn take(&self) -> ResourceId {
        let (generations, free) = &mut *crate::lock(&self.state);
        let index = free.pop().unwrap_or_else(|| {
            generations.push(0);
            generations.len() as u32 - 1
        });
        generations[index as usize] += 1;
        ResourceId {
            index,
            generation: generations[index as usize],
        }
    }

    pub(crate) fn give_back(&self, id: ResourceId) {
        crate::lock(&self.state).1.push(id.index);
    }
}
