//! The table of what overriding, slots, parameters and blocks must do, as results of compute shaders.

use impel_spirv::compose::{Filling, Mix};

use crate::device::{composer, run};

/// A class of the compute stage with these pragmas and this body.
fn class(name: &str, pragmas: &str, body: &str) -> String {
    let pragmas: String = pragmas
        .split(';')
        .filter(|p| !p.trim().is_empty())
        .map(|p| format!("#pragma mixin {}\n", p.trim()))
        .collect();
    format!(
        "#version 460\n#pragma mixin class {name}\n#pragma mixin stage compute\n{pragmas}#include <mixin>\n{body}\n"
    )
}

fn run_classes(classes: &[String], mix: Mix, count: usize) -> Vec<i32> {
    let texts: Vec<&str> = classes.iter().map(String::as_str).collect();
    run(&texts, mix, count)
}

fn one(name: &str) -> Mix {
    Mix::of(&[name])
}

#[test]
fn base_is_the_previous_in_the_mix() {
    let classes = [
        class("Base", "inherit Result; abstract int mx_c()", ""),
        class(
            "O1",
            "inherit Base; override int mx_c()",
            "int mx_c() { return 7; }",
        ),
        class(
            "O2",
            "inherit Base; override int mx_c(); override int mx_value()",
            "int mx_c() { return base_mx_c() + 7; }\nint mx_value() { return mx_c(); }",
        ),
    ];
    assert_eq!(run_classes(&classes, Mix::of(&["O1", "O2"]), 1), [14]);
}

fn slot_classes() -> Vec<String> {
    vec![
        class(
            "Ten",
            "virtual int mx_number()",
            "int mx_number() { return 10; }",
        ),
        class(
            "A",
            "inherit Ten; override int mx_number()",
            "int mx_number() { return 20; }",
        ),
        class(
            "B",
            "inherit Ten; override int mx_number()",
            "int mx_number() { return base_mx_number() + 10; }",
        ),
    ]
}

#[test]
fn slots_take_classes_and_the_default() {
    let mut classes = slot_classes();
    classes.push(class(
        "Three",
        "inherit Result; compose Ten first; compose Ten second; compose Ten third; override void mx_main(); override int mx_value()",
        "int mx_value() { return 0; }\nvoid mx_main() { result.values[0] = slot_first_mx_number(); result.values[1] = slot_second_mx_number(); result.values[2] = slot_third_mx_number(); }",
    ));
    let mix = one("Three")
        .slot("first", Filling::One(one("A")))
        .slot("second", Filling::One(one("B")));
    assert_eq!(run_classes(&classes, mix, 3), [20, 20, 10]);
}

#[test]
fn overrides_of_a_root_function_stack() {
    let classes = [
        class(
            "Base",
            "inherit Result; root int mx_sum()",
            "int mx_sum() { return 2; }",
        ),
        class(
            "A",
            "inherit Base; override int mx_sum()",
            "int mx_sum() { return base_mx_sum() + 2; }",
        ),
        class(
            "B",
            "inherit Base; override int mx_sum()",
            "int mx_sum() { return base_mx_sum() + 2; }",
        ),
        class(
            "Root",
            "inherit Base; compose Base a; compose Base b; override int mx_sum(); override int mx_value()",
            "int mx_sum() { return base_mx_sum() + 2; }\nint mx_value() { return mx_sum(); }",
        ),
    ];
    let mix = one("Root")
        .slot("a", Filling::One(one("A")))
        .slot("b", Filling::One(one("B")));
    assert_eq!(run_classes(&classes, mix, 1), [8]);
}

#[test]
fn a_root_function_has_its_class_at_the_root() {
    // Its private variable has one instance there, beside those of the slots.
    let classes = [
        class("Base", "root int mx_sum()", "int mx_sum() { return 2; }"),
        class(
            "Counter",
            "inherit Base; override int mx_sum(); virtual int mx_step()",
            "int count = 5;\nint mx_step() { count += 1; return count; }\nint mx_sum() { count += 10; return base_mx_sum() + count; }",
        ),
        class(
            "Root",
            "inherit Result; inherit Base; compose Counter a; override int mx_value()",
            "int mx_value() { int s = slot_a_mx_step(); return s * 100 + mx_sum() + mx_sum(); }",
        ),
    ];
    // The slot's counter goes to 6; the root's to 15 and 25.
    assert_eq!(run_classes(&classes, one("Root"), 1), [600 + 17 + 27]);
}

