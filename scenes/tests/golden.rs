//! Golden images of the demo scenes, made small.
//!
//! Compared with FLIP (the mean of its error map); the threshold lies in a text file beside each image. A failing test writes
//! what it saw and the difference into the target folder. `IMPEL_BLESS=1` makes the images anew, except on CI.

use clap::Parser;
use nv_flip::{FlipImageRgb8, FlipPool, flip, magma_lut};
use scenes::arguments::{Arguments, Command};
use std::path::{Path, PathBuf};

/// Reads a PNG as 8-bit RGB.
fn read(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file =
        std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    let mut texels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut texels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    ([info.width, info.height], texels)
}

fn write(path: &Path, size: [u32; 2], rgb: &[u8]) {
    let rgba: Vec<u8> = rgb
        .chunks_exact(3)
        .flat_map(|texel| [texel[0], texel[1], texel[2], 255])
        .collect();
    scenes::picture::write(path, size, &rgba).unwrap();
}

/// Whether this run may make the image anew.
#[derive(Clone, Copy, PartialEq)]
enum Bless {
    IfAsked,
    Never,
}

fn compare(name: &str, options: &[&str], bless: Bless) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"));
    let actual = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-actual.png"));
    let fixed = [
        "scenes",
        "run",
        "--frames",
        "4",
        "--validate",
        "--out",
        actual.to_str().unwrap(),
    ];
    let arguments = Arguments::try_parse_from(fixed.iter().chain(options)).unwrap();
    let Command::Run(run) = arguments.command else {
        unreachable!()
    };
    let report = scenes::run::run(&run).unwrap();
    assert_eq!(report.validation.messages, 0);

    let (size, texels) = read(&actual);
    if bless == Bless::IfAsked && std::env::var_os("IMPEL_BLESS").is_some() {
        assert!(
            std::env::var_os("CI").is_none(),
            "golden images are not made on CI"
        );
        write(&golden, size, &texels);
        return;
    }
    let (golden_size, expected) = read(&golden);
    assert_eq!(size, golden_size, "{name}: size");
    let image = |texels: &[u8]| FlipImageRgb8::with_data(size[0], size[1], texels);
    let difference = flip(
        image(&expected),
        image(&texels),
        nv_flip::DEFAULT_PIXELS_PER_DEGREE,
    );
    let mean = FlipPool::from_image(&difference).mean();
    let threshold: f32 = std::fs::read_to_string(golden.with_extension("threshold"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    if mean > threshold {
        let map = actual.with_file_name(format!("{name}-difference.png"));
        write(
            &map,
            size,
            &difference.apply_color_lut(&magma_lut()).to_vec(),
        );
        panic!(
            "{name}: FLIP mean {mean} is over {threshold}; see {} and {}",
            actual.display(),
            map.display()
        );
    }
}

#[test]
fn cloud() {
    let scene = ["cloud", "--draws", "12000", "--size", "480x270"];
    compare("cloud", &scene, Bless::IfAsked);
    for variant in [
        &["--path", "mesh"][..],
        &["--path", "vertex"],
        &["--cull", "all=off", "frustum=on"],
    ] {
        compare("cloud", &[&scene[..], variant].concat(), Bless::Never);
    }
}

#[test]
fn field() {
    compare(
        "field",
        &["field", "--draws", "60000", "--size", "400x300"],
        Bless::IfAsked,
    );
}

#[test]
fn city() {
    let scene = ["city", "--draws", "20000", "--size", "480x270"];
    compare("city", &scene, Bless::IfAsked);
    compare(
        "city",
        &[&scene[..], &["--path", "vertex"]].concat(),
        Bless::Never,
    );
}
