//! `impel compose` and `impel disassemble` as people run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BASE: &str = "#version 460
#pragma mixin class Base
#pragma mixin stage compute
#pragma mixin virtual int mx_f(int x);
#pragma mixin virtual void mx_main();
#include <mixin>
layout(set = 0, binding = 0) buffer Out { int v[]; } result;
int mx_f(int x) { return x; }
void mx_main() { result.v[0] = mx_f(1); }
";
const OVER: &str = "#version 460
#pragma mixin class Over
#pragma mixin stage compute
#pragma mixin inherit Base
#pragma mixin override int mx_f(int x);
#include <mixin>
int mx_f(int x) { return base_mx_f(x) * 2; }
";
const RECIPES: &str = "classes = [\"classes\"]\n[effect.plain]\nmixins = [\"Base\"]\nstages = [\"compute\"]\n[effect.twice]\nmixins = [\"Over\"]\nstages = [\"compute\"]\n";

fn impel(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_impel"))
        .args(arguments)
        .output()
        .unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = impel(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of a run that fails for its input.
fn fails(arguments: &[&str]) -> String {
    let output = impel(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("impel-compose-{}-{test}", std::process::id()));
        std::fs::create_dir_all(path.join("classes")).unwrap();
        std::fs::write(path.join("recipes.toml"), RECIPES).unwrap();
        std::fs::write(path.join("classes/Base.glsl"), BASE).unwrap();
        std::fs::write(path.join("classes/Over.glsl"), OVER).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn effects_are_written_and_the_same_from_any_folder() {
    let (folder, other) = (Folder::new("written"), Folder::new("elsewhere"));
    for folder in [&folder, &other] {
        let text = succeeds(&[
            "compose",
            &folder.path("recipes.toml"),
            "--effect",
            "twice",
            "-o",
            &folder.path("out"),
        ]);
        assert_eq!(text.lines().count(), 3, "{text}");
    }
    assert_eq!(
        files(&folder.0.join("out")),
        ["twice.compute.json", "twice.compute.spv", "twice.lst"]
    );
    for name in files(&folder.0.join("out")) {
        let read = |folder: &Folder| std::fs::read(folder.0.join("out").join(&name)).unwrap();
        assert_eq!(read(&folder), read(&other), "{name}");
    }
    let spirv = folder.path("out/twice.compute.spv");
    assert!(succeeds(&["validate", &spirv]).contains("valid for vulkan1.3"));
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path("out/twice.compute.json")).unwrap())
            .unwrap();
    assert_eq!(json["entry_points"][0]["name"], "main");
    assert_eq!(json["bindings"][0]["name"], "result");
    let reflected: serde_json::Value =
        serde_json::from_str(&succeeds(&["reflect", "--json", &spirv])).unwrap();
    assert_eq!(reflected["bindings"], json["bindings"]);
    let listing = std::fs::read_to_string(folder.path("out/twice.lst")).unwrap();
    assert!(listing.contains("%Over_mx_f_i1_ = OpFunction"), "{listing}");
    assert_eq!(
        listing.lines().skip(1).collect::<Vec<_>>(),
        succeeds(&["disassemble", &spirv])
            .lines()
            .collect::<Vec<_>>()
    );
    assert!(succeeds(&["disassemble", &spirv, "--style", "ids"]).contains("%1 = OpTypeVoid"));
    assert!(succeeds(&["disassemble", &spirv, "--style", "numbers"]).contains("\n    1: "));
    // All effects of the file, optimised.
    succeeds(&[
        "compose",
        &folder.path("recipes.toml"),
        "-o",
        &folder.path("all"),
        "--optimize",
    ]);
    assert_eq!(files(&folder.0.join("all")).len(), 6);
    let optimised = std::fs::read(folder.path("all/twice.compute.spv")).unwrap();
    assert!(optimised.len() < std::fs::read(&spirv).unwrap().len());
    succeeds(&["validate", &folder.path("all/twice.compute.spv")]);
}

#[test]
fn traces_and_lists_are_printed() {
    let folder = Folder::new("trace");
    let trace = succeeds(&[
        "compose",
        &folder.path("recipes.toml"),
        "--effect",
        "twice",
        "--trace",
    ]);
    for part in ["-> OpNop", "-> Keep\n", "-> Keep + ", "; result"] {
        assert!(trace.contains(part), "{part}");
    }
    let list = succeeds(&[
        "compose",
        &folder.path("recipes.toml"),
        "--effect",
        "twice",
        "--list-classes",
    ]);
    assert_eq!(
        list,
        "twice\n  Base: inherits nothing; with itself Base\n  Over: inherits Base; with itself Base, Over\n"
    );
}

#[test]
fn mistakes_are_one_line_with_a_code() {
    let folder = Folder::new("mistakes");
    let recipes = folder.path("recipes.toml");
    let one = |text: String, part: &str| {
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("error: ") && text.contains(part), "{text}");
    };
    one(fails(&["compose", &folder.path("no.toml")]), "M28");
    one(
        fails(&["compose", &recipes, "-o", &recipes]),
        "recipes.toml: is a file, expected a folder",
    );
    std::fs::write(folder.path("empty.toml"), "classes = [\"classes\"]\n").unwrap();
    one(
        fails(&["compose", &folder.path("empty.toml")]),
        "has no effects, expected at least one",
    );
    one(
        fails(&["compose", &recipes, "--effect", "none"]),
        "no such effect; the file has: plain, twice",
    );
    std::fs::write(
        folder.path("classes/Over.glsl"),
        OVER.replace("override", "virtual")
            .replace("base_mx_f(x)", "x"),
    )
    .unwrap();
    one(
        fails(&["compose", &recipes, "--effect", "twice"]),
        "classes/Over.glsl:5: class Over, mx_f(int): is defined here and in class Base",
    );
    std::fs::write(
        folder.path("classes/Over.glsl"),
        OVER.replace("* 2", "* two"),
    )
    .unwrap();
    let text = fails(&["compose", &recipes, "--effect", "twice"]);
    assert!(
        text.lines().next().unwrap().contains("M27 ")
            && text.contains("Over.glsl:7: class Over, two: "),
        "{text}"
    );
    assert!(
        text.lines().count() > 1,
        "the compiler's messages follow: {text}"
    );
    std::fs::write(folder.path("classes/Over.glsl"), [0xff, 0xfe, 0x00]).unwrap();
    one(fails(&["compose", &recipes]), "M29");
}

