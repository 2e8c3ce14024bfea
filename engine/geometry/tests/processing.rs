//! LODs, meshlets, bounds and quantisation of processed meshes.

mod common;

use common::{Random, data, model, processed};
use glam::{DVec3, I64Vec3, Vec3};
use impel_geometry::builtin::{CLOUD, FIELD};
use impel_geometry::mesh::{MESHLET_MAX_TRIANGLES, MESHLET_MAX_VERTICES};
use impel_geometry::{
    BuiltIn, Error, Mesh, MeshSource, Meshlet, Settings, Shape, SourceMesh, SourceVertex,
    import_file, load, process,
};

fn meshes() -> Vec<Mesh> {
    let built_ins = CLOUD.into_iter().chain([
        FIELD,
        BuiltIn {
            shape: Shape::Building,
            triangles: 5000,
        },
    ]);
    let sources = built_ins.map(|built_in| built_in.generate().unwrap());
    sources
        .chain([model("kitten.obj"), model("spot.obj")])
        .map(|source| processed(&source))
        .collect()
}

/// Positions of a meshlet's triangles in steps of the grid.
fn triangles<'a>(mesh: &'a Mesh, meshlet: &'a Meshlet) -> impl Iterator<Item = [[u16; 3]; 3]> + 'a {
    let first = meshlet.triangle_offset as usize;
    mesh.meshlet_triangles[first..first + meshlet.triangle_count() as usize]
        .iter()
        .map(move |packed| {
            let [a, b, c, _] = packed.to_le_bytes();
            [a, b, c].map(|local| {
                let vertex =
                    mesh.meshlet_vertices[meshlet.vertex_offset as usize + usize::from(local)];
                mesh.vertices[vertex as usize].position
            })
        })
}

#[test]
fn kitten_has_niagaras_lods() {
    let mesh = processed(&model("kitten.obj"));
    let expected: [(f64, f64); 8] = [
        (28944.0, 0.0),
        (17366.0, 0.000_497),
        (10418.0, 0.001_106),
        (6250.0, 0.002_155),
        (3750.0, 0.004_094),
        (2250.0, 0.007_957),
        (1350.0, 0.016_634),
        (810.0, 0.042_646),
    ];
    assert_eq!(mesh.lods.len(), expected.len());
    for (lod, (triangles, error)) in mesh.lods.iter().zip(expected) {
        assert!(
            (f64::from(lod.triangle_count) / triangles - 1.0).abs() < 0.02,
            "{lod:?}"
        );
        // The table is cut off after six digits.
        assert!(
            f64::from(lod.error) < error + 1e-6,
            "{lod:?}, expected {error}"
        );
        assert!(
            f64::from(lod.error) >= error * 0.7,
            "{lod:?}, expected {error}"
        );
    }
    let radius = mesh.bounds.radius;
    assert!((radius - 0.597_893).abs() < 3e-5, "{radius}");
}

#[test]
fn field_radius_and_options() {
    let source = model("kitten.obj");
    let settings = Settings {
        normalise_radius: Some(0.597_893),
        max_lods: 3,
        ..Settings::default()
    };
    let mesh = process(&source, &settings, &|_| {}).unwrap();
    assert_eq!(mesh.lods.len(), 3);
    assert!((mesh.bounds.radius - 0.597_893).abs() < 3e-5);
    assert!(Vec3::from(mesh.bounds.centre).length() < 3e-5);
    for settings in [
        Settings {
            max_lods: 0,
            ..settings
        },
        Settings {
            max_lods: 9,
            ..settings
        },
        Settings {
            lod_ratio: f32::NAN,
            ..settings
        },
        Settings {
            lod_ratio: 1.0,
            ..settings
        },
        Settings {
            lod_stop_ratio: 0.5,
            ..settings
        },
        Settings {
            lod_max_error: -1.0,
            ..settings
        },
        Settings {
            normal_weight: f32::INFINITY,
            ..settings
        },
        Settings {
            cone_weight: 2.0,
            ..settings
        },
        Settings {
            normalise_radius: Some(0.0),
            ..settings
        },
    ] {
        assert!(
            matches!(
                process(&source, &settings, &|_| {}),
                Err(Error::Settings { .. })
            ),
            "{settings:?}"
        );
    }
}

