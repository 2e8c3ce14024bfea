//! Generates a program's Rust interface: its bindings, push constants and block structs, as a module that is compiled
//! against `impel-gpu`.
//!
//! A program is the stages of one pipeline. Its module has
//! - `Bindings`, with one field per binding of set 0, by the name it has in GLSL; implements `impel_gpu::Bindings`;
//! - `Push`, the push constants of all stages in one struct;
//! - one `#[repr(C)]` struct per struct in a block, with padding spelled out and every offset asserted at compile time;
//! - `LOCAL_SIZE`, `constants` (ids of specialisation constants) and `SHADERS` (the baked modules).
//!
//! The text is formatted as rustfmt would, depends on nothing but its input, and compiles without warnings.

mod definitions;
mod glsl;
mod layout;
mod names;
mod print;
mod structs;

use std::collections::BTreeMap;

use crate::{
    Access, Binding, Count, DescriptorType, EntryPoint, Error, ImageDim, Interface, MergeLimits,
    ProgramLayout, PushConstants, SpecConstant, Stage, StageInput, match_stages, merge,
};
use definitions::{Content, Definitions, StructDef};
use structs::ModuleStructs;

/// One pipeline's shaders.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Name of the module, in snake case.
    pub name: &'a str,
    /// Stages in pipeline order.
    pub stages: &'a [ProgramStage<'a>],
}

/// One stage of a program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramStage<'a> {
    /// Name of the shader, as errors and profiles show it: `cull.comp`.
    pub name: &'a str,
    /// Where its source lies, relative to the project; for the documentation.
    pub source: &'a str,
    /// What it says of itself. Its first entry point is used.
    pub interface: &'a Interface,
    /// Path of the SPIR-V, relative to the generated file.
    pub spirv_path: &'a str,
    /// Path of the baked reflection, relative to the generated file.
    pub refl_path: &'a str,
}

/// How to generate.
#[derive(Clone, Debug)]
pub struct CodegenOptions {
    /// Path of the crate that has `Bindings`, `Bound`, `ShaderCode` and `SlotList`: `impel_gpu`, or `impel::gpu` where it
    /// is re-exported.
    pub gpu_crate: String,
    /// Names for bindings that have none, or another than the one wanted, by (set, binding).
    pub names: BTreeMap<(u32, u32), String>,
}

impl Default for CodegenOptions {
    fn default() -> Self {
        Self {
            gpu_crate: "impel_gpu".to_owned(),
            names: BTreeMap::new(),
        }
    }
}

/// Everything that goes into a generated module.
struct Module<'a> {
    program: &'a Program<'a>,
    options: &'a CodegenOptions,
    slots: Vec<Slot>,
    /// Structs that the module defines.
    structs: Vec<StructDef>,
    /// Names of structs that it takes from `types`.
    shared: Vec<String>,
    local_sizes: Vec<(Stage, [u32; 3])>,
    constants: BTreeMap<(u32, String), SpecConstant>,
}

/// One field of `Bindings`.
struct Slot {
    set: u32,
    binding: u32,
    /// Name, not escaped.
    name: String,
    count: Count,
    doc: String,
}

/// Whether `name` can name a program: a snake-case identifier that is no keyword and not `types`, which is in use.
#[must_use]
pub fn is_program_name(name: &str) -> bool {
    !name.is_empty()
        && names::snake(name) == name
        && !name.starts_with('_')
        && !names::is_keyword(name)
        && name != "types"
}

/// The Rust text of one program's module, complete in itself.
///
/// # Errors
/// What [`merge`] and [`match_stages`] say of stages that do not fit together, runtime arrays in set 0, and bindings
/// in sets other than 0 and 1.
pub fn program(program: &Program<'_>, options: &CodegenOptions) -> Result<String, Error> {
    Ok(print::module(&module(program, options)?))
}

