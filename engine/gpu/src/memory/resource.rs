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
    state: Mutex<Ids>,
}

#[derive(Default)]
struct Ids {
    /// Generation and name of each index's last resource.
    last: Vec<(u32, String)>,
    free: Vec<u32>,
}

impl IdPool {
    pub(crate) fn take(&self, name: &str) -> ResourceId {
        let Ids { last, free } = &mut *crate::lock(&self.state);
        let index = free.pop().unwrap_or_else(|| {
            last.push((0, String::new()));
            last.len() as u32 - 1
        });
        let (generation, known) = &mut last[index as usize];
        *generation += 1;
        name.clone_into(known);
        ResourceId {
            index,
            generation: *generation,
        }
    }

    pub(crate) fn give_back(&self, id: ResourceId) {
        crate::lock(&self.state).free.push(id.index);
    }

    /// The name of a resource that lives.
    pub(crate) fn name(&self, id: ResourceId) -> String {
        crate::lock(&self.state)
            .last
            .get(id.index as usize)
            .map_or(String::new(), |(_, name)| name.clone())
    }
}
