//! Errors of class modules that no GLSL gives: SPIR-V written by hand, beside a header.

use impel_spirv::compose::{
    Code, ComposeOptions, Composer, Library, Mix, MixinError, Recipe, ValidationRules,
    validate_effect,
};
use impel_spirv::{Error, Stage};

use crate::errors::class;
use crate::tools::{composer, failure, tool};

const HEADER: &str = "#pragma mixin class Hand\n#pragma mixin stage compute\n#pragma mixin virtual void mx_main();\n";

/// A module around a body of `mx_main`, with more functions and globals.
fn module(globals: &str, body: &str, functions: &str) -> Vec<u8> {
    let text = format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         OpName %main \"main\"\nOpName %entry \"mx_main(\"\n{globals}\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n\
         %int = OpTypeInt 32 1\n%one = OpConstant %float 1\n\
         %main = OpFunction %void None %fn\n%l1 = OpLabel\n%c1 = OpFunctionCall %void %entry\nOpReturn\nOpFunctionEnd\n\
         %entry = OpFunction %void None %fn\n%l2 = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n{functions}\n"
    );
    let path = std::env::temp_dir().join(format!("impel-by-hand-{}.spvasm", std::process::id()));
    std::fs::write(&path, &text).unwrap();
    let bytes = tool(
        "spirv-as",
        &["--target-env", "spv1.6", path.to_str().unwrap(), "-o", "-"],
        &[],
    )
    .unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    std::fs::remove_file(&path).unwrap();
    bytes
}

fn hand(bytes: Vec<u8>) -> Composer {
    let mut library = Library::new();
    library
        .add_modules("Hand.mixin", HEADER, vec![(Stage::Compute, bytes)])
        .unwrap();
    Composer::new(library, ComposeOptions::default())
}

fn recipe() -> Recipe {
    Recipe::new("test", Mix::of(&["Hand"]), &[Stage::Compute])
}

fn fails(bytes: Vec<u8>) -> MixinError {
    let error = failure(&hand(bytes), &recipe());
    assert_eq!(
        (error.file.as_str(), error.class.as_str()),
        ("Hand.mixin", "Hand"),
        "{error}"
    );
    assert!(!error.to_string().contains('\n'));
    error
}

fn word(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at * 4..at * 4 + 4].copy_from_slice(&value.to_ne_bytes());
}

#[test]
fn a_good_one_composes() {
    let composer = hand(module("", "%x = OpFAdd %float %one %one", ""));
    let effect = composer.compose(&recipe()).unwrap();
    validate_effect(&composer, &recipe(), &effect, &ValidationRules::default()).unwrap();
}

#[test]
fn m18_a_stub_is_still_reachable() {
    let stub = "%stub = OpFunction %void None %fn\n%l3 = OpLabel\nOpReturn\nOpFunctionEnd";
    let error = fails(module(
        "OpName %stub \"slot_light_mx_shine(\"",
        "%c2 = OpFunctionCall %void %stub",
        stub,
    ));
    assert_eq!(
        (error.code, error.symbol.as_str()),
        (Code::M18, "slot_light_mx_shine"),
        "{error}"
    );
    assert!(error.message.contains("Hand::mx_main calls it"), "{error}");
}

#[test]
fn m20_before_the_validator_sees_it() {
    let more = "%other = OpFunction %void None %fn\n%l3 = OpLabel\nOpKill\nOpFunctionEnd";
    let error = fails(module(
        "OpName %other \"helper(\"",
        "%c2 = OpFunctionCall %void %other",
        more,
    ));
    assert_eq!(
        (error.code, error.symbol.as_str()),
        (Code::M20, "helper"),
        "{error}"
    );
    assert!(
        error
            .message
            .contains("OpKill, which the compute stage does not have"),
        "{error}"
    );
}

#[test]
fn m21_names_are_gone() {
    let mut words: Vec<u32> = module("", "", "")
        .chunks_exact(4)
        .map(|w| u32::from_ne_bytes(w.try_into().unwrap()))
        .collect();
    let bytes = tool("spirv-opt", &["--strip-debug", "-", "-o", "-"], &words).unwrap();
    let error = fails(bytes);
    assert_eq!(
        (error.code, error.line, error.symbol.as_str()),
        (Code::M21, 3, "mx_main()"),
        "{error}"
    );
    assert!(error.message.contains("have no names"), "{error}");
    // Optimised: the function is inlined away.
    words = module("", "%x = OpFAdd %float %one %one", "")
        .chunks_exact(4)
        .map(|w| u32::from_ne_bytes(w.try_into().unwrap()))
        .collect();
    let bytes = tool("spirv-opt", &["-O", "-", "-o", "-"], &words).unwrap();
    assert_eq!(fails(bytes).code, Code::M21);
}

