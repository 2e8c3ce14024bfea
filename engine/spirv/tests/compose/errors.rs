//! Each error from the smallest input that provokes it.

use impel_spirv::compose::{
    Code, ComposeOptions, Composer, Filling, Library, Mix, MixinError, ParamValue, Recipe, Recipes,
};
use impel_spirv::{Error, Stage};

use crate::tools::{composer, failure};

/// A class of the compute stage; pragmas are separated by `;`, one a line from line 4 on.
pub(crate) fn class(name: &str, pragmas: &str, body: &str) -> String {
    let pragmas: String = pragmas
        .split(';')
        .filter(|p| !p.trim().is_empty())
        .map(|p| format!("#pragma mixin {}\n", p.trim()))
        .collect();
    format!(
        "#version 460\n#pragma mixin class {name}\n#pragma mixin stage compute\n{pragmas}#include <mixin>\n{body}\n"
    )
}

fn fails(classes: &[String], mix: Mix) -> MixinError {
    let texts: Vec<&str> = classes.iter().map(String::as_str).collect();
    failure(
        &composer(&texts),
        &Recipe::new("test", mix, &[Stage::Compute]),
    )
}

#[track_caller]
fn is(
    error: &MixinError,
    code: Code,
    place: (&str, u32),
    class: &str,
    symbol: &str,
    message: &str,
) {
    let found = (
        error.code,
        error.file.as_str(),
        error.line,
        error.class.as_str(),
        error.symbol.as_str(),
    );
    assert_eq!(found, (code, place.0, place.1, class, symbol), "{error}");
    assert!(error.message.contains(message), "{error}");
    let line = error.to_string();
    assert!(
        line.starts_with(&format!("{code:?} {}", place.0)) && !line.contains('\n'),
        "{line}"
    );
}

fn main_class(pragmas: &str, body: &str) -> String {
    class("Main", &format!("virtual void mx_main();{pragmas}"), body)
}

#[test]
fn m01_unknown_class() {
    let classes = [main_class("inherit Nowhere", "void mx_main() {}")];
    is(
        &fails(&classes, Mix::of(&["Main"])),
        Code::M01,
        ("Main.glsl", 5),
        "Main",
        "Nowhere",
        "no class has this name",
    );
    is(
        &fails(&classes, Mix::of(&["main"])),
        Code::M01,
        ("recipe", 0),
        "",
        "main",
        "there is Main",
    );
}

#[test]
fn m02_inheritance_cycle() {
    let classes = [
        class("A", "inherit B", ""),
        class("B", "inherit C", ""),
        class("C", "inherit A", ""),
    ];
    is(
        &fails(&classes, Mix::of(&["A"])),
        Code::M02,
        ("C.glsl", 4),
        "C",
        "A",
        "A -> B -> C -> A",
    );
    let slots = [main_class("compose Main inner", "void mx_main() {}")];
    is(
        &fails(&slots, Mix::of(&["Main"])),
        Code::M02,
        ("Main.glsl", 5),
        "Main",
        "Main",
        "Main -> Main",
    );
}

#[test]
fn m03_abstract_function_reachable() {
    let classes = [main_class(
        "abstract int mx_f()",
        "void mx_main() { int x = mx_f(); }",
    )];
    is(
        &fails(&classes, Mix::of(&["Main"])),
        Code::M03,
        ("Main.glsl", 5),
        "Main",
        "mx_f()",
        "called by Main::mx_main",
    );
}

#[test]
fn m04_override_without_a_base() {
    let classes = [main_class(
        "override int mx_f(int x)",
        "int mx_f(int x) { return x; }\nvoid mx_main() { int x = mx_f(1); }",
    )];
    is(
        &fails(&classes, Mix::of(&["Main"])),
        Code::M04,
        ("Main.glsl", 5),
        "Main",
        "mx_f(int)",
        "no earlier class",
    );
}

