//! Modules of our own against facts worked out by hand.

#[path = "../common/mod.rs"]
mod common;
mod layouts;
mod resources;
mod stages;
mod usage;

use impel_spirv::{Binding, Interface, InterfaceVariable};

pub(crate) fn binding<'a>(interface: &'a Interface, name: &str) -> &'a Binding {
    interface
        .bindings
        .iter()
        .find(|binding| binding.name == name)
        .unwrap_or_else(|| panic!("no binding {name}"))
}

/// The binding of a block without an instance name, by number in set 0.
pub(crate) fn at(interface: &Interface, number: u32) -> &Binding {
    interface.bindings_at(0, number).next().unwrap()
}

/// (name, location, component, locations, format) of each variable that is no built-in.
pub(crate) fn located(variables: &[InterfaceVariable]) -> Vec<(&str, u32, u32, u32, String)> {
    let user = variables
        .iter()
        .filter(|variable| variable.built_in.is_none());
    user.map(|v| {
        (
            v.name.as_str(),
            v.location.unwrap(),
            v.component.unwrap_or(0),
            v.locations,
            v.format.map(|format| format.name()).unwrap_or_default(),
        )
    })
    .collect()
}

pub(crate) fn row<'a>(
    name: &'a str,
    location: u32,
    component: u32,
    locations: u32,
    format: &str,
) -> (&'a str, u32, u32, u32, String) {
    (name, location, component, locations, format.to_owned())
}

/// (name, offset, size, array stride, matrix stride) of a block's members.
pub(crate) fn members<'a>(
    interface: &'a Interface,
    binding: &Binding,
) -> Vec<(&'a str, u32, u64, u32, u32)> {
    let block = interface.types.get_struct(binding.block.unwrap()).unwrap();
    block
        .members
        .iter()
        .map(|m| {
            (
                m.name.as_str(),
                m.offset.unwrap(),
                m.size,
                m.array_stride.unwrap_or(0),
                m.matrix_stride.unwrap_or(0),
            )
        })
        .collect()
}

pub(crate) fn used_members<'a>(interface: &'a Interface, binding: &Binding) -> Vec<&'a str> {
    let block = interface.types.get_struct(binding.block.unwrap()).unwrap();
    block
        .members
        .iter()
        .filter(|member| member.used)
        .map(|member| member.name.as_str())
        .collect()
}

/// Optimised modules (glslang's output after spirv-opt, names stripped) say the same about everything that they still use.
#[test]
fn optimisation_changes_no_facts() {
    let folder = common::folder().join("optimised");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let source = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let optimised = impel_spirv::reflect(&std::fs::read(&path).unwrap()).unwrap();
        let plain = common::reflect(&source);
        assert_eq!(facts(&plain), facts(&optimised), "{source}");
        compared += 1;
    }
    assert!(compared > 40, "{compared} modules");
}

/// What optimisation must not change, as text: bindings in use, stage interfaces, push constants.
fn facts(interface: &Interface) -> Vec<String> {
    let mut facts = Vec::new();
    for found in interface.bindings.iter().filter(|binding| binding.used) {
        let place = (
            found.set,
            found.binding,
            found.descriptor_type,
            found.block_size,
        );
        let sampled = found.sampled_with.len();
        facts.push(format!(
            "{place:?} {:?} {:?} {sampled}",
            found.access_by_stage, found.active
        ));
    }
    // Aliases are in the order of their ids, which optimisation changes.
    facts.sort();
    for entry in &interface.entry_points {
        for variable in entry.inputs.iter().chain(&entry.outputs) {
            let place = (variable.location, variable.component, variable.locations);
            facts.push(format!(
                "{place:?} {:?} {:?}",
                variable.format, variable.built_in
            ));
            facts.push(format!(
                "{:?} {}",
                variable.interpolation, variable.per_primitive
            ));
        }
        let size = entry
            .local_size
            .map(|axes| axes.map(|axis| (axis.value, axis.spec_id)));
        facts.push(format!(
            "{size:?} {:?} {:?}",
            entry.mesh, entry.payload_size
        ));
        facts.push(format!("{:?} {:?}", entry.physical_access, entry.spec_ids));
        let push = entry.push_constants.as_ref();
        facts.push(format!(
            "{:?}",
            push.map(|block| (block.offset, block.size, &block.active))
        ));
    }
    facts
}
