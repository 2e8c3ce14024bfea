//! What composed modules contain, and what not.

use std::collections::HashSet;

use impel_spirv::compose::{ComposeOptions, Composer, Filling, Library, Mix, Recipe};
use impel_spirv::operands::{OperandKind, for_each_operand, instruction_info};
use impel_spirv::words::Words;
use impel_spirv::{ListingStyle, Stage, disassemble, reflect};

use crate::errors::class;
use crate::tools::{compose, listing, tool, validate};

fn classes() -> Vec<String> {
    vec![
        class(
            "Base",
            "virtual int mx_f(int x); virtual void mx_main()",
            "#pragma mixin interface begin\nstruct Used { int a; float b; };\nlayout(set = 0, binding = 0) buffer Out { Used rows[]; } result;\nlayout(set = 0, binding = 7) buffer Spare { int s[]; } spare;\n#pragma mixin interface end\nint lost = 3;\nint kept = 4;\nstruct Gone { int x; };\nint unused_helper() { Gone g; g.x = 1; return g.x + lost + spare.s[0]; }\nint mx_f(int x) { return x + kept; }\nvoid mx_main() { result.rows[0].a = mx_f(1); }",
        ),
        class(
            "Over",
            "inherit Base; override int mx_f(int x)",
            "int mx_f(int x) { precise float y = float(x); return int(y) * 2; }",
        ),
    ]
}

fn texts(classes: &[String]) -> Vec<&str> {
    classes.iter().map(String::as_str).collect()
}

/// Every id that is named, decorated or listed must be defined; types and constants must be there once.
fn walk(words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let parsed = Words::parse(&bytes).unwrap();
    let mut defined = HashSet::new();
    for instruction in parsed.iter() {
        if let Some(info) = instruction_info(instruction.opcode).filter(|info| info.has_result) {
            let id = instruction.operands[usize::from(info.has_type)];
            assert!(defined.insert(id), "{id} is defined twice");
        }
    }
    // Dense: no numbers are left out.
    assert_eq!(defined.len() as u32 + 1, parsed.bound());
    for instruction in parsed.iter() {
        let no_types = |_: u32, _: bool| Some(1);
        for_each_operand(
            instruction.opcode,
            instruction.operands,
            &no_types,
            &mut |operand| {
                if operand.kind.is_id() && operand.kind != OperandKind::Result {
                    let id = instruction.operands[operand.start];
                    assert!(
                        defined.contains(&id),
                        "word {}: {id} is nowhere defined",
                        instruction.offset
                    );
                }
            },
        )
        .unwrap();
    }
    let mut seen = HashSet::new();
    for instruction in parsed
        .iter()
        .filter(|instruction| (19..=46).contains(&instruction.opcode))
    {
        // Structs may look alike and differ in names and decorations.
        if instruction.opcode != 30 {
            let mut key = vec![instruction.opcode];
            let own = usize::from(instruction.opcode >= 41);
            key.extend(
                instruction
                    .operands
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != own)
                    .map(|(_, word)| *word),
            );
            let array =
                instruction.opcode == 28 || instruction.opcode == 29 || instruction.opcode == 32;
            assert!(
                array || seen.insert(key),
                "word {}: a second equal type or constant",
                instruction.offset
            );
        }
    }
}

#[test]
fn removed_ids_leave_nothing_behind() {
    let effect = compose(&texts(&classes()), Mix::of(&["Over"]), &[Stage::Compute]);
    let words = &effect.stages[0].words;
    walk(words);
    let text = disassemble(&effect.stages[0].bytes(), ListingStyle::Names).unwrap();
    for gone in [
        "lost",
        "kept",
        "Gone",
        "Spare",
        "spare",
        "unused_helper",
        "mixin_",
        "OpLine",
        "OpString",
        "OpSource",
        "OpNop",
    ] {
        assert!(!text.contains(gone), "{gone}\n{text}");
    }
    assert!(text.contains("Over_mx_f"), "{text}");
    let names: Vec<_> = effect.stages[0]
        .interface
        .bindings
        .iter()
        .map(|binding| binding.name.as_str())
        .collect();
    assert_eq!(names, ["result"]);
}

