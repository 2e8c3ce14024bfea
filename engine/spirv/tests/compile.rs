//! The GLSL front end: includes, definitions, messages, the cache, and what gets into a module.

use std::path::{Path, PathBuf};

use impel_spirv::Stage;
use impel_spirv::compile::{
    CompileError, CompileOptions, Compiled, Compiler, Define, Optimization, Source,
};

const PLAIN: &str = "#version 460
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer Values { float values[]; } data;
layout(set = 0, binding = 1) buffer Spare { float values[]; } spare;
layout(push_constant) uniform Push { uint count; } push;
float twice(float x) { return x * 2.0; }
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < push.count) data.values[i] = twice(data.values[i]);
}
";

/// A folder of its own for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("impel-compile-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options() -> CompileOptions {
    CompileOptions {
        include_directories: vec!["glsl/include".into()],
        ..Default::default()
    }
}

fn compile(root: &Path, name: &str, options: &CompileOptions) -> Result<Compiled, CompileError> {
    Compiler::new()?.compile(&Source::read(root, name)?, options)
}

fn text(text: &str) -> Source {
    Source {
        root: PathBuf::from("."),
        name: "a.comp".into(),
        text: text.into(),
        stage: Stage::Compute,
    }
}

fn contains(spirv: &[u8], what: &str) -> bool {
    spirv
        .windows(what.len())
        .any(|window| window == what.as_bytes())
}

#[test]
fn targets_vulkan_1_3_and_keeps_names_but_no_source() {
    let compiler = Compiler::new().unwrap();
    for optimization in [Optimization::None, Optimization::Performance] {
        let spirv = compiler
            .compile(
                &text(PLAIN),
                &CompileOptions {
                    optimization,
                    ..Default::default()
                },
            )
            .unwrap()
            .spirv;
        assert_eq!(spirv[..8], [3, 2, 35, 7, 0, 6, 1, 0], "SPIR-V 1.6");
        for name in ["Values", "values", "data", "Push", "push", "count"] {
            assert!(
                contains(&spirv, name),
                "{optimization:?}: {name} is missing"
            );
        }
        for source in ["a.comp", "gl_GlobalInvocationID.x", "target-env"] {
            assert!(
                !contains(&spirv, source),
                "{optimization:?}: {source} got in"
            );
        }
        // Unused bindings are part of the interface of what is baked.
        assert_eq!(
            contains(&spirv, "spare"),
            optimization == Optimization::None
        );
    }
    let debug = compiler
        .compile(
            &text(PLAIN),
            &CompileOptions {
                debug_info: true,
                ..Default::default()
            },
        )
        .unwrap()
        .spirv;
    assert!(contains(&debug, "a.comp") && contains(&debug, "gl_GlobalInvocationID.x"));
}

#[test]
fn the_same_source_gives_the_same_bytes_from_any_folder() {
    let source = "#version 460\n#include \"x.glsl\"\nvoid main() { f(); }\n";
    let mut results = Vec::new();
    for test in ["bytes-one", "bytes-two/deeper"] {
        let folder = Folder::new(test);
        folder
            .write("glsl/a.comp", source)
            .write("glsl/include/x.glsl", "void f() {}\n");
        results.push(compile(&folder.0, "glsl/a.comp", &options()).unwrap());
    }
    assert_eq!(results[0], results[1]);
}

#[test]
fn includes_look_beside_the_file_and_then_in_the_folders() {
    let folder = Folder::new("includes");
    folder
        .write("glsl/a.comp", "#version 460\n#include \"near.glsl\"\n#include <far.glsl>\n#if 0\n#include \"nowhere.glsl\"\n#endif\nlayout(local_size_x = NEAR + FAR) in;\nvoid main() {}\n")
        .write("glsl/near.glsl", "#include \"include/../include/deep.glsl\"\n#define NEAR DEEP\n")
        .write("glsl/include/near.glsl", "#define NEAR 100\n")
        .write("glsl/include/far.glsl", "#include \"deep.glsl\"\n#define FAR 2\n")
        .write("glsl/include/deep.glsl", "#ifndef DEEP\n#define DEEP 5\n#endif\n");
    let compiled = compile(&folder.0, "glsl/a.comp", &options()).unwrap();
    assert_eq!(
        compiled.dependencies,
        [
            "glsl/a.comp",
            "glsl/include/deep.glsl",
            "glsl/include/far.glsl",
            "glsl/near.glsl"
        ]
    );
    let plain = "#version 460\nlayout(local_size_x = 7) in;\nvoid main() {}\n";
    let expected = Compiler::new()
        .unwrap()
        .compile(&text(plain), &options())
        .unwrap();
    assert_eq!(compiled.spirv, expected.spirv);
}