#[test]
fn arrays_fit_together() {
    for mesh in meshes() {
        mesh.validate()
            .unwrap_or_else(|misfit| panic!("{}: {misfit:?}", mesh.name));
        let largest = mesh
            .meshlets
            .iter()
            .map(Meshlet::vertex_count)
            .max()
            .unwrap();
        assert!(largest as usize <= MESHLET_MAX_VERTICES);
        assert!(
            mesh.meshlets
                .iter()
                .all(|meshlet| meshlet.triangle_count() as usize <= MESHLET_MAX_TRIANGLES)
        );
        assert!(mesh.lods.len() > 1, "{}", mesh.name);
        for pair in mesh.lods.windows(2) {
            assert!(pair[1].error > pair[0].error, "{}: {pair:?}", mesh.name);
            assert!(
                f64::from(pair[1].triangle_count) < 0.85 * f64::from(pair[0].triangle_count),
                "{}: {pair:?}",
                mesh.name
            );
        }
        // Vertices lie in the order in which they are first read, and none is left over.
        let mut next = 0;
        for &vertex in &mesh.meshlet_vertices {
            assert!(vertex <= next);
            next = next.max(vertex + 1);
        }
        assert_eq!(next as usize, mesh.vertices.len());
        for meshlet in &mesh.meshlets {
            let first = meshlet.vertex_offset as usize;
            let mut vertices =
                mesh.meshlet_vertices[first..first + meshlet.vertex_count() as usize].to_vec();
            vertices.sort_unstable();
            assert!(
                vertices.windows(2).all(|pair| pair[0] < pair[1]),
                "a vertex twice in one meshlet"
            );
        }
    }
}

#[test]
fn lod_0_is_the_source_on_the_grid() {
    let canonical = |mut triangle: [[u16; 3]; 3]| {
        let least = (0..3).min_by_key(|&k| triangle[k]).unwrap();
        triangle.rotate_left(least);
        triangle
    };
    for source in [
        model("kitten.obj"),
        model("spot.obj"),
        FIELD.generate().unwrap(),
    ] {
        let mesh = processed(&source);
        let position = |index: u32| mesh.grid.encode(source.vertices[index as usize].position);
        let mut expected: Vec<_> = source
            .indices
            .chunks_exact(3)
            .map(|t| canonical([position(t[0]), position(t[1]), position(t[2])]))
            .collect();
        let first_lod = &mesh.meshlets[..mesh.lods[0].meshlet_count as usize];
        let mut found: Vec<_> = first_lod
            .iter()
            .flat_map(|meshlet| triangles(&mesh, meshlet))
            .map(canonical)
            .collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{}", source.name);
    }
}

#[test]
fn quantisation_is_exact_and_fine() {
    for mesh in meshes() {
        let (grid, mut least, mut greatest) = (mesh.grid, [u16::MAX; 3], [0; 3]);
        for vertex in &mesh.vertices {
            let decoded = grid.decode(vertex.position);
            for axis in 0..3 {
                let steps = f32::from(vertex.position[axis]);
                let exact = f64::from(grid.origin[axis]) + f64::from(grid.scale) * f64::from(steps);
                assert_eq!(f64::from(decoded[axis]), exact);
                assert_eq!(grid.scale.mul_add(steps, grid.origin[axis]), decoded[axis]);
                least[axis] = vertex.position[axis].min(least[axis]);
                greatest[axis] = vertex.position[axis].max(greatest[axis]);
            }
            assert_eq!(grid.encode(decoded), vertex.position);
            assert!((Vec3::from(vertex.normal()).length() - 1.0).abs() < 1e-6);
        }
        // At least half of the steps are used along the longest axis.
        assert!(
            greatest.into_iter().max().unwrap() >= 32766,
            "{}: {greatest:?}",
            mesh.name
        );
        assert!(
            least.into_iter().all(|step| step <= 1),
            "{}: {least:?}",
            mesh.name
        );
    }
}

