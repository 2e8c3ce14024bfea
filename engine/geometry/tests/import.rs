//! Wavefront OBJ: what is read, and what is refused with which words.

mod common;

use common::{TemporaryFolder, data, model};
use glam::Vec3;
use impel_geometry::{Error, SourceMesh, import_file, obj};

/// Triangles as positions, each turned so that the least corner comes first, sorted.
fn triangle_set(mesh: &SourceMesh) -> Vec<[[u32; 3]; 3]> {
    let position = |index: u32| {
        mesh.vertices[index as usize]
            .position
            .map(|value| (value + 0.0).to_bits())
    };
    let mut triangles: Vec<_> = mesh
        .indices
        .chunks_exact(3)
        .map(|t| canonical([0, 1, 2].map(|k| position(t[k]))))
        .collect();
    triangles.sort_unstable();
    triangles
}

fn canonical(mut triangle: [[u32; 3]; 3]) -> [[u32; 3]; 3] {
    let least = (0..3).min_by_key(|&k| triangle[k]).unwrap();
    triangle.rotate_left(least);
    triangle
}

fn area(mesh: &SourceMesh) -> f32 {
    let corner = |index: u32| Vec3::from(mesh.vertices[index as usize].position);
    mesh.indices
        .chunks_exact(3)
        .map(|t| {
            (corner(t[1]) - corner(t[0]))
                .cross(corner(t[2]) - corner(t[0]))
                .length()
                / 2.0
        })
        .sum()
}

#[test]
fn same_triangles_as_tobj() {
    for name in ["kitten.obj", "spot.obj"] {
        let mesh = model(name);
        let options = tobj::LoadOptions {
            triangulate: true,
            single_index: true,
            ..Default::default()
        };
        let (models, _) = tobj::load_obj(data(name), &options).unwrap();
        let mut expected = Vec::new();
        for model in &models {
            let position = |k: u32| {
                [0, 1, 2].map(|axis| (model.mesh.positions[3 * k as usize + axis] + 0.0).to_bits())
            };
            expected.extend(
                model
                    .mesh
                    .indices
                    .chunks_exact(3)
                    .map(|t| canonical([0, 1, 2].map(|k| position(t[k])))),
            );
        }
        expected.sort_unstable();
        assert_eq!(triangle_set(&mesh), expected, "{name}");
    }
    assert_eq!(model("kitten.obj").triangle_count(), 28_944);
    assert_eq!(model("spot.obj").triangle_count(), 5856);
}

#[test]
fn texture_coordinates_and_normals() {
    let text =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0.25 0.75\nvt 1 0\nvt 0 1\nvn 0 0 2\nf 1/1/1 2/2/1 3/3/1\n";
    let mesh = obj("a.obj", text.as_bytes()).unwrap();
    assert_eq!(mesh.vertices.len(), 3);
    // OBJ's origin is at the bottom left.
    assert_eq!(mesh.vertices[0].uv, [0.25, 0.25]);
    assert_eq!(mesh.vertices[0].normal, [0.0, 0.0, 1.0]);
}

#[test]
fn faces_with_and_without_normals_mix() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 1 0 0\nf 1//1 2//1 3//1\nf 1 3 4\n";
    let mesh = obj("a.obj", text.as_bytes()).unwrap();
    let normals = |range: std::ops::Range<usize>| {
        mesh.indices[range]
            .iter()
            .map(|&k| mesh.vertices[k as usize].normal)
            .collect::<Vec<_>>()
    };
    assert_eq!(normals(0..3), [[1.0, 0.0, 0.0]; 3]);
    assert_eq!(normals(3..6), [[0.0, 0.0, 1.0]; 3]);
}

#[test]
fn computed_normals_of_a_cube_point_to_its_corners() {
    // One face cut in two, the others as quads: angle weights make that no difference.
    let text = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
        f 1 4 3 2\nf 5 6 7\nf 5 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n";
    let mesh = obj("cube.obj", text.as_bytes()).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.triangle_count()), (8, 12));
    for vertex in &mesh.vertices {
        let error = Vec3::from(vertex.normal).distance(Vec3::from(vertex.position).normalize());
        assert!(error < 1e-6, "{vertex:?}");
    }
}