#[test]
fn m05_two_definitions() {
    let f = "virtual int mx_f()";
    let body = "int mx_f() { return 1; }";
    let classes = [
        main_class("", "void mx_main() {}"),
        class("A", f, body),
        class("B", f, body),
    ];
    let error = fails(&classes, Mix::of(&["Main", "A", "B"]));
    is(
        &error,
        Code::M05,
        ("B.glsl", 4),
        "B",
        "mx_f()",
        "class A (A.glsl:4)",
    );
    // An inherited function defined without a word.
    let classes = [
        main_class(f, "int mx_f() { return 1; }\nvoid mx_main() {}"),
        class("Heir", "inherit Main", "\nint mx_f() { return 2; }"),
    ];
    let error = fails(&classes, Mix::of(&["Heir"]));
    is(
        &error,
        Code::M05,
        ("Heir.glsl", 7),
        "Heir",
        "mx_f()",
        "without override",
    );
}

#[test]
fn m06_signature_mismatch() {
    let base = main_class(
        "virtual int mx_f(int x)",
        "int mx_f(int x) { return x; }\nvoid mx_main() { int x = mx_f(1); }",
    );
    let returns = class(
        "O",
        "inherit Main; override float mx_f(int x)",
        "float mx_f(int x) { return 1.0; }",
    );
    let error = fails(&[base.clone(), returns], Mix::of(&["O"]));
    is(
        &error,
        Code::M06,
        ("O.glsl", 5),
        "O",
        "mx_f(int)",
        "\"float mx_f(int)\" here, but Main declares \"int mx_f(int)\" in Main.glsl:5",
    );
    let direction = class(
        "O",
        "inherit Main; override int mx_f(inout int x)",
        "int mx_f(inout int x) { return 1; }",
    );
    let error = fails(&[base, direction], Mix::of(&["O"]));
    is(
        &error,
        Code::M06,
        ("O.glsl", 5),
        "O",
        "mx_f(int)",
        "inout int",
    );
}

#[test]
fn m06_names_the_member_that_drifted() {
    // The caller was compiled when the struct had another member.
    let region = |member: &str| {
        format!(
            "#pragma mixin interface begin\nstruct S {{ vec3 a; {member} b; }};\n#pragma mixin interface end"
        )
    };
    let types = |member: &str| class("Types", "", &region(member));
    let base = class(
        "Base",
        "inherit Types; virtual float mx_f(S s)",
        "float mx_f(S s) { return s.a.x; }",
    );
    let main = class(
        "Main",
        "inherit Base; virtual void mx_main()",
        "void mx_main() { S s; s.a = vec3(1); float x = mx_f(s); }",
    );
    let old = composer(&[&types("float"), &base, &main])
        .class_spirv("Main", Stage::Compute)
        .unwrap();
    let mut library = Library::new();
    library.add_source("Types.glsl", &types("vec2")).unwrap();
    library.add_source("Base.glsl", &base).unwrap();
    library
        .add_modules("Main.mixin", &main, vec![(Stage::Compute, old)])
        .unwrap();
    let composer = Composer::new(library, ComposeOptions::default());
    let error = failure(
        &composer,
        &Recipe::new("test", Mix::of(&["Main"]), &[Stage::Compute]),
    );
    assert!(matches!(error.code, Code::M06 | Code::M14), "{error}");
    assert!(
        error.message.contains("member \"b\"")
            && error.message.contains("vec2")
            && error.message.contains("float"),
        "{error}"
    );
}

#[test]
fn m07_nothing_before() {
    let classes = [
        main_class("abstract int mx_f()", "void mx_main() { int x = mx_f(); }"),
        class(
            "O",
            "inherit Main; override int mx_f()",
            "int mx_f() { return base_mx_f(); }",
        ),
    ];
    is(
        &fails(&classes, Mix::of(&["O"])),
        Code::M07,
        ("O.glsl", 5),
        "O",
        "mx_f()",
        "the definition before it is abstract (class Main)",
    );
}

