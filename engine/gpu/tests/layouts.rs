//! Set layouts and compute pipelines of every module that `impel-spirv` is tested with, on the real device: what reflection
//! says of a module must be what the driver and the validation layer see in it.
//!
//! Set layouts are tried for every module, pipelines for compute modules whose sets can be pushed.

use impel_gpu::testing::{TestGpu, gpu};
use impel_gpu::{ComputePipelineDesc, Error, Shader, create_set_layouts};
use impel_spirv::{Stage, required_features};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders with modules, relative to this crate.
const FOLDERS: &[&str] = &[
    "../spirv/tests/data",
    "../spirv/tests/modules",
    "tests/shaders",
];

/// Modules that must be refused although the device has all they need: end of the path, part of the message.
const REFUSED: &[(&str, &str)] = &[];

/// Modules that make the validation layer speak, and why that is the module's own fault.
const INVALID: &[(&str, &str)] = &[];

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
        println!("{file} is invalid itself: {reason}");
    }
    said.retain(|(file, _)| !INVALID.iter().any(|(end, _)| file.ends_with(end)));
    assert!(said.is_empty(), "validation said: {said:#?}");
    assert!(sets.accepted >= 60, "only {} accepted", sets.accepted);
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
    match create_set_layouts(gpu, &[shader]) {
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