#[test]
fn initialisers_of_variables_in_use_stay() {
    let effect = compose(&texts(&classes()), Mix::of(&["Base"]), &[Stage::Compute]);
    let text = disassemble(&effect.stages[0].bytes(), ListingStyle::Names).unwrap();
    assert!(text.contains("kept") && !text.contains("lost"), "{text}");
    walk(&effect.stages[0].words);
}

/// Interface of the entry point, by name.
fn interface_of(words: &[u32]) -> Vec<String> {
    let text = listing(words);
    let line = text
        .lines()
        .find(|line| line.starts_with("OpEntryPoint"))
        .unwrap()
        .to_owned();
    let mut names: Vec<String> = line
        .split('"')
        .nth(2)
        .unwrap()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn interface_lists_are_exact() {
    let text = "#version 460
#pragma mixin class Pixel
#pragma mixin stage fragment
#pragma mixin virtual void mx_main();
#include <mixin>
layout(location = 0) in vec2 uv;
layout(location = 1) in vec2 unused;
layout(location = 0) out vec4 colour;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1) uniform Block { vec4 v; } block;
layout(push_constant) uniform Push { vec4 p; } push;
float state = 1.0;
void mx_main() { state += 1.0; colour = texture(picture, uv) * state + block.v + push.p; }
";
    for (version, expected) in [
        (
            (1, 6),
            vec![
                "%Pixel_state",
                "%block",
                "%colour",
                "%picture",
                "%push",
                "%uv",
            ],
        ),
        ((1, 3), vec!["%colour", "%uv"]),
    ] {
        let mut library = Library::new();
        library.add_source("Pixel.glsl", text).unwrap();
        let options = ComposeOptions {
            spirv_version: Some(version),
            ..ComposeOptions::default()
        };
        let composer = Composer::new(library, options);
        let words = composer
            .compose_modules(&Recipe::new("p", Mix::of(&["Pixel"]), &[Stage::Fragment]))
            .unwrap()
            .remove(0);
        assert_eq!(
            words[1],
            u32::from(version.0) << 16 | u32::from(version.1) << 8
        );
        tool(
            "spirv-val",
            &[
                "--target-env",
                if version == (1, 6) {
                    "vulkan1.3"
                } else {
                    "vulkan1.1"
                },
                "-",
            ],
            &words,
        )
        .unwrap();
        assert_eq!(interface_of(&words), expected);
        walk(&words);
    }
}

#[test]
fn automatic_bindings_do_not_move() {
    let resource = |name: &str, body: &str| {
        class(
            name,
            "inherit Main; override void mx_main()",
            &format!(
                "layout(set = 0) buffer {name}Block {{ int v; }} res_{};\nvoid mx_main() {{ base_mx_main(); {body} }}",
                name.to_lowercase()
            ),
        )
    };
    let binding_of = |body_of_a: &str, name: &str| {
        let classes = [
            class("Main", "virtual void mx_main()", "void mx_main() {}"),
            resource("A", body_of_a),
            resource("B", "res_b.v = 1;"),
            class(
                "C",
                "inherit Main; override void mx_main()",
                "layout(set = 0, binding = 0) buffer CBlock { int v; } res_c;\nvoid mx_main() { base_mx_main(); res_c.v = 2; }",
            ),
        ];
        let effect = compose(
            &texts(&classes),
            Mix::of(&["C", "B", "A"]),
            &[Stage::Compute],
        );
        effect.stages[0]
            .interface
            .bindings
            .iter()
            .find(|binding| binding.name == name)
            .map(|binding| binding.binding)
    };
    // 0 is taken; then in the order of names. B stays where it is when nothing uses A.
    assert_eq!(binding_of("res_a.v = 1;", "res_a"), Some(Some(1)));
    assert_eq!(binding_of("res_a.v = 1;", "res_b"), Some(Some(2)));
    assert_eq!(binding_of("", "res_a"), None);
    assert_eq!(binding_of("", "res_b"), Some(Some(2)));
}