#[test]
fn classes_that_drift_after_caching_are_compiled_anew() {
    let folder = Folder::new("drift");
    let (recipes, cache) = (folder.path("recipes.toml"), folder.path("cache"));
    let compose = |out: &str| {
        succeeds(&[
            "compose",
            &recipes,
            "--effect",
            "twice",
            "--cache",
            &cache,
            "-o",
            &folder.path(out),
        ]);
        std::fs::read(folder.path(&format!("{out}/twice.compute.spv"))).unwrap()
    };
    let first = compose("a");
    assert_eq!(compose("b"), first);
    std::fs::write(folder.path("classes/Over.glsl"), OVER.replace("* 2", "* 3")).unwrap();
    assert_ne!(compose("c"), first);
    // A cached module that is damaged is not believed.
    for entry in std::fs::read_dir(&cache).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    std::fs::write(folder.path("classes/Over.glsl"), OVER).unwrap();
    assert_eq!(compose("d"), first);
}

#[test]
fn verdicts_name_the_source_line() {
    let folder = Folder::new("verdict");
    let path = folder.path("wrong.comp");
    // Valid GLSL whose block is laid out in a way that Vulkan 1.0 does not know.
    let text = "#version 460\n#extension GL_EXT_scalar_block_layout : require\nlayout(set = 0, binding = 0, scalar) buffer B { float a; vec3 b; } b;\nvoid main() {\n  b.b = vec3(b.a);\n}\n";
    std::fs::write(&path, text).unwrap();
    assert!(succeeds(&["validate", &path]).contains("valid"));
    let text = fails(&["validate", &path, "--target-env", "vulkan1.0"]);
    assert_eq!(text.lines().count(), 1, "{text}");
}