#[test]
fn m08_slots() {
    let light = class("Light", "abstract int mx_l()", "");
    let lamp = class(
        "Lamp",
        "inherit Light; override int mx_l()",
        "int mx_l() { return 1; }",
    );
    let other = class("Other", "", "");
    let main = main_class(
        "compose Light light; compose Light pair[2]",
        "void mx_main() { int x = slot_light_mx_l(); }",
    );
    let classes = [light, lamp, other, main];
    let lamps = |count: usize| Filling::Many(vec![Mix::of(&["Lamp"]); count]);
    let one = |name: &str| Filling::One(Mix::of(&[name]));
    let error = |mix: Mix| fails(&classes, mix);
    let main = || Mix::of(&["Main"]);
    is(
        &error(main().slot("pair", lamps(2))),
        Code::M08,
        ("recipe", 0),
        "Main",
        "light",
        "Light is abstract",
    );
    is(
        &error(main().slot("light", one("Lamp")).slot("pair", lamps(3))),
        Code::M08,
        ("recipe", 0),
        "Main",
        "pair",
        "takes 2 classes, but 3",
    );
    is(
        &error(main().slot("light", lamps(1)).slot("pair", lamps(2))),
        Code::M08,
        ("recipe", 0),
        "Main",
        "light",
        "single slot, but a list",
    );
    is(
        &error(main().slot("light", one("Other")).slot("pair", lamps(2))),
        Code::M08,
        ("recipe", 0),
        "Main",
        "light",
        "inherit Light, but Other does not",
    );
    is(
        &error(
            main()
                .slot("light", one("Lamp"))
                .slot("pair", lamps(2))
                .slot("lamp", one("Lamp")),
        ),
        Code::M08,
        ("recipe", 0),
        "",
        "lamp",
        "there are: light, pair",
    );
}

#[test]
fn m09_parameters() {
    let sized = main_class(
        "param int N; param float F = 1.0",
        "void mx_main() { int d[N]; d[0] = int(F); int e = d[0]; }",
    );
    let error = |text: &str| fails(std::slice::from_ref(&sized), Mix::of(&[text]));
    let at = ("recipe", 0);
    is(&error("Main"), Code::M09, at, "", "N", "without a value");
    is(
        &error("Main<1, 2.0, 3>"),
        Code::M09,
        at,
        "",
        "3",
        "has 2 parameters",
    );
    is(
        &error("Main<M = 1>"),
        Code::M09,
        at,
        "",
        "M",
        "has 2 parameters",
    );
    is(
        &error("Main<1.5>"),
        Code::M09,
        at,
        "",
        "N",
        "is float (1.5), expected int",
    );
    is(
        &error("Main<99999999999>"),
        Code::M09,
        at,
        "",
        "N",
        "no number of 32 bits",
    );
    is(
        &error("Main<1 - 1>"),
        Code::M09,
        ("Main.glsl", 2),
        "Main",
        "N",
        "is 0, expected at least 1",
    );
    is(
        &error("Main<-3>"),
        Code::M09,
        ("Main.glsl", 2),
        "Main",
        "N",
        "is -3, expected at least 1",
    );
    let unknown = Mix::of(&["Main<1>"]).param("Q", ParamValue::Int(1));
    is(
        &fails(&[sized], unknown),
        Code::M09,
        at,
        "",
        "Q",
        "no class of this mix",
    );
}

fn buffer(name: &str, pragmas: &str, declaration: &str, block: &str) -> String {
    class(
        name,
        pragmas,
        &format!("{declaration}\nvoid mx_main() {{ {block}; base_mx_main(); }}"),
    )
}

fn base() -> String {
    main_class("", "void mx_main() {}")
}

