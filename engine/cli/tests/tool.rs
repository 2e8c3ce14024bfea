//! The tool as people run it: exit status, messages, and what baking writes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn impel(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_impel"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Standard output of a run that succeeds without a word on standard error.
fn succeeds(arguments: &[&str]) -> String {
    let output = impel(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one line of a run that fails for its input.
fn fails(arguments: &[&str]) -> String {
    let output = impel(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.strip_prefix("error: ").unwrap().trim_end().to_owned()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder of its own for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("impel-tool-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A shader folder with one program.
    fn with_shaders(test: &str) -> Self {
        let folder = Self::new(test);
        folder.write("programs.toml", "[fill]\nstages = [\"fill.comp\"]\n");
        folder.write(
            "config.toml",
            "[[constant]]\nname = \"GROUP\"\nvalue = 64\nreason = \"One wave.\"\n",
        );
        folder.write("glsl/include/value.glsl", "const float VALUE = 1.0;\n");
        folder.write(
            "glsl/fill.comp",
            "#version 460\n#include \"config.glsl\"\n#include \"value.glsl\"\nlayout(local_size_x = GROUP) in;\nlayout(set = 0, binding = 0) buffer Values { float values[]; } values;\nvoid main() { values.values[gl_GlobalInvocationID.x] = VALUE; }\n",
        );
        folder
    }

    /// All files with their bytes.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        let mut pending = vec![self.0.clone()];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => pending.push(path),
                    false => files.push((
                        text(path.strip_prefix(&self.0).unwrap()).replace('\\', "/"),
                        std::fs::read(&path).unwrap(),
                    )),
                }
            }
        }
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_engines_shaders_are_freshly_baked() {
    succeeds(&["bake", text(&workspace().join("shaders")), "--check"]);
}

#[test]
fn the_shaders_of_these_tests_are_freshly_baked() {
    let folder = workspace().join("engine/cli/tests/shaders");
    succeeds(&[
        "bake",
        text(&folder),
        "--check",
        "--gpu-crate",
        "crate::gpu",
    ]);
}

#[test]
fn the_shaders_of_other_crates_tests_are_freshly_baked() {
    for of in ["gpu", "impel"] {
        let folder = workspace().join("engine").join(of).join("tests/shaders");
        succeeds(&["bake", text(&folder), "--check"]);
    }
}

#[test]
fn baking_writes_what_changed_and_removes_what_is_stale() {
    let folder = Folder::with_shaders("bake");
    let path = text(&folder.0);
    let missing = fails(&["bake", path, "--check"]);
    assert!(
        missing.contains("baked/fill.comp.spv (missing)") && missing.contains("impel bake"),
        "{missing}"
    );

    let first = succeeds(&["bake", path]);
    assert!(
        first.ends_with("6 files, 6 written, 0 removed\n"),
        "{first}"
    );
    let names: Vec<String> = folder.files().into_iter().map(|(name, _)| name).collect();
    for made in [
        "baked/fill.comp.refl",
        "baked/fill.comp.spv",
        "glsl/include/config.glsl",
        "src/generated/config.rs",
        "src/generated/fill.rs",
        "src/generated/mod.rs",
    ] {
        assert!(names.iter().any(|name| name == made), "{made}");
    }
    assert!(succeeds(&["bake", path, "--check"]).contains("6 baked files"));
    assert_eq!(succeeds(&["bake", path]), "6 files, 0 written, 0 removed\n");

    // An include is part of what is baked.
    folder.write("glsl/include/value.glsl", "const float VALUE = 2.0;\n");
    let stale = fails(&["bake", path, "--check"]);
    assert!(
        stale.contains("2 of 6") && stale.contains("baked/fill.comp.spv"),
        "{stale}"
    );
    let second = succeeds(&["bake", path]);
    assert!(
        second.ends_with("6 files, 2 written, 0 removed\n"),
        "{second}"
    );

    // A program that is gone takes its files with it; files that are not ours stay.
    folder.write("baked/README.md", "mine");
    folder.write("programs.toml", "[other]\nstages = [\"fill.comp\"]\n");
    assert!(fails(&["bake", path, "--check"]).contains("src/generated/fill.rs (stale)"));
    let third = succeeds(&["bake", path]);
    assert!(
        third.contains("fill.rs\n") && third.ends_with("6 files, 2 written, 1 removed\n"),
        "{third}"
    );
    assert!(folder.0.join("baked/README.md").exists());
    assert!(succeeds(&["bake", path, "--check"]).contains("6 baked files"));
}

#[test]
fn baking_gives_the_same_bytes_anywhere_and_through_the_cache() {
    let cache = Folder::new("bytes-cache");
    let folders = [
        Folder::with_shaders("bytes-one"),
        Folder::with_shaders("bytes-two/deeper"),
        Folder::with_shaders("bytes-three"),
    ];
    succeeds(&["bake", text(&folders[0].0)]);
    succeeds(&["bake", text(&folders[1].0), "--cache", text(&cache.0)]);
    assert_eq!(cache.files().len(), 1);
    succeeds(&["bake", text(&folders[2].0), "--cache", text(&cache.0)]);
    assert_eq!(folders[0].files(), folders[1].files());
    assert_eq!(folders[0].files(), folders[2].files());
    let temporary = std::env::temp_dir();
    for (name, bytes) in folders[0].files() {
        assert!(
            !String::from_utf8_lossy(&bytes).contains(text(&temporary)),
            "{name} has a path of this machine in it"
        );
    }
}

#[test]
fn mistakes_in_a_shader_folder_are_one_line_with_a_place() {
    let folder = Folder::with_shaders("mistakes");
    let path = text(&folder.0);
    folder.write(
        "glsl/fill.comp",
        "#version 460\nvoid main() {\n    nothing();\n    less();\n}\n",
    );
    let line = fails(&["bake", path]);
    assert!(
        line.starts_with(&format!("{path}/glsl/fill.comp:3: "))
            && line.contains("nothing")
            && line.contains("more error"),
        "{line}"
    );
    let all = impel(&["bake", path, "--verbose"]);
    assert!(
        String::from_utf8_lossy(&all.stderr)
            .lines()
            .any(|line| line.contains("fill.comp:4: "))
    );

    folder.write("programs.toml", "[fill]\nstages = [\"absent.comp\"]\n");
    assert!(fails(&["bake", path]).contains("absent.comp: No such file"));
    folder.write(
        "programs.toml",
        "[fill]\nstages = [\"fill.comp\"]\ncolour = 1\n",
    );
    assert!(fails(&["bake", path]).starts_with(&format!("{path}/programs.toml:3: ")));

    // Stages that do not fit together.
    folder.write(
        "programs.toml",
        "[pair]\nstages = [\"a.vert\", \"a.frag\"]\n",
    );
    folder.write("glsl/a.vert", "#version 460\nlayout(location = 0) out vec3 colour;\nvoid main() { colour = vec3(1); gl_Position = vec4(0); }\n");
    folder.write("glsl/a.frag", "#version 460\nlayout(location = 0) in vec4 colour;\nlayout(location = 0) out vec4 o;\nvoid main() { o = colour; }\n");
    let line = fails(&["bake", path]);
    assert!(
        line.contains("a.vert") && line.contains("a.frag") && line.contains("location 0"),
        "{line}"
    );

    // Two sets of definitions that would be one file.
    folder.write("programs.toml", "[a]\nstages = [\"d.comp\"]\ndefines = [\"X=1*1\"]\n[b]\nstages = [\"d.comp\"]\ndefines = [\"X=1/1\"]\n");
    folder.write(
        "glsl/d.comp",
        "#version 460\nlayout(local_size_x = X) in;\nvoid main() {}\n",
    );
    assert!(fails(&["bake", path]).contains("d.comp+X=1_1"));

    assert!(fails(&["bake", path.strip_suffix("mistakes").unwrap()]).contains("programs.toml"));
}

#[test]
fn bad_files_are_one_line() {
    let folder = Folder::new("bad");
    let module =
        std::fs::read(workspace().join("engine/cli/tests/shaders/baked/std140.comp.spv")).unwrap();
    let zeros = folder.0.join("zeros.spv");
    std::fs::File::create(&zeros)
        .unwrap()
        .set_len(100 << 20)
        .unwrap();
    let files = [
        folder.write("text.spv", "This is no shader.\n"),
        folder.write("empty.spv", ""),
        folder.write("cut.spv", &module[..module.len() / 2]),
        folder.write("odd.spv", &module[..module.len() - 1]),
        folder.write("bad.refl", &module[4..]),
        folder.write("bad.comp", "void main() {"),
        folder.write("binary.comp", [0xff, 0xfe, 0x00]),
        folder.0.clone(),
        folder.0.join("absent.spv"),
        folder.0.join("absent.comp"),
        zeros,
    ];
    for file in &files {
        for command in ["reflect", "codegen", "validate", "mesh"] {
            let line = fails(&[command, text(file)]);
            assert!(line.contains(text(file)), "{command}: {line}");
        }
    }
}

/// Reading a pipe that nobody writes to would never end.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_one_line() {
    let folder = Folder::new("pipe");
    let pipe = folder.0.join("pipe.spv");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for file in [pipe.as_path(), Path::new("/dev/zero")] {
        for command in ["reflect", "codegen", "validate"] {
            let line = fails(&[command, text(file)]);
            assert!(
                line.contains(text(file)) && line.contains("pipe, socket or device"),
                "{command}: {line}"
            );
        }
    }
    // Where a command reads further files, too: sources, includes, manifests, recipes, classes.
    let put = |folder: &Folder, name: &str| {
        let path = folder.0.join(name);
        let _ = std::fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    for name in [
        "programs.toml",
        "config.toml",
        "glsl/fill.comp",
        "glsl/include/value.glsl",
    ] {
        let shaders = Folder::with_shaders("pipe-shaders");
        put(&shaders, name);
        let line = fails(&["bake", text(&shaders.0)]);
        assert!(line.contains("pipe, socket or device"), "{name}: {line}");
    }
    let line = fails(&["compose", text(&pipe)]);
    assert!(line.contains("pipe, socket or device"), "{line}");
    let recipes = folder.write(
        "recipes.toml",
        "classes = [\"classes\"]\n[effect.a]\nmixins = [\"A\"]\nstages = [\"compute\"]\n",
    );
    std::fs::create_dir_all(folder.0.join("classes")).unwrap();
    put(&folder, "classes/A.glsl");
    let line = fails(&["compose", text(&recipes)]);
    assert!(line.contains("pipe, socket or device"), "{line}");
}

/// What cannot be written is a failure, but for a reader that has enough; and nothing panics where nobody listens.
#[cfg(target_os = "linux")]
#[test]
fn full_and_closed_outputs_are_survived() {
    let module = workspace().join("engine/cli/tests/shaders/baked/std140.comp.spv");
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let run = |arguments: &[&str], out: std::process::Stdio, error: std::process::Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_impel"));
        let child = command.args(arguments).stdout(out).stderr(error).spawn();
        child.unwrap().wait_with_output().unwrap()
    };
    use std::process::Stdio;
    for arguments in [&["reflect", text(&module)][..], &["--help"]] {
        let output = run(arguments, full().into(), Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("error: standard output: "), "{said}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(arguments, writer.into(), Stdio::piped());
        assert!(output.status.success() && output.stderr.is_empty());
    }
    for (arguments, status) in [(&["reflect", "absent.spv"][..], 1), (&["frobnicate"], 2)] {
        let output = run(arguments, Stdio::null(), full().into());
        assert_eq!(output.status.code(), Some(status));
    }
}

#[test]
fn missing_bindings_are_null() {
    let module = workspace().join("engine/spirv/tests/modules/no_binding.spvasm.spv");
    let json: serde_json::Value =
        serde_json::from_str(&succeeds(&["reflect", "--json", text(&module)])).unwrap();
    let bindings = json["bindings"].as_array().unwrap();
    let missing = bindings
        .iter()
        .find(|binding| binding["binding"].is_null())
        .unwrap();
    let name = missing["name"].as_str().unwrap();
    assert!(succeeds(&["reflect", text(&module)]).contains(name));
    // Code cannot be generated for it.
    let line = fails(&["codegen", text(&module)]);
    assert!(
        line.contains(text(&module)) && line.contains("no Binding"),
        "{line}"
    );
}

/// What of which module carries over to which language.
#[cfg(feature = "portable")]
#[test]
fn portability_is_tried_in_hlsl_and_msl() {
    let shaders = workspace().join("engine/cli/tests/shaders/baked");
    let text_of = |name: &str| succeeds(&["reflect", "--portable", text(&shaders.join(name))]);
    let plain = text_of("std140.comp.spv");
    let lines: Vec<&str> = plain.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "HLSL, shader model 6.8",
            "  compute \"main\" carries over",
            "MSL 3.1",
            "  compute \"main\" carries over",
        ]
    );
    // HLSL has no pointers into buffers.
    let pointers = text_of("pointers.comp.spv");
    let (hlsl, msl) = pointers.split_once("MSL 3.1").unwrap();
    assert!(
        hlsl.contains("does not carry over: ") && msl.contains("carries over"),
        "{pointers}"
    );
    // No module makes it fail, whatever SPIRV-Cross does.
    let modules = workspace().join("engine/spirv/tests/modules");
    for name in [
        "spec_array.comp.spv",
        "no_binding.spvasm.spv",
        "payload.task.spv",
    ] {
        let verdict = succeeds(&["reflect", "--portable", text(&modules.join(name))]);
        assert!(verdict.contains("MSL 3.1\n  "), "{verdict}");
    }
    let line = fails(&[
        "reflect",
        "--portable",
        text(&workspace().join("Cargo.toml")),
    ]);
    assert!(line.contains("Cargo.toml"), "{line}");
}

