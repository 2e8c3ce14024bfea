//! From a module to its [`Interface`].

mod bindings;
mod constants;
mod entry;
mod io;
mod types;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::Hash;

use smallvec::{Array, SmallVec};
use spirv::Op;

use crate::error::Error;
use crate::interface::{
    Capability, Count, DescriptorType, Dim, Expression, Generator, Interface, SourceLanguage,
    SpecDependent, SpirvVersion, Type, TypeId,
};
use crate::module::Module;
use crate::usage::{Budget, Places, RangeScratch, Usage, UsedMembers, Walk, WalkTables};

use types::Wanted;

pub(crate) use types::{TypeBuilder, TypePlaces};

/// What to do with a resource that lacks a set or binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingBindings {
    /// Refuse the module with an error that names the variable.
    #[default]
    Error,
    /// Give it the lowest free numbers: missing sets become 0, then bindings are given out by set, then name, then id.
    Assign,
    /// Leave the numbers out of the interface.
    Keep,
}

/// Choices of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What to do with resources that lack a set or binding.
    pub missing_bindings: MissingBindings,
}

/// Reflects a module: SPIR-V 1.0 to 1.6, either byte order.
///
/// # Errors
///
/// Anything malformed, with its word offset; a resource without set or binding.
pub fn reflect(bytes: &[u8]) -> Result<Interface, Error> {
    reflect_with(bytes, &Options::default())
}

/// Reflects a module with the caller's choices.
///
/// # Errors
///
/// As for [`reflect`].
pub fn reflect_with(bytes: &[u8], options: &Options) -> Result<Interface, Error> {
    let mut spare = SPARE.take().unwrap_or_default();
    let Spare { module, tables } = &mut *spare;
    module.read(bytes)?;
    let module = &*module;
    tables
        .places
        .reset(module.words.as_slice().len() / 2 + 65_536);
    tables.touched.reset();
    let mut reflection = Reflection {
        module,
        types: TypeBuilder::new(module, &mut tables.wanted),
        places: &mut tables.places,
        budget: Budget::new(bytes.len()),
        walk: &mut tables.walk,
        scratch: &mut tables.ranges,
        spare_usages: &mut tables.spare_usages,
        usages: &mut tables.usages,
        payloads: Vec::new(),
        touched: &mut tables.touched,
        interface: header(module)?,
    };
    reflection.run(options)?;
    let interface = reflection.interface;
    tables.spare_usages.append(&mut tables.usages);
    if spare.module.retire() {
        SPARE.set(Some(spare));
    }
    Ok(interface)
}

/// Tables of the reflection before, for the next one: to allocate them anew would take a good part of the time that a small
/// module takes.
#[derive(Default)]
struct Spare {
    module: Module,
    tables: Tables,
}

#[derive(Default)]
struct Tables {
    wanted: Wanted,
    places: Places,
    walk: WalkTables,
    ranges: RangeScratch,
    spare_usages: Vec<Usage>,
    usages: Vec<Usage>,
    touched: UsedMembers,
}

thread_local! {
    static SPARE: Cell<Option<Box<Spare>>> = const { Cell::new(None) };
}

/// Index of an access chain, if it is constant.
pub(crate) fn literal_index(module: &Module, id: u32) -> Option<u32> {
    constants::index(module, id)
}

struct Reflection<'m> {
    module: &'m Module,
    types: TypeBuilder<'m>,
    places: &'m mut Places,
    budget: Budget,
    walk: &'m mut WalkTables,
    scratch: &'m mut RangeScratch,
    /// Of modules before, to be used again.
    spare_usages: &'m mut Vec<Usage>,
    /// By entry point.
    usages: &'m mut Vec<Usage>,
    /// Position of the entry point and type of each payload.
    payloads: Vec<(usize, TypeId)>,
    /// Members of the input or output being listed.
    touched: &'m mut UsedMembers,
    interface: Interface,
}