#[test]
fn m10_two_resources_on_one_binding() {
    let o = "inherit Main; override void mx_main()";
    let classes = [
        base(),
        buffer(
            "A",
            o,
            "layout(set = 0, binding = 3) buffer X { int v; } x;",
            "x.v = 1",
        ),
        buffer(
            "B",
            o,
            "layout(set = 0, binding = 3) buffer Y { int v; } y;",
            "y.v = 1",
        ),
    ];
    is(
        &fails(&classes, Mix::of(&["A", "B"])),
        Code::M10,
        ("B.glsl", 2),
        "B",
        "y",
        "set 0, binding 3, where class A has x",
    );
}

#[test]
fn m11_one_name_for_two_resources() {
    let o = "inherit Main; override void mx_main()";
    let a = buffer(
        "A",
        o,
        "layout(set = 0, binding = 3) buffer X { int v; } x;",
        "x.v = 1",
    );
    let moved = buffer(
        "B",
        o,
        "layout(set = 0, binding = 4) buffer X { int v; } x;",
        "x.v = 1",
    );
    is(
        &fails(&[base(), a.clone(), moved], Mix::of(&["A", "B"])),
        Code::M11,
        ("B.glsl", 2),
        "B",
        "x",
        "binding 4 here, but class A has it at set 0, binding 3",
    );
    let typed = buffer(
        "B",
        o,
        "layout(set = 0, binding = 3) buffer X { float v; } x;",
        "x.v = 1.0",
    );
    is(
        &fails(&[base(), a, typed], Mix::of(&["A", "B"])),
        Code::M11,
        ("B.glsl", 2),
        "B",
        "x",
        "member \"v\": float here, int there",
    );
}

fn fragment(name: &str, pragmas: &str, body: &str) -> String {
    class(name, pragmas, body).replace("stage compute", "stage fragment")
}

fn fails_in(classes: &[String], mix: &[&str], stages: &[Stage]) -> MixinError {
    let texts: Vec<&str> = classes.iter().map(String::as_str).collect();
    failure(
        &composer(&texts),
        &Recipe::new("test", Mix::of(mix), stages),
    )
}

#[test]
fn m12_locations() {
    let main = fragment(
        "Main",
        "virtual void mx_main()",
        "layout(location = 0) out vec4 colour;\nvoid mx_main() { colour = vec4(1); }",
    );
    let o = "inherit Main; override void mx_main()";
    let other = fragment(
        "B",
        o,
        "layout(location = 0) out vec4 light;\nvoid mx_main() { base_mx_main(); light = vec4(1); }",
    );
    is(
        &fails_in(&[main.clone(), other], &["B"], &[Stage::Fragment]),
        Code::M12,
        ("B.glsl", 2),
        "B",
        "light",
        "is an output at location 0, which colour takes in class Main",
    );
    let typed = fragment(
        "B",
        o,
        "layout(location = 0) out vec3 colour;\nvoid mx_main() { base_mx_main(); colour = vec3(1); }",
    );
    is(
        &fails_in(&[main, typed], &["B"], &[Stage::Fragment]),
        Code::M12,
        ("B.glsl", 2),
        "B",
        "colour",
        "another type",
    );
    // An input that the stage before does not write.
    let vertex = class(
        "V",
        "virtual void mx_main()",
        "void mx_main() { gl_Position = vec4(0); }",
    )
    .replace("stage compute", "stage vertex");
    let pixel = fragment(
        "P",
        "virtual void mx_main()",
        "layout(location = 2) in vec2 uv;\nlayout(location = 0) out vec4 colour;\nvoid mx_main() { colour = uv.xyxy; }",
    );
    is(
        &fails_in(
            &[vertex, pixel],
            &["V", "P"],
            &[Stage::Vertex, Stage::Fragment],
        ),
        Code::M12,
        ("recipe", 0),
        "",
        "test",
        "input \"uv\" at location 2",
    );
}