#[test]
fn root_variables_are_one() {
    let classes = [
        class(
            "Sun",
            "root int mx_sun = 3; virtual int mx_touch()",
            "int mx_touch() { mx_sun += 1; return mx_sun; }",
        ),
        class(
            "Root",
            "inherit Result; inherit Sun; compose Sun a; compose Sun b; override int mx_value()",
            "int mx_value() { int x = slot_a_mx_touch(); x = slot_b_mx_touch(); mx_touch(); return mx_sun; }",
        ),
    ];
    assert_eq!(run_classes(&classes, one("Root"), 1), [6]);
}

#[test]
fn instances_have_their_own_state_and_initialisers() {
    let classes = [
        class(
            "State",
            "param int START = 0; virtual void mx_set(inout int sum)",
            "int value = START;\nint other = value > 3 ? 1 : 0;\nvoid mx_set(inout int sum) { value += other; sum += value; value = 100; }",
        ),
        class(
            "Root",
            "inherit Result; compose State states[]; override int mx_value()",
            "int mx_value() { int sum = 0; slot_foreach_states_mx_set(sum); return sum * 10 + states_count; }",
        ),
    ];
    let states = ["State<5>", "State<7>", "State<1>"].map(one).to_vec();
    // 5 + 1, 7 + 1, 1 + 0.
    assert_eq!(
        run_classes(
            &classes,
            one("Root").slot("states", Filling::Many(states)),
            1
        ),
        [153]
    );
}

#[test]
fn thirteen_from_three_slots() {
    let classes = [
        class(
            "State",
            "param int START; virtual void mx_add(inout int sum)",
            "int value = START;\nvoid mx_add(inout int sum) { sum += value; }",
        ),
        class(
            "Root",
            "inherit Result; compose State a[3]; override int mx_value()",
            "int mx_value() { int sum = 0; slot_foreach_a_mx_add(sum); return sum; }",
        ),
    ];
    let states = ["State<5>", "State<7>", "State<START = 1>"]
        .map(one)
        .to_vec();
    assert_eq!(
        run_classes(&classes, one("Root").slot("a", Filling::Many(states)), 1),
        [13]
    );
}

#[test]
fn a_class_with_other_parameters_is_another() {
    let classes = [
        class(
            "Base",
            "inherit Result; override int mx_value()",
            "int mx_value() { return 5; }",
        ),
        class(
            "F",
            "inherit Base; param int N; override int mx_value()",
            "int mx_value() { return base_mx_value() + N; }",
        ),
    ];
    assert_eq!(run_classes(&classes, Mix::of(&["F<4>", "F<6>"]), 1), [15]);
    assert_eq!(run_classes(&classes, Mix::of(&["F<4>", "F<4>"]), 1), [9]);
}

#[test]
fn parameters_size_arrays_and_are_passed_on() {
    let classes = [
        class(
            "Sized",
            "inherit Result; param int N = 1; override int mx_value()",
            "int mx_value() { int d[2 * N]; for (int i = 0; i < d.length(); ++i) d[i] = 1; int s = 0; for (int i = 0; i < d.length(); ++i) s += d[i]; return s; }",
        ),
        class(
            "Heir",
            "param int M = 1; inherit Sized<M * 2 + 1>; param vec2 T = vec2(1, 2); param bool ON = false; param uint U = 3u; override int mx_value()",
            "int mx_value() { return base_mx_value() * 100 + int(T.x * 10.0 + T.y) + (ON ? 1000 : 0) + int(U); }",
        ),
    ];
    assert_eq!(run_classes(&classes, one("Sized<2>"), 1), [4]);
    let mix = one("Heir<M = 2, T = vec2(3, 4), ON = true>");
    assert_eq!(run_classes(&classes, mix, 1), [10 * 100 + 34 + 1000 + 3]);
}

#[test]
fn blocks_are_merged() {
    let part = |name: &str, member: &str| {
        class(
            name,
            "inherit Adds; merge_block Test; override int mx_add()",
            &format!(
                "layout(set = 0, binding = 1) uniform Test {{ int {member}; }} test;\nint mx_add() {{ return base_mx_add() * 10 + test.{member}; }}"
            ),
        )
    };
    let classes = [
        class(
            "Adds",
            "inherit Result; virtual int mx_add(); override int mx_value()",
            "int mx_add() { return 0; }\nint mx_value() { return mx_add(); }",
        ),
        part("P1", "a"),
        part("P2", "b"),
        part("P3", "c"),
        part("P4", "d"),
    ];
    let texts: Vec<&str> = classes.iter().map(String::as_str).collect();
    let recipe = impel_spirv::compose::Recipe::new(
        "test",
        Mix::of(&["P1", "P2", "P3", "P4"]),
        &[impel_spirv::Stage::Compute],
    );
    let composer = composer(&texts);
    let effect = composer.compose(&recipe).unwrap();
    impel_spirv::compose::validate_effect(&composer, &recipe, &effect, &Default::default())
        .unwrap();
    let interface = &effect.stages[0].interface;
    let block = interface.bindings_at(0, 1).next().unwrap().block.unwrap();
    let members: Vec<_> = interface
        .types
        .get_struct(block)
        .unwrap()
        .members
        .iter()
        .map(|m| (m.name.as_str(), m.offset))
        .collect();
    assert_eq!(
        members,
        [
            ("a", Some(0)),
            ("b", Some(4)),
            ("c", Some(8)),
            ("d", Some(12))
        ]
    );
}