/// The files of a folder with these programs' modules, by name: one for each program, `mod.rs`, and `types.rs` with the
/// structs that several programs have in common (their modules re-export them, so a path like `cull::Instance` is right
/// either way). `mod.rs` declares the modules `others`, too.
///
/// # Errors
/// As for [`program`].
pub fn folder(
    programs: &[Program<'_>],
    others: &[&str],
    options: &CodegenOptions,
) -> Result<BTreeMap<String, String>, Error> {
    let mut modules = Vec::new();
    for program in programs {
        modules.push(module(program, options)?);
    }
    let shared = definitions::shared(
        &modules
            .iter()
            .map(|module| module.structs.as_slice())
            .collect::<Vec<_>>(),
    );
    for module in &mut modules {
        let (local, in_types) = std::mem::take(&mut module.structs)
            .into_iter()
            .partition(|def| !shared.contains(def));
        module.structs = local;
        module.shared = in_types
            .into_iter()
            .map(|def: StructDef| def.name)
            .collect();
        module.shared.sort();
    }
    let mut files = BTreeMap::new();
    let mut names = others.to_vec();
    if !shared.is_empty() {
        files.insert("types.rs".to_owned(), print::types(&shared));
        names.push("types");
    }
    for module in &modules {
        files.insert(format!("{}.rs", module.program.name), print::module(module));
        names.push(module.program.name);
    }
    files.insert("mod.rs".to_owned(), print::index(&names));
    Ok(files)
}

fn module<'a>(program: &'a Program<'a>, options: &'a CodegenOptions) -> Result<Module<'a>, Error> {
    let mut stages = Vec::new();
    let mut inputs = Vec::new();
    for stage in program.stages {
        // As the engine's pipelines do, the first entry point is taken, whatever its name.
        let first = stage.interface.entry_points.first();
        let input = StageInput {
            entry_point: first.map_or("main", |entry| entry.name.as_str()),
            stage: first.map(|entry| entry.stage),
            ..StageInput::new(stage.source, stage.interface)
        };
        stages.push((stage, input.resolve()?));
        inputs.push(input);
    }
    for pair in inputs.windows(2) {
        if let [previous, next] = pair {
            match_stages(previous, next)?;
        }
    }
    // Devices differ in how much can be pushed; the pipeline compares with the one at hand.
    let limits = MergeLimits {
        max_push_descriptors: u32::MAX,
        max_push_constants_size: u32::MAX,
        ..MergeLimits::default()
    };
    let layout = merge(&inputs, &limits)?;

    let mut definitions = Definitions::new();
    push_constants(&stages, &mut definitions);
    let slots = slots(&layout, &stages, options, &mut definitions);
    let mut constants = BTreeMap::new();
    for constant in stages
        .iter()
        .flat_map(|(stage, _)| &stage.interface.spec_constants)
    {
        constants
            .entry((constant.id, constant.name.to_string()))
            .or_insert_with(|| constant.clone());
    }
    let local_sizes = stages
        .iter()
        .filter_map(|(_, entry)| Some((entry.stage, entry.default_local_size()?)))
        .collect();
    Ok(Module {
        program,
        options,
        slots,
        structs: definitions.structs,
        shared: Vec::new(),
        local_sizes,
        constants,
    })
}

