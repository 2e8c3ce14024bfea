//! Descriptor variables and push-constant blocks.

use std::collections::{BTreeMap, BTreeSet};

use crate::interface::Name;
use smallvec::SmallVec;
use spirv::{Decoration, Dim as SpirvDim, Op, StorageClass};

use super::constants::scalar_type;
use super::{MissingBindings, Options, Reflection};
use crate::error::Error;
use crate::interface::{
    Access, Binding, ByteRanges, Count, DescriptorType, Dim, ImageDim, ImageFormat, ImageTraits,
    Numbers, PushConstants, Stage, TypeId,
};
use crate::layout::{MatrixLayout, Sizes, aligned, join_ranges};
use crate::module::{Decorated, Module};
use crate::usage::{READ, RangeContext, WRITE, active_ranges};
use crate::words::Instruction;

/// What decorations say about a descriptor variable. The first of a kind counts.
#[derive(Default)]
struct Decorations {
    set: Option<u32>,
    binding: Option<u32>,
    non_writable: bool,
    non_readable: bool,
    input_attachment_index: Option<u32>,
    /// Variable of the counter buffer; only those of HLSL have one.
    counter: Option<u32>,
    semantic: Option<Box<str>>,
    user_type: Option<Box<str>>,
}

impl Decorations {
    fn read(&mut self, found: Decorated<'_>) {
        if found.is(Decoration::DescriptorSet) {
            self.set = self.set.or(found.literal());
            return;
        }
        if found.is(Decoration::Binding) {
            self.binding = self.binding.or(found.literal());
            return;
        }
        match Decoration::from_u32(found.decoration) {
            Some(Decoration::NonWritable) => self.non_writable = true,
            Some(Decoration::NonReadable) => self.non_readable = true,
            Some(Decoration::InputAttachmentIndex) => {
                let index = &mut self.input_attachment_index;
                *index = index.or(found.literal());
            }
            Some(Decoration::CounterBuffer) => self.counter = self.counter.or(found.literal()),
            Some(Decoration::UserSemantic) if self.semantic.is_none() => {
                self.semantic = found.string();
            }
            Some(Decoration::UserTypeGOOGLE) if self.user_type.is_none() => {
                self.user_type = found.string();
            }
            _ => {}
        }
    }
}