#[test]
fn late_parameters_stay_and_are_named() {
    let main = class(
        "Main",
        "virtual void mx_main(); param late int Q = 3; param late bool B = true; param int N = 2",
        "layout(set = 0, binding = 0) buffer Out { int v[]; } result;\nvoid mx_main() { result.v[N] = B ? Q : 0; }",
    );
    let effect = compose(&[&main], Mix::of(&["Main<5>"]), &[Stage::Compute]);
    let constants: Vec<_> = effect.stages[0]
        .interface
        .spec_constants
        .iter()
        .map(|constant| (constant.id, constant.name.as_str()))
        .collect();
    assert_eq!(constants, [(0, "B"), (1, "Q")]);
}

#[test]
fn local_sizes_are_those_of_who_declares_them() {
    let classes = [
        class(
            "Main",
            "virtual void mx_main()",
            "layout(set = 0, binding = 0) buffer Out { uint v[]; } result;\nvoid mx_main() { result.v[gl_LocalInvocationIndex] = gl_WorkGroupSize.x; }",
        ),
        class(
            "Wide",
            "",
            "layout(local_size_x = 64, local_size_y = 2) in;",
        ),
    ];
    let effect = compose(
        &texts(&classes),
        Mix::of(&["Main", "Wide"]),
        &[Stage::Compute],
    );
    let text = listing(&effect.stages[0].words);
    assert!(text.contains("LocalSize 64 2 1"), "{text}");
    assert!(
        text.contains("OpConstantComposite %v3uint %uint_64 %uint_2 %uint_1"),
        "{text}"
    );
}

#[test]
fn listings_can_be_assembled_again() {
    let effect = compose(&texts(&classes()), Mix::of(&["Over"]), &[Stage::Compute]);
    let words = &effect.stages[0].words;
    for style in [ListingStyle::Ids, ListingStyle::Names] {
        let text = disassemble(&effect.stages[0].bytes(), style).unwrap();
        assert!(text.starts_with("; SPIR-V\n; Version: 1.6\n; Generator: 0; 0\n; Bound: "));
        let path =
            std::env::temp_dir().join(format!("impel-listing-{}.spvasm", std::process::id()));
        std::fs::write(&path, &text).unwrap();
        let arguments = [
            "--target-env",
            "spv1.6",
            "--preserve-numeric-ids",
            path.to_str().unwrap(),
            "-o",
            "-",
        ];
        let again =
            tool("spirv-as", &arguments, &[]).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        std::fs::remove_file(&path).unwrap();
        let again: Vec<u32> = again
            .chunks_exact(4)
            .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        if style == ListingStyle::Ids {
            // The assembler enters itself as the generator.
            assert_eq!(again[5..], words[5..]);
        } else {
            assert_eq!(again.len(), words.len());
            validate(&again);
        }
    }
}

#[test]
fn traces_tell_what_became_of_each_instruction() {
    let composer = crate::tools::composer(&texts(&classes()));
    let recipe = Recipe::new("test", Mix::of(&["Over"]), &[Stage::Compute]);
    let text = composer.trace(&recipe).unwrap();
    let fate = |line_with: &str, class: &str| -> Vec<String> {
        let part = text
            .split("; result")
            .next()
            .unwrap()
            .split("; class ")
            .find(|part| part.starts_with(class))
            .unwrap();
        part.lines()
            .filter(|line| line.contains(line_with))
            .map(|line| line.rsplit("-> ").next().unwrap().to_owned())
            .collect()
    };
    // The first class keeps its ids; in the second one the same types are gone, and what is new is moved.
    assert_eq!(fate("= OpTypeVoid", "Base"), ["OpNop"], "{text}");
    assert_eq!(fate("= OpTypeInt 32 1", "Base"), ["Keep"]);
    assert_eq!(fate("= OpTypeInt 32 1", "Over"), ["OpNop"]);
    let base = Words::parse(&composer.class_spirv("Base", Stage::Compute).unwrap()).unwrap();
    let moved = fate("= OpConvertSToF", "Over");
    assert_eq!(moved.len(), 1, "{text}");
    assert_eq!(moved[0], format!("Keep + {}", base.bound()));
    assert!(text.contains("; result\n; SPIR-V"));
    assert!(text.contains("%Over_mx_f_i1_"), "{text}");
}

