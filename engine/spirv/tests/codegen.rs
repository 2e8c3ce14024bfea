//! Code is generated for whatever can be reflected, and stays Rust: names cannot leave their comments, offsets only grow.

mod common;

use impel_spirv::codegen::{CodegenOptions, Program, ProgramStage, is_program_name, program};
use impel_spirv::{Error, Interface, MissingBindings, Options, reflect_with};

fn generate(interface: &Interface) -> Result<String, Error> {
    let stage = ProgramStage {
        name: "a\"b.spv",
        source: "a.spv",
        interface,
        spirv_path: "a\\b.spv",
        refl_path: "a.refl",
    };
    let stages = [stage];
    program(
        &Program {
            name: "program",
            stages: &stages,
        },
        &CodegenOptions::default(),
    )
}

/// Checks what holds of any generated text: balanced braces outside of comments, only lines of the known kinds, and each
/// struct's size where its last field ends.
fn check(text: &str, what: &str) {
    let mut depth = 0i32;
    for line in text.lines() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        assert!(code.is_ascii(), "{what}: {line}");
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        assert!(depth >= 0, "{what}: {line}");
        let begins = [
            "",
            "use ",
            "pub ",
            "impl",
            "const ",
            "#[",
            "}",
            "assert!",
            "out.push",
            "for ",
            "fn ",
            "(",
            "&[",
            "];",
            ");",
            "Zeroable::",
            "ShaderCode {",
            "name: ",
            "spirv: ",
            "refl: ",
            "offset_of!",
            "size_of::",
        ];
        let known = begins.iter().any(|begin| {
            if begin.is_empty() {
                code.is_empty()
            } else {
                code.starts_with(begin)
            }
        });
        // Names imported over several lines.
        let imports = code.ends_with(',')
            && code
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_, ".contains(c));
        assert!(known || imports, "{what}: {line:?}");
    }
    assert_eq!(depth, 0, "{what}");
}

#[test]
fn every_module_at_hand() {
    let mut generated = 0;
    let modules = common::all_modules();
    for (name, bytes) in &modules {
        let Ok(interface) = reflect_with(
            bytes,
            &Options {
                missing_bindings: MissingBindings::Assign,
            },
        ) else {
            continue;
        };
        match generate(&interface) {
            Ok(text) => {
                check(&text, name);
                assert_eq!(text, generate(&interface).unwrap(), "{name}");
                generated += 1;
            }
            // What cannot be pushed is no program of the engine's.
            Err(
                Error::RuntimeArrayPushed { .. }
                | Error::SetOutOfRange { .. }
                | Error::NoEntryPoint { .. }
                | Error::BindingMismatch { .. },
            ) => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert!(
        generated * 2 > modules.len(),
        "{generated} of {}",
        modules.len()
    );
}

#[test]
fn mutated_modules_never_panic() {
    let mut random = 0x1234_5678_9abc_def0u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let modules = common::all_modules();
    let mut generated = 0;
    for round in 0..4000 {
        let (name, bytes) = &modules[round % modules.len()];
        let mut bytes = bytes.clone();
        for _ in 0..=next() % 4 {
            let word = 5 + next() as usize % (bytes.len() / 4 - 5);
            let value = match next() % 4 {
                0 => next() as u32,
                1 => (next() % 64) as u32,
                2 => u32::MAX - (next() % 64) as u32,
                _ => 1 << (next() % 32),
            };
            bytes[word * 4..word * 4 + 4].copy_from_slice(&value.to_le_bytes());
        }
        let Ok(interface) = reflect_with(
            &bytes,
            &Options {
                missing_bindings: MissingBindings::Keep,
            },
        ) else {
            continue;
        };
        if let Ok(text) = generate(&interface) {
            check(&text, &format!("{name}, round {round}"));
            generated += 1;
        }
    }
    assert!(
        generated > 100,
        "only {generated} of the mutated modules were generated for"
    );
}

#[test]
fn program_names() {
    for good in ["cull", "hzb_downsample", "a1"] {
        assert!(is_program_name(good), "{good}");
    }
    for bad in [
        "",
        "Cull",
        "cull-late",
        "1a",
        "fn",
        "types",
        "a__b",
        "_a",
        "a b",
        "self",
    ] {
        assert!(!is_program_name(bad), "{bad}");
    }
}

/// Bindings without a name are called after their place, unless the caller's table has a name for it.
#[test]
fn nameless_bindings_are_named_by_place_or_by_the_callers_table() {
    let interface = common::reflect("stripped.spvasm");
    let places: Vec<_> = interface
        .bindings
        .iter()
        .map(|binding| (binding.set.unwrap(), binding.binding.unwrap()))
        .collect();
    let stages = [ProgramStage {
        name: "stripped",
        source: "stripped",
        interface: &interface,
        spirv_path: "stripped.spv",
        refl_path: "stripped.refl",
    }];
    let text = |options: &CodegenOptions| {
        let stages = &stages;
        program(
            &Program {
                name: "stripped",
                stages,
            },
            options,
        )
        .unwrap()
    };
    let plain = text(&CodegenOptions::default());
    for (set, binding) in &places {
        assert!(
            plain.contains(&format!("pub binding_{set}_{binding}: ")),
            "{plain}"
        );
    }
    let named = text(&CodegenOptions {
        names: places
            .iter()
            .map(|&place| (place, format!("meaning{}", place.1)))
            .collect(),
        ..CodegenOptions::default()
    });
    for (_, binding) in &places {
        assert!(
            named.contains(&format!("pub meaning{binding}: ")),
            "{named}"
        );
    }
    assert!(!places.is_empty() && !named.contains("binding_"), "{named}");
}