#[test]
fn virtual_files_come_before_files() {
    let folder = Folder::new("virtual");
    folder.write("glsl/include/x.glsl", "#define SIZE 1\n");
    folder.write(
        "glsl/a.comp",
        "#version 460\n#include \"x.glsl\"\nlayout(local_size_x = SIZE) in;\nvoid main() {}\n",
    );
    let on_disk = compile(&folder.0, "glsl/a.comp", &options()).unwrap();
    let files = [(
        "glsl/include/x.glsl".to_owned(),
        "#define SIZE 9\n".to_owned(),
    )]
    .into();
    let generated = compile(
        &folder.0,
        "glsl/a.comp",
        &CompileOptions {
            virtual_files: files,
            ..options()
        },
    )
    .unwrap();
    assert_ne!(on_disk.spirv, generated.spirv);
}

#[test]
fn errors_name_the_right_file_and_line() {
    let folder = Folder::new("errors");
    folder
        .write(
            "glsl/a.comp",
            "#version 460\n\n#include \"x.glsl\"\nvoid main() { missing(); }\n",
        )
        .write(
            "glsl/b.comp",
            "#version 460\n#include \"broken.glsl\"\nvoid main() {}\n",
        )
        .write(
            "glsl/c.comp",
            "#version 460\n#include \"absent.glsl\"\nvoid main() {}\n",
        )
        .write("glsl/include/x.glsl", "// one\n// two\n")
        .write(
            "glsl/include/broken.glsl",
            "\n\nfloat f() { return undefined_thing; }\n",
        );
    let message = |name: &str| {
        compile(&folder.0, name, &options())
            .unwrap_err()
            .to_string()
    };
    let root = folder.0.display();
    let a = message("glsl/a.comp");
    assert!(
        a.starts_with(&format!("{root}/glsl/a.comp:4: ")) && a.contains("missing"),
        "{a}"
    );
    let b = message("glsl/b.comp");
    assert!(
        b.starts_with(&format!("{root}/glsl/include/broken.glsl:3: "))
            && b.contains("undefined_thing"),
        "{b}"
    );
    let c = message("glsl/c.comp");
    assert!(
        c.starts_with(&format!("{root}/glsl/c.comp:2: "))
            && c.contains("absent.glsl")
            && c.contains("glsl/include"),
        "{c}"
    );
    for message in [a, b, c] {
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn an_include_of_itself_is_an_error_not_a_hang() {
    let folder = Folder::new("cycle");
    folder
        .write(
            "glsl/a.comp",
            "#version 460\n#include \"x.glsl\"\nvoid main() {}\n",
        )
        .write("glsl/include/x.glsl", "#include \"x.glsl\"\n");
    let error = compile(&folder.0, "glsl/a.comp", &options()).unwrap_err();
    assert!(matches!(error, CompileError::Failed { .. }), "{error}");
}

#[test]
fn definitions_count_in_order() {
    let source = text("#version 460\nlayout(local_size_x = SIZE) in;\nvoid main() {}\n");
    let compiler = Compiler::new().unwrap();
    let with = |defines: &[&str]| {
        let defines = defines
            .iter()
            .map(|define| Define::parse(define).unwrap())
            .collect();
        compiler.compile(
            &source,
            &CompileOptions {
                defines,
                ..Default::default()
            },
        )
    };
    assert!(with(&[]).is_err());
    assert_eq!(
        with(&["SIZE=1", "SIZE=2"]).unwrap().spirv,
        with(&["SIZE=2"]).unwrap().spirv
    );
    assert_ne!(
        with(&["SIZE=2", "SIZE=1"]).unwrap().spirv,
        with(&["SIZE=2"]).unwrap().spirv
    );
    for bad in ["", "1X=2", "A B", "X=\n", "=1", "A-B=1"] {
        assert!(
            matches!(Define::parse(bad), Err(CompileError::Define { .. })),
            "{bad:?}"
        );
    }
}

#[test]
fn the_cache_follows_every_input() {
    let folder = Folder::new("cache");
    let cache = folder.0.join("cache");
    folder.write(
        "glsl/a.comp",
        "#version 460\n#include \"x.glsl\"\nlayout(local_size_x = SIZE) in;\nvoid main() {}\n",
    );
    folder.write(
        "glsl/include/x.glsl",
        "#ifndef SIZE\n#define SIZE 1\n#endif\n",
    );
    let options = CompileOptions {
        cache: Some(cache.clone()),
        ..options()
    };
    let first = compile(&folder.0, "glsl/a.comp", &options).unwrap();
    let second = compile(&folder.0, "glsl/a.comp", &options).unwrap();
    assert!(!first.cached && second.cached);
    assert_eq!(
        (&first.spirv, &first.dependencies),
        (&second.spirv, &second.dependencies)
    );

    let defined = CompileOptions {
        defines: vec![Define::parse("SIZE=3").unwrap()],
        ..options.clone()
    };
    assert!(!compile(&folder.0, "glsl/a.comp", &defined).unwrap().cached);
    folder.write("glsl/include/x.glsl", "#define SIZE 2\n");
    let changed = compile(&folder.0, "glsl/a.comp", &options).unwrap();
    assert!(!changed.cached && changed.spirv != first.spirv);
    // A file that appears nearer takes the place of the one included so far.
    folder.write("glsl/x.glsl", "#define SIZE 4\n");
    assert!(!compile(&folder.0, "glsl/a.comp", &options).unwrap().cached);

    // A damaged entry is compiled again.
    for entry in std::fs::read_dir(&cache).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
    assert!(!compile(&folder.0, "glsl/a.comp", &options).unwrap().cached);
}

#[test]
fn input_that_is_no_glsl_is_refused() {
    let folder = Folder::new("bad");
    folder
        .write("a.comp", [0xff, 0xfe, 0])
        .write("b.comp", "#version 460\0\n")
        .write("c.txt", "")
        .write("d.comp", "");
    assert!(matches!(
        Source::read(&folder.0, "a.comp"),
        Err(CompileError::NotText { .. })
    ));
    assert!(matches!(
        Source::read(&folder.0, "b.comp"),
        Err(CompileError::NotText { .. })
    ));
    assert!(matches!(
        Source::read(&folder.0, "c.txt"),
        Err(CompileError::Stage { .. })
    ));
    assert!(matches!(
        Source::read(&folder.0, "absent.comp"),
        Err(CompileError::Read { .. })
    ));
    assert!(matches!(
        compile(&folder.0, "d.comp", &options()),
        Err(CompileError::Failed { .. })
    ));
    for version in ["", "#version 110\n", "#version x\n"] {
        let error = Compiler::new()
            .unwrap()
            .compile(&text(&format!("{version}void main() {{}}")), &options())
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("a.comp:1: expected #version 460"),
            "{error}"
        );
    }
    let unknown = Source {
        stage: Stage::Unknown(6),
        ..text(PLAIN)
    };
    assert!(matches!(
        Compiler::new().unwrap().compile(&unknown, &options()),
        Err(CompileError::Stage { .. })
    ));
}

#[test]
fn warnings_are_handed_on() {
    let source = text("#version 460\n#extension GL_no_such_extension : enable\nvoid main() {}\n");
    let compiled = Compiler::new()
        .unwrap()
        .compile(&source, &CompileOptions::default())
        .unwrap();
    assert_eq!(
        (
            compiled.warnings[0].file.as_str(),
            compiled.warnings[0].line
        ),
        ("a.comp", Some(2))
    );
}
