//! Generated Rust is compiled here, against a stand-in for `impel-gpu`, and compared with what the layout rules say.
//!
//! `tests/shaders` is baked by hand: `impel bake engine/cli/tests/shaders --gpu-crate crate::gpu`. That it is fresh is
//! tested in `tool.rs`.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "modules are generated whole, to be public"
)]

use core::mem::offset_of;

/// What generated code needs of the crate it is compiled against.
mod gpu {
    #[derive(Clone, Copy)]
    pub struct Bound<'a>(pub &'a str);

    pub struct ShaderCode {
        pub name: &'static str,
        pub spirv: &'static [u8],
        pub refl: &'static [u8],
    }

    pub struct SlotList<'p>(pub &'p mut Vec<String>);

    impl SlotList<'_> {
        pub fn push(&mut self, bound: Bound<'_>) {
            self.0.push(bound.0.to_owned());
        }
    }

    pub trait Bindings {
        const NAMES: &'static [(u32, u32, &'static str)] = &[];
        fn slots(self, out: &mut SlotList<'_>);
    }
}

#[path = "shaders/src/generated/mod.rs"]
mod generated;

use generated::*;
use gpu::{Bindings as _, Bound, SlotList};

fn slots(bindings: impl gpu::Bindings) -> Vec<String> {
    let mut pushed = Vec::new();
    bindings.slots(&mut SlotList(&mut pushed));
    pushed
}

#[test]
fn std140_by_the_rules() {
    use std140::Block;
    // GLSL 4.60, 7.6.2.2: vec3 aligns to 16, array elements, columns and structs to 16, a scalar may follow a vec3.
    assert_eq!(offset_of!(Block, after_scalar), 16);
    assert_eq!(offset_of!(Block, in_its_padding), 28);
    assert_eq!(offset_of!(Block, scalars), 32);
    assert_eq!(offset_of!(Block, pairs), 80);
    assert_eq!(offset_of!(Block, matrix), 112);
    assert_eq!(offset_of!(Block, rows), 160);
    assert_eq!(offset_of!(Block, small), 208);
    assert_eq!(offset_of!(Block, lights), 240);
    assert_eq!(offset_of!(Block, one), 272);
    assert_eq!(offset_of!(Block, flag), 288);
    assert_eq!(offset_of!(Block, tail), 296);
    assert_eq!(offset_of!(Block, matrices), 304);
    assert_eq!(offset_of!(Block, last), 368);
    assert_eq!((size_of::<Block>(), size_of::<std140::Light>()), (372, 16));
    // Types, by what they can be set from.
    let block = Block {
        scalars: [[1.0, 0.0, 0.0, 0.0]; 3],
        matrix: [[1.0, 2.0, 3.0, 0.0]; 3],
        rows: [[1.0, 2.0, 3.0, 4.0]; 3],
        flag: 1,
        tail: [-1, 1],
        ..Block::default()
    };
    let floats: &[f32] = bytemuck::cast_slice(core::slice::from_ref(&block));
    assert_eq!(
        (floats[8], floats[12], floats[29], floats[43]),
        (1.0, 1.0, 2.0, 4.0)
    );
}

#[test]
fn std430_by_the_rules() {
    use std430::{Grid, List, Outer, Particle};
    // Arrays of scalars are tight, structs round to their largest alignment, vec3 still aligns to 16.
    assert_eq!(
        (
            offset_of!(List, scales),
            offset_of!(List, frames),
            List::PARTICLES_OFFSET
        ),
        (4, 16, 112)
    );
    assert_eq!((offset_of!(Particle, uv), size_of::<Particle>()), (16, 32));
    assert_eq!((offset_of!(Outer, count), size_of::<Outer>()), (32, 48));
    assert_eq!(
        (offset_of!(Grid, outers), offset_of!(Grid, precise_pair)),
        (32, 128)
    );
    let grid = Grid {
        cells: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        ..Grid::default()
    };
    assert_eq!(grid.outers[1].inner[1].weight, 0.0);
    assert_eq!(std430::Bindings::NAMES[3], (0, 3, "heap_of_vectors"));
}

#[test]
fn scalar_by_the_rules() {
    use scalar::{Odd, Outer, Tight, Wide};
    // Everything aligns to its own scalars.
    assert_eq!(
        (
            offset_of!(Tight, bytes),
            offset_of!(Tight, short_one),
            offset_of!(Tight, half_one)
        ),
        (36, 42, 44)
    );
    assert_eq!(
        (
            offset_of!(Tight, halves),
            offset_of!(Tight, matrix),
            offset_of!(Tight, big)
        ),
        (46, 52, 88)
    );
    assert_eq!(
        (
            offset_of!(Tight, real),
            offset_of!(Tight, signed_byte),
            offset_of!(Tight, odd)
        ),
        (96, 104, 108)
    );
    assert_eq!(
        (size_of::<Odd>(), size_of::<Wide>(), size_of::<Outer>()),
        (16, 16, 36)
    );
    let tight = Tight {
        matrix: [[1.0; 3]; 3],
        big: -1,
        real: 0.5,
        halves: [0x3c00; 3],
        ..Tight::default()
    };
    assert_eq!(tight.positions, [[0.0; 3]; 3]);
    // The front end puts the next member into the last byte's alignment, where Rust's struct would still be.
    assert_eq!(offset_of!(Tight, behind_odd), 122);
    assert_eq!(size_of_val(&tight.odd), 13);
}

