//! What code uses, reads and writes.

use impel_spirv::{Access, DescriptorType, Stage};

use crate::common::{ranges, reflect};
use crate::{at, binding, used_members};

#[test]
fn images_and_samplers_are_paired_by_call() {
    let interface = reflect("sampled_with.frag");
    let id = |name: &str| binding(&interface, name).spirv_id;
    assert_eq!(binding(&interface, "a").sampled_with[..], [id("s")]);
    assert_eq!(binding(&interface, "b").sampled_with[..], [id("t")]);
    assert_eq!(binding(&interface, "s").sampled_with[..], [id("a")]);
    assert_eq!(binding(&interface, "fetched").sampled_with[..], [0u32; 0]);
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
    assert_eq!(a.access_by_stage[..], [(Stage::Compute, Access::ReadWrite)]);
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
fn debug_information_is_no_use() {
    let interface = reflect("debug_info.spvasm");
    assert!(binding(&interface, "seen").used);
    assert!(!binding(&interface, "named").used);
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
