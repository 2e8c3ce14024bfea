//! What a pass binds: the `Binding` union that is pushed, the typed `Bound` it is made from, and the checks in between.

use crate::memory::Resource;
use crate::pass::{Access, ResourceId, Scopes};
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
    /// Bit per Vulkan descriptor type that this may be bound as; the types of buffers only if `binding` is one. None with a
    /// flaw.
    accepts: u32,
    flaw: Option<Flaw>,
}

/// Why something cannot be bound to any slot.
#[derive(Clone, Copy)]
pub(crate) enum Flaw {
    /// A range that is empty or reaches over the end of its buffer.
    Range,
    /// A mip past the last.
    Mip,
    /// A sampler of another device.
    Sampler,
}

impl<'a> Bound<'a> {
    /// All of a buffer.
    #[inline]
    pub(crate) fn whole(resource: &'a Resource, buffer: vk::Buffer) -> Bound<'a> {
        let buffer = vk::DescriptorBufferInfo {
            buffer,
            offset: 0,
            range: resource.size,
        };
        Bound {
            binding: Binding { buffer },
            resource,
            accepts: resource.accepts,
            flaw: None,
        }
    }

    /// A part of a buffer.
    #[inline]
    pub(crate) fn range(
        resource: &'a Resource,
        buffer: vk::Buffer,
        offset: u64,
        range: u64,
    ) -> Bound<'a> {
        let fits = range > 0
            && offset
                .checked_add(range)
                .is_some_and(|end| end <= resource.size);
        let buffer = vk::DescriptorBufferInfo {
            buffer,
            offset,
            range,
        };
        Bound {
            binding: Binding { buffer },
            resource,
            accepts: if fits { resource.accepts } else { 0 },
            flaw: if fits { None } else { Some(Flaw::Range) },
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
            flaw: None,
        }
    }

    pub(crate) fn sampler(resource: &'a Resource, sampler: vk::Sampler) -> Bound<'a> {
        Bound::image(resource, sampler, vk::ImageView::null(), resource.accepts)
    }

    pub(crate) fn flawed(resource: &'a Resource, flaw: Flaw) -> Bound<'a> {
        Bound {
            flaw: Some(flaw),
            ..Bound::image(resource, vk::Sampler::null(), vk::ImageView::null(), 0)
        }
    }

    /// Whether this can be bound to `slot`.
    #[inline(always)]
    fn fits(&self, slot: &SlotInfo) -> bool {
        self.accepts & slot.type_bit != 0
            && self.resource.device == slot.device
            && (!slot.is_buffer() || {
                // SAFETY: what accepts a buffer's type holds a buffer.
                let buffer = unsafe { self.binding.buffer };
                buffer.offset & slot.offset_mask == 0
                    && (slot.min_size..=slot.max_size).contains(&buffer.range)
            })
    }

    /// Why this does not fit `slot`.
    fn mismatch(&self, slot: &SlotInfo) -> String {
        let Resource {
            name, description, ..
        } = self.resource;
        match self.flaw {
            Some(Flaw::Mip) => {
                return format!(
                    "given {name:?}, a mip that the texture does not have ({description})"
                );
            }
            Some(Flaw::Sampler) => {
                return format!("given {name:?}, with a sampler of another device ({description})");
            }
            Some(Flaw::Range) | None => {}
        }
        let accepts = match self.flaw {
            Some(_) => self.resource.accepts,
            None => self.accepts,
        };
        if self.resource.device != slot.device {
            return format!("{name:?} belongs to another device");
        }
        if accepts & slot.type_bit == 0 {
            let kind = slot.descriptor_type.name().replace('_', " ");
            return format!("expected a {kind}; given {name:?}, {description}");
        }
        // SAFETY: nothing else can be wrong with what is not a buffer, so this is one.
        let vk::DescriptorBufferInfo { offset, range, .. } = unsafe { self.binding.buffer };
        if self.flaw.is_some() {
            let capacity = self.resource.size;
            format!("bytes {offset}+{range} of {name:?} lie outside of its {capacity} bytes")
        } else if offset & slot.offset_mask != 0 {
            let alignment = slot.offset_mask + 1;
            format!("offset {offset} of {name:?} is no multiple of {alignment}")
        } else if range > slot.max_size {
            let most = slot.max_size;
            format!(
                "{range} bytes of {name:?} are over the device's limit of {most}; reach it by device address or in parts"
            )
        } else {
            let least = slot.min_size;
            format!("the block takes {least} bytes; given {range} bytes of {name:?}")
        }
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
                out.problems.push(format!("there is no binding {name:?}"));
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

/// What the pass being recorded binds and touches. Kept from pass to pass, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct BindingSink {
    /// How many slots were given a resource, wanted or not.
    pub(crate) given: usize,
    /// At least as many as the pipeline has slots; beyond `given` they are left from other passes.
    bindings: Vec<Binding>,
    /// How the shaders touch what is bound, slot by slot beside `bindings`.
    bound: Vec<Access>,
    /// What else the pass touches.
    pub(crate) accesses: Vec<Access>,
    pub(crate) problems: Vec<String>,
}

impl BindingSink {
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.given = 0;
        self.accesses.clear();
        if !self.problems.is_empty() {
            self.problems.clear();
        }
    }

    /// What an update template reads.
    pub(crate) fn data(&self) -> *const Binding {
        self.bindings.as_ptr()
    }

    /// All that the pass touches so far.
    pub(crate) fn touched(&self) -> impl Iterator<Item = &Access> {
        self.bound.iter().take(self.given).chain(&self.accesses)
    }

    /// All that the pass touches, in one list; this is no longer known after it.
    #[inline]
    pub(crate) fn take_touched(&mut self) -> &[Access] {
        if self.accesses.is_empty() && self.given <= self.bound.len() {
            return &self.bound[..self.given];
        }
        self.bound.truncate(self.given);
        self.bound.append(&mut self.accesses);
        &self.bound
    }

    #[cold]
    fn make_room(&mut self, slots: usize) {
        let texel_view = vk::BufferView::null();
        let bindings = slots.max(self.bindings.len());
        self.bindings.resize(bindings, Binding { texel_view });
        self.bound
            .resize(bindings, (ResourceId::NONE, Scopes::default()));
    }
}

/// Takes bound resources in slot order and checks each against what the shaders declare.
pub struct SlotList<'p> {
    slots: &'p [SlotInfo],
    /// One for each slot, as the accesses are.
    bindings: &'p mut [Binding],
    accesses: &'p mut [Access],
    problems: &'p mut Vec<String>,
    /// How many slots were given a resource, wanted or not.
    pub(crate) given: usize,
}

impl<'p> SlotList<'p> {
    #[inline]
    pub(crate) fn new(slots: &'p [SlotInfo], sink: &'p mut BindingSink) -> SlotList<'p> {
        let count = slots.len();
        if sink.bindings.len() < count || sink.bound.len() < count {
            sink.make_room(count);
        }
        SlotList {
            slots,
            bindings: &mut sink.bindings[..count],
            accesses: &mut sink.bound[..count],
            problems: &mut sink.problems,
            given: 0,
        }
    }