#[test]
fn pointers_are_addresses_and_what_they_lead_to_has_structs() {
    use pointers::{Node, Push, Vertex, VertexList};
    let push = Push {
        head: 0x1000_0000_0000,
        result: 8,
        limit: 3,
    };
    assert_eq!((size_of_val(&push), offset_of!(Push, limit)), (20, 16));
    let node = Node {
        next: push.head,
        lists: [1, 2],
        value: 7,
        ..Node::default()
    };
    assert_eq!((size_of_val(&node), node.padding_28), (32, 0));
    assert_eq!(
        (
            VertexList::VERTICES_OFFSET,
            size_of::<VertexList>(),
            size_of::<Vertex>()
        ),
        (4, 4, 16)
    );
    assert!(slots(pointers::Bindings).is_empty());
    assert!(<pointers::Bindings as gpu::Bindings>::NAMES.is_empty());
}

#[test]
fn slots_come_by_binding_with_arrays_spread_out() {
    let [a, b, c, d] = [Bound("a"), Bound("b"), Bound("c"), Bound("d")];
    let bindings = descriptors::Bindings {
        target: d,
        combined: [a, b, c, d],
        volume: a,
        clamped: b,
        counters: c,
        weights: d,
        layers: &[a, b],
        parts: [c, d],
    };
    assert_eq!(slots(bindings).concat(), "abcdabcdabcdd");
    let numbers: Vec<u32> = descriptors::Bindings::NAMES
        .iter()
        .map(|(_, binding, _)| *binding)
        .collect();
    assert_eq!(
        numbers,
        [0, 2, 3, 5, 6, 7, 8, 9],
        "set 1, the heap, is not among them"
    );
}

#[test]
fn names_that_are_taken_stay_usable() {
    let value = names::Vec3OfSomething {
        camel_case: 1.0,
        http_port: 2.0,
        snake_case: 3.0,
        snake_case_2: 4.0,
    };
    let block = names::BlockB {
        data: names::SelfData { r#ref: 1 },
        extra: 2,
    };
    assert_eq!(bytemuck::cast::<_, [f32; 4]>(value), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(bytemuck::cast::<_, [u32; 2]>(block), [1, 2]);
    let x = Bound("x");
    let bindings = names::Bindings {
        r#match: x,
        self_: x,
        r#loop: x,
        loop_2: Bound("y"),
        push_buffer: x,
    };
    assert_eq!(slots(bindings).concat(), "xxxyx");
}

#[test]
fn push_constants_of_all_stages_are_one_struct() {
    use push_ranges::Push;
    // [16, 32) of one stage and [48, 68) of the other.
    assert_eq!(
        (
            size_of::<Push>(),
            offset_of!(Push, tint),
            offset_of!(Push, alpha)
        ),
        (52, 32, 48)
    );
    assert_eq!(size_of::<task_mesh::Push>(), 8);
}

#[test]
fn local_sizes_and_constants() {
    assert_eq!(std430::LOCAL_SIZE, [8, 4, 2]);
    assert_eq!(
        (task_mesh::LOCAL_SIZE, task_mesh::MESH_LOCAL_SIZE),
        ([32, 1, 1], [3, 1, 1])
    );
    assert_eq!(specialised::LOCAL_SIZE, [16, 2, 1]);
    use specialised::constants;
    assert_eq!(
        [
            constants::THRESHOLD,
            constants::LATE,
            constants::STEPS,
            constants::LENGTH
        ],
        [2, 7, 3, 9]
    );
    assert_eq!(std140::LOCAL_SIZE[0], config::GROUP_SIZE);
    assert_eq!(
        (config::MANY, config::SCALE, config::OFFSET, config::ENABLED),
        (1 << 20, 0.125, -3, true)
    );
}

#[test]
fn structs_that_programs_have_alike_are_one_type() {
    let inner: types::Inner = std430::Inner {
        direction: [1.0, 2.0, 3.0],
        weight: 4.0,
    };
    let outer = scalar::Outer {
        inner: [inner; 2],
        count: 1,
    };
    // The same GLSL struct, laid out otherwise, is another type.
    assert_ne!(size_of_val(&outer), size_of::<std430::Outer>());
    let _: fn() -> specialised::Table = specialised_wide::Table::default;
}

#[test]
fn shaders_are_in_pipeline_order_and_their_reflection_belongs_to_them() {
    let all = [
        descriptors::SHADERS,
        names::SHADERS,
        pointers::SHADERS,
        push_ranges::SHADERS,
        scalar::SHADERS,
        specialised::SHADERS,
        specialised_wide::SHADERS,
        std140::SHADERS,
        std430::SHADERS,
        task_mesh::SHADERS,
    ];
    for shader in all.into_iter().flatten() {
        let hash = impel_spirv::spirv_hash(shader.spirv);
        let baked = impel_spirv::unbake(shader.refl, Some(hash), shader.name).unwrap();
        assert_eq!(
            baked,
            impel_spirv::reflect(shader.spirv).unwrap(),
            "{}",
            shader.name
        );
    }
    let names: Vec<&str> = task_mesh::SHADERS
        .iter()
        .map(|shader| shader.name)
        .collect();
    assert_eq!(
        names,
        ["task_mesh.task", "task_mesh.mesh", "task_mesh.frag"]
    );
    assert_eq!(
        specialised_wide::SHADERS[0].name,
        "specialised.comp+WIDE+STEP=2"
    );
}