impl Reflection<'_> {
    fn run(&mut self, options: &Options) -> Result<(), Error> {
        self.analyse_entry_points()?;
        self.find_bindings(options)?;
        self.find_push_constants()?;
        self.find_entry_points()?;
        self.types.build()?;
        let blocks: SmallVec<[TypeId; 8]> = self
            .interface
            .bindings
            .iter()
            .filter_map(|binding| binding.block)
            .chain(
                self.interface
                    .push_constants
                    .iter()
                    .map(|block| block.block),
            )
            .collect();
        let uniform: SmallVec<[TypeId; 8]> = self
            .interface
            .bindings
            .iter()
            .filter(|binding| binding.descriptor_type == DescriptorType::UniformBuffer)
            .filter_map(|binding| binding.block)
            .collect();
        self.types.finish(&blocks, &uniform);
        self.measure_bindings()?;
        self.measure_push_constants()?;
        self.measure_payloads();
        self.mark_used_members()?;
        if self.module.has_spec_constants {
            self.find_spec_constants()?;
        }
        self.interface.types = std::mem::take(&mut self.types.table);
        Ok(())
    }

    fn analyse_entry_points(&mut self) -> Result<(), Error> {
        let module = self.module;
        let mut walk = Walk::new(module, self.places, &mut self.budget, self.walk);
        for offset in &module.entry_points {
            let Some(instruction) = module.words.at(*offset as usize) else {
                continue;
            };
            let usage = walk.analyse(
                instruction.operand(1)?,
                self.spare_usages.pop().unwrap_or_default(),
            )?;
            walk.keep(usage.touched.len() + usage.variables.len() + usage.constants.len())?;
            self.usages.push(usage);
        }
        Ok(())
    }

    /// Marks struct members that any entry point touches.
    fn mark_used_members(&mut self) -> Result<(), Error> {
        let module = self.module;
        let used = &mut *self.touched;
        used.clear();
        for usage in &*self.usages {
            let steps = used.add(module, self.places, &usage.touched);
            self.budget.work(steps)?;
        }
        used.sort();
        for (id, ty) in &mut self.types.table.types {
            if let Type::Struct(found) = ty {
                for (number, member) in (0..).zip(&mut found.members) {
                    member.used = used.contains(module, id.0, number);
                }
            }
        }
        Ok(())
    }

    /// Specialisation constants, and the sizes that depend on each.
    #[inline(never)]
    fn find_spec_constants(&mut self) -> Result<(), Error> {
        let mut sources: Vec<(Expression, SpecDependent)> = Vec::new();
        for (id, ty) in &self.types.table.types {
            if let Type::Array { dims, .. } = ty {
                let expressions = dims.iter().filter_map(|dim| {
                    if let Dim::Spec { expression, .. } = dim {
                        Some(*expression)
                    } else {
                        None
                    }
                });
                sources
                    .extend(expressions.map(|expression| (expression, SpecDependent::Array(*id))));
            }
        }
        for binding in &self.interface.bindings {
            if let Count::Spec { expression, .. } = binding.count {
                sources.push((expression, SpecDependent::Descriptors(binding.spirv_id)));
            }
        }
        for entry in &self.interface.entry_points {
            for (axis, size) in (0u8..).zip(entry.local_size.iter().flatten()) {
                if let Some(expression) = size.expression {
                    self.budget.keep(1 + entry.name.len() / 128)?;
                    sources.push((
                        expression,
                        SpecDependent::LocalSize {
                            entry_point: entry.name.clone(),
                            axis,
                        },
                    ));
                }
            }
        }
        let mut dependents: BTreeMap<u32, BTreeSet<SpecDependent>> = BTreeMap::new();
        for (expression, dependent) in sources {
            let (ids, looked_at) = self.types.table.spec_ids_counted(expression);
            self.budget.work(looked_at)?;
            for id in ids {
                self.budget.keep(
                    if let SpecDependent::LocalSize { entry_point, .. } = &dependent {
                        1 + entry_point.len() / 128
                    } else {
                        1
                    },
                )?;
                dependents.entry(id).or_default().insert(dependent.clone());
            }
        }
        self.interface.spec_constants = constants::spec_constants(self.module);
        for constant in &mut self.interface.spec_constants {
            constant.sizes = dependents
                .remove(&constant.id)
                .unwrap_or_default()
                .into_iter()
                .collect();
        }
        Ok(())
    }
}

fn header(module: &Module) -> Result<Interface, Error> {
    let (major, minor) = module.words.version();
    let generator = module.words.generator();
    let mut interface = Interface {
        spirv_version: SpirvVersion { major, minor },
        generator: Generator {
            tool: (generator >> 16) as u16,
            version: generator as u16,
        },
        ..Interface::default()
    };
    for instruction in module
        .headers
        .iter()
        .filter_map(|offset| module.words.at(*offset as usize))
    {
        match instruction.op() {
            Some(Op::Capability) => {
                let capability = Capability(instruction.operand(0)?);
                interface.capabilities.push(capability);
            }
            Some(Op::Extension) => interface.extensions.push(instruction.text(0)?),
            Some(Op::MemoryModel) => {
                interface.addressing_model = crate::AddressingModel(instruction.operand(0)?);
                interface.memory_model = crate::MemoryModel(instruction.operand(1)?);
            }
            Some(Op::Source) if interface.source_language == SourceLanguage::default() => {
                interface.source_language = SourceLanguage {
                    language: instruction.operand(0)?,
                    version: instruction.operand(1)?,
                };
            }
            _ => {}
        }
    }
    keep_first(&mut interface.capabilities);
    keep_first(&mut interface.extensions);
    Ok(interface)
}

/// Removes all but the first of equal entries.
fn keep_first<A: Array<Item: Clone + Eq + Hash>>(list: &mut SmallVec<A>) {
    // Mostly there are a few, all different.
    let is_new = |(at, entry)| !list.iter().take(at).any(|other| other == entry);
    if list.len() > 16 || !list.iter().enumerate().all(is_new) {
        let mut seen = HashSet::with_capacity(list.len());
        list.retain(|entry| seen.insert(entry.clone()));
    }
}