#[test]
fn m13_push_constants() {
    let o = "inherit Main; override void mx_main()";
    let push = |name: &str, ty: &str| {
        buffer(
            name,
            o,
            &format!("layout(push_constant) uniform Push {{ {ty} v; }} push;"),
            "int x = int(push.v.x)",
        )
    };
    let classes = [base(), push("A", "vec2"), push("B", "vec4")];
    is(
        &fails(&classes, Mix::of(&["A", "B"])),
        Code::M13,
        ("B.glsl", 2),
        "B",
        "Push",
        "member \"v\": vec4 here, vec2 there",
    );
    let large = buffer(
        "A",
        o,
        "layout(push_constant) uniform Push { vec4 v[9]; } push;",
        "int x = int(push.v[0].x)",
    );
    is(
        &fails(&[base(), large], Mix::of(&["A"])),
        Code::M13,
        ("A.glsl", 2),
        "A",
        "Push",
        "ends at byte 144, expected at most 128",
    );
}

#[test]
fn m14_structs_of_one_name() {
    let o = "inherit Main; override void mx_main()";
    let with = |name: &str, member: &str| {
        buffer(
            name,
            o,
            &format!("struct S {{ int a; {member}; }};"),
            "S s; s.a = 1",
        )
    };
    let classes = [base(), with("A", "float b"), with("B", "float c")];
    is(
        &fails(&classes, Mix::of(&["A", "B"])),
        Code::M14,
        ("B.glsl", 2),
        "B",
        "S",
        "member 1 is \"c\" here, \"b\" there",
    );
}

#[test]
fn m15_models_and_versions() {
    let options = ComposeOptions {
        spirv_version: Some((1, 5)),
        ..ComposeOptions::default()
    };
    let text = base();
    let mut library = Library::new();
    library.add_source("Main.glsl", &text).unwrap();
    let error = failure(
        &Composer::new(library, options),
        &Recipe::new("test", Mix::of(&["Main"]), &[Stage::Compute]),
    );
    is(
        &error,
        Code::M15,
        ("Main.glsl", 2),
        "Main",
        "compute module",
        "is SPIR-V 1.6, expected at most 1.5",
    );
    // The Vulkan memory model beside GLSL's.
    let o = class(
        "O",
        "inherit Main; override void mx_main()",
        "void mx_main() { base_mx_main(); }",
    );
    let o = o.replacen("#version 460", "#version 460\n#extension GL_KHR_memory_scope_semantics : enable\n#pragma use_vulkan_memory_model", 1);
    is(
        &fails(&[text, o], Mix::of(&["O"])),
        Code::M15,
        ("O.glsl", 4),
        "O",
        "compute module",
        "memory model 3, but class Main has 1",
    );
}

#[test]
fn m16_execution_modes() {
    let sized =
        |name: &str, size: u32| class(name, "", &format!("layout(local_size_x = {size}) in;"));
    let classes = [base(), sized("A", 8), sized("B", 16)];
    is(
        &fails(&classes, Mix::of(&["Main", "A", "B"])),
        Code::M16,
        ("B.glsl", 2),
        "B",
        "LocalSize",
        "LocalSize [8, 1, 1] in class A",
    );
}

#[test]
fn m17_entry_points() {
    let classes = [class("Main", "", "")];
    is(
        &fails(&classes, Mix::of(&["Main"])),
        Code::M17,
        ("recipe", 0),
        "",
        "mx_main()",
        "no class of the compute stage",
    );
    is(
        &fails_in(&[base()], &["Main"], &[Stage::Fragment]),
        Code::M17,
        ("recipe", 0),
        "",
        "test",
        "no class of the effect serves the fragment stage",
    );
    let silent = |name: &str| {
        class(
            name,
            "virtual void mx_f()",
            "void mx_f() {}\nvoid mx_main() {}",
        )
        .replace("virtual void mx_f()", &format!("virtual void mx_{name}()"))
        .replace("void mx_f()", &format!("void mx_{name}()"))
    };
    let error = fails(&[silent("A"), silent("B")], Mix::of(&["A", "B"]));
    is(
        &error,
        Code::M17,
        ("B.glsl", 7),
        "B",
        "mx_main()",
        "two entry points, the other one in class A",
    );
    let mut library = Library::new();
    let error = library
        .add_source(
            "X.glsl",
            &class("X", "virtual void mx_f()", "void mx_f() {}\nvoid main() {}"),
        )
        .unwrap_err();
    let Error::Mixin(error) = error else {
        panic!("{error}")
    };
    is(&error, Code::M17, ("X.glsl", 7), "X", "main", "mx_main");
}