#[cfg(not(feature = "portable"))]
#[test]
fn without_spirv_cross_portability_is_one_line() {
    let module = workspace().join("engine/cli/tests/shaders/baked/std140.comp.spv");
    let line = fails(&["reflect", "--portable", text(&module)]);
    assert!(line.contains("--features portable"), "{line}");
}

#[test]
fn wrong_usage_is_status_2() {
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["reflect"],
        &["reflect", "--frob", "x"],
        &["bake"],
        &["codegen"],
        &["bake", "a", "b"],
        &["bake", "a", "--gpu-crate", "a b"],
        &["reflect", "--portable", "--json", "a"],
        &["reflect", "--target", "hlsl", "a"],
    ] {
        let output = impel(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let lines = said.lines().count();
        // Without a command the whole help.
        assert!(
            if arguments.is_empty() {
                lines > 5
            } else {
                lines == 1
            },
            "{said}"
        );
    }
    assert!(succeeds(&["--help"]).contains("bake"));
    assert!(succeeds(&["--version"]).starts_with("impel "));
}

#[test]
fn reflects_spirv_of_either_byte_order_glsl_and_baked_interfaces() {
    let shaders = workspace().join("engine/cli/tests/shaders");
    let spirv = shaders.join("baked/std430.comp.spv");
    let table = succeeds(&["reflect", text(&spirv)]);
    assert!(
        table.contains("local size 8 x 4 x 2") && table.contains("particles"),
        "{table}"
    );
    // But for the file's name the rest is the same whatever the form.
    let rest = |table: &str| table.split_once('\n').unwrap().1.to_owned();
    assert_eq!(
        rest(&succeeds(&[
            "reflect",
            text(&shaders.join("glsl/std430.comp"))
        ])),
        rest(&table)
    );
    assert_eq!(
        rest(&succeeds(&[
            "reflect",
            text(&shaders.join("baked/std430.comp.refl"))
        ])),
        rest(&table)
    );
    let folder = Folder::new("endian");
    let bytes: Vec<u8> = std::fs::read(&spirv)
        .unwrap()
        .chunks(4)
        .flat_map(|word| word.iter().rev().copied())
        .collect();
    let big = folder.write("big.spv", bytes);
    assert_eq!(rest(&succeeds(&["reflect", text(&big)])), rest(&table));
}

