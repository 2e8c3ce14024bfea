//! Kinds, counts and numbers of resources.

use impel_spirv::{
    Access, Binding, Count, DescriptorType, Dim, MissingBindings, Options, SpecDependent,
    SpecValue, Stage, reflect_with,
};

use crate::common::{bytes, ranges, reflect};
use crate::{at, binding, members};

#[test]
fn runtime_descriptor_arrays() {
    let interface = reflect("runtime_array.frag");
    let textures = binding(&interface, "textures");
    assert_eq!(
        (textures.set, textures.count, &textures.dims[..]),
        (Some(1), Count::Runtime, &[Dim::Runtime][..])
    );
    assert_eq!(textures.access, Access::Read);
    let samplers = binding(&interface, "samplers");
    assert_eq!(
        (samplers.descriptor_type, samplers.count),
        (DescriptorType::Sampler, Count::Fixed(4))
    );
    assert_eq!(textures.sampled_with[..], [samplers.spirv_id]);
    assert_eq!(samplers.sampled_with[..], [textures.spirv_id]);

    let fixed = reflect("unsized_constant.frag");
    assert_eq!(binding(&fixed, "textures").count, Count::Fixed(3));
}

#[test]
fn descriptor_arrays_sized_by_spec_constants() {
    let interface = reflect("spec_array.comp");
    let count = |name: &str, values: &[(u32, SpecValue)]| match binding(&interface, name).count {
        Count::Spec {
            expression,
            default,
        } => (
            default,
            interface.types.evaluate_length(expression, values).unwrap(),
        ),
        other => panic!("{other:?}"),
    };
    assert_eq!(count("images", &[]), (4, 4));
    assert_eq!(count("images", &[(7, SpecValue::I32(9))]), (4, 9));
    assert_eq!(count("grid", &[(2, SpecValue::I32(5))]), (6, 10));
    assert_eq!(
        count("more", &[(7, SpecValue::I32(1)), (2, SpecValue::I32(1))]),
        (11, 3)
    );
    let n = interface
        .spec_constants
        .iter()
        .find(|constant| constant.id == 7)
        .unwrap();
    assert_eq!((n.name.as_str(), n.default), ("N", SpecValue::I32(4)));
    assert!(n.sizes.contains(&SpecDependent::Descriptors(
        binding(&interface, "images").spirv_id
    )));
    assert!(n.sizes.contains(&SpecDependent::Descriptors(
        binding(&interface, "more").spirv_id
    )));
    assert!(!n.sizes.contains(&SpecDependent::Descriptors(
        binding(&interface, "grid").spirv_id
    )));
}

#[test]
fn arrays_of_arrays_of_buffers() {
    let interface = reflect("nested_array.comp");
    let cells = binding(&interface, "cells");
    assert_eq!(
        (cells.count, &cells.dims[..]),
        (Count::Fixed(6), &[Dim::Fixed(2), Dim::Fixed(3)][..])
    );
    assert_eq!(
        (cells.descriptor_type, cells.block_size),
        (DescriptorType::StorageBuffer, Some(48))
    );
    assert_eq!(
        members(&interface, cells),
        [("head", 0, 4, 0, 0), ("tail", 16, 32, 16, 0)]
    );
    assert_eq!(ranges(cells.active.as_ref().unwrap()), [(0, 4), (32, 16)]);
    assert_eq!(cells.access, Access::Write);
}

#[test]
fn aliases_are_grouped() {
    let interface = reflect("aliases.comp");
    let group: Vec<&Binding> = interface.bindings_at(0, 2).collect();
    assert_eq!(group.len(), 3);
    let ids: Vec<u32> = group.iter().map(|binding| binding.spirv_id).collect();
    for binding in &group {
        let mut others = ids.clone();
        others.retain(|id| *id != binding.spirv_id);
        others.sort_unstable();
        assert_eq!(
            (&binding.aliases[..], binding.access, binding.non_writable),
            (&others[..], Access::Read, true)
        );
    }
    let strides: Vec<u32> = group
        .iter()
        .map(|binding| members(&interface, binding)[0].3)
        .collect();
    assert_eq!(strides, [1, 2, 4]);
    assert_eq!(at(&interface, 0).access, Access::Write);
    assert!(at(&interface, 0).non_readable);
}

