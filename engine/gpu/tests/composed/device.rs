//! Runs composed compute shaders and reads what they wrote.

use impel_gpu::testing::gpu;
use impel_gpu::{BufferDesc, ComputePipelineDesc, Gpu, Shader};
use impel_spirv::Stage;
use impel_spirv::compose::{
    ComposeOptions, Composer, Library, Mix, Recipe, ValidationRules, validate_effect,
};

/// A class that every test's classes inherit: a storage buffer for results, and an entry that the test overrides.
pub(crate) const RESULT: &str = "#version 460
#pragma mixin class Result
#pragma mixin stage compute
#pragma mixin abstract int mx_value();
#pragma mixin virtual void mx_main();
#include <mixin>
#pragma mixin interface begin
layout(set = 0, binding = 0) buffer Results { int values[]; } result;
#pragma mixin interface end
void mx_main() { result.values[0] = mx_value(); }
";

pub(crate) fn composer(classes: &[&str]) -> Composer {
    let mut library = Library::new();
    for text in [RESULT].iter().chain(classes) {
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("#pragma mixin class "))
            .unwrap();
        library.add_source(&format!("{name}.glsl"), text).unwrap();
    }
    Composer::new(library, ComposeOptions::default())
}

/// Composes, has the validator judge, runs and reads `count` integers.
pub(crate) fn run(classes: &[&str], mix: Mix, count: usize) -> Vec<i32> {
    let recipe = Recipe::new("test", mix, &[Stage::Compute]);
    let composer = composer(classes);
    let effect = composer.compose(&recipe).unwrap();
    validate_effect(&composer, &recipe, &effect, &ValidationRules::default()).unwrap();
    run_words(&gpu(), &effect.stages[0].bytes(), count)
}

pub(crate) fn run_words(gpu: &Gpu, spirv: &[u8], count: usize) -> Vec<i32> {
    let shader = Shader::new("composed", spirv).unwrap();
    let pipeline = gpu
        .compute_pipeline(&ComputePipelineDesc {
            name: "composed",
            shader: &shader,
            constants: &[],
        })
        .unwrap();
    let bytes = (count.max(16) * 4) as u64;
    let buffer = gpu.buffer(&BufferDesc::storage("results", bytes)).unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&buffer, 0, bytes, 0).unwrap();
    frame
        .compute("composed", &pipeline)
        .bind([buffer.whole()])
        .dispatch([1, 1, 1])
        .unwrap();
    let back = frame.read_back(&buffer, 0, bytes).unwrap();
    frame.submit().unwrap();
    gpu.wait_idle().unwrap();
    let bytes = back.wait().unwrap();
    bytes
        .chunks_exact(4)
        .take(count)
        .map(|word| i32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}
