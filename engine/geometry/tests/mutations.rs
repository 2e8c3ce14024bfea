//! Thousands of broken files and meshes, the same in every run: each gives a sound mesh or an error, never a panic.

mod common;

use common::{Random, data};
use impel_geometry::{Settings, SourceMesh, SourceVertex, obj, process};

const SEEDS: [&str; 4] = [
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nvt 0 0\nvt 1 1\nvn 0 0 1\nf 1/1/1 2/2/1 3/1/1 4/2/1 5/1/1 6/2/1\n",
    "mtllib a.mtl\no a\nv -1 -1 -1 1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\ns off\nf -4//  -3// -2// \\\n -1//\n# end\n",
    "vn 0 0 1\nvn 0 1 0\nv 1e9 2e-9 3\nv 4 5 6\nv 7 8.5 -9\nf 1//1 2//2 3//1\nf 3 2 1\nl 1 2 3\n",
];

const WORDS: [&str; 28] = [
    "nan",
    "inf",
    "-inf",
    "1e38",
    "1e-45",
    "-0",
    "1e400",
    "0",
    "1",
    "-1",
    "2",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "1/",
    "//",
    "1//",
    "/1",
    "1/1/1/1",
    "v",
    "f",
    "vt",
    "vn",
    "\\\n",
    "\0",
    "\u{e9}",
];

fn mutate(random: &mut Random, text: &mut Vec<u8>) {
    let at = random.below(text.len());
    match random.below(8) {
        0 => text.truncate(at),
        1 if !text.is_empty() => text[at] ^= 1 << random.below(8),
        2 => drop(text.drain(at..(at + random.below(12)).min(text.len()))),
        3 => text.insert(at, random.bits() as u8),
        4 => {
            let copy = text[at..(at + random.below(40)).min(text.len())].to_vec();
            let to = random.below(text.len());
            text.splice(to..to, copy);
        }
        5 => {
            let word = format!(" {} ", WORDS[random.below(WORDS.len())]);
            text.splice(at..at, word.into_bytes());
        }
        6 => {
            // A whole word for another.
            let is_space = |byte: &u8| byte.is_ascii_whitespace();
            let start = text[..at]
                .iter()
                .rposition(is_space)
                .map_or(0, |space| space + 1);
            let end = text[at..]
                .iter()
                .position(is_space)
                .map_or(text.len(), |space| at + space);
            text.splice(start..end, WORDS[random.below(WORDS.len())].bytes());
        }
        _ => {
            let mut lines: Vec<Vec<u8>> = text
                .split(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect();
            let (a, b) = (random.below(lines.len()), random.below(lines.len()));
            lines.swap(a, b);
            *text = lines.join(&b'\n');
        }
    }
}

fn try_text(text: &[u8]) -> bool {
    match obj("mutant.obj", text) {
        Ok(mesh) => {
            mesh.check().unwrap();
            if let Ok(mesh) = process(&mesh, &Settings::default(), &|_| {}) {
                mesh.validate().unwrap_or_else(|misfit| {
                    panic!("{misfit:?}: {}", String::from_utf8_lossy(text))
                });
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().starts_with("mutant.obj"), "{error}");
            false
        }
    }
}

#[test]
fn mutated_texts() {
    let mut random = Random(1);
    let (mut good, mut bad) = (0, 0);
    for round in 0..8000 {
        let mut text = SEEDS[round % SEEDS.len()].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            mutate(&mut random, &mut text);
        }
        *if try_text(&text) { &mut good } else { &mut bad } += 1;
    }
    // Both outcomes have to be met, or the mutator is too weak or too wild.
    assert!(good > 800 && bad > 800, "{good} good, {bad} bad");
}

#[test]
fn mutated_model() {
    let whole = std::fs::read(data("spot.obj")).unwrap();
    let mut random = Random(2);
    for _ in 0..40 {
        let mut text = whole.clone();
        for _ in 0..3 {
            mutate(&mut random, &mut text);
        }
        try_text(&text);
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(3);
    for length in 0..400 {
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        assert!(!try_text(&bytes));
    }
}

#[test]
fn random_meshes() {
    let mut random = Random(4);
    let mut sound = 0;
    for round in 0..3000 {
        let scale = [1.0, 1e18, 1e-18, 1e-30, 1e9][round % 5];
        let offset = [0.0, 1e18, 1.0, 1e6][round / 5 % 4];
        let count = 1 + random.below(60);
        let mut vertex = || {
            let mut number = || match random.below(12) {
                0 => 0.0,
                1 => offset,
                _ => random.signed() * scale + offset,
            };
            SourceVertex {
                position: [number(), number(), number()],
                ..SourceVertex::default()
            }
        };
        let vertices: Vec<_> = (0..count).map(|_| vertex()).collect();
        let limit = count + usize::from(round % 50 == 0);
        let length = random.below(100) * 3 + usize::from(round % 60 == 0);
        let indices = (0..length).map(|_| random.below(limit) as u32).collect();
        let mesh = SourceMesh {
            name: "random".to_owned(),
            vertices,
            indices,
        };
        if let Ok(mesh) = process(&mesh, &Settings::default(), &|_| {}) {
            mesh.validate()
                .unwrap_or_else(|misfit| panic!("round {round}: {misfit:?}"));
            sound += 1;
        }
    }
    assert!(sound > 1000, "{sound}");
}
