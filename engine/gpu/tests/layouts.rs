//! Set layouts and compute pipelines of every module that `impel-spirv` is tested with, on the real device: what reflection
//! says of a module must be what the driver and the validation layer see in it.
//!
//! Set layouts are tried for every module, pipelines for compute modules whose sets can be pushed.

use impel_gpu::testing::{TestGpu, gpu};
use impel_gpu::{ComputePipelineDesc, Error, SetLayoutsDesc, Shader, create_set_layouts};
use impel_spirv::{Stage, required_features};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders with modules, relative to this crate.
const FOLDERS: &[&str] = &[
    "../spirv/tests/data",
    "../spirv/tests/modules",
    "tests/shaders",
];

/// What may be refused although the device has all features: end of the module's path, part of the message.
const REFUSED: &[(&str, &str)] = &[
    // Two variables of different types on one binding, which is no fault of the module's but fits no layout.
    (
        "image-load-store-uint-coord.asm.frag.spv",
        "storage_texel_buffer",
    ),
    // Written so that reflection has something to refuse.
    ("no_binding.spvasm.spv", "no Binding decoration"),
    // More than some devices can take.
    ("push132.comp.spv", "maxPushConstantsSize is 128"),
    ("many.comp.spv", "maxPushDescriptors is 32"),
    ("hlsl/localsize.spv", "[16, 24, 4] threads"),
];

/// Modules that make the validation layer (1.3.239 is the reference) speak: end of the path, and why neither the layouts nor
/// the pipelines are to blame.
const INVALID: &[(&str, &str)] = &[
    (
        "-ssbo-1.asm.comp.spv",
        "lists a buffer in its interface, which SPIR-V permits since 1.4 only",
    ),
    ("issues/353/long_name.spv", "BufferBlock in SPIR-V 1.6"),
    (
        "push_constants/pointer_in_struct.spv",
        "written by Slang, a language that the layer is too old to know",
    ),
    (
        "push_constants/push_constant_basic_2.spv",
        "written by Slang, as above",
    ),
    (
        "variable_access/copy_array_1.spv",
        "written by Slang, as above",
    ),
    (
        "spec_constants/convert.spv",
        "UConvert of a spec constant before SPIR-V 1.4",
    ),
    (
        "modules/debug_info.spvasm.spv",
        "names a buffer in debug instructions alone, which the layer takes for a use",
    ),
    (
        "modules/nested_array.comp.spv",
        "arrays of arrays of descriptors, which Vulkan forbids",
    ),
    (
        "modules/spec_array.comp.spv",
        "an array of arrays of descriptors, as above",
    ),
    (
        "spec_sizes.comp.spv",
        "members overlap once the array has its size: glslang lays it out as one element",
    ),
];

/// What became of one step with one module.
enum Outcome {
    Accepted,
    /// The device has not switched on these features.
    Unsupported(Vec<String>),
    Refused(String),
}

#[derive(Default)]
struct Tally {
    tried: usize,
    accepted: usize,
    unsupported: BTreeMap<String, usize>,
    refused: Vec<(String, String)>,
}

impl Tally {
    fn count(&mut self, file: &str, outcome: Outcome) {
        self.tried += 1;
        match outcome {
            Outcome::Accepted => self.accepted += 1,
            Outcome::Unsupported(features) => {
                for feature in features {
                    *self.unsupported.entry(feature).or_default() += 1;
                }
            }
            Outcome::Refused(reason) => self.refused.push((file.to_owned(), reason)),
        }
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} modules tried, {} accepted",
            self.tried, self.accepted
        );
        for (feature, count) in &self.unsupported {
            println!("  {count:>3} without {feature}");
        }
        for (file, reason) in &self.refused {
            println!("  {file}: {reason}");
        }
    }
}