#[test]
fn json_has_the_documented_keys() {
    let spirv = workspace().join("engine/cli/tests/shaders/baked/descriptors.comp.spv");
    let json: serde_json::Value =
        serde_json::from_str(&succeeds(&["reflect", "--json", text(&spirv)])).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["file"], text(&spirv));
    assert_eq!(json["entry_points"][0]["local_size"][0]["value"], 8);
    let combined = json["bindings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|binding| binding["name"] == "combined")
        .unwrap();
    assert_eq!(combined["type"], "combined_image_sampler");
    assert_eq!(combined["count"]["fixed"], 4);
    assert_eq!(combined["dims"][0], 4);
}

#[test]
fn generates_code_for_files() {
    let shaders = workspace().join("engine/cli/tests/shaders");
    let files =
        ["vert", "frag"].map(|stage| shaders.join(format!("baked/push_ranges.{stage}.spv")));
    let code = succeeds(&["codegen", text(&files[0]), text(&files[1])]);
    assert!(
        code.starts_with("//! Program `push_ranges`")
            && code.contains("pub struct Push {")
            && code.contains("use impel_gpu::")
    );
    // Mistakes name the files as they were given.
    let line = fails(&["codegen", text(&files[0]), text(&files[0])]);
    assert_eq!(line.matches(text(&files[0])).count(), 2, "{line}");
    let named = succeeds(&[
        "codegen",
        text(&files[0]),
        "--name",
        "placing",
        "--gpu-crate",
        "engine::gpu",
    ]);
    assert!(named.starts_with("//! Program `placing`") && named.contains("use engine::gpu::"));
}

