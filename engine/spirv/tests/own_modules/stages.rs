//! Entry points, stage inputs and outputs.

use impel_spirv::{Access, MeshLimits, SpecDependent, SpecValue, Stage, Topology};

use crate::common::{ranges, reflect};
use crate::{located, row};

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
fn local_size_from_spec_constants() {
    let interface = reflect("local_size_spec.comp");
    let size = interface.entry_points[0].local_size.unwrap();
    assert_eq!(
        size.map(|axis| (axis.value, axis.spec_id)),
        [(16, Some(5)), (4, None), (2, Some(6))]
    );
    assert_eq!(interface.entry_points[0].spec_ids[..], [5, 6]);
    let x = &interface.spec_constants[0];
    assert_eq!((x.id, x.default), (5, SpecValue::U32(16)));
    assert!(x.sizes.contains(&SpecDependent::LocalSize {
        entry_point: "main".into(),
        axis: 0
    }));
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
            .map(|used| interface.bindings[used.index].name.to_string())
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
        interface.bindings[0].access_by_stage[..],
        [(Stage::Vertex, Access::Read)]
    );
}
