//! What it costs to describe a module: `impel-spirv`, SPIRV-Cross, `spirq`, and a baked description.
//!
//! Each variant goes many times over every module of the corpora that all reflectors accept (each module in memory, in the form
//! that the reflector wants). The others are asked for what ours tells and they can tell. SPIRV-Cross: a compiler is created;
//! then, for each entry point, execution modes with their arguments, active built-ins, and the resources among the active
//! variables, with their decorations and types down to the last member (names, offsets, strides and sizes come with these), and the
//! active bytes of buffers; for the module, all resources, capabilities, extensions and specialisation constants. (Not asked:
//! which images are sampled with which samplers, since for that it rewrites its copy of the module; and what is active of arrays
//! of buffers, where it takes elements for members and reads beyond their list. Either at times ends the process.)
//! `spirq`: one call describes the variables that each
//! entry point uses, down to the last member.
//!
//! What is made is dropped at once, as a part of what is timed, or kept until all modules are through (of SPIRV-Cross the compiler).
//! Before either a variant goes over all modules once untimed: the one before it has left the caches full of its own.
//!
//! `cargo bench -p benches --bench reflection [-- --callgrind VARIANT]`; with `--callgrind` one variant goes over all modules ten times, for
//! counting its instructions; those of the variant `nothing` are to be taken off.

use impel_spirv::Interface;
use spirq::prelude::ReflectConfig;
use spirv_cross2::handle::{Handle, TypeId};
use spirv_cross2::reflect::{AllResources, BuiltinResourceType, Resource, TypeInner};
use spirv_cross2::spirv::{Decoration, StorageClass};
use spirv_cross2::{Compiler, Module, SpirvCrossError, targets};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

type Error = Box<dyn std::error::Error>;

const FOLDERS: &[&str] = &[
    "../engine/spirv/tests/data",
    "../engine/spirv/tests/modules",
];

/// Modules on which `spirv-cross2` ends the process: their arrays are sized by `OpSpecConstantOp`.
const CRASHES: &[&str] = &[
    "spec_array.comp.spv",
    "spec_sizes.comp.spv",
    "test_32bit.spv",
];

/// Times that each variant goes over all modules.
const ROUNDS: usize = 101;

/// What is asked of each member besides what comes with its type.
const MEMBER_DECORATIONS: &[Decoration] = &[
    Decoration::RowMajor,
    Decoration::NonWritable,
    Decoration::NonReadable,
    Decoration::Location,
    Decoration::Component,
    Decoration::BuiltIn,
];

/// One module in the forms that the reflectors want.
struct Sample {
    bytes: Vec<u8>,
    words: Vec<u32>,
    hash: u128,
    baked: Vec<u8>,
}

/// The compiler, which can be asked more, and a sum over what was asked.
fn spirv_cross(words: &[u32]) -> Result<(Compiler<targets::None>, usize), SpirvCrossError> {
    let mut compiler = Compiler::<targets::None>::new(Module::from_words(words))?;
    let mut found = compiler.declared_capabilities()?.len();
    for extension in compiler.declared_extensions()? {
        found += extension.len();
    }
    let entries: Vec<_> = compiler.entry_points()?.collect();
    for entry in entries {
        compiler.set_entry_point(entry.name, entry.execution_model)?;
        let proof = compiler.update_active_builtins();
        for mode in compiler.execution_modes()? {
            found += usize::from(compiler.execution_mode_arguments(*mode)?.is_some());
        }
        let active = compiler.active_interface_variables()?;
        let resources = compiler.shader_resources_for_active_variables(active)?;
        found += ask(&compiler, resources.all_resources()?, true)?;
        for (class, list) in [
            (StorageClass::Input, BuiltinResourceType::StageInput),
            (StorageClass::Output, BuiltinResourceType::StageOutput),
        ] {
            for built_in in resources.builtin_resources_for_type(list)? {
                found +=
                    usize::from(compiler.has_active_builtin(built_in.builtin, class, proof)?);
            }
        }
    }
    found += ask(
        &compiler,
        compiler.shader_resources()?.all_resources()?,
        false,
    )?;
    for constant in compiler.specialization_constants()? {
        found += constant.constant_id as usize;
        found += usize::from(compiler.specialization_constant_type(constant.id).is_ok());
    }
    Ok((compiler, found))
}

