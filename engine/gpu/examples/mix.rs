//! A whole program around one compute pass: `cargo run -p impel-gpu --example mix`.

// What `impel bake` wrote. In a crate of its own with `glsl/` and `programs.toml` beside `src/`, this is `mod generated;`.
#[path = "../tests/shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod generated;

use generated::mix;
use impel_gpu::{BufferDesc, ComputePipelineDesc, Error, Gpu, GpuDesc, Shader};

fn main() -> Result<(), Error> {
    let gpu = Gpu::new(&GpuDesc {
        // Or IMPEL_VALIDATION=1: the layer checks every use of Vulkan.
        validation: false,
        ..GpuDesc::default()
    })?;

    // Its layout, push constants and descriptors come from the shader.
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc {
        name: "mix",
        shader: &Shader::from_code(&mix::SHADERS[0])?,
        constants: &[],
    })?;

    // Resources free themselves, when the device is done with them.
    let count = 8;
    let [a, b, c] = ["a", "b", "c"].map(|name| gpu.buffer(&BufferDesc::storage(name, 4 * 8)));
    let (a, b, c) = (a?, b?, c?);
    gpu.upload(&a, 0, bytemuck::bytes_of(&[0.0_f32; 8]))?;
    gpu.upload(
        &b,
        0,
        bytemuck::bytes_of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0_f32]),
    )?;

    // A frame is what is handed to the device at once. Barriers between its passes come by themselves.
    let mut frame = gpu.begin_frame()?;
    frame
        .compute("mix", &pipeline)
        .bind(mix::Bindings {
            a: a.whole(),
            b: b.whole(),
            c: c.whole(),
        })
        .push(&mix::Push { count, t: 0.25 })
        .dispatch_threads([count, 1, 1])?;
    let result = frame.read_back(&c, 0, c.size())?;
    frame.submit()?;

    let bytes = result.wait()?;
    let values: &[f32] = bytemuck::cast_slice(&bytes);
    println!("{}: {values:?}", gpu.info().name);
    Ok(())
}