#[test]
fn texel_buffers_attachments_and_acceleration_structures() {
    let interface = reflect("texel_buffers.comp");
    let kinds: Vec<(DescriptorType, Access)> = interface
        .bindings
        .iter()
        .map(|binding| (binding.descriptor_type, binding.access))
        .collect();
    let uniform = (DescriptorType::UniformTexelBuffer, Access::Read);
    assert_eq!(
        kinds,
        [
            uniform,
            (DescriptorType::StorageTexelBuffer, Access::Write),
            uniform,
            uniform
        ]
    );

    let interface = reflect("attachments.frag");
    let found: Vec<_> = interface
        .bindings
        .iter()
        .map(|b| {
            (
                b.descriptor_type,
                b.input_attachment_index,
                b.image.as_ref().unwrap().multisampled,
                b.access,
            )
        })
        .collect();
    let kind = DescriptorType::InputAttachment;
    assert_eq!(
        found,
        [
            (kind, Some(3), false, Access::Read),
            (kind, Some(1), true, Access::Read)
        ]
    );

    let interface = reflect("ray_query.comp");
    assert_eq!(
        (at(&interface, 0).descriptor_type, at(&interface, 0).access),
        (DescriptorType::AccelerationStructure, Access::Read)
    );
    let interface = reflect("trace.rgen");
    assert_eq!(
        (
            interface.entry_points[0].stage,
            at(&interface, 0).access,
            at(&interface, 1).access
        ),
        (Stage::RayGeneration, Access::Read, Access::Write)
    );
    assert_eq!(reflect("hit.rchit").entry_points[0].stage.bit(), 0x400);
}

#[test]
fn decorations_through_groups() {
    let interface = reflect("decoration_group.spvasm");
    let buffer = binding(&interface, "buffer_of_group");
    assert_eq!(
        (buffer.set, buffer.binding, buffer.descriptor_type),
        (Some(0), Some(3), DescriptorType::StorageBuffer)
    );
    assert_eq!(
        members(&interface, buffer),
        [("", 0, 4, 0, 0), ("", 16, 96, 32, 0)]
    );
    assert!(buffer.non_writable);
    assert_eq!(
        (buffer.access, ranges(buffer.active.as_ref().unwrap())),
        (Access::Read, vec![(48, 4)])
    );
}

#[test]
fn names_are_not_needed() {
    let interface = reflect("stripped.spvasm");
    let entry = interface.entry_point("", None).unwrap();
    assert_eq!(entry.default_local_size(), Some([64, 1, 1]));
    let buffer = at(&interface, 2);
    assert_eq!(
        (
            buffer.name.as_str(),
            buffer.access,
            ranges(buffer.active.as_ref().unwrap())
        ),
        ("", Access::Write, vec![(8, 4)])
    );
}

#[test]
fn hlsl_counters_semantics_and_user_types() {
    let interface = reflect("counter.spvasm");
    let items = binding(&interface, "items");
    assert_eq!((items.counter, items.access), (Some((0, 5)), Access::Write));
    assert_eq!(
        (items.user_type.as_deref(), items.semantic.as_deref()),
        (Some("appendstructuredbuffer:<uint>"), Some("ITEMS"))
    );
    assert_eq!(
        binding(&interface, "counter.var.items").access,
        Access::ReadWrite
    );
}

#[test]
fn missing_bindings() {
    let module = bytes("no_binding.spvasm");
    let error = impel_spirv::reflect(&module).unwrap_err().to_string();
    assert!(
        error.contains("\"zebra\"") && error.contains("Binding"),
        "{error}"
    );
    let kept = reflect_with(
        &module,
        &Options {
            missing_bindings: MissingBindings::Keep,
        },
    )
    .unwrap();
    assert_eq!(
        (binding(&kept, "apple").set, binding(&kept, "other").set),
        (None, Some(3))
    );
    let assigned = reflect_with(
        &module,
        &Options {
            missing_bindings: MissingBindings::Assign,
        },
    )
    .unwrap();
    let numbers: Vec<_> = assigned
        .bindings
        .iter()
        .map(|binding| {
            (
                binding.name.as_str(),
                binding.set.unwrap(),
                binding.binding.unwrap(),
            )
        })
        .collect();
    assert_eq!(
        numbers,
        [
            ("apple", 0, 0),
            ("fixed", 0, 1),
            ("zebra", 0, 2),
            ("other", 3, 0)
        ]
    );
}

#[test]
fn either_byte_order() {
    for module in ["payload.mesh", "linked_list.comp", "debug_info.spvasm"] {
        let little = bytes(module);
        let big: Vec<u8> = little
            .chunks(4)
            .flat_map(|word| word.iter().rev().copied().collect::<Vec<_>>())
            .collect();
        assert_ne!(little, big);
        assert_eq!(impel_spirv::reflect(&little), impel_spirv::reflect(&big));
    }
}