#[test]
fn overloads_are_told_apart() {
    let classes = [class(
        "Sums",
        "inherit Result; virtual int f(int a); virtual int f(int a, int b); virtual int f(int a, int b, int c); override void mx_main(); override int mx_value()",
        "int f(int a) { return a; }\nint f(int a, int b) { return a + b; }\nint f(int a, int b, int c) { return a + b + c; }\nint mx_value() { return 0; }\nvoid mx_main() { result.values[0] = f(1); result.values[1] = f(1, 2); result.values[2] = f(1, 2, 3); }",
    )];
    assert_eq!(run_classes(&classes, one("Sums"), 3), [1, 3, 6]);
}

#[test]
fn imports_are_called_and_not_overridden() {
    let classes = [
        class(
            "Maths",
            "param int K = 2; virtual int mx_twice(int x)",
            "int mx_twice(int x) { return x * K; }",
        ),
        class(
            "Liar",
            "inherit Maths; override int mx_twice(int x)",
            "int mx_twice(int x) { return 0; }",
        ),
        class(
            "Root",
            "inherit Result; import Maths<3>; override int mx_value()",
            "int mx_value() { return mx_twice(7); }",
        ),
    ];
    assert_eq!(run_classes(&classes, Mix::of(&["Root", "Liar"]), 1), [21]);
}

#[test]
fn every_kind_of_parameter_arrives() {
    let pragmas = "inherit Result; virtual int mx_all(int a, inout int b, out int c, const int d, Pair p, int q[3], Words w); override int mx_value()";
    let classes = [
        class(
            "Kinds",
            pragmas,
            "#pragma mixin interface begin\nstruct Pair { int x; int y; };\nlayout(buffer_reference, std430) buffer Words { int words[]; };\n#pragma mixin interface end\nint mx_all(int a, inout int b, out int c, const int d, Pair p, int q[3], Words w) { b += a; c = d; return -1; }\nint mx_value() { int b = 1, c = 0; int r = mx_all(10, b, c, 5, Pair(1, 2), int[3](1, 2, 3), Words(uvec2(0))); return r * 1000 + b * 10 + c; }",
        ),
        class(
            "Over",
            "inherit Kinds; override int mx_all(int a, inout int b, out int c, const int d, Pair p, int q[3], Words w)",
            "int mx_all(int a, inout int b, out int c, const int d, Pair p, int q[3], Words w) { b += a + 1; c = d + p.y + q[2]; return base_mx_all(a, b, c, d, p, q, w) + p.x; }",
        ),
    ];
    let classes: Vec<String> = classes.iter().map(|text| text.replacen("#version 460", "#version 460\n#extension GL_EXT_buffer_reference : require\n#extension GL_EXT_buffer_reference_uvec2 : require", 1)).collect();
    // Over: b = 12; the base adds 10 more and sets c to 5; r = -1 + 1.
    assert_eq!(run_classes(&classes, one("Over"), 1), [225]);
}

#[test]
fn variables_of_an_interface_are_shared_in_the_mix() {
    let region = "#pragma mixin interface begin\nint counter = 5;\nshared int board[4];\n#pragma mixin interface end\n";
    let classes = [
        class(
            "Base",
            "inherit Result; virtual int mx_next(); override int mx_value()",
            &format!(
                "{region}int mx_next() {{ counter += 1; board[1] = counter; return counter; }}\nint mx_value() {{ return 0; }}"
            ),
        ),
        class(
            "Heir",
            "inherit Base; override int mx_value()",
            "int counter_of_mine = 100;\nint mx_value() { int a = mx_next(); counter *= 10; int b = mx_next(); return a * 1000 + b + board[1] + counter_of_mine; }",
        ),
    ];
    // 6; then 60 and 61, which is on the board, too.
    assert_eq!(
        run_classes(&classes, one("Heir"), 1),
        [6000 + 61 + 61 + 100]
    );
}

