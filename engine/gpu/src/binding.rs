//! What a pass binds: the `Binding` union that is pushed, the typed `Bound` it is made from, and the checks in between.

use crate::memory::Resource;
use crate::pass::{ResourceId, Scopes};
use crate::pipeline::SlotInfo;
use ash::vk;

/// One slot of an update template's data: what Vulkan reads for one descriptor, by the descriptor's type.
///
/// Update templates stride over an array of these, so every kind of descriptor takes the same 24 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub union Binding {
    /// Samplers, images and both combined.
    pub image: vk::DescriptorImageInfo,
    /// Uniform and storage buffers.
    pub buffer: vk::DescriptorBufferInfo,
    /// Uniform and storage texel buffers.
    pub texel_view: vk::BufferView,
    /// Acceleration structures.
    pub acceleration_structure: vk::AccelerationStructureKHR,
}

const _: () = assert!(size_of::<Binding>() == 24);

/// A resource as it is to be bound to one slot. Made by resources: `buffer.whole()`, `texture.sampled(&sampler)`,
/// `texture.mip(3).storage()`, ...
#[derive(Clone, Copy)]
pub struct Bound<'a> {
    binding: Binding,
    resource: &'a Resource,
    /// Bit per Vulkan descriptor type that this may be bound as.
    accepts: u32,
    extent: Extent,
}

/// What else is checked of a bound resource.
#[derive(Clone, Copy)]
enum Extent {
    /// A range of a buffer of `capacity` bytes.
    Buffer {
        offset: u64,
        size: u64,
        capacity: u64,
    },
    Image,
    /// Not bindable, and why.
    Wrong(&'static str),
}

impl<'a> Bound<'a> {
    pub(crate) fn buffer(
        resource: &'a Resource,
        buffer: vk::Buffer,
        offset: u64,
        size: u64,
        capacity: u64,
    ) -> Bound<'a> {
        Bound {
            binding: Binding {
                buffer: vk::DescriptorBufferInfo {
                    buffer,
                    offset,
                    range: size,
                },
            },
            resource,
            accepts: resource.accepts,
            extent: Extent::Buffer {
                offset,
                size,
                capacity,
            },
        }
    }

    pub(crate) fn image(
        resource: &'a Resource,
        sampler: vk::Sampler,
        image_view: vk::ImageView,
        accepts: u32,
    ) -> Bound<'a> {
        let image = vk::DescriptorImageInfo {
            sampler,
            image_view,
            image_layout: vk::ImageLayout::GENERAL,
        };
        Bound {
            binding: Binding { image },
            resource,
            accepts,
            extent: Extent::Image,
        }
    }

    pub(crate) fn sampler(resource: &'a Resource, sampler: vk::Sampler) -> Bound<'a> {
        Bound::image(resource, sampler, vk::ImageView::null(), resource.accepts)
    }

    pub(crate) fn wrong(resource: &'a Resource, why: &'static str) -> Bound<'a> {
        Bound {
            accepts: 0,
            extent: Extent::Wrong(why),
            ..Bound::image(resource, vk::Sampler::null(), vk::ImageView::null(), 0)
        }
    }

    /// Why this cannot be bound to `slot`, or nothing if it can.
    fn mismatch(&self, slot: &SlotInfo) -> Option<String> {
        let name = &self.resource.name;
        if let Extent::Wrong(why) = self.extent {
            return Some(format!(
                "given {name:?}, {why} ({})",
                self.resource.description
            ));
        }
        if self.resource.device != slot.device {
            return Some(format!("{name:?} belongs to another device"));
        }
        if self.accepts & slot.type_bit == 0 {
            return Some(format!(
                "expected a {}; given {name:?}, {}",
                slot.type_name.replace('_', " "),
                self.resource.description
            ));
        }
        let Extent::Buffer {
            offset,
            size,
            capacity,
        } = self.extent
        else {
            return None;
        };
        if offset.checked_add(size).is_none_or(|end| end > capacity) || size == 0 {
            return Some(format!(
                "bytes {offset}+{size} of {name:?} lie outside of its {capacity} bytes"
            ));
        }
        if offset % slot.alignment != 0 {
            return Some(format!(
                "offset {offset} of {name:?} is no multiple of {}",
                slot.alignment
            ));
        }
        if size > slot.max_size {
            return Some(format!(
                "{size} bytes of {name:?} are over the device's limit of {}; reach it by device address or in parts",
                slot.max_size
            ));
        }
        if size < slot.min_size {
            return Some(format!(
                "the block takes {} bytes; given {size} bytes of {name:?}",
                slot.min_size
            ));
        }
        None
    }

    fn fits(&self, slot: &SlotInfo) -> bool {
        let in_range = match self.extent {
            Extent::Buffer {
                offset,
                size,
                capacity,
            } => {
                offset.checked_add(size).is_some_and(|end| end <= capacity)
                    && offset % slot.alignment == 0
                    && size <= slot.max_size
                    && size >= slot.min_size.max(1)
            }
            Extent::Image => true,
            Extent::Wrong(_) => false,
        };
        in_range && self.accepts & slot.type_bit != 0 && self.resource.device == slot.device
    }
}

