//! Any bytes as a module: reflect, then use what was described.
#![no_main]

use impel_spirv::{MergeLimits, MissingBindings, Options, StageInput, merge, reflect_with, to_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(interface) = reflect_with(bytes, &Options { missing_bindings: MissingBindings::Assign }) else { return };
    if let Some(entry) = interface.entry_points.first() {
        let stage = StageInput { entry_point: &entry.name, ..StageInput::new("fuzz", &interface) };
        let _ = merge(&[stage], &MergeLimits::default());
    }
    let _ = to_json(&interface, "fuzz");
});