/// The bindings of set 0, by binding. (Set 1 is the bindless heap, which nobody binds per pass.)
fn slots(
    layout: &ProgramLayout,
    stages: &[(&ProgramStage<'_>, &EntryPoint)],
    options: &CodegenOptions,
    definitions: &mut Definitions,
) -> Vec<Slot> {
    let mut scope = names::Scope::default();
    let mut slots = Vec::new();
    for slot in layout.set(0) {
        let mut uses: Vec<(&ProgramStage<'_>, Stage, &Binding)> = Vec::new();
        for (stage, entry) in stages {
            for used in &entry.bindings {
                if (used.set, used.binding) == (Some(slot.set), Some(slot.binding))
                    && let Some(found) = stage.interface.bindings.get(used.index)
                {
                    uses.push((stage, entry.stage, found));
                }
            }
        }
        let Some((_, _, first)) = uses.first() else {
            continue;
        };
        let mut contents: Vec<String> = Vec::new();
        for (stage, _, found) in &uses {
            let fallback = format!("Binding{}", slot.binding);
            let content = found.block.and_then(|block| {
                ModuleStructs::new(&stage.interface.types, definitions).block(block, &fallback)
            });
            let content = match content {
                Some(Content::Struct(name)) => format!("[`{name}`]"),
                Some(Content::Elements(element)) => format!("elements of {}", link(&element)),
                Some(Content::StructAndElements(name, element)) => {
                    format!("[`{name}`], then elements of {}", link(&element))
                }
                None => continue,
            };
            if !contents.contains(&content) {
                contents.push(content);
            }
        }
        let name = options
            .names
            .get(&(slot.set, slot.binding))
            .cloned()
            .unwrap_or_else(|| binding_name(uses.iter().map(|(stage, _, found)| (*stage, *found))));
        let name = if name.is_empty() {
            format!("binding_{}_{}", slot.set, slot.binding)
        } else {
            name
        };
        let doc = describe(slot, &contents, stages.len() > 1);
        slots.push(Slot {
            set: slot.set,
            binding: slot.binding,
            name: scope.claim(&name, "_"),
            count: first.count,
            doc,
        });
    }
    slots
}

/// The variable's name, or its block's where the block has no instance name, from the first stage that has one.
fn binding_name<'a>(uses: impl Iterator<Item = (&'a ProgramStage<'a>, &'a Binding)>) -> String {
    uses.map(|(stage, found)| {
        let block = found
            .block
            .and_then(|block| stage.interface.types.get_struct(block))
            .map_or("", |block| block.name.as_str());
        names::snake(if found.name.is_empty() {
            block
        } else {
            &found.name
        })
    })
    .find(|name| !name.is_empty())
    .unwrap_or_default()
}

/// A type in documentation: a link where it is a struct of the module.
fn link(ty: &str) -> String {
    if ty.starts_with(|c: char| c.is_ascii_uppercase()) {
        format!("[`{ty}`]")
    } else {
        format!("`{ty}`")
    }
}

/// Documentation of a binding: where it is, what it is, what is done with it.
fn describe(slot: &crate::Slot, contents: &[String], name_stages: bool) -> String {
    let mut kind = slot.descriptor_type.name().replace('_', " ");
    if let Some(image) = &slot.image {
        let mut traits = Vec::new();
        if image.dim != ImageDim::Buffer {
            traits.push(image.dim.name().to_owned());
        }
        traits.extend(image.arrayed.then(|| "array".to_owned()));
        traits.extend(image.multisampled.then(|| "multisampled".to_owned()));
        traits.extend(image.format.map(|format| format!("`{format}`")));
        if !traits.is_empty() {
            kind = format!("{kind} ({})", traits.join(", "));
        }
    }
    let mut doc = format!("Binding {}: {kind}", slot.binding);
    match slot.joined_access() {
        _ if slot.descriptor_type == DescriptorType::Sampler => {}
        Access::None => doc.push_str(", not accessed"),
        Access::Read => doc.push_str(", read"),
        Access::Write => doc.push_str(", written"),
        Access::ReadWrite => doc.push_str(", read and written"),
    }
    if name_stages {
        let names: Vec<&str> = slot.stages.iter().map(Stage::name).collect();
        doc.push_str(&format!(" ({})", names.join(", ")));
    }
    if !contents.is_empty() {
        doc.push_str(&format!("; holds {}", contents.join(", or ")));
    }
    doc.push('.');
    doc
}

/// One struct for the push constants of all stages: members that several stages have stand in it once.
fn push_constants(stages: &[(&ProgramStage<'_>, &EntryPoint)], definitions: &mut Definitions) {
    let mut blocks: Vec<(&ProgramStage<'_>, &PushConstants)> = stages
        .iter()
        .filter_map(|(stage, entry)| Some((*stage, entry.push_constants.as_ref()?)))
        .collect();
    let base = blocks
        .iter()
        .map(|(_, push)| push.offset)
        .min()
        .unwrap_or(0);
    let end = blocks
        .iter()
        .map(|(_, push)| push.offset.saturating_add(push.size))
        .max()
        .unwrap_or(0);
    let block = |stage: &ProgramStage<'_>, push: &PushConstants| {
        stage.interface.types.get_struct(push.block).cloned()
    };
    let mut block_names: Vec<String> = Vec::new();
    for name in blocks
        .iter()
        .filter_map(|(stage, push)| Some(names::shown(&block(stage, push)?.name)))
    {
        if !name.is_empty() && !block_names.contains(&name) {
            block_names.push(name);
        }
    }
    // Where stages see different members in the same bytes, the larger block's stand.
    blocks.sort_by_key(|(_, push)| std::cmp::Reverse(push.size));
    let mut parts = Vec::new();
    for (stage, push) in blocks {
        let Some(block) = block(stage, push) else {
            continue;
        };
        parts.push(
            ModuleStructs::new(&stage.interface.types, definitions)
                .push_constants(&block.members, u64::from(base)),
        );
    }
    definitions.add_push(
        &block_names.join(" and "),
        parts,
        u64::from(base),
        u64::from(end.saturating_sub(base)),
    );
}