#[test]
fn smooth_normals_pass_over_texture_seams() {
    let spot = model("spot.obj");
    let mut normals = std::collections::HashMap::new();
    for vertex in &spot.vertices {
        let normal = *normals
            .entry(vertex.position.map(f32::to_bits))
            .or_insert(vertex.normal);
        assert_eq!(normal, vertex.normal);
    }
    assert!(normals.len() < spot.vertices.len(), "spot has seams");
}

#[test]
fn concave_polygons_are_cut_inside() {
    // An L, an arrow (concave quad), a comb; each in the plane and tilted, with its exact area.
    let shapes: [(&[[f32; 2]], f32); 3] = [
        (
            &[
                [0.0, 0.0],
                [2.0, 0.0],
                [2.0, 1.0],
                [1.0, 1.0],
                [1.0, 2.0],
                [0.0, 2.0],
            ],
            3.0,
        ),
        (&[[1.0, 0.2], [2.0, 0.0], [1.0, 2.0], [0.0, 0.0]], 1.8),
        (
            &[
                [0.0, 0.0],
                [5.0, 0.0],
                [5.0, 3.0],
                [4.0, 3.0],
                [4.0, 1.0],
                [3.0, 1.0],
                [3.0, 3.0],
                [2.0, 3.0],
                [2.0, 1.0],
                [1.0, 1.0],
                [1.0, 3.0],
                [0.0, 3.0],
            ],
            11.0,
        ),
    ];
    for (shape, exact) in shapes {
        for start in 0..shape.len() {
            for tilt in [0.0, 0.7] {
                let mut text = String::new();
                for k in 0..shape.len() {
                    let [x, y] = shape[(start + k) % shape.len()];
                    text += &format!("v {x} {y} {}\n", x * tilt);
                }
                text += "f";
                (1..=shape.len()).for_each(|k| text += &format!(" {k}"));
                let mesh = obj("polygon.obj", text.as_bytes()).unwrap();
                assert_eq!(
                    mesh.triangle_count(),
                    shape.len() - 2,
                    "{shape:?} from {start}"
                );
                let expected = exact * f32::sqrt(1.0 + tilt * tilt);
                assert!(
                    (area(&mesh) - expected).abs() < 1e-4,
                    "{} for {expected}",
                    area(&mesh)
                );
                for t in mesh.indices.chunks_exact(3) {
                    let corner = |k: usize| Vec3::from(mesh.vertices[t[k] as usize].position);
                    assert!(
                        (corner(1) - corner(0)).cross(corner(2) - corner(0)).z > 0.0,
                        "wound backwards"
                    );
                }
            }
        }
    }
}

#[test]
fn huge_polygons_take_linear_time() {
    let mut text = String::new();
    let count = 20_000;
    for k in 0..count {
        let angle = k as f32 / count as f32 * std::f32::consts::TAU;
        text += &format!("v {} {} 0\n", angle.cos(), angle.sin());
    }
    text += "f";
    (1..=count).for_each(|k| text += &format!(" {k}"));
    assert!(obj("circle.obj", text.as_bytes()).unwrap().triangle_count() > 19_000);
}

#[test]
fn all_forms_of_the_text() {
    let plain = obj("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let others: [&[u8]; 7] = [
        b"v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
        b"  v\t0 0 0 # first\n\nv 1 0 0 1.0\nv 0 1 0 0.5 0.5 0.5\n f 1 2 3",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n",
        b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n",
        b"v 0 \\\n0 0\nv 1 0 0\nv 0 1 0\nf 1 \\\r\n 2 \\\n 3\n",
        b"mtllib x.mtl\no caf\xe9\ng a\ns 1\nusemtl b\nv -0 -0 -0\nv 1 0 0\nv 0 1 0\nl 1 2\np 1\nf 1 2 3\nunknown 1\n",
    ];
    for text in others {
        let mesh = obj("a.obj", text)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)));
        assert_eq!(
            (&mesh.vertices, &mesh.indices),
            (&plain.vertices, &plain.indices),
            "{}",
            String::from_utf8_lossy(text)
        );
    }
}

