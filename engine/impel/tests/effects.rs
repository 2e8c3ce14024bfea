//! Pipelines from recipes, and composing anew what a changed class takes part in.

use std::sync::Arc;

use impel::effects::{EffectDesc, Effects};
use impel::gpu::{BufferDesc, GraphicsState};
use impel::spirv::compose::{Library, Mix, Recipe};
use impel::spirv::{SpecValue, Stage};
use impel_gpu::testing::gpu;

const BASE: &str = "#version 460
#pragma mixin class Base
#pragma mixin stage compute
#pragma mixin virtual int mx_value();
#pragma mixin param late int SCALE = 1
#pragma mixin virtual void mx_main();
#include <mixin>
layout(set = 0, binding = 0) buffer Out { int v[]; } result;
int mx_value() { return 2; }
void mx_main() { result.v[0] = mx_value() * SCALE; }
";

fn heir(name: &str, value: &str) -> String {
    format!(
        "#version 460\n#pragma mixin class {name}\n#pragma mixin stage compute\n#pragma mixin inherit Base\n\
         #pragma mixin override int mx_value();\n#include <mixin>\nint mx_value() {{ return base_mx_value() + {value}; }}\n"
    )
}

#[test]
fn only_what_a_class_takes_part_in_is_composed_anew() {
    let gpu = gpu();
    let mut library = Library::new();
    library.add_source("Base.glsl", BASE).unwrap();
    library.add_source("One.glsl", &heir("One", "1")).unwrap();
    library.add_source("Ten.glsl", &heir("Ten", "10")).unwrap();
    let mut effects = Effects::new(&gpu, library);
    let recipes = [
        ("one", &["One"][..]),
        ("ten", &["Ten"]),
        ("both", &["One", "Ten"]),
    ]
    .map(|(name, mixins)| Recipe::new(name, Mix::of(mixins), &[Stage::Compute]));
    let value = |effects: &mut Effects, recipe: &Recipe, constants: &[(&str, SpecValue)]| {
        let desc = EffectDesc {
            recipe,
            state: GraphicsState::default(),
            constants,
        };
        let pipeline = effects.pipeline(&desc).unwrap();
        let buffer = gpu.buffer(&BufferDesc::storage("result", 64)).unwrap();
        let mut frame = gpu.begin_frame().unwrap();
        frame
            .compute("effect", &pipeline)
            .bind([buffer.whole()])
            .dispatch([1, 1, 1])
            .unwrap();
        let back = frame.read_back(&buffer, 0, 64).unwrap();
        frame.submit().unwrap();
        gpu.wait_idle().unwrap();
        let bytes = back.wait().unwrap();
        (
            i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            pipeline,
        )
    };
    let first = recipes
        .each_ref()
        .map(|recipe| value(&mut effects, recipe, &[]));
    assert_eq!(first.each_ref().map(|found| found.0), [3, 12, 13]);
    // The same recipe is the same pipeline; another constant is another one of the same module.
    assert!(Arc::ptr_eq(
        &first[0].1,
        &value(&mut effects, &recipes[0], &[]).1
    ));
    assert_eq!(
        value(&mut effects, &recipes[0], &[("SCALE", SpecValue::I32(5))]).0,
        15
    );

    assert_eq!(effects.affected("Ten"), ["ten", "both"]);
    assert_eq!(
        effects.reload("Ten", &heir("Ten", "20")).unwrap(),
        ["ten", "both"]
    );
    let second = recipes
        .each_ref()
        .map(|recipe| value(&mut effects, recipe, &[]));
    assert_eq!(second.each_ref().map(|found| found.0), [3, 22, 23]);
    assert!(
        Arc::ptr_eq(&first[0].1, &second[0].1),
        "what the class takes no part in stays"
    );
    assert!(!Arc::ptr_eq(&first[1].1, &second[1].1));

    // A mistake changes nothing.
    let error = effects
        .reload("One", &heir("One", "oops"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("M27 One.glsl:7: class One, oops"),
        "{error}"
    );
    assert_eq!(value(&mut effects, &recipes[2], &[]).0, 23);
    // A class more, and a recipe with it; its name is taken from then on.
    effects
        .add_class("More.glsl", &heir("More", "100"))
        .unwrap();
    let more = Recipe::new("more", Mix::of(&["One", "More"]), &[Stage::Compute]);
    assert_eq!(value(&mut effects, &more, &[]).0, 103);
    let kept = value(&mut effects, &recipes[0], &[]).1;
    assert!(Arc::ptr_eq(&first[0].1, &kept), "nothing else is new");
    let error = effects.add_class("Again.glsl", &heir("More", "1"));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("More.glsl:2") && error.starts_with("M29 Again.glsl:2"),
        "{error}"
    );
    // A class that all inherit.
    assert_eq!(
        effects
            .reload("Base", &BASE.replace("return 2", "return 4"))
            .unwrap()
            .len(),
        5
    );
    assert_eq!(value(&mut effects, &recipes[2], &[]).0, 25);
}