/// Asks for decorations and types of resources; of those of one entry point, also what of them is active.
fn ask(
    compiler: &Compiler<targets::None>,
    resources: AllResources<'_>,
    of_entry_point: bool,
) -> Result<usize, SpirvCrossError> {
    let mut found = 0;
    let mut above = Vec::new();
    let decoration = |resource: &Resource<'_>, decoration| {
        let value = compiler.decoration(resource.id, decoration)?;
        Ok::<_, SpirvCrossError>(value.and_then(|value| value.as_literal()).unwrap_or(0) as usize)
    };
    if of_entry_point {
        for resource in [resources.stage_inputs, resources.stage_outputs]
            .iter()
            .flatten()
        {
            for asked in [
                Decoration::Location,
                Decoration::Component,
                Decoration::Index,
                Decoration::Flat,
                Decoration::NoPerspective,
                Decoration::Centroid,
                Decoration::Sample,
                Decoration::PerPrimitiveEXT,
                Decoration::Patch,
            ] {
                found += decoration(resource, asked)?;
            }
            found += members(compiler, resource.base_type_id, &mut above)?;
        }
    }
    let buffers = [resources.uniform_buffers, resources.storage_buffers];
    let others = [
        resources.subpass_inputs,
        resources.storage_images,
        resources.sampled_images,
        resources.acceleration_structures,
        resources.separate_images,
        resources.separate_samplers,
    ];
    for resource in buffers.iter().chain(&others).flatten() {
        for asked in [
            Decoration::DescriptorSet,
            Decoration::Binding,
            Decoration::NonWritable,
            Decoration::NonReadable,
            Decoration::InputAttachmentIndex,
        ] {
            found += decoration(resource, asked)?;
        }
        // Types are asked for once, not again for each entry point.
        if !of_entry_point {
            found += members(compiler, resource.base_type_id, &mut above)?;
        }
    }
    for resource in buffers.iter().flatten() {
        let decorations = compiler.buffer_block_decorations(resource.id)?;
        found += decorations.map_or(0, <[_]>::len);
    }
    for resource in buffers
        .iter()
        .chain([&resources.push_constant_buffers])
        .flatten()
        .filter(|_| of_entry_point)
    {
        if !matches!(
            compiler.type_description(resource.type_id)?.inner,
            TypeInner::Array { .. }
        ) {
            found += compiler.active_buffer_ranges(resource.id)?.len();
        }
    }
    for resource in resources
        .push_constant_buffers
        .iter()
        .filter(|_| !of_entry_point)
    {
        found += members(compiler, resource.base_type_id, &mut above)?;
    }
    Ok(found)
}

/// Number of members of a type and of the structs in it. Physical pointers lead round in circles: `above` holds the types
/// on the way, at which it turns back.
fn members(
    compiler: &Compiler<targets::None>,
    ty: Handle<TypeId>,
    above: &mut Vec<Handle<TypeId>>,
) -> Result<usize, SpirvCrossError> {
    if above.contains(&ty) {
        return Ok(0);
    }
    above.push(ty);
    let count = match compiler.type_description(ty)?.inner {
        TypeInner::Struct(block) => block.members.iter().try_fold(1, |count, member| {
            let mut count = count + member.name.as_ref().map_or(0, |name| name.len());
            for asked in MEMBER_DECORATIONS {
                let value =
                    compiler.member_decoration_by_handle(ty, member.index as u32, *asked)?;
                count += usize::from(value.is_some());
            }
            Ok::<_, SpirvCrossError>(count + members(compiler, member.id, above)?)
        })?,
        TypeInner::Array { base, .. } => members(compiler, base, above)?,
        _ => 1,
    };
    above.pop();
    Ok(count)
}

fn spirq(words: &[u32]) -> Option<Vec<spirq::entry_point::EntryPoint>> {
    ReflectConfig::new()
        .spv(words)
        .ref_all_rscs(false)
        .reflect()
        .ok()
}

impl Sample {
    /// `None` for a module that one of the reflectors does not accept.
    fn new(bytes: Vec<u8>) -> Option<Sample> {
        let words: Vec<_> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let interface = impel_spirv::reflect(&bytes).ok()?;
        spirv_cross(&words).ok()?;
        // It panics on some modules; its messages would only confuse here.
        std::panic::catch_unwind(|| spirq(&words)).ok()??;
        let hash = impel_spirv::spirv_hash(&bytes);
        let baked = impel_spirv::bake(&interface, hash).ok()?;
        Some(Sample {
            bytes,
            words,
            hash,
            baked,
        })
    }

    fn unbake(&self) -> Result<Interface, impel_spirv::Error> {
        impel_spirv::unbake(&self.baked, Some(self.hash), "sample")
    }
}