#[test]
fn far_from_the_origin_the_grid_gets_coarser_but_stays_exact() {
    for offset in [0.0, 3.0, 1000.0, 1e6, 1e9, 1e17] {
        let mut source = CLOUD[0].generate().unwrap();
        let scale = if offset > 1e5 { offset / 100.0 } else { 1.0 };
        for vertex in &mut source.vertices {
            vertex.position = vertex.position.map(|value| value * scale + offset);
        }
        let mesh = processed(&source);
        let worst = source.vertices.iter().flat_map(|vertex| {
            let decoded = mesh.grid.decode(mesh.grid.encode(vertex.position));
            (0..3).map(move |axis| {
                (f64::from(decoded[axis]) - f64::from(vertex.position[axis])).abs()
            })
        });
        assert!(worst.fold(0.0, f64::max) <= f64::from(mesh.grid.scale) / 2.0);
        for vertex in &mesh.vertices {
            for (axis, &steps) in vertex.position.iter().enumerate() {
                let exact = f64::from(mesh.grid.origin[axis])
                    + f64::from(mesh.grid.scale) * f64::from(steps);
                assert_eq!(
                    f64::from(mesh.grid.decode(vertex.position)[axis]),
                    exact,
                    "offset {offset}"
                );
            }
        }
    }
}

#[test]
fn spheres_hold_every_decoded_vertex() {
    for mesh in meshes() {
        let inside = |centre: [f32; 3], radius: f32, position: [f32; 3]| {
            // In 64 bits, and in the 32 bits of a shader.
            let exact = Vec3::from(position)
                .as_dvec3()
                .distance(Vec3::from(centre).as_dvec3())
                <= f64::from(radius);
            exact && Vec3::from(position).distance(Vec3::from(centre)) <= radius
        };
        for vertex in &mesh.vertices {
            assert!(
                inside(
                    mesh.bounds.centre,
                    mesh.bounds.radius,
                    mesh.grid.decode(vertex.position)
                ),
                "{}",
                mesh.name
            );
        }
        let mut tight = 0;
        for meshlet in &mesh.meshlets {
            let mut farthest = 0.0_f32;
            for position in triangles(&mesh, meshlet).flatten() {
                let position = mesh.grid.decode(position);
                assert!(
                    inside(meshlet.centre, meshlet.radius, position),
                    "{}: {meshlet:?}",
                    mesh.name
                );
                farthest = farthest.max(Vec3::from(position).distance(Vec3::from(meshlet.centre)));
            }
            tight += usize::from(farthest >= meshlet.radius * 0.9999);
        }
        assert_eq!(
            tight,
            mesh.meshlets.len(),
            "{}: radii are no larger than needed",
            mesh.name
        );
    }
}

#[test]
fn longest_edges_are_bounds_and_tight() {
    for mesh in meshes() {
        for meshlet in &mesh.meshlets {
            let mut longest = 0.0_f32;
            for corners in triangles(&mesh, meshlet) {
                let [a, b, c] = corners.map(|steps| Vec3::from(mesh.grid.decode(steps)));
                longest = longest
                    .max(a.distance(b))
                    .max(b.distance(c))
                    .max(c.distance(a));
            }
            let bound = meshlet.longest_edge();
            assert!(bound >= longest, "{}: {bound} {longest}", mesh.name);
            let unit = meshlet.radius / 127.5;
            assert!(
                bound - longest <= unit * 1.01,
                "{}: {bound} {longest}",
                mesh.name
            );
        }
    }
}

/// The shader's test, in its own precision.
fn cone_culls(meshlet: &Meshlet, camera: Vec3) -> bool {
    let [x, y, z, cutoff] = meshlet.cone.map(|value| f32::from(value) / 127.0);
    let to_centre = Vec3::from(meshlet.centre) - camera;
    to_centre.dot(Vec3::new(x, y, z)) >= cutoff * to_centre.length() + meshlet.radius
}