impl Reflection<'_> {
    pub(super) fn find_bindings(&mut self, options: &Options) -> Result<(), Error> {
        let module = self.module;
        let variables = || {
            global_variables(module).filter(|variable| {
                variable.operands.get(2).is_some_and(|class| {
                    [
                        StorageClass::UniformConstant,
                        StorageClass::Uniform,
                        StorageClass::StorageBuffer,
                    ]
                    .iter()
                    .any(|one| *one as u32 == *class)
                })
            })
        };
        let mut bindings = Vec::with_capacity(variables().count());
        let mut counters = BTreeMap::new();
        for variable in variables() {
            let [_, id, class, ..] = *variable.operands else {
                continue;
            };
            let ty = crate::usage::variable_type(module, variable);
            let (element, dims, _) = self.types.dimensions(ty)?;
            let Some(definition) = self.module.definition(element) else {
                continue;
            };
            let Some(descriptor_type) = descriptor_type(self.module, class, element, definition)
            else {
                continue;
            };
            self.budget.keep(1 + dims.len() / 8)?;
            let count = self.count(&dims);
            let is_block = descriptor_type.is_buffer();
            let block = is_block.then(|| self.types.add(element));
            let members = 0..definition.rest(1).len() as u32;
            let all = |decoration: Decoration| {
                is_block
                    && module.has_access_of_members
                    && !members.is_empty()
                    && members
                        .clone()
                        .all(|member| self.module.member_has(element, member, decoration))
            };
            let mut decorated = Decorations::default();
            for found in self.module.decorations(id) {
                decorated.read(found);
            }
            if let Some(counter) = decorated.counter {
                counters.insert(id, counter);
            }
            bindings.push(Binding {
                set: decorated.set,
                binding: decorated.binding,
                name: self.module.name(id),
                spirv_id: id,
                descriptor_type,
                count,
                dims,
                access: Access::None,
                access_by_stage: SmallVec::new(),
                non_writable: decorated.non_writable || all(Decoration::NonWritable),
                non_readable: decorated.non_readable || all(Decoration::NonReadable),
                used: false,
                active: is_block.then(ByteRanges::new),
                image: image_traits(self.module, element),
                block,
                block_size: None,
                padded_size: None,
                input_attachment_index: decorated.input_attachment_index,
                counter: None,
                semantic: decorated.semantic,
                user_type: decorated.user_type,
                aliases: Numbers::new(),
                sampled_with: Numbers::new(),
            });
        }
        complete(&mut bindings, options.missing_bindings)?;
        bindings.sort_by_key(|binding| {
            (
                binding.set.is_none(),
                binding.set,
                binding.binding.is_none(),
                binding.binding,
                binding.spirv_id,
            )
        });
        self.link(&mut bindings, &counters)?;
        self.interface.bindings = bindings;
        Ok(())
    }

    fn count(&mut self, dims: &[Dim]) -> Count {
        if dims.is_empty() {
            return Count::One;
        }
        if dims.contains(&Dim::Runtime) {
            return Count::Runtime;
        }
        let default = dims.iter().fold(1u32, |count, dim| {
            count.saturating_mul(dim.default_length())
        });
        match dims {
            [
                Dim::Spec {
                    expression,
                    default,
                },
            ] => Count::Spec {
                expression: *expression,
                default: *default,
            },
            _ if dims.iter().any(|dim| matches!(dim, Dim::Spec { .. })) => {
                let expression = self.types.constants.product(&mut self.types.table, dims);
                Count::Spec {
                    expression,
                    default,
                }
            }
            _ => Count::Fixed(default),
        }
    }

    /// Aliases, counters, and what is sampled with what. `counters` are variables by those that they count for.
    fn link(
        &mut self,
        bindings: &mut [Binding],
        counters: &BTreeMap<u32, u32>,
    ) -> Result<(), Error> {
        let mut pairs: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (image, sampler) in self.usages.iter().flat_map(|usage| &usage.sampled) {
            pairs.entry(*image).or_default().insert(*sampler);
            pairs.entry(*sampler).or_default().insert(*image);
        }
        for found in &mut *bindings {
            if let Some(samplers) = pairs.remove(&found.spirv_id) {
                found.sampled_with = samplers.into_iter().collect();
                self.budget.keep(found.sampled_with.len() / 32)?;
            }
        }
        if !counters.is_empty() {
            let numbers: BTreeMap<u32, (u32, u32)> = bindings
                .iter()
                .filter_map(|found| Some((found.spirv_id, found.set.zip(found.binding)?)))
                .collect();
            for found in &mut *bindings {
                let counter = counters.get(&found.spirv_id);
                found.counter = counter.and_then(|counter| numbers.get(counter)).copied();
            }
        }
        // They are sorted, so that aliases stand side by side.
        let is_alias = |a: &Binding, b: &Binding| {
            a.set.is_some() && a.binding.is_some() && (a.set, a.binding) == (b.set, b.binding)
        };
        for group in bindings
            .chunk_by_mut(is_alias)
            .filter(|group| group.len() > 1)
        {
            let ids: Vec<u32> = group.iter().map(|found| found.spirv_id).collect();
            for found in group {
                self.budget.keep(ids.len() / 32)?;
                let others = ids.iter().copied().filter(|id| *id != found.spirv_id);
                found.aliases = others.collect();
            }
        }
        Ok(())
    }

    /// Sizes, access and active bytes, once all types are measured.
    pub(super) fn measure_bindings(&mut self) -> Result<(), Error> {
        let stages: SmallVec<[Stage; 4]> = self
            .interface
            .entry_points
            .iter()
            .map(|entry| entry.stage)
            .collect();
        let mut bindings = std::mem::take(&mut self.interface.bindings);
        for (index, binding) in bindings.iter_mut().enumerate() {
            if let Some(block) = binding.block {
                let size = self
                    .types
                    .table
                    .get_struct(block)
                    .map_or(0, |found| found.size);
                binding.block_size = Some(size);
                binding.padded_size = Some(
                    if binding.descriptor_type == DescriptorType::UniformBuffer {
                        aligned(size, 16)
                    } else {
                        size
                    },
                );
            }
            let mut by_stage = std::mem::take(&mut binding.access_by_stage);
            for (position, stage) in stages.iter().enumerate() {
                self.budget.step()?;
                let Some(usage) = self.usages.get(position) else {
                    continue;
                };
                if !usage.names(binding.spirv_id) {
                    continue;
                }
                binding.used = true;
                let touched = usage.touched_of(binding.spirv_id);
                let flags = touched.iter().fold(0, |flags, found| flags | found.flags);
                let access = permitted(binding, flags);
                match by_stage.binary_search_by_key(stage, |(stage, _)| *stage) {
                    Ok(known) => {
                        if let Some((_, joined)) = by_stage.get_mut(known) {
                            *joined = joined.join(access);
                        }
                    }
                    Err(place) => by_stage.insert(place, (*stage, access)),
                }
                let active = if binding.block.is_some() {
                    let mut context = RangeContext {
                        types: &mut self.types,
                        places: self.places,
                        budget: &mut self.budget,
                        scratch: self.scratch,
                    };
                    active_ranges(&mut context, touched)?
                } else {
                    ByteRanges::new()
                };
                self.budget.keep(1 + active.len() / 2)?;
                if let Some(all) = &mut binding.active {
                    all.extend_from_slice(&active);
                }
                if let Some(entry) = self.interface.entry_points.get_mut(position) {
                    let (set, number) = (binding.set, binding.binding);
                    entry.bindings.push(crate::BindingUse {
                        index,
                        spirv_id: binding.spirv_id,
                        set,
                        binding: number,
                        access,
                        active,
                    });
                }
            }
            if let Some(active) = &mut binding.active {
                let left = join_ranges(active);
                active.truncate(left);
            }
            binding.access = by_stage
                .iter()
                .fold(Access::None, |all, (_, access)| all.join(*access));
            binding.access_by_stage = by_stage;
        }
        self.interface.bindings = bindings;
        Ok(())
    }

    pub(super) fn find_push_constants(&mut self) -> Result<(), Error> {
        let module = self.module;
        for variable in global_variables(module) {
            let [_, id, class, ..] = *variable.operands else {
                continue;
            };
            if class != StorageClass::PushConstant as u32 {
                continue;
            }
            let ty = crate::usage::variable_type(module, variable);
            if !module.is_defined_by(ty, Op::TypeStruct) {
                continue;
            }
            let block = self.types.add(ty);
            self.budget.keep(1)?;
            self.interface.push_constants.push(PushConstants {
                name: self.module.name(id),
                spirv_id: id,
                offset: 0,
                size: 0,
                active: ByteRanges::new(),
                block,
            });
        }
        Ok(())
    }

    pub(super) fn measure_push_constants(&mut self) -> Result<(), Error> {
        let mut blocks = std::mem::take(&mut self.interface.push_constants);
        for block in &mut blocks {
            let (offset, size) = self.push_range(block.block);
            (block.offset, block.size) = (offset, size);
            for (position, usage) in self.usages.iter().enumerate() {
                self.budget.step()?;
                if !usage.names(block.spirv_id) {
                    continue;
                }
                let mut context = RangeContext {
                    types: &mut self.types,
                    places: self.places,
                    budget: &mut self.budget,
                    scratch: self.scratch,
                };
                let active = active_ranges(&mut context, usage.touched_of(block.spirv_id))?;
                self.budget
                    .keep(1 + active.len() / 2 + block.name.len() / 128)?;
                block.active.extend_from_slice(&active);
                if let Some(entry) = self.interface.entry_points.get_mut(position) {
                    entry.push_constants.get_or_insert_with(|| PushConstants {
                        offset,
                        size,
                        active,
                        ..block.clone()
                    });
                }
            }
            let left = join_ranges(&mut block.active);
            block.active.truncate(left);
        }
        self.interface.push_constants = blocks;
        Ok(())
    }

    /// Offset of the first member, and bytes to the end of the last.
    fn push_range(&self, block: TypeId) -> (u32, u32) {
        let table = &self.types.table;
        let Some(found) = table.get_struct(block) else {
            return (0, 0);
        };
        let start = found
            .members
            .iter()
            .filter_map(|member| member.offset)
            .min()
            .unwrap_or(0);
        let mut sizes = Sizes::new(table, &[]);
        let end = sizes.of(block, MatrixLayout::default());
        (
            start,
            super::constants::clamp(end.saturating_sub(u64::from(start))),
        )
    }
}