/// The `.spv` files of a folder and below.
fn modules(folder: PathBuf, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            modules(path, files)?;
        } else if path.extension().is_some_and(|end| end == "spv") {
            files.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    // `spirq` makes errors and drops them again; with backtraces each would cost many times as much.
    for name in ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"] {
        if std::env::var(name).is_ok_and(|value| value != "0") {
            return Err(format!("{name} must not be set: it slows spirq down").into());
        }
    }
    let mut files = Vec::new();
    for folder in FOLDERS {
        modules(
            Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut files,
        )?;
    }
    files.sort();
    let total = files.len();
    files.retain(|file| !CRASHES.iter().any(|name| file.ends_with(name)));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let samples: Vec<_> = files
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .filter_map(Sample::new)
        .collect();
    std::panic::set_hook(hook);

    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--callgrind")
    {
        let run = match arguments.get(at + 1).map(String::as_str) {
            Some("reflect") => {
                |sample: &Sample| drop(black_box(impel_spirv::reflect(&sample.bytes)))
            }
            Some("unbake") => |sample: &Sample| drop(black_box(sample.unbake())),
            Some("spirv-cross") => |sample: &Sample| drop(black_box(spirv_cross(&sample.words))),
            Some("spirq") => |sample: &Sample| {
                black_box(spirq(&sample.words));
            },
            Some("nothing") => |_: &Sample| {},
            _ => {
                return Err(
                    "--callgrind takes reflect, unbake, spirv-cross, spirq or nothing".into(),
                );
            }
        };
        for _ in 0..10 {
            samples.iter().for_each(run);
        }
        return Ok(());
    }

    let bytes: usize = samples.iter().map(|sample| sample.bytes.len()).sum();
    let baked: usize = samples.iter().map(|sample| sample.baked.len()).sum();
    println!(
        "{} of {} modules, which all accept; {bytes} bytes of SPIR-V, {baked} bytes baked",
        samples.len(),
        total
    );
    let mut timed = [
        Timed::new("nothing", &samples),
        Timed::new("impel-spirv: reflect", &samples),
        Timed::new("SPIRV-Cross: create and ask", &samples),
        Timed::new("spirq: reflect", &samples),
        Timed::new("impel-spirv: unbake", &samples),
    ];
    for _ in 0..ROUNDS {
        let [nothing, reflect, cross, spirq_reflect, unbake] = &mut timed;
        nothing.round(&samples, |_| ());
        reflect.round(&samples, |sample| impel_spirv::reflect(&sample.bytes));
        cross.round(&samples, |sample| spirv_cross(&sample.words));
        spirq_reflect.round(&samples, |sample| spirq(&sample.words));
        unbake.round(&samples, Sample::unbake);
    }
    let [nothing, others @ ..] = timed.map(|timed| (timed.name, timed.nanoseconds()));
    println!(
        "Time per module, each module's fastest of {ROUNDS} runs, less that of the clock ({:.0} ns):",
        nothing.1[0]
    );
    println!("  {:<30} {:>10} {:>10}", "", "dropped", "kept");
    let [reflect, cross, spirq, unbake] = others.map(|(name, [dropped, kept])| {
        let times = [dropped - nothing.1[0], kept - nothing.1[1]];
        let [dropped, kept] = times.map(|time| time / 1e3);
        println!("  {name:<30} {dropped:>7.2} us {kept:>7.2} us");
        times
    });
    for (at, when) in ["dropped", "kept"].iter().enumerate() {
        println!(
            "{when}: reflect is {:.2} times as fast as SPIRV-Cross and {:.2} times as fast as spirq; unbake is {:.2} times as fast as reflect",
            cross[at] / reflect[at],
            spirq[at] / reflect[at],
            reflect[at] / unbake[at]
        );
    }
    Ok(())
}

/// Times of a variant: with what it makes dropped at once, as a part of what is timed, and with all of it kept until the round
/// is over.
struct Timed {
    name: &'static str,
    best: [Vec<Duration>; 2],
}

impl Timed {
    fn new(name: &'static str, samples: &[Sample]) -> Self {
        let best = vec![Duration::MAX; samples.len()];
        Self {
            name,
            best: [best.clone(), best],
        }
    }

    /// Goes over all modules. Of each the fastest run counts, for on a machine that does other work too, that one was disturbed
    /// least.
    fn round<T>(&mut self, samples: &[Sample], make: impl Fn(&Sample) -> T) {
        let [dropped, kept] = &mut self.best;
        let warm_up = || {
            for sample in samples {
                drop(black_box(make(sample)));
            }
        };
        warm_up();
        for (sample, best) in samples.iter().zip(dropped) {
            let start = Instant::now();
            drop(black_box(make(sample)));
            *best = start.elapsed().min(*best);
        }
        warm_up();
        let mut made = Vec::with_capacity(samples.len());
        for (sample, best) in samples.iter().zip(kept) {
            let start = Instant::now();
            made.push(black_box(make(sample)));
            *best = start.elapsed().min(*best);
        }
    }

    /// Per module: dropped, kept.
    fn nanoseconds(&self) -> [f64; 2] {
        self.best
            .each_ref()
            .map(|best| best.iter().sum::<Duration>().as_secs_f64() * 1e9 / best.len() as f64)
    }
}