#[test]
fn class_lists_with_and_without_the_class() {
    let composer = crate::tools::composer(&texts(&classes()));
    let list = composer
        .list_classes(&Recipe::new("test", Mix::of(&["Over"]), &[Stage::Compute]))
        .unwrap();
    assert_eq!(
        list,
        "test\n  Base: inherits nothing; with itself Base\n  Over: inherits Base; with itself Base, Over\n"
    );
}

/// Calls between classes that override nothing are what a linker does. The same functions, exported and imported, linked by
/// `spirv-link`, are as many instructions of each kind as what composing gives.
#[test]
fn without_overrides_the_result_is_that_of_a_linker() {
    let maths = class(
        "Maths",
        "virtual float mx_square(float x)",
        "layout(local_size_x = 1) in;\nfloat mx_square(float x) { return x * x; }",
    );
    let main = class(
        "Main",
        "import Maths; virtual void mx_main()",
        "layout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) buffer Out { float v; } result;\nvoid mx_main() { result.v = mx_square(3.0); }",
    );
    let effect = compose(&[&maths, &main], Mix::of(&["Main"]), &[Stage::Compute]);
    let ours = listing(&effect.stages[0].words);
    // By hand what the two modules would be with linkage: the stub becomes an import, the definition an export.
    let folder = std::env::temp_dir().join(format!("impel-link-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let composer = crate::tools::composer(&[&maths, &main]);
    let mut files = Vec::new();
    for (class, linkage) in [("Main", "Import"), ("Maths", "Export")] {
        let spirv = composer.class_spirv(class, Stage::Compute).unwrap();
        let words: Vec<u32> = spirv
            .chunks_exact(4)
            .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let mut text = String::from_utf8(
            tool(
                "spirv-dis",
                &["--raw-id", "--no-indent", "--no-color", "-"],
                &words,
            )
            .unwrap(),
        )
        .unwrap();
        let name = text
            .lines()
            .find(|line| line.starts_with("OpName") && line.contains("\"mx_square("))
            .unwrap();
        let id = name.split_whitespace().nth(1).unwrap().to_owned();
        let begin = text.find(&format!("{id} = OpFunction")).unwrap();
        let end = begin + text[begin..].find("OpFunctionEnd").unwrap();
        if linkage == "Import" {
            let head: Vec<&str> = text[begin..end]
                .lines()
                .filter(|line| line.contains("OpFunction ") || line.contains("OpFunctionParameter"))
                .collect();
            let head = head.join("\n") + "\n";
            let parameters: Vec<String> = text[begin..end]
                .lines()
                .filter(|line| line.contains("= OpFunctionParameter"))
                .map(|line| line.split(' ').next().unwrap().to_owned())
                .collect();
            assert_eq!(parameters.len(), 1);
            // Names of what was in the body go with it.
            let removed: Vec<String> = text[begin..end]
                .lines()
                .filter(|line| line.contains(" = ") && !head.contains(*line))
                .map(|line| line.split(' ').next().unwrap().to_owned())
                .collect();
            text.replace_range(begin..end, &head);
            text = text
                .lines()
                .filter(|line| {
                    !(line.starts_with("OpName")
                        && removed.iter().any(|id| line.split(' ').nth(1) == Some(id)))
                })
                .map(|line| format!("{line}\n"))
                .collect();
            // Imports stand before definitions.
            let begin = text.find(&format!("{id} = OpFunction")).unwrap();
            let end =
                begin + text[begin..].find("OpFunctionEnd").unwrap() + "OpFunctionEnd\n".len();
            let import: String = text.drain(begin..end).collect();
            let first = text
                .find("OpFunction %")
                .map(|at| text[..at].rfind('\n').unwrap() + 1)
                .unwrap();
            text.insert_str(first, &import);
        } else {
            // A library has no entry point.
            text = text
                .lines()
                .filter(|line| {
                    !line.starts_with("OpEntryPoint") && !line.starts_with("OpExecutionMode")
                })
                .map(|line| format!("{line}\n"))
                .collect();
        }
        let first_type = text
            .find("OpTypeVoid")
            .map(|at| text[..at].rfind('\n').unwrap() + 1)
            .unwrap();
        text.insert_str(
            first_type,
            &format!("OpDecorate {id} LinkageAttributes \"mx_square\" {linkage}\n"),
        );
        text = text.replacen(
            "OpCapability Shader\n",
            "OpCapability Shader\nOpCapability Linkage\n",
            1,
        );
        let (source, object) = (
            folder.join(format!("{class}.spvasm")),
            folder.join(format!("{class}.spv")),
        );
        std::fs::write(&source, &text).unwrap();
        let arguments = [
            "--target-env",
            "spv1.6",
            source.to_str().unwrap(),
            "-o",
            object.to_str().unwrap(),
        ];
        tool("spirv-as", &arguments, &[]).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        files.push(object);
    }
    let linked = folder.join("linked.spv");
    let arguments = [
        "--target-env",
        "spv1.6",
        files[0].to_str().unwrap(),
        files[1].to_str().unwrap(),
        "-o",
        linked.to_str().unwrap(),
    ];
    tool("spirv-link", &arguments, &[]).unwrap();
    // Canonical: without the dead code and equal constants that a linker leaves.
    let bytes = std::fs::read(&linked).unwrap();
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
        .collect();
    let canonical = |words: &[u32]| {
        let passes = [
            "--inline-entry-points-exhaustive",
            "--eliminate-dead-functions",
            "--eliminate-dead-const",
            "--unify-const",
            "--local-redundancy-elimination",
            "--ssa-rewrite",
            "--eliminate-dead-code-aggressive",
            "--remove-duplicates",
            "--eliminate-dead-variables",
            "--strip-debug",
            "--compact-ids",
            "-",
            "-o",
            "-",
        ];
        let bytes = tool("spirv-opt", &passes, words).unwrap();
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let text = listing(&words);
        let mut lines: Vec<String> = text
            .lines()
            .filter(|line| {
                !line.starts_with(';')
                    && !line.contains("OpSource")
                    && !line.contains("OpExtInstImport")
            })
            .map(|line| {
                line.split_whitespace()
                    .filter(|word| !word.starts_with('%'))
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(
        canonical(&effect.stages[0].words),
        canonical(&words),
        "{ours}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_composed_reflects_as_declared() {
    let classes = [
        class(
            "Main",
            "compose Part parts[]; virtual void mx_main()",
            "layout(local_size_x = 32) in;\nlayout(set = 0, binding = 2) readonly buffer In { uvec2 rows[]; } rows;\nlayout(push_constant) uniform Push { uint count; float scale; } push;\nshared uint sums[32];\nvoid mx_main() { uint s = 0; slot_foreach_parts_mx_part(rows.rows[push.count], s); sums[gl_LocalInvocationIndex] = s; }",
        ),
        class(
            "Part",
            "abstract void mx_part(uvec2 row, inout uint sum)",
            "",
        ),
        class(
            "One",
            "inherit Part; override void mx_part(uvec2 row, inout uint sum)",
            "layout(set = 0, binding = 5, r32ui) uniform uimage2D image;\nvoid mx_part(uvec2 row, inout uint sum) { sum += row.x; imageStore(image, ivec2(row), uvec4(sum)); row = uvec2(0); }",
        ),
    ];
    let mix = Mix::of(&["Main"]).slot(
        "parts",
        Filling::Many(vec![Mix::of(&["One"]), Mix::of(&["One"])]),
    );
    let effect = compose(&texts(&classes), mix, &[Stage::Compute]);
    let interface = &effect.stages[0].interface;
    assert_eq!(*interface, reflect(&effect.stages[0].bytes()).unwrap());
    let bindings: Vec<_> = interface
        .bindings
        .iter()
        .map(|b| (b.set, b.binding, b.name.as_str(), b.descriptor_type.name()))
        .collect();
    assert_eq!(
        bindings,
        [
            (Some(0), Some(2), "rows", "storage_buffer"),
            (Some(0), Some(5), "image", "storage_image")
        ]
    );
    let entry = &interface.entry_points[0];
    assert_eq!(entry.name, "main");
    let push = &interface.push_constants[0];
    assert_eq!((push.offset, push.size), (0, 8));
}

#[test]
fn task_and_mesh_stages_share_a_payload() {
    let payload = "#pragma mixin interface begin\nstruct Work { uint first; };\ntaskPayloadSharedEXT Work work;\n#pragma mixin interface end";
    let extension = |text: String, stage: &str| {
        text.replacen(
            "#version 460",
            "#version 460\n#extension GL_EXT_mesh_shader : require",
            1,
        )
        .replace("stage compute", &format!("stage {stage}"))
    };
    let classes = [
        extension(class("Task", "virtual uint mx_first(); virtual void mx_main()", &format!("{payload}\nlayout(local_size_x = 32) in;\nuint mx_first() {{ return 1u; }}\nvoid mx_main() {{ if (gl_LocalInvocationIndex == 0) work.first = mx_first(); EmitMeshTasksEXT(1, 1, 1); }}")), "task"),
        extension(class("Later", "inherit Task; override uint mx_first()", "uint mx_first() { return base_mx_first() + work.first; }"), "task"),
        extension(class("Mesh", "virtual vec4 mx_place(uint vertex); virtual void mx_main()", &format!("{payload}\nlayout(local_size_x = 32) in;\nlayout(triangles, max_vertices = 3, max_primitives = 1) out;\nlayout(location = 0) perprimitiveEXT out vec3 tint[];\nvec4 mx_place(uint vertex) {{ return vec4(vertex); }}\nvoid mx_main() {{ SetMeshOutputsEXT(3, 1); uint i = gl_LocalInvocationIndex; if (i < 3) gl_MeshVerticesEXT[i].gl_Position = mx_place(work.first + i); if (i == 0) {{ gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2); tint[0] = vec3(1); }} }}")), "mesh"),
        class("Pixel", "virtual void mx_main()", "layout(location = 0) perprimitiveEXT in vec3 tint;\nlayout(location = 0) out vec4 colour;\nvoid mx_main() { colour = vec4(tint, 1); }").replacen("#version 460", "#version 460\n#extension GL_EXT_mesh_shader : require", 1).replace("stage compute", "stage fragment"),
    ];
    let stages = [Stage::Task, Stage::Mesh, Stage::Fragment];
    let effect = compose(
        &texts(&classes),
        Mix::of(&["Later", "Mesh", "Pixel"]),
        &stages,
    );
    let entry = |stage: Stage| &effect.stage(stage).unwrap().interface.entry_points[0];
    assert!(entry(Stage::Task).payload.is_some() && entry(Stage::Mesh).payload.is_some());
    let mesh = entry(Stage::Mesh).mesh.unwrap();
    assert_eq!((mesh.max_vertices, mesh.max_primitives), (3, 1));
    for stage in &effect.stages {
        walk(&stage.words);
    }
}