    /// Binds to the next slot.
    // Always: as a call it takes twice as many instructions, most of them to hand `bound` over.
    #[inline(always)]
    pub fn push(&mut self, bound: Bound<'_>) {
        let index = self.given;
        self.given += 1;
        if let (Some(slot), Some(binding), Some(access)) = (
            self.slots.get(index),
            self.bindings.get_mut(index),
            self.accesses.get_mut(index),
        ) && bound.fits(slot)
        {
            *binding = bound.binding;
            *access = (bound.resource.id, slot.scopes);
            return;
        }
        Self::complain(self.problems, self.slots, index, bound);
    }

    /// Leaves the next slot without a resource, which is reported when the pass is recorded.
    fn skip(&mut self) {
        if let Some(slot) = self.slots.get(self.given) {
            self.problems.push(format!("binding {slot} was not given"));
        }
        self.given += 1;
    }

    #[cold]
    fn complain(problems: &mut Vec<String>, slots: &[SlotInfo], index: usize, bound: Bound<'_>) {
        problems.push(match slots.get(index) {
            Some(slot) => format!("binding {slot}: {}", bound.mismatch(slot)),
            None => format!(
                "{:?} was given for a slot that the pipeline does not have",
                bound.resource.name
            ),
        });
    }
}

/// Compares the slots that bindings were generated for with those of a pipeline; says what is wrong if they differ.
pub(crate) fn compare_names(
    names: &[(u32, u32, &str)],
    slots: &[SlotInfo],
) -> std::result::Result<(), String> {
    let mut distinct = slots.iter().filter(|slot| slot.element == 0);
    let same = names.iter().all(|&(set, binding, _)| {
        distinct
            .next()
            .is_some_and(|slot| slot.set == set && slot.binding == binding)
    }) && distinct.next().is_none();
    if same {
        return Ok(());
    }
    let given: Vec<_> = names
        .iter()
        .map(|(set, binding, name)| format!("{name:?} ({set}, {binding})"))
        .collect();
    let expected: Vec<_> = slots.iter().map(ToString::to_string).collect();
    Err(format!(
        "the bindings were generated for another program: they are {}; the pipeline has {}",
        given.join(", "),
        expected.join(", ")
    ))
}