fn global_variables(module: &Module) -> impl Iterator<Item = Instruction<'_>> {
    let offsets = module.variables.iter();
    offsets.filter_map(|offset| module.words.at(*offset as usize))
}

/// Access within what the descriptor type and the decorations permit.
fn permitted(binding: &Binding, flags: u8) -> Access {
    use DescriptorType as D;
    let writable = matches!(
        binding.descriptor_type,
        D::StorageImage | D::StorageTexelBuffer | D::StorageBuffer | D::Tensor
    ) && !binding.non_writable;
    Access::new(
        flags & READ != 0 && !binding.non_readable,
        flags & WRITE != 0 && writable,
    )
}

fn descriptor_type(
    module: &Module,
    class: u32,
    ty: u32,
    definition: Instruction<'_>,
) -> Option<DescriptorType> {
    let op = definition.op()?;
    match StorageClass::from_u32(class)? {
        StorageClass::UniformConstant => match op {
            Op::TypeSampler => Some(DescriptorType::Sampler),
            Op::TypeAccelerationStructureKHR => Some(DescriptorType::AccelerationStructure),
            Op::TypeTensorARM => Some(DescriptorType::Tensor),
            Op::TypeSampledImage => {
                let image = module.definition(*definition.operands.get(1)?)?;
                let texel_buffer = image.operands.get(2) == Some(&(SpirvDim::DimBuffer as u32));
                Some(if texel_buffer {
                    DescriptorType::UniformTexelBuffer
                } else {
                    DescriptorType::CombinedImageSampler
                })
            }
            Op::TypeImage => {
                let storage = definition.operands.get(6) == Some(&2);
                Some(match SpirvDim::from_u32(*definition.operands.get(2)?) {
                    Some(SpirvDim::DimBuffer) if storage => DescriptorType::StorageTexelBuffer,
                    Some(SpirvDim::DimBuffer) => DescriptorType::UniformTexelBuffer,
                    Some(SpirvDim::DimSubpassData) => DescriptorType::InputAttachment,
                    _ if storage => DescriptorType::StorageImage,
                    _ => DescriptorType::SampledImage,
                })
            }
            _ => None,
        },
        StorageClass::Uniform if op == Op::TypeStruct => {
            Some(if module.has(ty, Decoration::BufferBlock) {
                DescriptorType::StorageBuffer
            } else {
                DescriptorType::UniformBuffer
            })
        }
        StorageClass::StorageBuffer if op == Op::TypeStruct => Some(DescriptorType::StorageBuffer),
        _ => None,
    }
}