#[test]
fn m22_unknown_words() {
    let good = module("", "%x = OpFAdd %float %one %one", "");
    let mut bytes = good.clone();
    let add = good
        .chunks_exact(4)
        .position(|w| w == (5_u32 << 16 | 129).to_ne_bytes())
        .unwrap();
    word(&mut bytes, add, 5 << 16 | 7999);
    let error = fails(bytes);
    assert_eq!(error.code, Code::M22, "{error}");
    assert!(
        error
            .message
            .contains(&format!("word {add}: opcode 7999 is not known")),
        "{error}"
    );

    let mut bytes = module("OpDecorate %c1 RelaxedPrecision", "", "");
    let decorate = bytes
        .chunks_exact(4)
        .position(|w| w == (3_u32 << 16 | 71).to_ne_bytes())
        .unwrap();
    word(&mut bytes, decorate + 2, 4_000);
    let error = fails(bytes);
    assert_eq!(error.code, Code::M22, "{error}");
    assert!(error.message.contains("decoration 4000"), "{error}");

    for garbage in [
        b"no SPIR-V at all".to_vec(),
        Vec::new(),
        good[..30].to_vec(),
        good[..good.len() - 8].to_vec(),
    ] {
        assert_eq!(fails(garbage).code, Code::M22);
    }
}

