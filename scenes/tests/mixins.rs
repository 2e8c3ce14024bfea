//! The scene `mixins`: 48 permutations, in both paths the same picture.

use std::path::PathBuf;
use std::process::Command;

/// Runs the scene and gives picture and labels.
fn run(path: &str) -> (Vec<u8>, [u32; 2], serde_json::Value) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    let out = folder.join(format!("mixins-{path}.png"));
    let output = Command::new(env!("CARGO_BIN_EXE_scenes"))
        .args([
            "run",
            "mixins",
            "--path",
            path,
            "--size",
            "512x384",
            "--validate",
            "--out",
        ])
        .arg(&out)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("48 permutations"), "{text}");
    let row = text
        .lines()
        .find(|row| row.starts_with("validation messages"));
    assert_eq!(row.unwrap().split_whitespace().nth(2), Some("0"), "{text}");
    let labels = std::fs::read(out.with_extension("labels.json")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&out).unwrap()))
        .read_info()
        .unwrap();
    let mut texels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut texels).unwrap();
    (
        texels,
        [info.width, info.height],
        serde_json::from_slice(&labels).unwrap(),
    )
}

#[test]
fn all_permutations_are_drawn_and_labelled() {
    let (vertex, size, labels) = run("vertex");
    assert_eq!(size, [512, 384]);
    let labels = labels.as_array().unwrap();
    assert_eq!(labels.len(), 48);
    let texel = |x: usize, y: usize| &vertex[(y * 512 + x) * 3..][..3];
    let mut effects = std::collections::HashSet::new();
    let background = texel(0, 0).to_vec();
    for label in labels {
        assert!(effects.insert(label["effect"].as_str().unwrap().to_owned()));
        assert!(label["classes"].as_array().unwrap().len() >= 6, "{label}");
        let at = |index: usize| label["rect"][index].as_u64().unwrap() as usize;
        let centre = texel(at(0) + at(2) / 2, at(1) + at(3) / 2);
        assert_ne!(centre, background, "{label}");
        assert_eq!(texel(at(0), at(1)), background, "{label}");
    }
    // Mesh shaders make the same triangles from the same class.
    let (mesh, ..) = run("mesh");
    let differing = vertex
        .iter()
        .zip(&mesh)
        .filter(|(a, b)| a.abs_diff(**b) > 2)
        .count();
    assert!(
        differing * 200 < vertex.len(),
        "{differing} of {} channels differ",
        vertex.len()
    );
}
