//! The examples of the guide for shader authors, and the engine's own classes.

use std::path::Path;

use impel_spirv::compose::{
    ComposeOptions, Composer, Library, Recipes, ValidationRules, validate_effect,
};

const GUIDE: &str = include_str!("../../../../shaders/MIXINS.md");

/// Fenced pieces of a language.
fn fenced(language: &str) -> Vec<&'static str> {
    GUIDE
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|piece| piece.strip_prefix(language)?.strip_prefix('\n'))
        .collect()
}

#[test]
fn examples_compile_and_compose() {
    let mut library = Library::new();
    for text in fenced("glsl") {
        let class = text
            .lines()
            .find_map(|line| line.strip_prefix("#pragma mixin class "))
            .unwrap();
        library.add_source(&format!("{class}.glsl"), text).unwrap();
    }
    assert_eq!(library.names().count(), 9);
    let composer = Composer::new(library, ComposeOptions::default());
    let mut effects = 0;
    for text in fenced("toml") {
        for recipe in &Recipes::parse("MIXINS.md", text).unwrap().effects {
            let effect = composer.compose(recipe).unwrap();
            validate_effect(&composer, recipe, &effect, &ValidationRules::default()).unwrap();
            effects += 1;
        }
    }
    assert_eq!(effects, 7);
}

#[test]
fn the_guide_lists_every_code() {
    for number in 1..=29 {
        assert!(GUIDE.contains(&format!("| M{number:02} |")), "M{number:02}");
    }
}

#[test]
fn the_engines_effects_are_valid_and_the_same_from_anywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders");
    let recipes = Recipes::read(&root.join("mixins.toml")).unwrap();
    let composer = Composer::new(recipes.library().unwrap(), ComposeOptions::default());
    let copy = std::env::temp_dir().join(format!("impel-mixins-{}", std::process::id()));
    std::fs::create_dir_all(copy.join("mixins")).unwrap();
    std::fs::copy(root.join("mixins.toml"), copy.join("mixins.toml")).unwrap();
    for entry in std::fs::read_dir(root.join("mixins")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.join("mixins").join(path.file_name().unwrap())).unwrap();
    }
    let others = Recipes::read(&copy.join("mixins.toml")).unwrap();
    let elsewhere = Composer::new(others.library().unwrap(), ComposeOptions::default());
    for (recipe, other) in recipes.effects.iter().zip(&others.effects) {
        let effect = composer.compose(recipe).unwrap();
        validate_effect(&composer, recipe, &effect, &ValidationRules::default()).unwrap();
        let words = elsewhere.compose_modules(other).unwrap();
        assert!(
            effect.stages.iter().map(|stage| &stage.words).eq(&words),
            "{}",
            recipe.name
        );
        // Composing twice is byte-equal.
        assert_eq!(composer.compose_modules(recipe).unwrap(), words);
    }
    std::fs::remove_dir_all(copy).unwrap();
}