#[test]
fn validation_needs_the_validator_and_repeats_its_verdict() {
    let shaders = workspace().join("engine/cli/tests/shaders");
    for entry in std::fs::read_dir(shaders.join("baked")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "spv") {
            assert!(succeeds(&["validate", text(&path)]).contains("valid for vulkan1.3"));
        }
    }
    // SPIR-V 1.6 is none of Vulkan 1.0's.
    let line = fails(&[
        "validate",
        text(&shaders.join("baked/std140.comp.spv")),
        "--target-env",
        "vulkan1.0",
    ]);
    assert!(line.contains("SPIR-V"), "{line}");
    let output = Command::new(env!("CARGO_BIN_EXE_impel"))
        .args(["validate", text(&shaders.join("baked/std140.comp.spv"))])
        .env("PATH", "")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("spirv-val is not installed"));
}

#[test]
fn mesh_statistics_add_up() {
    let folder = Folder::new("mesh");
    let mut obj = String::new();
    for y in 0..=32 {
        for x in 0..=32 {
            obj.push_str(&format!("v {x} {y} {}\n", (x * y) % 5));
        }
    }
    for y in 0..32 {
        for x in 0..32 {
            let corner = y * 33 + x + 1;
            obj.push_str(&format!(
                "f {} {} {} {}\n",
                corner,
                corner + 1,
                corner + 34,
                corner + 33
            ));
        }
    }
    let path = folder.write("grid.obj", obj);
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_impel"))
            .args(["mesh", text(&path)])
            .env("XDG_CACHE_HOME", text(&folder.0))
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run();
    assert!(
        first.lines().next().unwrap().ends_with("2048 triangles") && first.contains("100.00%"),
        "{first}"
    );
    assert!(
        folder.0.join("impel").read_dir().unwrap().next().is_some(),
        "nothing was cached"
    );
    assert_eq!(run(), first);
}

#[test]
fn devices_are_listed_and_their_absence_is_one_line() {
    let list = succeeds(&["devices"]);
    assert!(
        list.starts_with("0  ") && list.contains("raster paths") && list.contains("vertex"),
        "{list}"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_impel"))
        .arg("devices")
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.starts_with("error: no Vulkan device found by VK_DRIVER_FILES=/nonexistent.json, ")
            && text.lines().count() == 1,
        "{text}"
    );
}
