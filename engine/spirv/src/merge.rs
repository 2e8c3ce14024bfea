//! Joining the stages of a pipeline: one list of slots, one push-constant range.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::interface::{
    Access, Binding, Count, DescriptorType, EntryPoint, ImageTraits, Interface, PushConstants,
    SpecValues, Stage, StageFlags,
};
use crate::layout::aligned;

/// One stage of a pipeline, as [`merge`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct StageInput<'a> {
    /// File that messages name.
    pub file: &'a str,
    /// What its module says.
    pub interface: &'a Interface,
    /// Name of the entry point.
    pub entry_point: &'a str,
    /// Stage of the entry point, where several share the name.
    pub stage: Option<Stage>,
    /// Values of spec constants; the others keep their defaults.
    pub spec_values: SpecValues<'a>,
}

impl<'a> StageInput<'a> {
    /// The stage whose entry point is called `main`, with the defaults of spec constants.
    #[must_use]
    pub fn new(file: &'a str, interface: &'a Interface) -> Self {
        Self {
            file,
            interface,
            entry_point: "main",
            stage: None,
            spec_values: &[],
        }
    }

    /// The entry point it means.
    ///
    /// # Errors
    ///
    /// [`Error::NoEntryPoint`].
    pub fn resolve(&self) -> Result<&'a EntryPoint, Error> {
        self.interface
            .entry_point(self.entry_point, self.stage)
            .ok_or_else(|| {
                let available: Vec<String> = self
                    .interface
                    .entry_points
                    .iter()
                    .take(16)
                    .map(|entry| format!("\"{}\" ({})", entry.name, entry.stage))
                    .collect();
                Error::NoEntryPoint {
                    file: self.file.to_owned(),
                    name: self.entry_point.to_owned(),
                    stage: self.stage,
                    available: available.join(", "),
                }
            })
    }
}

/// What the device and the caller permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeLimits {
    /// The device's `maxPushDescriptors`.
    pub max_push_descriptors: u32,
    /// The device's `maxPushConstantsSize`, in bytes.
    pub max_push_constants_size: u32,
    /// The set whose descriptors are pushed: it may hold no runtime arrays and few descriptors. `None` pushes nothing.
    pub pushed_set: Option<u32>,
    /// Number of sets, counted from set 0; `None` permits any.
    pub set_count: Option<u32>,
}

impl Default for MergeLimits {
    /// What nearly every device has, and the engine's convention: set 0 is pushed, set 1 is the bindless heap.
    fn default() -> Self {
        Self {
            max_push_descriptors: 32,
            max_push_constants_size: 128,
            pushed_set: Some(0),
            set_count: Some(2),
        }
    }
}

impl MergeLimits {
    /// Limits for ordinary descriptor sets: any sets, nothing pushed.
    #[must_use]
    pub fn any_sets(self) -> Self {
        Self {
            pushed_set: None,
            set_count: None,
            ..self
        }
    }
}

/// One binding of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// Name of the variable in the first stage that has one.
    pub name: String,
    /// Kind of descriptor.
    pub descriptor_type: DescriptorType,
    /// Number of descriptors with the stages' spec constants; 0 for a runtime array.
    pub count: u32,
    /// Stages that use it.
    pub stages: StageFlags,
    /// What each of them does with it, in the order of the stages given.
    pub access: Vec<(Stage, Access)>,
    /// Position of its first descriptor among those of its set, in order of bindings: what an update template multiplies
    /// with its stride. A runtime array takes no position.
    pub first: u32,
    /// Declared size of a buffer's block in bytes, the largest of all stages; see [`Binding::block_size`].
    pub block_size: Option<u64>,
    /// The same for [`Binding::padded_size`].
    pub padded_size: Option<u64>,
    /// Traits of an image, from the first stage that uses it.
    pub image: Option<ImageTraits>,
}

impl Slot {
    /// What all stages together do with it.
    #[must_use]
    pub fn joined_access(&self) -> Access {
        self.access
            .iter()
            .fold(Access::None, |all, (_, access)| all.join(*access))
    }
}

/// One push-constant range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PushRange {
    /// First byte.
    pub offset: u32,
    /// Number of bytes.
    pub size: u32,
    /// Stages that use any of it.
    pub stages: StageFlags,
}

/// The layout that a pipeline needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramLayout {
    /// Bindings, sorted by set, then binding.
    pub slots: Vec<Slot>,
    /// The union of all stages' push-constant blocks.
    pub push_constants: Option<PushRange>,
    /// All stages of the pipeline.
    pub stages: StageFlags,
}

impl ProgramLayout {
    /// The slots of one set.
    pub fn set(&self, set: u32) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |slot| slot.set == set)
    }

    /// Number of descriptors of a set, runtime arrays left out.
    #[must_use]
    pub fn descriptor_count(&self, set: u32) -> u64 {
        self.set(set).map(|slot| u64::from(slot.count)).sum()
    }

    /// The slot with this name.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// Byte offset of each slot of a set in an array of bindings of `stride` bytes, as an update template has it.
    #[must_use]
    pub fn template_offsets(&self, set: u32, stride: usize) -> Vec<usize> {
        self.set(set)
            .map(|slot| slot.first as usize * stride)
            .collect()
    }
}