/// Whether any triangle faces the camera; exact but for the last bits of 64.
fn any_faces(mesh: &Mesh, meshlet: &Meshlet, camera: Vec3) -> bool {
    triangles(mesh, meshlet).any(|steps| {
        let [a, b, c] = steps.map(|steps| I64Vec3::from_array(steps.map(i64::from)));
        let normal = (b - a).cross(c - a).as_dvec3();
        let corner: DVec3 = Vec3::from(mesh.grid.decode(steps[0])).as_dvec3();
        (camera.as_dvec3() - corner).dot(normal) > 0.0
    })
}

/// Cameras around each of many meshlets, near and far; returns tests, culled, and wrongly culled.
fn cone_statistics(meshes: &[Mesh], spoil: i8) -> [usize; 3] {
    let mut random = Random(11);
    let mut counts = [0; 3];
    for mesh in meshes {
        for _ in 0..40_000 {
            let mut meshlet = mesh.meshlets[random.below(mesh.meshlets.len())];
            meshlet.cone[3] = (meshlet.cone[3] - spoil).max(0);
            let direction =
                Vec3::new(random.signed(), random.signed(), random.signed()).normalize_or(Vec3::X);
            // From inside the sphere to a thousand radii away.
            let distance = meshlet.radius * 10_f32.powf(random.signed() * 2.0 + 1.0);
            let camera = Vec3::from(meshlet.centre) + direction * distance;
            counts[0] += 1;
            if cone_culls(&meshlet, camera) {
                counts[1] += 1;
                counts[2] += usize::from(any_faces(mesh, &meshlet, camera));
            }
        }
    }
    counts
}

#[test]
fn cones_never_cull_what_faces_the_camera() {
    let meshes = meshes();
    let [tests, culled, wrong] = cone_statistics(&meshes, 0);
    assert_eq!(tests, 280_000);
    assert_eq!(wrong, 0);
    // They do cull, if not from nearby and not where hard edges meet.
    assert!(culled > tests / 16, "{culled} of {tests}");
    // The oracle sees cones that are too wide.
    let [_, _, wrong] = cone_statistics(&meshes, 20);
    assert!(wrong > 100, "{wrong}");
}

#[test]
fn cones_are_as_tight_as_eight_bits_allow() {
    // Of all camera directions from far away, how many cull although they may, by brute force.
    let mesh = processed(&FIELD.generate().unwrap());
    let mut random = Random(12);
    let (mut possible, mut culled) = (0, 0);
    for _ in 0..40_000 {
        let meshlet = &mesh.meshlets[random.below(mesh.lods[0].meshlet_count as usize)];
        let direction =
            Vec3::new(random.signed(), random.signed(), random.signed()).normalize_or(Vec3::X);
        let camera = Vec3::from(meshlet.centre) + direction * 50.0;
        possible += usize::from(!any_faces(&mesh, meshlet, camera));
        culled += usize::from(cone_culls(meshlet, camera));
    }
    assert!(culled * 10 > possible * 6, "{culled} of {possible}");
}

#[test]
fn no_cone_never_culls() {
    // A closed box in one meshlet faces every way.
    let mesh = processed(&import_box());
    let meshlet = mesh.meshlets[0];
    assert_eq!((mesh.meshlets.len(), meshlet.cone), (1, [0, 0, 0, 127]));
    let mut random = Random(13);
    for _ in 0..100_000 {
        let camera = Vec3::new(random.signed(), random.signed(), random.signed())
            * 10_f32.powf(random.signed() * 4.0);
        assert!(!cone_culls(&meshlet, camera));
    }
    assert!(!cone_culls(&meshlet, Vec3::from(meshlet.centre)));
}

#[test]
fn cone_rule_by_the_book() {
    let meshlet = Meshlet {
        radius: 1.0,
        cone: [0, 0, 127, 64],
        ..Meshlet::default()
    };
    assert!(!cone_culls(&meshlet, Vec3::new(0.0, 0.0, -0.9)));
    assert!(cone_culls(&meshlet, Vec3::new(0.0, 0.0, -3.0)));
}

fn import_box() -> SourceMesh {
    let text = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
        f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n";
    impel_geometry::obj("box.obj", text.as_bytes()).unwrap()
}

