//! Layouts of blocks, sizes, specialisation constants.

use impel_spirv::{Access, Dim, SpecValue, Type};

use crate::common::{ranges, reflect};
use crate::{at, members, used_members};

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
    assert_eq!(
        interface.entry_points[0].spec_ids[..],
        [0, 1, 2, 3, 4, 5, 6]
    );
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