#[test]
fn what_one_slot_does_to_its_arguments_the_next_does_not_see() {
    let classes = [
        class(
            "Step",
            "param int K = 1; virtual void mx_step(int x, inout int sum)",
            "void mx_step(int x, inout int sum) { x *= 10; sum += x * K; }",
        ),
        class(
            "Root",
            "inherit Result; compose Step steps[]; override int mx_value()",
            "int mx_value() { int sum = 0; slot_foreach_steps_mx_step(2, sum); return sum * 10 + steps_count; }",
        ),
    ];
    let steps = ["Step<1>", "Step<2>", "Step<3>"].map(one).to_vec();
    assert_eq!(
        run_classes(&classes, one("Root").slot("steps", Filling::Many(steps)), 1),
        [20 * 6 * 10 + 3]
    );
    assert_eq!(
        run_classes(
            &classes,
            one("Root").slot("steps", Filling::Many(Vec::new())),
            1
        ),
        [0]
    );
}

#[test]
fn slots_have_slots() {
    let classes = [
        class(
            "Number",
            "virtual int mx_number()",
            "int mx_number() { return 1; }",
        ),
        class(
            "Const",
            "inherit Number; param int N = 2; override int mx_number()",
            "int mx_number() { return N; }",
        ),
        class(
            "Sum",
            "inherit Number; compose Number a; compose Number b; override int mx_number()",
            "int mx_number() { return 10 * slot_a_mx_number() + slot_b_mx_number(); }",
        ),
        class(
            "Root",
            "inherit Result; compose Number n; override int mx_value()",
            "int mx_value() { return slot_n_mx_number(); }",
        ),
    ];
    let inner = one("Sum").slot("a", Filling::One(one("Const<7>")));
    let outer = one("Sum").slot("a", Filling::One(inner)).slot(
        "b",
        Filling::One(one("Const").param("N", impel_spirv::compose::ParamValue::Int(4))),
    );
    // (7, default 1) is 71; 71 and 4 are 714.
    assert_eq!(
        run_classes(&classes, one("Root").slot("n", Filling::One(outer)), 1),
        [714]
    );
}

#[test]
fn opaque_arguments_are_handed_through() {
    let pragmas = "inherit Result; virtual void mx_put(writeonly uimage2D to, int value); override int mx_value()";
    let classes = [
        class(
            "Put",
            pragmas,
            "layout(set = 0, binding = 1) uniform writeonly uimage2D picture;\nvoid mx_put(writeonly uimage2D to, int value) { imageStore(to, ivec2(0), uvec4(value)); }\nint mx_value() { if (result.values[3] == 77) mx_put(picture, 5); return 3; }",
        ),
        class(
            "Twice",
            "inherit Put; override void mx_put(writeonly uimage2D to, int value)",
            "void mx_put(writeonly uimage2D to, int value) { base_mx_put(to, value); base_mx_put(to, value * 2); }",
        ),
    ];
    let texts: Vec<&str> = classes.iter().map(String::as_str).collect();
    let recipe =
        impel_spirv::compose::Recipe::new("test", one("Twice"), &[impel_spirv::Stage::Compute]);
    let composer = composer(&texts);
    let effect = composer.compose(&recipe).unwrap();
    impel_spirv::compose::validate_effect(&composer, &recipe, &effect, &Default::default())
        .unwrap();
    let names: Vec<_> = effect.stages[0]
        .interface
        .bindings
        .iter()
        .map(|binding| binding.name.as_str())
        .collect();
    assert_eq!(names, ["result", "picture"]);
}

#[test]
fn members_of_a_merged_block_are_where_the_accesses_go() {
    // Storage blocks of four classes at the results' binding: each writes its own member.
    let part = |name: &str, member: &str, value: i32| {
        let body = format!(
            "layout(set = 0, binding = 0) buffer Test {{ int {member}; }} test;\nvoid mx_main() {{ base_mx_main(); test.{member} = {value}; }}"
        );
        class(
            name,
            "inherit Main; merge_block Test; override void mx_main()",
            &body,
        )
    };
    let classes = [
        class("Main", "virtual void mx_main()", "void mx_main() {}"),
        part("P1", "a", 11),
        part("P2", "b", 22),
        part("P3", "c", 33),
        part("P4", "d", 44),
    ];
    assert_eq!(
        run_classes(&classes, Mix::of(&["P1", "P2", "P3", "P4"]), 5),
        [11, 22, 33, 44, 0]
    );
}