/// A set of bindings for a pass: the struct generated for a program, pairs of names and resources, or a slice in slot
/// order.
pub trait Bindings {
    /// Set, binding and name of each slot that the implementer knows, in slot order; empty if it is told at run time.
    const NAMES: &'static [(u32, u32, &'static str)] = &[];

    /// Hands over the bound resources in slot order: by set, then binding; arrays element by element.
    fn slots(self, out: &mut SlotList<'_>);
}

impl Bindings for &[Bound<'_>] {
    fn slots(self, out: &mut SlotList<'_>) {
        for &bound in self {
            out.push(bound);
        }
    }
}

impl<const N: usize> Bindings for [Bound<'_>; N] {
    fn slots(self, out: &mut SlotList<'_>) {
        self.as_slice().slots(out);
    }
}

impl Bindings for &[(&str, Bound<'_>)] {
    fn slots(self, out: &mut SlotList<'_>) {
        for &(name, _) in self {
            if !out.slots.iter().any(|slot| slot.name == name) {
                out.sink
                    .problems
                    .push(format!("there is no binding {name:?}"));
            }
        }
        // Elements of an array are given in order under the same name.
        let slots = out.slots;
        for slot in slots {
            match self
                .iter()
                .filter(|(name, _)| *name == slot.name)
                .nth(slot.element as usize)
            {
                Some(&(_, bound)) => out.push(bound),
                None => out.skip(),
            }
        }
    }
}

impl<const N: usize> Bindings for [(&str, Bound<'_>); N] {
    fn slots(self, out: &mut SlotList<'_>) {
        self.as_slice().slots(out);
    }
}

/// What the bindings of the pass being recorded add up to. Kept from pass to pass, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct BindingSink {
    pub(crate) bindings: Vec<Binding>,
    pub(crate) accesses: Vec<(ResourceId, Scopes)>,
    pub(crate) problems: Vec<String>,
}

impl BindingSink {
    pub(crate) fn clear(&mut self) {
        self.bindings.clear();
        self.accesses.clear();
        self.problems.clear();
    }
}

/// Takes bound resources in slot order and checks each against what the shaders declare.
pub struct SlotList<'p> {
    pub(crate) slots: &'p [SlotInfo],
    pub(crate) sink: &'p mut BindingSink,
}

impl SlotList<'_> {
    /// Binds to the next slot.
    #[inline]
    pub fn push(&mut self, bound: Bound<'_>) {
        let index = self.sink.bindings.len();
        self.sink.bindings.push(bound.binding);
        match self.slots.get(index) {
            Some(slot) if bound.fits(slot) => {
                if !slot.scopes.is_empty() {
                    self.sink.accesses.push((bound.resource.id, slot.scopes));
                }
            }
            slot => Self::complain(&mut self.sink.problems, slot, bound),
        }
    }

    /// Leaves the next slot without a resource, which is reported when the pass is recorded.
    fn skip(&mut self) {
        if let Some(slot) = self.slots.get(self.sink.bindings.len()) {
            self.sink
                .problems
                .push(format!("binding {slot} was not given"));
        }
        self.sink.bindings.push(Binding {
            texel_view: vk::BufferView::null(),
        });
    }

    #[cold]
    fn complain(problems: &mut Vec<String>, slot: Option<&SlotInfo>, bound: Bound<'_>) {
        problems.push(match slot {
            Some(slot) => format!(
                "binding {slot}: {}",
                bound.mismatch(slot).unwrap_or_default()
            ),
            None => format!(
                "{:?} was given for a slot that the pipeline does not have",
                bound.resource.name
            ),
        });
    }

    /// Compares the slots that the bindings were generated for with those of the pipeline; says whether they are the same.
    pub(crate) fn expect(&mut self, names: &[(u32, u32, &str)]) -> bool {
        let mut distinct = self.slots.iter().filter(|slot| slot.element == 0);
        let same = names.iter().all(|&(set, binding, _)| {
            distinct
                .next()
                .is_some_and(|slot| slot.set == set && slot.binding == binding)
        }) && distinct.next().is_none();
        if !same {
            let given: Vec<_> = names
                .iter()
                .map(|(set, binding, name)| format!("{name:?} ({set}, {binding})"))
                .collect();
            let expected: Vec<_> = self.slots.iter().map(ToString::to_string).collect();
            self.sink.problems.push(format!(
                "the bindings were generated for another program: they are {}; the pipeline has {}",
                given.join(", "),
                expected.join(", ")
            ));
        }
        same
    }
}