#[test]
fn bad_lines_are_named() {
    let cases: [(&[u8], &str); 19] = [
        (
            b"v 0 0 0\nv 1 nan 0\n",
            "a.obj:2: position: expected a finite number, found \"nan\"",
        ),
        (
            b"v 0 0 inf\n",
            "a.obj:1: position: expected a finite number",
        ),
        (
            b"v 0 0 1e39\n",
            "a.obj:1: position: expected a finite number",
        ),
        (
            b"v 0 0 1e19\n",
            "a.obj:1: position: expected coordinates of magnitude 2^60",
        ),
        (b"v 0 0\n", "a.obj:1: position: expected 3 numbers, found 2"),
        (
            b"v 0 0 x\n",
            "a.obj:1: position: expected a number, found \"x\"",
        ),
        (b"vn 0 1\n", "a.obj:1: normal: expected 3 numbers, found 2"),
        (
            b"vt\n",
            "a.obj:1: texture coordinate: expected 1 numbers, found 0",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n",
            "a.obj:4: face: expected at least 3 corners, found 2",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
            "a.obj:4: face: position 4 is out of range: the file has 3",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n",
            "a.obj:4: face corner \"0\": index 0 is out of range",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n",
            "a.obj:4: face corner \"-4\": index -4 is out of range",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999\n",
            "index 99999999999 is out of range",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1 2/2 3/3\n",
            "a.obj:4: face: texture coordinate 1 is out of range: the file has 0",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1//1 2//2 3//3\n",
            "a.obj:4: face: normal 1 is out of range: the file has 0",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/ 2/a 3\n",
            "a.obj:4: face corner \"2/a\": expected whole numbers",
        ),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1////2 2 3\n",
            "a.obj:4: face corner \"1////2\": expected position/uv/normal",
        ),
        (
            b"# fine\n\x7fELF\x02\x01\x01\0\0\0",
            "a.obj:2: expected text, found byte 0x02: not a Wavefront OBJ file",
        ),
        (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "expected text, found byte 0x1a",
        ),
    ];
    for (text, expected) in cases {
        let message = obj("a.obj", text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message:?} lacks {expected:?}");
        assert!(message.starts_with("a.obj"), "{message}");
    }
}

#[test]
fn nothing_to_draw() {
    for text in ["", "# empty\n", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "p 1\n"] {
        let error = obj("a.obj", text.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::NoTriangles { .. }), "{error}");
        assert_eq!(error.to_string(), "a.obj: no triangles: it has no faces");
    }
    // All at one point, and all on one line.
    for points in ["v 1 1 1\nv 1 1 1\nv 1 1 1\n", "v 0 0 0\nv 1 2 3\nv 2 4 6\n"] {
        let error = obj("a.obj", format!("{points}f 1 2 3\n").as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.obj: no triangles: every face has zero area"
        );
    }
}

#[test]
fn degenerate_faces_are_dropped() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nv 0 0 0\nf 1 2 3\nf 1 1 2\nf 1 2 4\nf 1 5 3\n";
    assert_eq!(obj("a.obj", text.as_bytes()).unwrap().triangle_count(), 1);
}

#[test]
fn truncated_file() {
    let whole = std::fs::read(data("spot.obj")).unwrap();
    // Cut within the last face's line: two corners are left of three.
    let last = whole
        .trim_ascii_end()
        .iter()
        .rposition(|&byte| byte == b' ')
        .unwrap();
    let lines = whole[..last].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let message = obj("spot.obj", &whole[..last]).unwrap_err().to_string();
    assert_eq!(
        message,
        format!("spot.obj:{lines}: face: expected at least 3 corners, found 2")
    );
}

#[test]
fn files_that_are_none() {
    let folder = TemporaryFolder::new("import");
    let directory = folder.0.join("directory.obj");
    std::fs::create_dir(&directory).unwrap();
    let missing = import_file(&folder.0.join("missing.obj")).unwrap_err();
    assert!(
        matches!(missing, Error::Read { .. }) && missing.to_string().contains("missing.obj"),
        "{missing}"
    );
    let error = import_file(&directory).unwrap_err().to_string();
    assert!(
        error.ends_with("directory.obj: expected a file, found a directory"),
        "{error}"
    );
    let other = folder.0.join("mesh.fbx");
    std::fs::write(&other, "x").unwrap();
    let error = import_file(&other).unwrap_err().to_string();
    assert!(
        error.contains("expected a Wavefront OBJ file (.obj), found extension \"fbx\""),
        "{error}"
    );
}
