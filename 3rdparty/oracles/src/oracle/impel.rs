//! `impel-spirv`.

use crate::facts::Facts;
use impel_spirv::{Count, MissingBindings, Options, reflect_with};

pub(super) fn facts(module: &[u8]) -> Result<Facts, String> {
    let options = Options {
        missing_bindings: MissingBindings::Keep,
    };
    let interface = reflect_with(module, &options).map_err(|error| error.to_string())?;
    let mut facts = Facts::default();
    for entry in &interface.entry_points {
        let path = facts.entry_point(&entry.name, entry.stage);
        if let Some(size) = entry.default_local_size() {
            facts.local_size(&path, size);
        }
        for (direction, variables) in [("input", &entry.inputs), ("output", &entry.outputs)] {
            for location in variables.iter().filter_map(|variable| variable.location) {
                facts.location(&path, direction, location);
            }
        }
    }
    for binding in &interface.bindings {
        let (Some(set), Some(number)) = (binding.set, binding.binding) else {
            continue;
        };
        let path = facts.binding(set, number, binding.descriptor_type.name());
        let count = match binding.count {
            Count::One => 1,
            Count::Fixed(count) | Count::Spec { default: count, .. } => count,
            Count::Runtime => 0,
        };
        facts.add(format!("{path}/count"), &count);
        if let Some(size) = binding.block_size {
            facts.add(format!("{path}/block size"), &size);
        }
        if let Some(size) = binding.padded_size {
            facts.add(format!("{path}/padded size"), &size);
        }
    }
    for block in &interface.push_constants {
        facts.push_constants(block.offset, Some(block.size));
    }
    for constant in &interface.spec_constants {
        facts.spec_constant(constant.id);
    }
    Ok(facts)
}
