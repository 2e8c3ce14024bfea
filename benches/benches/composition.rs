//! What it costs to compose a shader from compiled classes, beside compiling the same shader in one piece, and beside linking.
//!
//! In process and warm: the classes are compiled and taken apart, shaderc is loaded. Nobody validates, and nothing that was
//! composed is kept. `compose` is everything from the recipe's text to the words of the module. `spirv-link` is a program, so
//! its time includes starting it; the time to start it and have it say its version is printed for comparison.
//!
//! `cargo bench -p benches --bench composition [-- --permutations]`; with `--permutations` 10,000 permutations are composed in
//! one process and the memory in use is printed.

use benches::{Variant, compare, print};
use impel_spirv::Stage;
use impel_spirv::compile::{CompileOptions, Compiler, Source};
use impel_spirv::compose::{
    ComposeOptions, Composer, Filling, Library, Mix, ParamValue, Recipe, Recipes,
};
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Error = Box<dyn std::error::Error>;

const REPETITIONS: u32 = 20;

/// Six classes, with the one in the slot seven, and what they inherit and import.
fn recipe() -> Recipe {
    let mix = Mix::of(&[
        "Checker",
        "TriplanarNoise",
        "MetalRough",
        "Fog",
        "Rim",
        "Wireframe",
    ]);
    let mix = mix.slot(
        "lights",
        Filling::Many(vec![Mix::of(&["DirectionalLight"])]),
    );
    Recipe::new("bench", mix, &[Stage::Fragment])
}

fn timed(mut job: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..REPETITIONS {
        job();
    }
    start.elapsed() / REPETITIONS
}

fn main() -> Result<(), Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let recipes = Recipes::read(&root.join("shaders/mixins.toml"))?;
    let composer = Composer::new(recipes.library()?, ComposeOptions::default());
    if std::env::args().any(|argument| argument == "--permutations") {
        return permutations(&composer);
    }
    against_shaderc(&composer, &root)?;
    against_spirv_link()
}

fn against_shaderc(composer: &Composer, root: &Path) -> Result<(), Error> {
    let recipe = recipe();
    let words = composer.compose_modules(&recipe)?.remove(0);
    let compiler = Compiler::new()?;
    let source = Source::read(root.join("benches/shaders"), "flattened.frag")?;
    let options = CompileOptions::default();
    let flattened = compiler.compile(&source, &options)?.spirv.len();
    println!(
        "composed {} bytes; compiled in one piece {flattened} bytes from {} bytes of GLSL",
        words.len() * 4,
        source.text.len()
    );
    let mut variants: Vec<Variant<'_>> = vec![
        (
            "compose",
            Box::new(|| timed(|| drop(black_box(composer.compose_modules(&recipe))))),
        ),
        (
            "compose, reflect, list classes",
            Box::new(|| timed(|| drop(black_box(composer.compose_new(&recipe))))),
        ),
        (
            "the same recipe again, kept",
            Box::new(|| timed(|| drop(black_box(composer.compose(&recipe))))),
        ),
        (
            "shaderc -O0",
            Box::new(|| timed(|| drop(black_box(compiler.compile(&source, &options))))),
        ),
    ];
    print(
        "a fragment shader of six classes",
        &compare(&mut variants, 51, 1),
        0,
    );
    Ok(())
}