#[test]
fn m19_recursion() {
    let classes = [
        main_class(
            "virtual int mx_f(); virtual int mx_g()",
            "int mx_f() { return 1; }\nint mx_g() { return mx_f(); }\nvoid mx_main() { int x = mx_g(); }",
        ),
        class(
            "O",
            "inherit Main; override int mx_f()",
            "int mx_f() { return mx_g(); }",
        ),
    ];
    let error = fails(&classes, Mix::of(&["O"]));
    assert_eq!(error.code, Code::M19, "{error}");
    assert!(
        error
            .message
            .contains("Main::mx_g -> O::mx_f -> Main::mx_g"),
        "{error}"
    );
}

#[test]
fn m20_operations_of_other_stages() {
    let any = |body: &str| {
        class("Main", "virtual void mx_main()", body).replace("stage compute", "stage any")
    };
    is(
        &fails(&[any("void mx_main() { discard; }")], Mix::of(&["Main"])),
        Code::M20,
        ("Main.glsl", 6),
        "Main",
        "discard",
        "not supported in this stage",
    );
    is(
        &fails(
            &[any("void mx_main() { float x = dFdx(1.0); }")],
            Mix::of(&["Main"]),
        ),
        Code::M20,
        ("Main.glsl", 6),
        "Main",
        "dFdx",
        "",
    );
}

#[test]
fn m24_whole_merged_blocks() {
    let o = "inherit Main; merge_block Test; override void mx_main()";
    let part = |name: &str, member: &str, block: &str| {
        buffer(
            name,
            o,
            &format!("layout(set = 0, binding = 1) uniform Test {{ int {member}; }} test;"),
            block,
        )
    };
    // GLSL has no way to copy a block, but one can be handed on in pieces only; a struct of the same shape can not either.
    let classes = [
        base(),
        part("A", "a", "int x = test.a"),
        part("B", "b", "int x = test.b"),
    ];
    let texts: Vec<&str> = classes.iter().map(String::as_str).collect();
    let good = composer(&texts);
    good.compose(&Recipe::new(
        "test",
        Mix::of(&["A", "B"]),
        &[Stage::Compute],
    ))
    .unwrap();
    // An array of blocks has whole blocks as elements.
    let array = buffer(
        "B",
        o,
        "layout(set = 0, binding = 1) uniform Test { int b; } test[2];",
        "int x = test[1].b",
    );
    let classes = [base(), part("A", "a", "int x = test.a"), array];
    is(
        &fails(&classes, Mix::of(&["A", "B"])),
        Code::M24,
        ("B.glsl", 2),
        "B",
        "Test",
        "array of blocks",
    );
}

#[test]
fn m26_sized_arrays_in_blocks() {
    let main = |members: &str| {
        main_class(
            "param int N = 2",
            &format!(
                "layout(set = 0, binding = 0) buffer Data {{ {members} }} data;\nvoid mx_main() {{ data.x = 1; }}"
            ),
        )
    };
    is(
        &fails(&[main("int d[N]; int x;")], Mix::of(&["Main"])),
        Code::M26,
        ("Main.glsl", 2),
        "Main",
        "Data.d",
        "last member",
    );
    let text = main("int x; int d[N];");
    composer(&[&text])
        .compose(&Recipe::new(
            "test",
            Mix::of(&["Main<4>"]),
            &[Stage::Compute],
        ))
        .unwrap();
}