#[test]
fn every_module_gets_its_layouts() {
    let gpu = gpu();
    let (mut sets, mut pipelines) = (Tally::default(), Tally::default());
    let mut said = Vec::new();
    for file in FOLDERS.iter().flat_map(|folder| modules(folder)) {
        let name = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
        let name = name.display().to_string();
        let shader = match Shader::new(&name, &std::fs::read(&file).unwrap()) {
            Ok(shader) => shader,
            Err(error) => {
                sets.count(&name, Outcome::Refused(error.to_string()));
                continue;
            }
        };
        sets.count(&name, set_layouts(&gpu, &shader));
        if shader.interface().entry_points[0].stage == Stage::Compute && can_be_pushed(&shader) {
            pipelines.count(&name, pipeline(&gpu, &shader));
        }
        for message in gpu.take_messages() {
            said.push((name.clone(), message));
        }
    }
    sets.print("set layouts");
    pipelines.print("compute pipelines");

    let refused: Vec<_> = sets.refused.iter().chain(&pipelines.refused).collect();
    let unexpected: Vec<_> = refused
        .iter()
        .filter(|(file, reason)| {
            !REFUSED
                .iter()
                .any(|(end, part)| file.ends_with(end) && reason.contains(part))
        })
        .collect();
    assert!(unexpected.is_empty(), "refused: {unexpected:#?}");
    for (file, reason) in INVALID {
        let count = said.len();
        said.retain(|(name, _)| !name.ends_with(file));
        println!("{file}: {} messages: {reason}", count - said.len());
    }
    assert!(said.is_empty(), "validation said: {said:#?}");
    assert!(sets.accepted >= 60, "only {} accepted", sets.accepted);
}

#[test]
fn runtime_arrays_want_a_count() {
    let gpu = gpu();
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../spirv/tests/modules/runtime_array.frag.spv");
    let shader = Shader::new("runtime_array.frag", &std::fs::read(file).unwrap()).unwrap();
    assert_eq!(missing_features(&gpu, &shader), [""; 0]);
    let refused = create_set_layouts(&gpu, &[&shader], &SetLayoutsDesc::default());
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("is a runtime array") && message.contains("runtime_count"),
        "{message}"
    );
    // More than the device takes is cut down to what it does.
    for runtime_count in [7, u32::MAX] {
        let desc = SetLayoutsDesc { runtime_count };
        for layout in create_set_layouts(&gpu, &[&shader], &desc).unwrap() {
            // SAFETY: just made, and used by nothing.
            unsafe { gpu.raw_device().destroy_descriptor_set_layout(layout, None) };
        }
    }
}

/// Features that the first entry point needs and the device has not switched on.
fn missing_features(gpu: &TestGpu, shader: &Shader) -> Vec<String> {
    let enabled = &gpu.info().enabled;
    required_features(shader.interface(), &shader.interface().entry_points[0])
        .into_iter()
        .filter(|feature| !enabled.contains(&feature.name))
        .map(|feature| format!("{} ({})", feature.name, feature.reason))
        .collect()
}

fn set_layouts(gpu: &TestGpu, shader: &Shader) -> Outcome {
    let missing = missing_features(gpu, shader);
    if !missing.is_empty() {
        return Outcome::Unsupported(missing);
    }
    let desc = SetLayoutsDesc { runtime_count: 100 };
    match create_set_layouts(gpu, &[shader], &desc) {
        Ok(layouts) => {
            for layout in layouts {
                // SAFETY: just made, and used by nothing.
                unsafe { gpu.raw_device().destroy_descriptor_set_layout(layout, None) };
            }
            Outcome::Accepted
        }
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

fn pipeline(gpu: &TestGpu, shader: &Shader) -> Outcome {
    let made = gpu.compute_pipeline(&ComputePipelineDesc {
        name: shader.name(),
        shader,
        constants: &[],
    });
    match made {
        Ok(_) => Outcome::Accepted,
        Err(Error::Shader(impel_spirv::Error::MissingFeature { feature, .. })) => {
            Outcome::Unsupported(vec![feature])
        }
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

/// Whether all bindings are in set 0 and none is a runtime array.
fn can_be_pushed(shader: &Shader) -> bool {
    let interface = shader.interface();
    interface.entry_points[0].bindings.iter().all(|used| {
        let count = interface.bindings[used.index].count;
        used.set == Some(0) && count != impel_spirv::Count::Runtime
    })
}

/// The `.spv` files of a folder and below, sorted.
fn modules(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "spv") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "no modules in {folder}");
    files.sort();
    files
}