/// Two classes of which none overrides the other's functions: what a linker can do, too.
fn against_spirv_link() -> Result<(), Error> {
    let maths = "#version 460
#pragma mixin class Maths
#pragma mixin stage compute
#pragma mixin virtual float mx_square(float x);
#include <mixin>
float mx_square(float x) { return x * x; }
";
    let main = "#version 460
#pragma mixin class Main
#pragma mixin stage compute
#pragma mixin import Maths
#pragma mixin virtual void mx_main();
#include <mixin>
layout(set = 0, binding = 0) buffer Out { float v; } result;
void mx_main() { result.v = mx_square(3.0); }
";
    let mut library = Library::new();
    library.add_source("Maths.glsl", maths)?;
    library.add_source("Main.glsl", main)?;
    let composer = Composer::new(library, ComposeOptions::default());
    let recipe = Recipe::new("link", Mix::of(&["Main"]), &[Stage::Compute]);
    composer.compose_modules(&recipe)?;
    // The linker gets two modules of the classes' sizes: linking needs no more than that they can be read and joined.
    let folder = std::env::temp_dir().join(format!("impel-bench-link-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let out = folder.join("out.spv");
    let mut files = Vec::new();
    for (class, entry) in [("Main", "a"), ("Maths", "b")] {
        // Two entry points of one name are an error to a linker.
        let text = String::from_utf8(run(
            "spirv-dis",
            &["-"],
            &composer.class_spirv(class, Stage::Compute)?,
        )?)?;
        let text = text.replace("%main \"main\"", &format!("%main \"{entry}\""));
        let text = text.replacen(
            "OpCapability Shader",
            "OpCapability Shader\nOpCapability Linkage",
            1,
        );
        let (listing, module) = (
            folder.join(format!("{class}.spvasm")),
            folder.join(format!("{class}.spv")),
        );
        std::fs::write(&listing, text)?;
        run(
            "spirv-as",
            &[
                "--target-env",
                "spv1.6",
                &listing.to_string_lossy(),
                "-o",
                &module.to_string_lossy(),
            ],
            &[],
        )?;
        files.push(module);
    }
    let link = || {
        let mut command = Command::new("spirv-link");
        command
            .args(["--target-env", "spv1.6", "--create-library"])
            .args(&files)
            .arg("-o")
            .arg(&out);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    if !link()?.success() {
        return Err("spirv-link refuses the modules".into());
    }
    let start = || {
        Command::new("spirv-link")
            .arg("--version")
            .stdout(Stdio::null())
            .status()
    };
    let mut variants: Vec<Variant<'_>> = vec![
        (
            "compose",
            Box::new(|| timed(|| drop(black_box(composer.compose_modules(&recipe))))),
        ),
        (
            "spirv-link, with starting it",
            Box::new(|| timed(|| drop(black_box(link())))),
        ),
        (
            "starting spirv-link",
            Box::new(|| timed(|| drop(black_box(start())))),
        ),
    ];
    print(
        "two classes without overrides",
        &compare(&mut variants, 21, 1),
        0,
    );
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

fn run(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Error> {
    use std::io::Write as _;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{program}: {}", output.status).into())
    }
}

/// Composes 10,000 permutations and says what memory is in use on the way.
fn permutations(composer: &Composer) -> Result<(), Error> {
    let start = Instant::now();
    for number in 0..10_000_i64 {
        let surfaces = [
            "FlatSurface",
            "Checker",
            "TriplanarNoise",
            "MetalRough",
            "ClearCoat",
            "Toon",
        ];
        let lights = [
            "DirectionalLight",
            "PointLights",
            "HemisphereLight",
            "Unlit",
        ];
        let at = number as usize;
        let mut mixins = vec![surfaces[at % 6]];
        mixins.extend(
            [(24, "Fog"), (48, "Rim"), (96, "Wireframe")]
                .iter()
                .filter(|(bit, _)| at / bit % 2 == 1)
                .map(|(_, class)| *class),
        );
        let mut light = Mix::of(&[lights[at / 6 % 4]]);
        if at / 6 % 4 == 1 {
            light = light.param("COUNT", ParamValue::Int(1 + number / 192));
        }
        let mix = Mix::of(&mixins).slot("lights", Filling::Many(vec![light]));
        composer.compose(&Recipe::new(&format!("p{number}"), mix, &[Stage::Fragment]))?;
        if number % 1000 == 999 {
            println!(
                "{:>6} permutations, {:>7.1} ms, {:>7} kB in use",
                number + 1,
                start.elapsed().as_secs_f64() * 1e3,
                resident()
            );
        }
    }
    Ok(())
}

/// Resident memory in kB, as Linux tells it; 0 elsewhere.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