fn image_traits(module: &Module, ty: u32) -> Option<ImageTraits> {
    let mut definition = module.definition(ty)?;
    if definition.op() == Some(Op::TypeSampledImage) {
        definition = module.definition(*definition.operands.get(1)?)?;
    }
    if definition.op() != Some(Op::TypeImage) {
        return None;
    }
    let operand = |position: usize| definition.operands.get(position).copied();
    Some(ImageTraits {
        dim: match operand(2)? {
            0 => ImageDim::Dim1D,
            1 => ImageDim::Dim2D,
            2 => ImageDim::Dim3D,
            3 => ImageDim::Cube,
            4 => ImageDim::Rect,
            5 => ImageDim::Buffer,
            6 => ImageDim::Subpass,
            other => ImageDim::Unknown(other),
        },
        depth: operand(3) == Some(1),
        arrayed: operand(4) == Some(1),
        multisampled: operand(5) == Some(1),
        format: operand(7).filter(|format| *format != 0).map(ImageFormat),
        sampled_type: scalar_type(module, operand(1)?),
    })
}

/// Deals with resources that lack a set or binding.
fn complete(bindings: &mut [Binding], choice: MissingBindings) -> Result<(), Error> {
    let is_complete = |binding: &Binding| binding.set.is_some() && binding.binding.is_some();
    if bindings.iter().all(is_complete) {
        Ok(())
    } else {
        complete_all(bindings, choice)
    }
}

#[cold]
fn complete_all(bindings: &mut [Binding], choice: MissingBindings) -> Result<(), Error> {
    match choice {
        MissingBindings::Keep => {}
        MissingBindings::Error => {
            if let Some(found) = bindings
                .iter()
                .find(|binding| binding.set.is_none() || binding.binding.is_none())
            {
                let missing = match (found.set, found.binding) {
                    (None, None) => "DescriptorSet and no Binding",
                    (None, _) => "DescriptorSet",
                    _ => "Binding",
                };
                return Err(Error::MissingBinding {
                    id: found.spirv_id,
                    name: found.name.to_string(),
                    descriptor_type: found.descriptor_type,
                    missing,
                });
            }
        }
        MissingBindings::Assign => {
            bindings
                .iter_mut()
                .for_each(|binding| binding.set = Some(binding.set.unwrap_or(0)));
            let mut taken: BTreeSet<(u32, u32)> = bindings
                .iter()
                .filter_map(|binding| binding.set.zip(binding.binding))
                .collect();
            let mut order: Vec<(u32, Name, u32, usize)> = bindings
                .iter()
                .enumerate()
                .filter(|(_, binding)| binding.binding.is_none())
                .map(|(index, binding)| {
                    (
                        binding.set.unwrap_or(0),
                        binding.name.clone(),
                        binding.spirv_id,
                        index,
                    )
                })
                .collect();
            order.sort();
            let mut next: BTreeMap<u32, u32> = BTreeMap::new();
            for (set, _, _, index) in order {
                let free = next.entry(set).or_default();
                while taken.contains(&(set, *free)) {
                    *free += 1;
                }
                taken.insert((set, *free));
                if let Some(binding) = bindings.get_mut(index) {
                    binding.binding = Some(*free);
                }
            }
        }
    }
    Ok(())
}
