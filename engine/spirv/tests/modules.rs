//! Modules of our own against facts worked out by hand.

mod common;

use common::{bytes, ranges, reflect};
use impel_spirv::{
    Access, Binding, Count, DescriptorType, Dim, Interface, InterfaceVariable, MeshLimits,
    MissingBindings, Options, SpecDependent, SpecValue, Stage, Topology, Type, reflect_with,
};

fn binding<'a>(interface: &'a Interface, name: &str) -> &'a Binding {
    interface
        .bindings
        .iter()
        .find(|binding| binding.name == name)
        .unwrap_or_else(|| panic!("no binding {name}"))
}

/// The binding of a block without an instance name, by number in set 0.
fn at(interface: &Interface, number: u32) -> &Binding {
    interface.bindings_at(0, number).next().unwrap()
}

/// (name, location, component, locations, format) of each variable that is no built-in.
fn located(variables: &[InterfaceVariable]) -> Vec<(&str, u32, u32, u32, String)> {
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

fn row<'a>(
    name: &'a str,
    location: u32,
    component: u32,
    locations: u32,
    format: &str,
) -> (&'a str, u32, u32, u32, String) {
    (name, location, component, locations, format.to_owned())
}

/// (name, offset, size, array stride, matrix stride) of a block's members.
fn members<'a>(interface: &'a Interface, binding: &Binding) -> Vec<(&'a str, u32, u64, u32, u32)> {
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

fn used_members<'a>(interface: &'a Interface, binding: &Binding) -> Vec<&'a str> {
    let block = interface.types.get_struct(binding.block.unwrap()).unwrap();
    block
        .members
        .iter()
        .filter(|member| member.used)
        .map(|member| member.name.as_str())
        .collect()
}

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
    assert_eq!(textures.sampled_with, [samplers.spirv_id]);
    assert_eq!(samplers.sampled_with, [textures.spirv_id]);

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
fn small_and_large_scalars() {
    let interface = reflect("small_types.comp");
    let block = at(&interface, 0);
    let expected = [
        ("a", 0, 1, 0, 0),
        ("b", 4, 3, 0, 0),
        ("c", 8, 2, 0, 0),
        ("d", 16, 6, 0, 0),
        ("e", 24, 8, 0, 0),
        ("f", 32, 8, 0, 0),
        ("g", 64, 24, 0, 0),
        ("h", 88, 5, 1, 0),
    ];
    assert_eq!(members(&interface, block), expected);
    assert_eq!(block.block_size, Some(93));
    assert_eq!(
        ranges(block.active.as_ref().unwrap()),
        [(0, 1), (24, 8), (91, 1)]
    );
    assert_eq!(used_members(&interface, block), ["a", "e", "h"]);
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
            (&binding.aliases, binding.access, binding.non_writable),
            (&others, Access::Read, true)
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
fn scalar_block_layout() {
    let interface = reflect("scalar_layout.comp");
    let vertices = at(&interface, 0);
    assert_eq!(members(&interface, vertices), [("vertices", 0, 0, 32, 0)]);
    let block = vertices.block.unwrap();
    assert_eq!(
        (
            interface.types.fixed_size(block),
            interface.types.size_for_count(block, 10)
        ),
        (0, Some(320))
    );
    // Index 7 is constant: its normal lies at 7 * 32 + 12. Element 0 stands for the dynamic index: uv.x is part of the leaf uv.
    assert_eq!(
        ranges(vertices.active.as_ref().unwrap()),
        [(24, 8), (236, 12)]
    );
    let result = at(&interface, 1);
    assert_eq!(
        members(&interface, result),
        [("sum", 0, 4, 0, 0), ("direction", 4, 12, 0, 0)]
    );
    assert_eq!(result.block_size, Some(16));
}

#[test]
fn task_and_mesh_stages() {
    let task = reflect("payload.task");
    let entry = &task.entry_points[0];
    assert_eq!(
        (entry.stage, entry.stage.bit(), entry.default_local_size()),
        (Stage::Task, 0x40, Some([32, 1, 1]))
    );
    assert_eq!((entry.payload_size, entry.mesh), (Some(132), None));
    let mesh = reflect("payload.mesh");
    let entry = &mesh.entry_points[0];
    assert_eq!(
        (entry.stage, entry.stage.bit(), entry.default_local_size()),
        (Stage::Mesh, 0x80, Some([64, 1, 1]))
    );
    assert_eq!(
        entry.mesh,
        Some(MeshLimits {
            max_vertices: 64,
            max_primitives: 124,
            topology: Topology::Triangles
        })
    );
    assert_eq!(entry.payload_size, Some(132));
    assert_eq!(
        located(&entry.outputs),
        [
            row("normals", 0, 0, 1, "R32G32B32_SFLOAT"),
            row("ids", 1, 0, 1, "R32_UINT")
        ]
    );
    let per_primitive: Vec<bool> = entry
        .outputs
        .iter()
        .take(2)
        .map(|output| output.per_primitive)
        .collect();
    assert_eq!(per_primitive, [false, true]);
    let lines = reflect("lines.mesh");
    assert_eq!(
        lines.entry_points[0].mesh,
        Some(MeshLimits {
            max_vertices: 16,
            max_primitives: 8,
            topology: Topology::Lines
        })
    );
    assert_eq!(lines.entry_points[0].default_local_size(), Some([8, 2, 1]));
    assert_eq!(lines.entry_points[0].payload_size, None);
}

#[test]
fn component_packing_and_wide_types() {
    let interface = reflect("components.vert");
    let entry = &interface.entry_points[0];
    let inputs = [
        row("a", 0, 0, 1, "R32G32_SFLOAT"),
        row("b", 0, 2, 1, "R32_SFLOAT"),
        row("c", 0, 3, 1, "R32_SFLOAT"),
        row("d", 1, 1, 1, "R32G32B32_SFLOAT"),
    ];
    assert_eq!(located(&entry.inputs), inputs);
    assert_eq!(
        located(&entry.outputs),
        [
            row("xyz", 0, 0, 1, "R32G32B32_SFLOAT"),
            row("w", 0, 3, 1, "R32_SFLOAT")
        ]
    );

    let wide = reflect("wide.vert");
    let inputs = [
        row("a", 0, 0, 1, "R64G64_SFLOAT"),
        row("b", 1, 0, 2, "R64G64B64_SFLOAT"),
        row("c", 3, 0, 4, "R64G64B64A64_SFLOAT"),
        row("d", 7, 0, 3, "R32G32B32_SFLOAT"),
        row("e", 10, 0, 3, "R32G32_SFLOAT"),
    ];
    assert_eq!(located(&wide.entry_points[0].inputs), inputs);
}

#[test]
fn interpolation_and_dual_source_outputs() {
    let interface = reflect("interpolation.frag");
    let entry = &interface.entry_points[0];
    let found: Vec<Option<String>> = entry
        .inputs
        .iter()
        .map(|input| {
            input
                .interpolation
                .map(|interpolation| interpolation.to_string())
        })
        .collect();
    let expected = [
        Some("flat"),
        Some("noperspective"),
        Some("centroid"),
        Some("sample"),
        Some("noperspective centroid"),
        None,
    ];
    assert_eq!(found, expected.map(|text| text.map(str::to_owned)));
    let outputs: Vec<_> = entry
        .outputs
        .iter()
        .map(|output| (output.name.as_str(), output.location, output.index))
        .collect();
    assert_eq!(
        outputs,
        [("first", Some(0), Some(0)), ("second", Some(0), Some(1))]
    );
}

#[test]
fn blocks_of_outputs_are_listed_member_by_member() {
    let interface = reflect("blocks.vert");
    let entry = &interface.entry_points[0];
    let outputs = [
        row("surface.normal", 2, 0, 1, "R32G32B32_SFLOAT"),
        row("surface.inner.uv", 3, 0, 1, "R32G32_SFLOAT"),
        row("surface.inner.weights", 4, 0, 2, "R32_SFLOAT"),
        row("surface.material", 6, 0, 1, "R32_SINT"),
    ];
    assert_eq!(located(&entry.outputs), outputs);
    let used: Vec<bool> = entry
        .outputs
        .iter()
        .take(4)
        .map(|output| output.used)
        .collect();
    assert_eq!(used, [true, true, false, true]);
    let built_ins: Vec<String> = entry.built_ins.iter().map(ToString::to_string).collect();
    assert_eq!(built_ins, ["Position", "ClipDistance"]);
}

#[test]
fn tessellation_and_geometry() {
    let control = reflect("patches.tesc");
    let entry = &control.entry_points[0];
    assert_eq!(
        located(&entry.inputs),
        [row("position", 0, 0, 1, "R32G32B32_SFLOAT")]
    );
    assert_eq!(
        located(&entry.outputs),
        [
            row("control", 0, 0, 1, "R32G32B32_SFLOAT"),
            row("bounds", 1, 0, 2, "R32G32B32A32_SFLOAT")
        ]
    );
    assert!(
        entry
            .outputs
            .iter()
            .find(|output| output.name == "bounds")
            .unwrap()
            .patch
    );
    let evaluation = reflect("patches.tese");
    let entry = &evaluation.entry_points[0];
    assert_eq!(
        (entry.stage, entry.stage.name()),
        (Stage::TessellationEvaluation, "tess_eval")
    );
    assert_eq!(
        located(&entry.inputs),
        [
            row("control", 0, 0, 1, "R32G32B32_SFLOAT"),
            row("bounds", 1, 0, 2, "R32G32B32A32_SFLOAT")
        ]
    );
    let geometry = reflect("invocations.geom");
    let entry = &geometry.entry_points[0];
    assert_eq!((entry.stage, entry.invocations), (Stage::Geometry, Some(5)));
    assert_eq!(
        located(&entry.inputs),
        [row("uv", 0, 0, 1, "R32G32_SFLOAT")]
    );
    assert_eq!(entry.mesh, None);
}

#[test]
fn images_and_samplers_are_paired_by_call() {
    let interface = reflect("sampled_with.frag");
    let id = |name: &str| binding(&interface, name).spirv_id;
    assert_eq!(binding(&interface, "a").sampled_with, [id("s")]);
    assert_eq!(binding(&interface, "b").sampled_with, [id("t")]);
    assert_eq!(binding(&interface, "s").sampled_with, [id("a")]);
    assert_eq!(binding(&interface, "fetched").sampled_with, [0u32; 0]);
    let access = |name: &str| {
        (
            binding(&interface, name).used,
            binding(&interface, name).access,
        )
    };
    assert_eq!(access("sized_only"), (true, Access::None));
    for name in ["a", "b", "s", "t", "fetched", "combined"] {
        assert_eq!(access(name), (true, Access::Read), "{name}");
    }
    assert_eq!(
        binding(&interface, "combined").descriptor_type,
        DescriptorType::CombinedImageSampler
    );
}

#[test]
fn use_through_calls() {
    let interface = reflect("calls.comp");
    let a = binding(&interface, "a");
    assert_eq!(
        (a.access, ranges(a.active.as_ref().unwrap())),
        (Access::ReadWrite, vec![(0, 4), (16, 4)])
    );
    assert_eq!(used_members(&interface, a), ["x", "z"]);
    let b = binding(&interface, "b");
    assert_eq!(
        (b.access, ranges(b.active.as_ref().unwrap())),
        (Access::Read, vec![(4, 4)])
    );
    let c = binding(&interface, "c");
    assert_eq!(
        (c.used, c.access, ranges(c.active.as_ref().unwrap())),
        (false, Access::None, vec![])
    );
    assert_eq!(interface.entry_points[0].bindings.len(), 2);
    assert_eq!(a.access_by_stage, [(Stage::Compute, Access::ReadWrite)]);
}

#[test]
fn access_to_images() {
    let interface = reflect("image_access.comp");
    let access = |name: &str| binding(&interface, name).access;
    assert_eq!(access("read_only_by_code"), Access::Read);
    assert_eq!(access("written_by_code"), Access::Write);
    assert_eq!(access("counted"), Access::ReadWrite);
    assert_eq!(access("decorated"), Access::Read);
    assert_eq!(access("no_format"), Access::Write);
    assert_eq!(access("sized_only"), Access::None);
    let image = |name: &str| binding(&interface, name).image.clone().unwrap();
    assert_eq!(
        (
            image("counted").dim.name(),
            image("counted").arrayed,
            image("counted").format.unwrap().to_string()
        ),
        ("2d", true, "R32ui".to_owned())
    );
    assert_eq!(image("counted").sampled_type.unwrap().name(), "u32");
    assert_eq!(
        (image("decorated").dim.name(), image("no_format").format),
        ("3d", None)
    );
    assert!(
        binding(&interface, "decorated").non_writable
            && binding(&interface, "no_format").non_readable
    );
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
fn physical_pointers_form_a_graph() {
    let interface = reflect("linked_list.comp");
    let push = interface.entry_points[0].push_constants.clone().unwrap();
    assert_eq!((push.offset, push.size), (0, 24));
    assert_eq!(ranges(&push.active), [(0, 8)]);
    let block = interface.types.get_struct(push.block).unwrap();
    let Some(Type::Pointer { pointee, .. }) = interface.types.get(block.members[0].ty) else {
        panic!()
    };
    let node = interface.types.get_struct(*pointee).unwrap();
    let facts: Vec<_> = node
        .members
        .iter()
        .map(|member| {
            (
                member.name.as_str(),
                member.offset.unwrap(),
                member.size,
                member.used,
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            ("value", 0, 4, true),
            ("next", 8, 8, true),
            ("never", 16, 4, false)
        ]
    );
    // The graph has a cycle.
    let Some(Type::Pointer { pointee: again, .. }) = interface.types.get(node.members[1].ty) else {
        panic!()
    };
    assert_eq!(again, pointee);
    let entry = &interface.entry_points[0];
    assert_eq!(
        (entry.uses_physical_pointers, entry.physical_access),
        (true, Access::Read)
    );
    assert_eq!(
        reflect("physical_write.frag").entry_points[0].physical_access,
        Access::Write
    );
    assert_eq!(
        (
            reflect("push4.comp").entry_points[0].uses_physical_pointers,
            interface.addressing_model.to_string().as_str()
        ),
        (false, "PhysicalStorageBuffer64")
    );
}

#[test]
fn strides_come_from_decorations() {
    let interface = reflect("strides.comp");
    let block = at(&interface, 0);
    assert_eq!(
        members(&interface, block),
        [
            ("s0", 0, 4, 0, 0),
            ("s1", 16, 96, 48, 0),
            ("s2", 112, 4, 0, 0)
        ]
    );
    assert_eq!(block.block_size, Some(116));
    let uniform = at(&interface, 1);
    assert_eq!(
        members(&interface, uniform),
        [
            ("m", 0, 48, 0, 16),
            ("after", 48, 4, 0, 0),
            ("n", 64, 64, 32, 16)
        ]
    );
    assert_eq!(
        (uniform.block_size, uniform.padded_size),
        (Some(128), Some(128))
    );
    // s1[1][2] at 16 + 48 + 2 * 16.
    assert_eq!(
        ranges(block.active.as_ref().unwrap()),
        [(0, 4), (96, 4), (112, 4)]
    );

    let interface = reflect("matrices.comp");
    let block = at(&interface, 0);
    let found = interface.types.get_struct(block.block.unwrap()).unwrap();
    assert_eq!(
        members(&interface, block),
        [
            ("a", 0, 24, 0, 8),
            ("b", 32, 32, 0, 16),
            ("c", 64, 96, 48, 16),
            ("d", 160, 48, 0, 16)
        ]
    );
    let majors: Vec<_> = found
        .members
        .iter()
        .map(|member| member.row_major)
        .collect();
    assert_eq!(majors, [Some(true), Some(false), Some(true), Some(false)]);
    // A matrix is one leaf; of the array, only element 1 is read.
    assert_eq!(
        ranges(block.active.as_ref().unwrap()),
        [(0, 24), (32, 32), (112, 48)]
    );
    assert!(matches!(
        interface.types.get(found.members[0].ty),
        Some(Type::Matrix {
            columns: 2,
            rows: 3,
            ..
        })
    ));
}

#[test]
fn active_bytes() {
    let interface = reflect("active.comp");
    let block = at(&interface, 0);
    // table[2]; pairs[*].right; color; rest[5].left.
    assert_eq!(
        ranges(block.active.as_ref().unwrap()),
        [(12, 4), (24, 4), (32, 4), (40, 4), (48, 16), (104, 4)]
    );
    assert_eq!(
        used_members(&interface, block),
        ["table", "pairs", "color", "rest"]
    );
    assert_eq!(block.access, Access::ReadWrite);
    assert_eq!(used_members(&interface, at(&interface, 1)), ["result"]);

    let interface = reflect("dynamic_runtime.comp");
    assert_eq!(ranges(at(&interface, 0).active.as_ref().unwrap()), [(8, 4)]);

    let interface = reflect("whole_load.comp");
    assert_eq!(ranges(at(&interface, 0).active.as_ref().unwrap()), [(4, 8)]);
    assert_eq!(ranges(at(&interface, 1).active.as_ref().unwrap()), [(0, 8)]);

    let interface = reflect("length_only.comp");
    let items = at(&interface, 0);
    assert_eq!(
        (
            items.used,
            items.access,
            ranges(items.active.as_ref().unwrap())
        ),
        (true, Access::None, vec![])
    );

    let interface = reflect("copies.spvasm");
    let (source, target, sized) = (
        binding(&interface, "source"),
        binding(&interface, "target"),
        binding(&interface, "sized"),
    );
    assert_eq!(
        (source.access, ranges(source.active.as_ref().unwrap())),
        (Access::Read, vec![(0, 4), (16, 12)])
    );
    assert_eq!(
        (target.access, ranges(target.active.as_ref().unwrap())),
        (Access::Write, vec![(16, 12)])
    );
    assert_eq!((sized.used, sized.access), (true, Access::None));
}

#[test]
fn local_size_from_spec_constants() {
    let interface = reflect("local_size_spec.comp");
    let size = interface.entry_points[0].local_size.unwrap();
    assert_eq!(
        size.map(|axis| (axis.value, axis.spec_id)),
        [(16, Some(5)), (4, None), (2, Some(6))]
    );
    assert_eq!(interface.entry_points[0].spec_ids, [5, 6]);
    let x = &interface.spec_constants[0];
    assert_eq!((x.id, x.default), (5, SpecValue::U32(16)));
    assert!(x.sizes.contains(&SpecDependent::LocalSize {
        entry_point: "main".to_owned(),
        axis: 0
    }));
}

#[test]
fn types_and_defaults_of_spec_constants() {
    let interface = reflect("spec_types.comp");
    let found: Vec<_> = interface
        .spec_constants
        .iter()
        .map(|constant| (constant.id, constant.ty.name(), constant.default))
        .collect();
    let expected = [
        (0, "bool", SpecValue::Bool(true)),
        (1, "i32", SpecValue::I32(-3)),
        (2, "u32", SpecValue::U32(4_000_000_000)),
        (3, "f32", SpecValue::F32(0.5)),
        (4, "f64", SpecValue::F64(2.25)),
        (5, "i64", SpecValue::I64(-5_000_000_000)),
        (6, "u16", SpecValue::U16(65535)),
        (9, "i32", SpecValue::I32(1)),
    ];
    assert_eq!(found, expected);
    assert_eq!(interface.entry_points[0].spec_ids, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn sizes_follow_spec_constants() {
    let interface = reflect("spec_sizes.comp");
    let (storage, uniform) = (
        at(&interface, 0).block.unwrap(),
        at(&interface, 1).block.unwrap(),
    );
    let size = |block, n: i32| {
        interface
            .types
            .size_for_spec(block, &[(1, SpecValue::I32(n))])
    };
    // Offsets are fixed when the module is made (glslang counts one item): `last` at 8 lies within the items, 4 + 4 * 5.
    assert_eq!(
        (
            at(&interface, 0).block_size,
            size(storage, 2),
            size(storage, 4)
        ),
        (Some(24), 24, 40)
    );
    assert_eq!(
        (
            at(&interface, 1).block_size,
            size(uniform, 2),
            size(uniform, 10)
        ),
        (Some(32), 32, 160)
    );

    let interface = reflect("spec_op_sizes.spvasm");
    let block = at(&interface, 0).block.unwrap();
    let dims = |values: &[(u32, SpecValue)]| -> Vec<u64> {
        let members = &interface.types.get_struct(block).unwrap().members;
        let dims = members
            .iter()
            .map(|member| match interface.types.get(member.ty) {
                Some(Type::Array { dims, .. }) => match dims[0] {
                    Dim::Spec { expression, .. } => {
                        interface.types.evaluate_length(expression, values).unwrap()
                    }
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            });
        dims.collect()
    };
    assert_eq!(dims(&[]), [10, 7, 5]);
    assert_eq!(dims(&[(3, SpecValue::U32(6))]), [12, 7, 6]);
    assert_eq!(
        dims(&[(4, SpecValue::Bool(false)), (3, SpecValue::U32(2))]),
        [4, 2, 2]
    );
    let shared = &interface.spec_constants[0];
    assert_eq!(
        (
            shared.id,
            shared.name.as_str(),
            shared.spirv_ids.len(),
            interface.spec_constants.len()
        ),
        (3, "n", 2, 2)
    );
    // The WorkgroupSize built-in decides.
    let size = interface.entry_points[0].local_size.unwrap();
    assert_eq!(
        size.map(|axis| (axis.value, axis.spec_id)),
        [(10, None), (5, Some(3)), (2, None)]
    );
    let x = size[0].expression.unwrap();
    assert_eq!(
        interface
            .types
            .evaluate_length(x, &[(3, SpecValue::U32(8))]),
        Some(16)
    );
}

#[test]
fn push_constants_are_not_rounded() {
    let range = |module: &str| {
        let push = reflect(module).entry_points[0]
            .push_constants
            .clone()
            .unwrap();
        (push.offset, push.size)
    };
    assert_eq!(range("push4.comp"), (0, 4));
    assert_eq!(range("push8.vert"), (0, 8));
    assert_eq!(range("push8_at_8.frag"), (8, 8));
    assert_eq!(range("push64_at_16.vert"), (16, 64));
    let push = reflect("push64_at_16.vert").entry_points[0]
        .push_constants
        .clone()
        .unwrap();
    assert_eq!(ranges(&push.active), [(16, 64)]);
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
fn entry_points_that_share_a_name() {
    let interface = reflect("same_names.spvasm");
    let vertex = interface.entry_point("main", Some(Stage::Vertex)).unwrap();
    let fragment = interface
        .entry_point("main", Some(Stage::Fragment))
        .unwrap();
    let names = |entry: &impel_spirv::EntryPoint| -> Vec<String> {
        entry
            .bindings
            .iter()
            .map(|used| interface.bindings[used.index].name.clone())
            .collect()
    };
    assert_eq!(
        (names(vertex), names(fragment)),
        (vec!["first".to_owned()], vec!["second".to_owned()])
    );
    assert_eq!(
        ranges(&vertex.push_constants.as_ref().unwrap().active),
        [(0, 16)]
    );
    assert_eq!(
        ranges(&fragment.push_constants.as_ref().unwrap().active),
        [(16, 16)]
    );
    assert_eq!(ranges(&interface.push_constants[0].active), [(0, 32)]);
    let other = interface.entry_point("other", None).unwrap();
    assert_eq!(
        (other.push_constants.is_none(), other.default_local_size()),
        (true, Some([8, 4, 2]))
    );
    assert_eq!(
        interface.bindings[0].access_by_stage,
        [(Stage::Vertex, Access::Read)]
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
fn debug_information_is_no_use() {
    let interface = reflect("debug_info.spvasm");
    assert!(binding(&interface, "seen").used);
    assert!(!binding(&interface, "named").used);
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
fn variable_pointers_are_followed() {
    let interface = reflect("variable_pointers.spvasm");
    let facts = |name: &str| {
        (
            binding(&interface, name).access,
            ranges(binding(&interface, name).active.as_ref().unwrap()),
        )
    };
    assert_eq!(facts("a"), (Access::Read, vec![(4, 4)]));
    // Pointer arithmetic may reach any element of the array.
    assert_eq!(facts("b"), (Access::Read, vec![(0, 16)]));
    assert_eq!(facts("c"), (Access::Write, vec![(16, 4)]));
}

#[test]
fn decorations_limit_access() {
    let interface = reflect("decorated.comp");
    let facts = |number| {
        (
            at(&interface, number).access,
            at(&interface, number).non_writable,
            at(&interface, number).non_readable,
        )
    };
    assert_eq!(facts(0), (Access::ReadWrite, false, false));
    assert_eq!(facts(1), (Access::Read, true, false));
    assert_eq!(facts(2), (Access::Write, false, true));
    assert_eq!(facts(3), (Access::None, false, false));
    assert!(!at(&interface, 3).used);
    let block = interface
        .types
        .get_struct(at(&interface, 0).block.unwrap())
        .unwrap();
    let flags: Vec<_> = block
        .members
        .iter()
        .map(|member| (member.non_writable, member.non_readable))
        .collect();
    assert_eq!(flags, [(true, false), (false, true)]);
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