#[test]
fn damaged_modules_give_coded_errors() {
    // Every word changed to this and that: composed or refused with a code, never a panic.
    let good = module("OpName %one \"one\"", "%x = OpFAdd %float %one %one", "");
    let mut refused = 0;
    for at in 0..good.len() / 4 {
        for value in [0, 1, 5, 77, 0x0001_0000, u32::MAX] {
            let mut bytes = good.clone();
            word(&mut bytes, at, value);
            match hand(bytes).compose_modules(&recipe()) {
                Ok(_) => {}
                Err(Error::Mixin(_)) => refused += 1,
                Err(other) => panic!("word {at} = {value}: {other}"),
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn m23_the_validator_says_no() {
    // An integer addition of floats.
    let composer = hand(module("", "%x = OpIAdd %int %one %one", ""));
    let effect = composer.compose(&recipe()).unwrap();
    let Err(Error::Mixin(error)) =
        validate_effect(&composer, &recipe(), &effect, &ValidationRules::default())
    else {
        panic!()
    };
    assert_eq!(
        (error.code, error.symbol.as_str()),
        (Code::M23, "test (compute stage)"),
        "{error}"
    );
    assert!(
        error.message.contains("Expected int scalar or vector type"),
        "{error}"
    );
    assert!(error.attachment.contains("OpIAdd"), "{}", error.attachment);
    // With lines the class and its line are named.
    let lines = "%file = OpString \"Hand.mixin\"";
    let composer = hand(module(
        lines,
        "OpLine %file 7 3\n%x = OpIAdd %int %one %one",
        "",
    ));
    let effect = composer.compose(&recipe()).unwrap();
    let Err(Error::Mixin(error)) =
        validate_effect(&composer, &recipe(), &effect, &ValidationRules::default())
    else {
        panic!()
    };
    assert_eq!(
        (error.code, error.file.as_str(), error.class.as_str()),
        (Code::M23, "Hand.mixin:7:3", "Hand"),
        "{error}"
    );
}

#[test]
fn m25_too_many_ids() {
    let mut bytes = module("", "", "");
    word(&mut bytes, 3, 0x40_0000);
    let error = fails(bytes);
    assert_eq!(error.code, Code::M25, "{error}");
    assert!(
        error.message.contains("4194304, expected at most 4194303"),
        "{error}"
    );
}

#[test]
fn m17_two_entry_points_in_one_module() {
    let bytes = module("", "", "");
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|w| u32::from_ne_bytes(w.try_into().unwrap()))
        .collect();
    let at = words.iter().position(|w| w & 0xffff == 15).unwrap();
    let count = (words[at] >> 16) as usize;
    let mut twice = words.clone();
    twice.splice(at..at, words[at..at + count].iter().copied());
    let error = fails(twice.iter().flat_map(|w| w.to_ne_bytes()).collect());
    assert_eq!(error.code, Code::M17, "{error}");
    assert!(error.message.contains("2 entry points"), "{error}");
}

#[test]
fn modules_of_classes_are_as_good_as_their_sources() {
    let base = class(
        "Base",
        "virtual int mx_f(int x); param int N = 3",
        "int mx_f(int x) { return x * N; }",
    );
    let main = class(
        "Main",
        "inherit Base<5>; virtual void mx_main(); override int mx_f(int x)",
        "int mx_f(int x) { return base_mx_f(x) + N; }\nvoid mx_main() { int x = mx_f(2); }",
    );
    let sources = composer(&[&base, &main]);
    let recipe = Recipe::new("test", Mix::of(&["Main"]), &[Stage::Compute]);
    let mut library = Library::new();
    for (name, text) in [("Base", &base), ("Main", &main)] {
        // The pragmas are all that is needed.
        let header: String = text
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        let spirv = sources.class_spirv(name, Stage::Compute).unwrap();
        library
            .add_modules(
                &format!("{name}.mixin"),
                &header,
                vec![(Stage::Compute, spirv)],
            )
            .unwrap();
    }
    let modules = Composer::new(library, ComposeOptions::default());
    assert_eq!(
        sources.compose_modules(&recipe).unwrap(),
        modules.compose_modules(&recipe).unwrap()
    );
}

#[test]
fn m24_a_merged_block_is_loaded_as_a_whole() {
    let globals = "OpName %Test \"Test\"\nOpMemberName %Test 0 \"a\"\nOpName %test \"test\"\nOpMemberDecorate %Test 0 Offset 0\nOpDecorate %Test Block\n\
                   OpDecorate %test DescriptorSet 0\nOpDecorate %test Binding 1";
    let bytes = module(globals, "%whole = OpLoad %Test %test", "");
    // The declarations belong behind the types that `module` writes.
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|w| u32::from_ne_bytes(w.try_into().unwrap()))
        .collect();
    let text = String::from_utf8(
        tool(
            "spirv-dis",
            &["--raw-id", "--no-indent", "--no-color", "-"],
            &words,
        )
        .unwrap(),
    )
    .unwrap();
    let id = |name: &str| {
        text.lines()
            .find(|line| line.starts_with("OpName") && line.ends_with(&format!("\"{name}\"")))
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .to_owned()
    };
    let int = text
        .lines()
        .find(|line| line.ends_with("OpTypeInt 32 1"))
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    let (block, variable) = (id("Test"), id("test"));
    let declarations = format!(
        "{block} = OpTypeStruct {int}\n%900 = OpTypePointer Uniform {block}\n{variable} = OpVariable %900 Uniform\n"
    );
    let at = text
        .find(" OpFunction ")
        .or(text.find("= OpFunction"))
        .unwrap();
    let line = text[..at].rfind('\n').unwrap() + 1;
    let text = format!("{}{declarations}{}", &text[..line], &text[line..]);
    let path =
        std::env::temp_dir().join(format!("impel-by-hand-whole-{}.spvasm", std::process::id()));
    std::fs::write(&path, &text).unwrap();
    let bytes = tool(
        "spirv-as",
        &["--target-env", "spv1.6", path.to_str().unwrap(), "-o", "-"],
        &[],
    )
    .unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    std::fs::remove_file(&path).unwrap();
    let mut library = Library::new();
    let header = format!("{HEADER}#pragma mixin merge_block Test\n");
    library
        .add_modules("Hand.mixin", &header, vec![(Stage::Compute, bytes)])
        .unwrap();
    let error = failure(
        &Composer::new(library, ComposeOptions::default()),
        &recipe(),
    );
    assert_eq!(
        (error.code, error.class.as_str(), error.symbol.as_str()),
        (Code::M24, "Hand", "Test"),
        "{error}"
    );
    assert!(
        error.message.contains("used as a whole by OpLoad"),
        "{error}"
    );
}

#[test]
fn deeply_nested_types_are_refused() {
    let arrays: String = (0..2_000)
        .map(|depth| format!("%t{} = OpTypeArray %t{depth} %n\n", depth + 1))
        .collect();
    let globals =
        format!("%t0 = OpTypeFloat 64\n%u = OpTypeInt 32 0\n%n = OpConstant %u 1\n{arrays}");
    let error = fails(module(&globals, "", ""));
    assert_eq!(error.code, Code::M22, "{error}");
    assert!(
        error.message.contains("nested more than 512 deep"),
        "{error}"
    );
}
