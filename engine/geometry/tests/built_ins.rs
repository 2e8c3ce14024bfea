//! Built-in meshes: exact counts, closed, wound outwards, the same everywhere.

mod common;

use std::collections::HashMap;

use common::processed;
use glam::{DVec3, Vec3};
use impel_geometry::builtin::{CLOUD, FIELD, MAX_TRIANGLES};
use impel_geometry::{BuiltIn, Error, Shape, SourceMesh, normalise};

/// Each undirected edge, by position, with how often it is run through one way and the other.
fn edges(mesh: &SourceMesh) -> HashMap<[[u32; 3]; 2], [u32; 2]> {
    let position = |index: u32| {
        mesh.vertices[index as usize]
            .position
            .map(|value| (value + 0.0).to_bits())
    };
    let mut edges = HashMap::new();
    for t in mesh.indices.chunks_exact(3) {
        for k in 0..3 {
            let (from, to) = (position(t[k]), position(t[(k + 1) % 3]));
            let counts: &mut [u32; 2] = edges.entry([from.min(to), from.max(to)]).or_default();
            counts[usize::from(from > to)] += 1;
        }
    }
    edges
}

fn volume(mesh: &SourceMesh) -> f64 {
    let corner = |index: u32| Vec3::from(mesh.vertices[index as usize].position).as_dvec3();
    mesh.indices
        .chunks_exact(3)
        .map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0)
        .sum()
}

#[test]
fn standard_workloads_have_their_counts() {
    let counts: Vec<_> = CLOUD
        .iter()
        .chain([&FIELD])
        .map(|built_in| built_in.generate().unwrap().triangle_count())
        .collect();
    assert_eq!(counts, [4952, 146_325, 24_126, 28_944]);
    // And keep them: nothing is degenerate, before or after quantisation.
    let counts: Vec<_> = CLOUD
        .iter()
        .chain([&FIELD])
        .map(|built_in| processed(&built_in.generate().unwrap()).lods[0].triangle_count)
        .collect();
    assert_eq!(counts, [4952, 146_325, 24_126, 28_944]);
}

#[test]
fn every_shape_is_closed_and_wound_outwards() {
    for shape in Shape::ALL {
        let least = shape.min_triangles();
        for triangles in [
            least,
            least + 1,
            least + 2,
            least + 57,
            4952,
            10_000,
            24_126,
            99_999,
            146_325,
        ] {
            let mesh = BuiltIn { shape, triangles }.generate().unwrap();
            let name = &mesh.name;
            assert_eq!(mesh.triangle_count(), triangles as usize, "{name}");
            mesh.check().unwrap();
            let open = edges(&mesh)
                .values()
                .filter(|counts| **counts != [1, 1])
                .count();
            // The odd triangle has three edges of its own.
            assert_eq!(open, if triangles % 2 == 1 { 3 } else { 0 }, "{name}");
            assert!(volume(&mesh) > 0.05, "{name}: volume {}", volume(&mesh));
            let radius = mesh.radius_about(mesh.mean_vertex());
            assert!((radius - 1.0).abs() < 1e-5, "{name}: radius {radius}");
        }
    }
}

#[test]
fn normals_agree_with_the_winding() {
    for shape in Shape::ALL {
        let mesh = BuiltIn {
            shape,
            triangles: 20_000,
        }
        .generate()
        .unwrap();
        let mut against = 0;
        for t in mesh.indices.chunks_exact(3) {
            let corner = |k: usize| Vec3::from(mesh.vertices[t[k] as usize].position).as_dvec3();
            let face: DVec3 = (corner(1) - corner(0))
                .cross(corner(2) - corner(0))
                .normalize();
            for &k in t {
                let normal = Vec3::from(mesh.vertices[k as usize].normal).as_dvec3();
                assert!((normal.length() - 1.0).abs() < 1e-5);
                against += usize::from(normal.dot(face) < 0.2);
            }
        }
        assert!(against < 20, "{}: {against} corners", mesh.name);
    }
}

#[test]
fn the_knot_does_not_touch_itself() {
    let (rings, around) = (268, 54);
    let mesh = FIELD.generate().unwrap();
    assert_eq!(mesh.vertices.len(), rings * around);
    let ring = |k: usize| &mesh.vertices[k * around..(k + 1) * around];
    let centre = |k: usize| {
        ring(k)
            .iter()
            .map(|vertex| Vec3::from(vertex.position))
            .sum::<Vec3>()
            / around as f32
    };
    let radius = |k: usize| {
        ring(k)
            .iter()
            .map(|vertex| Vec3::from(vertex.position).distance(centre(k)))
            .fold(0.0, f32::max)
    };
    for a in 0..rings {
        for b in 0..a {
            // Neighbours along the tube are allowed to be near.
            if (a - b).min(rings - (a - b)) > rings / 8 {
                assert!(
                    centre(a).distance(centre(b)) > radius(a) + radius(b),
                    "rings {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn large_counts() {
    for shape in Shape::ALL {
        let mesh = BuiltIn {
            shape,
            triangles: 1_000_001,
        }
        .generate()
        .unwrap();
        assert_eq!(mesh.triangle_count(), 1_000_001, "{}", shape.name());
    }
}

#[test]
fn names() {
    for shape in Shape::ALL {
        let built_in = BuiltIn {
            shape,
            triangles: 5000,
        };
        assert_eq!(built_in.to_string().parse::<BuiltIn>().unwrap(), built_in);
    }
    for (text, expected) in [
        ("gear", "expected shape:triangles"),
        (
            "teapot:100",
            "expected one of torus-knot, asteroid, gear, column, building, found teapot",
        ),
        ("gear:many", "expected a number of triangles, found many"),
    ] {
        let message = text.parse::<BuiltIn>().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    for triangles in [0, 10, MAX_TRIANGLES + 1] {
        let error = BuiltIn {
            shape: Shape::Gear,
            triangles,
        }
        .generate()
        .unwrap_err();
        assert!(matches!(error, Error::BuiltIn { .. }), "{error}");
    }
}

#[test]
fn generation_is_repeatable() {
    for built_in in CLOUD {
        assert_eq!(built_in.generate().unwrap(), built_in.generate().unwrap());
    }
}

#[test]
fn normalising() {
    let mut mesh = FIELD.generate().unwrap();
    for vertex in &mut mesh.vertices {
        vertex.position[0] += 7.0;
    }
    normalise(&mut mesh, 0.597_893).unwrap();
    assert!(DVec3::from(mesh.mean_vertex()).length() < 1e-6);
    assert!((mesh.radius_about(mesh.mean_vertex()) - 0.597_893).abs() < 1e-6);
    for radius in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(
            normalise(&mut mesh, radius),
            Err(Error::Settings { .. })
        ));
    }
}
