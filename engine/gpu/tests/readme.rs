//! The pass that the README shows, as it is written there.

#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use impel_gpu::testing::gpu;
use impel_gpu::{Buffer, BufferDesc, ComputePipelineDesc, Error, Frame, Pipeline, Shader};
use programs::mix;

#[rustfmt::skip]
fn mix_pass(frame: &mut Frame, mix: &Pipeline, [a, b, c]: &[Buffer; 3], count: u32) -> Result<(), Error> {
    // README: begin
    let (a, b, c, t) = (a.whole(), b.whole(), c.whole(), 0.25);
    frame
        .compute("mix", mix)
        .bind(mix::Bindings { a, b, c })
        .push(&mix::Push { count, t })
        .dispatch_threads([count, 1, 1])
    // README: end
}

#[test]
fn the_pass_of_the_readme_runs_and_is_the_one_shown() {
    let gpu = gpu();
    let shader = Shader::from_code(&mix::SHADERS[0]).unwrap();
    let pipeline = gpu
        .compute_pipeline(&ComputePipelineDesc {
            name: "mix",
            shader: &shader,
            constants: &[],
        })
        .unwrap();
    let buffers = ["a", "b", "c"].map(|name| gpu.buffer(&BufferDesc::storage(name, 400)).unwrap());
    gpu.upload(&buffers[0], 0, bytemuck::cast_slice(&[4.0_f32; 100]))
        .unwrap();
    gpu.upload(&buffers[1], 0, bytemuck::cast_slice(&[8.0_f32; 100]))
        .unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    mix_pass(&mut frame, &pipeline, &buffers, 100).unwrap();
    let result = frame.read_back(&buffers[2], 0, 400).unwrap();
    frame.submit().unwrap();
    let values: Vec<f32> = bytemuck::cast_slice(&result.wait().unwrap()).to_vec();
    assert_eq!(values, [5.0; 100]);

    let source = include_str!("readme.rs");
    let shown = source
        .split("// README: begin\n")
        .nth(1)
        .and_then(|rest| rest.split("    // README: end").next())
        .unwrap();
    let shown: Vec<&str> = shown
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    assert!(shown.len() <= 8, "{} lines", shown.len());
    let readme = include_str!("../../../README.md");
    assert!(
        readme.contains(&shown.join("\n")),
        "README.md does not show:\n{}",
        shown.join("\n")
    );
    let glsl = include_str!("shaders/glsl/mix.comp");
    assert!(
        readme.contains(glsl.trim_end()),
        "README.md does not show mix.comp as it is"
    );
}