#[test]
fn degenerate_meshes() {
    let vertex = |x: f32, y: f32, z: f32| SourceVertex {
        position: [x, y, z],
        ..SourceVertex::default()
    };
    let mesh = |vertices: Vec<SourceVertex>, indices: &[u32]| {
        process(
            &SourceMesh {
                name: "m".to_owned(),
                vertices,
                indices: indices.to_vec(),
            },
            &Settings::default(),
            &|_| {},
        )
    };
    let corners = || {
        vec![
            vertex(0.0, 0.0, 0.0),
            vertex(1.0, 0.0, 0.0),
            vertex(0.0, 1.0, 0.0),
            vertex(0.0, 0.0, 0.0),
        ]
    };

    let one = mesh(corners(), &[0, 1, 2]).unwrap();
    assert_eq!(
        (one.lods.len(), one.meshlets.len(), one.vertices.len()),
        (1, 1, 3)
    );
    assert_eq!(one.triangle_count, 1);
    // A zero-area triangle goes, the other stays.
    assert_eq!(
        mesh(corners(), &[0, 3, 2, 0, 1, 2, 1, 1, 2])
            .unwrap()
            .triangle_count,
        1
    );

    let message = |result: Result<Mesh, Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(mesh(corners(), &[])),
        "m: no triangles: it has no faces"
    );
    assert_eq!(
        message(mesh(vec![], &[0, 0, 0])),
        "m: vertex index of triangle 0: expected less than 0, found 0"
    );
    assert_eq!(
        message(mesh(corners(), &[0, 3, 0])),
        "m: no triangles: every face has zero area"
    );
    assert_eq!(
        message(mesh(corners(), &[0, 1, 2, 3, 4, 1])),
        "m: vertex index of triangle 1: expected less than 4, found 4"
    );
    assert!(
        message(mesh(corners(), &[0, 1, 2, 3]))
            .contains("a length that is a multiple of 3, found 4")
    );
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e19] {
        let mut vertices = corners();
        vertices[2].position[1] = bad;
        assert!(
            message(mesh(vertices, &[0, 1, 2]))
                .starts_with("m: position of vertex 2: expected a finite number"),
            "{bad}"
        );
    }
    // A speck beside something huge disappears on the grid.
    let mut vertices = corners();
    vertices.extend([vertex(1e6, 0.0, 0.0), vertex(0.0, 1e6, 0.0)]);
    assert_eq!(
        mesh(vertices, &[0, 1, 2, 0, 4, 5]).unwrap().triangle_count,
        1
    );
}

#[test]
fn processing_is_repeatable_and_reports() {
    let source = CLOUD[0].generate().unwrap();
    let last = std::sync::Mutex::new(Vec::new());
    let first = process(&source, &Settings::default(), &|progress| {
        assert!((0.0..=1.0).contains(&progress.fraction) && progress.mesh == source.name);
        last.lock().unwrap().push(progress.stage);
    });
    assert_eq!(
        last.into_inner().unwrap().last(),
        Some(&impel_geometry::Stage::Done)
    );
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let second = one_thread.install(|| process(&source, &Settings::default(), &|_| {}));
    assert_eq!(first.unwrap(), second.unwrap());
}

#[test]
fn a_large_mesh_is_cut_in_pieces_alike() {
    // More than one piece of meshlets; the result is the same on one core and on several.
    let source = BuiltIn {
        shape: Shape::Asteroid,
        triangles: 300_000,
    }
    .generate()
    .unwrap();
    let settings = Settings {
        max_lods: 2,
        ..Settings::default()
    };
    let first = process(&source, &settings, &|_| {}).unwrap();
    first.validate().unwrap();
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let second = one_thread
        .install(|| process(&source, &settings, &|_| {}))
        .unwrap();
    assert!(first == second);
}

#[test]
fn load_needs_no_cache() {
    let source = MeshSource::File(data("spot.obj"));
    let mesh = load(&source, &Settings::default(), None, &|_| {}).unwrap();
    assert_eq!((mesh.name.as_str(), mesh.triangle_count), ("spot", 5856));
    assert_eq!(mesh, processed(&import_file(&data("spot.obj")).unwrap()));
}