/// A slot with the file that gave it its type.
struct Found {
    slot: Slot,
    file: String,
    /// Position of that stage among those given.
    position: usize,
}

/// Joins the stages of a pipeline. Only what the entry points statically use counts.
///
/// # Errors
///
/// Two stages that disagree about a binding, a stage given twice, an unknown entry point, more than the limits permit, a
/// runtime array in the pushed set, a spec value of the wrong type. Each error names the files and variables.
pub fn merge(stages: &[StageInput<'_>], limits: &MergeLimits) -> Result<ProgramLayout, Error> {
    let mut found: BTreeMap<(u32, u32), Found> = BTreeMap::new();
    let mut layout = ProgramLayout::default();
    let mut blocks: Vec<(PushConstants, &str, Stage)> = Vec::new();
    for (position, input) in stages.iter().enumerate() {
        let entry = input.resolve()?;
        for before in stages.iter().take(position) {
            if before.resolve()?.stage == entry.stage && !may_repeat(entry.stage) {
                return Err(Error::DuplicateStage {
                    stage: entry.stage,
                    first_file: before.file.to_owned(),
                    second_file: input.file.to_owned(),
                });
            }
        }
        check_spec_values(input)?;
        layout.stages |= entry.stage.into();
        for used in &entry.bindings {
            if let Some(binding) = input.interface.bindings.get(used.index) {
                add(
                    &mut found,
                    (position, input),
                    entry.stage,
                    binding,
                    used.access,
                    limits,
                )?;
            }
        }
        if let Some(block) = &entry.push_constants {
            let mut block = block.clone();
            let end = input
                .interface
                .types
                .size_for_spec(block.block, input.spec_values);
            block.size =
                u32::try_from(end.saturating_sub(u64::from(block.offset))).unwrap_or(u32::MAX);
            blocks.push((block, input.file, entry.stage));
        }
    }
    layout.slots = found.into_values().map(|found| found.slot).collect();
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    for slot in &mut layout.slots {
        let next = next.entry(slot.set).or_default();
        slot.first = *next;
        *next = next.saturating_add(slot.count);
    }
    check_pushed(&layout, stages, limits)?;
    layout.push_constants = push_range(&blocks, limits)?;
    Ok(layout)
}

/// Ray-tracing pipelines may have several stages of one kind.
fn may_repeat(stage: Stage) -> bool {
    use Stage as S;
    matches!(
        stage,
        S::RayGeneration | S::Intersection | S::AnyHit | S::ClosestHit | S::Miss | S::Callable
    )
}

fn check_spec_values(input: &StageInput<'_>) -> Result<(), Error> {
    for (id, value) in input.spec_values {
        if let Some(constant) = input
            .interface
            .spec_constants
            .iter()
            .find(|constant| constant.id == *id)
        {
            let (expected, given) = (constant.ty, value.scalar_type());
            // Signedness is a matter of bits; width and kind are not.
            let kind = |ty: crate::ScalarType| {
                (
                    ty.width(),
                    ty == crate::ScalarType::Bool,
                    ty.name().starts_with('f'),
                )
            };
            if kind(expected) != kind(given) {
                return Err(Error::SpecType {
                    file: input.file.to_owned(),
                    id: *id,
                    name: constant.name.to_string(),
                    expected: expected.name(),
                    given: given.name(),
                });
            }
        }
    }
    Ok(())
}

fn add(
    found: &mut BTreeMap<(u32, u32), Found>,
    (position, input): (usize, &StageInput<'_>),
    stage: Stage,
    binding: &Binding,
    access: Access,
    limits: &MergeLimits,
) -> Result<(), Error> {
    let (Some(set), Some(number)) = (binding.set, binding.binding) else {
        let missing = if binding.set.is_none() {
            "DescriptorSet"
        } else {
            "Binding"
        };
        let error = Error::MissingBinding {
            id: binding.spirv_id,
            name: binding.name.to_string(),
            descriptor_type: binding.descriptor_type,
            missing,
        };
        return Err(error.in_file(input.file));
    };
    if let Some(limit) = limits.set_count.filter(|limit| set >= *limit) {
        return Err(Error::SetOutOfRange {
            file: input.file.to_owned(),
            name: binding.name.to_string(),
            set,
            limit,
        });
    }
    if binding.count == Count::Runtime && limits.pushed_set == Some(set) {
        return Err(Error::RuntimeArrayPushed {
            file: input.file.to_owned(),
            name: binding.name.to_string(),
            set,
            binding: number,
        });
    }
    let count = count(input, binding, set, number)?;
    let block_size = binding.block.map(|block| {
        input
            .interface
            .types
            .size_for_spec(block, input.spec_values)
    });
    let padded_size = block_size.map(|size| {
        if binding.descriptor_type == DescriptorType::UniformBuffer {
            aligned(size, 16)
        } else {
            size
        }
    });
    let Some(known) = found.get_mut(&(set, number)) else {
        let slot = Slot {
            set,
            binding: number,
            name: binding.name.to_string(),
            descriptor_type: binding.descriptor_type,
            count,
            stages: stage.into(),
            access: vec![(stage, access)],
            first: 0,
            block_size,
            padded_size,
            image: binding.image.clone(),
        };
        found.insert(
            (set, number),
            Found {
                slot,
                file: input.file.to_owned(),
                position,
            },
        );
        return Ok(());
    };
    let slot = &mut known.slot;
    // Variables of one stage may share a binding and differ in length: they are views of the same descriptors.
    let alias = known.position == position;
    if slot.descriptor_type != binding.descriptor_type || (slot.count != count && !alias) {
        return Err(Error::BindingMismatch {
            set,
            binding: number,
            first_file: known.file.clone(),
            first_name: slot.name.clone(),
            first_type: slot.descriptor_type,
            first_count: slot.count,
            second_file: input.file.to_owned(),
            second_name: binding.name.to_string(),
            second_type: binding.descriptor_type,
            second_count: count,
        });
    }
    if alias {
        slot.count = if slot.count == 0 || count == 0 {
            0
        } else {
            slot.count.max(count)
        };
    }
    slot.stages |= stage.into();
    match slot.access.iter_mut().find(|(known, _)| *known == stage) {
        Some((_, joined)) => *joined = joined.join(access),
        None => slot.access.push((stage, access)),
    }
    slot.block_size = slot.block_size.max(block_size);
    slot.padded_size = slot.padded_size.max(padded_size);
    if slot.name.is_empty() {
        slot.name = binding.name.to_string();
    }
    Ok(())
}

fn count(input: &StageInput<'_>, binding: &Binding, set: u32, number: u32) -> Result<u32, Error> {
    let bad = |given: String| Error::BadCount {
        file: input.file.to_owned(),
        name: binding.name.to_string(),
        set,
        binding: number,
        given,
    };
    let count = match binding.count {
        Count::One => 1,
        Count::Runtime => return Ok(0),
        Count::Fixed(n) => u64::from(n),
        Count::Spec { expression, .. } => input
            .interface
            .types
            .evaluate_length(expression, input.spec_values)
            .ok_or_else(|| bad("unknown".to_owned()))?,
    };
    u32::try_from(count)
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| bad(count.to_string()))
}

fn check_pushed(
    layout: &ProgramLayout,
    stages: &[StageInput<'_>],
    limits: &MergeLimits,
) -> Result<(), Error> {
    let Some(set) = limits.pushed_set else {
        return Ok(());
    };
    let given = layout.descriptor_count(set);
    if given > u64::from(limits.max_push_descriptors) {
        let bindings: Vec<String> = layout
            .set(set)
            .map(|slot| {
                let name = shown_name(slot, stages);
                if slot.count == 1 {
                    format!("{} \"{name}\"", slot.binding)
                } else {
                    format!("{} \"{name}\"[{}]", slot.binding, slot.count)
                }
            })
            .collect();
        return Err(Error::TooManyPushDescriptors {
            set,
            given,
            limit: limits.max_push_descriptors,
            bindings: bindings.join(", "),
        });
    }
    Ok(())
}

/// What messages call a slot: its name, or that of its block, which has one even without an instance name.
fn shown_name<'a>(slot: &'a Slot, stages: &[StageInput<'a>]) -> &'a str {
    if !slot.name.is_empty() {
        return &slot.name;
    }
    let blocks = stages.iter().filter_map(|input| {
        let mut bindings = input.interface.bindings_at(slot.set, slot.binding);
        let block = bindings.find_map(|binding| binding.block)?;
        input.interface.types.get_struct(block)
    });
    blocks
        .map(|block| block.name.as_str())
        .find(|name| !name.is_empty())
        .unwrap_or_default()
}

/// One range over all blocks, so that one call pushes everything. Vulkan wants multiples of 4, no more.
fn push_range(
    blocks: &[(PushConstants, &str, Stage)],
    limits: &MergeLimits,
) -> Result<Option<PushRange>, Error> {
    let blocks: Vec<_> = blocks.iter().filter(|(block, ..)| block.size > 0).collect();
    let Some(start) = blocks.iter().map(|(block, ..)| block.offset / 4 * 4).min() else {
        return Ok(None);
    };
    let end = blocks
        .iter()
        .map(|(block, ..)| (u64::from(block.offset) + u64::from(block.size)).next_multiple_of(4))
        .max()
        .unwrap_or(0);
    if end > u64::from(limits.max_push_constants_size) {
        let list: Vec<String> = blocks
            .iter()
            .map(|(block, file, _)| {
                format!(
                    "{file} \"{}\" {}..{}",
                    block.name,
                    block.offset,
                    u64::from(block.offset) + u64::from(block.size)
                )
            })
            .collect();
        return Err(Error::PushConstantsTooLarge {
            given: end,
            limit: limits.max_push_constants_size,
            blocks: list.join(", "),
        });
    }
    let stages = blocks.iter().fold(StageFlags::EMPTY, |all, (_, _, stage)| {
        all | (*stage).into()
    });
    Ok(Some(PushRange {
        offset: start,
        size: u32::try_from(end - u64::from(start)).unwrap_or(u32::MAX),
        stages,
    }))
}