#[test]
fn m27_what_does_not_compile() {
    let error = fails(
        &[main_class("", "void mx_main() {\n  undeclared = 1;\n}")],
        Mix::of(&["Main"]),
    );
    is(
        &error,
        Code::M27,
        ("Main.glsl", 7),
        "Main",
        "undeclared",
        "undeclared identifier",
    );
    assert!(
        error.attachment.contains("Main.glsl:7: 'undeclared'"),
        "{}",
        error.attachment
    );
    // In another class's interface, the file is that class's.
    let region =
        "#pragma mixin interface begin\n\nstruct S { missing x; };\n#pragma mixin interface end";
    let classes = [
        class("Types", "", region),
        main_class("inherit Types", "void mx_main() {}"),
    ];
    let error = fails(&classes, Mix::of(&["Main"]));
    assert_eq!(
        (error.code, error.file.as_str(), error.line),
        (Code::M27, "Types.glsl", 7),
        "{error}"
    );
}

fn recipe_error(text: &str) -> MixinError {
    match Recipes::parse("r.toml", text) {
        Err(Error::Mixin(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn m28_recipes() {
    let good = "classes = [\"c\"]\n[effect.e]\nmixins = [\"A\"]\nstages = [\"compute\"]\n";
    let recipes = Recipes::parse("r.toml", good).unwrap();
    let check = |text: &str, line: u32, symbol: &str, message: &str| {
        is(
            &recipe_error(text),
            Code::M28,
            ("r.toml", line),
            "",
            symbol,
            message,
        );
    };
    check("classes = [", 1, "", "no valid TOML");
    check(
        &good.replace("classes", "clases"),
        1,
        "clases",
        "unknown key",
    );
    check(&good.replace("mixins", "mixin"), 3, "mixin", "unknown key");
    check(&good.replace("compute", "pixel"), 4, "pixel", "no stage");
    check(
        &good.replace("[\"A\"]", "3"),
        3,
        "mixins",
        "expected an array of strings, found integer",
    );
    check(
        &format!("{good}slots = {{ a = {{ mixin = [] }} }}\n"),
        5,
        "mixin",
        "unknown key",
    );
    check(
        &format!("{good}params = {{ a = \"x\" }}\n"),
        5,
        "a",
        "expected a number",
    );
    check(
        &good.replace("stages", "# stages"),
        2,
        "e",
        "lists no stages",
    );
    let Err(Error::Mixin(error)) = recipes.effect("f") else {
        panic!()
    };
    is(&error, Code::M28, ("r.toml", 0), "", "f", "the file has: e");
    let Err(Error::Mixin(error)) = recipes.library() else {
        panic!()
    };
    is(&error, Code::M28, ("c", 0), "", "classes", "no such folder");
}

#[test]
fn m29_headers() {
    let check = |text: &str, line: u32, class: &str, symbol: &str, message: &str| {
        let Err(Error::Mixin(error)) = Library::new().add_source("X.glsl", text) else {
            panic!("{text}")
        };
        is(&error, Code::M29, ("X.glsl", line), class, symbol, message);
    };
    check(
        "#version 460\n#pragma mixin class X\n#pragma mixin inherits Y\n",
        3,
        "X",
        "inherits",
        "unknown word",
    );
    check(
        &class("X", "virtual int mx_f()", ""),
        4,
        "X",
        "mx_f()",
        "has no body",
    );
    check("#version 460\n", 1, "", "class", "names no class");
    check(
        &class("X", "stage vertex", ""),
        4,
        "X",
        "stage",
        "given in line 3",
    );
    check(
        &class("X", "param vec5 a", ""),
        4,
        "X",
        "param",
        "found \"vec5\"",
    );
    check(
        &class("X", "interface begin", ""),
        4,
        "X",
        "interface",
        "never ends",
    );
    check(
        &class("X", "abstract int mx_f()", "int mx_f() { return 1; }"),
        6,
        "X",
        "mx_f()",
        "abstract, but has a body",
    );
    check(
        &class("X", "virtual int mx_v", ""),
        4,
        "X",
        "mx_v",
        "only root is for variables",
    );
    let mut library = Library::new();
    library.add_source("A.glsl", &class("X", "", "")).unwrap();
    let Err(Error::Mixin(error)) = library.add_source("B.glsl", &class("X", "", "")) else {
        panic!()
    };
    is(
        &error,
        Code::M29,
        ("B.glsl", 2),
        "X",
        "class",
        "in A.glsl:2",
    );
}

/// Every place of a text, with the character there taken out, doubled, or replaced.
fn damaged(text: &str) -> impl Iterator<Item = String> + '_ {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.into_iter().flat_map(move |at| {
        let (head, tail) = text.split_at(at);
        let rest = &tail[1..];
        ["", "(", "\"", ";", "<", "\n", "#", "9"]
            .into_iter()
            .map(move |other| format!("{head}{other}{rest}"))
    })
}

#[test]
fn damaged_headers_and_recipes_give_coded_errors() {
    let header = class(
        "X",
        "inherit Y<A = 1 + (2), 3>; import Z; param late vec3 P = vec3(1, 2, 3); compose Z slot[2]; override vec4 mx_f(const in float x[2], inout S s); root int mx_r = 3; merge_block M; interface begin; interface end",
        "vec4 mx_f(float x[2], inout S s) { return vec4(1); }\n/* a */ int y = 3, z[2];",
    );
    let mut refused = 0;
    for text in damaged(&header) {
        match Library::new().add_source("X.glsl", &text) {
            Ok(()) => {}
            Err(Error::Mixin(_)) => refused += 1,
            Err(other) => panic!("{other}\n{text}"),
        }
    }
    assert!(refused > 500, "{refused}");
    let recipe = "classes = [\"c\"]\n[effect.e]\nmixins = [\"A<1>\", \"B\"]\nstages = [\"compute\"]\nparams = { N = [1, 2.5], M = true }\nslots = { a = [\"C\", { mixins = [\"D\"] }], b = \"E\" }\n";
    let mut refused = 0;
    let base = main_class("param int N = 1", "void mx_main() {}");
    let composer = composer(&[&base]);
    for text in damaged(recipe) {
        match Recipes::parse("r.toml", &text) {
            Ok(recipes) => {
                for effect in &recipes.effects {
                    // None of the classes is there, so nothing is ever composed.
                    assert!(
                        matches!(composer.compose_modules(effect), Err(Error::Mixin(_))),
                        "{text}"
                    );
                }
            }
            Err(Error::Mixin(_)) => refused += 1,
            Err(other) => panic!("{other}\n{text}"),
        }
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn long_chains_of_classes_end() {
    let mut library = Library::new();
    let count = 2_000;
    for number in 0..count {
        let pragmas = if number == 0 {
            String::new()
        } else {
            format!("inherit C{}", number - 1)
        };
        library
            .add_source("C.glsl", &class(&format!("C{number}"), &pragmas, ""))
            .unwrap();
        let pragmas = if number == 0 {
            String::new()
        } else {
            format!("import I{}", number - 1)
        };
        library
            .add_source("I.glsl", &class(&format!("I{number}"), &pragmas, ""))
            .unwrap();
    }
    let composer = Composer::new(library, ComposeOptions::default());
    for last in ["C1999", "I1999"] {
        let error = failure(
            &composer,
            &Recipe::new("test", Mix::of(&[last]), &[Stage::Compute]),
        );
        assert_eq!(error.code, Code::M02, "{error}");
        assert!(error.message.contains("more than 128 deep"), "{error}");
    }
}
