//! What profiling costs the recording of a pass, switched off and on.
//!
//! Switched off, what is left of it is one check before each pass and one look at a scope that is not there after it; both
//! are timed alone and set against the recording of a pass on the no-op device, where every command is an empty function.
//!
//! `cargo bench -p benches --bench profiling`

#[path = "../../engine/gpu/tests/shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use impel_gpu::noop::{NoopDesc, NoopDriver};
use impel_gpu::{Bound, BufferDesc, ComputePipelineDesc, Gpu, GpuDesc, Profiler, Shader, puffin};
use programs::add::{Bindings, Push, SHADERS};
use std::hint::black_box;
use std::time::Instant;

type Error = Box<dyn std::error::Error>;

const PASSES: u32 = 1000;
const ROUNDS: usize = 200;

/// The median of what `measure` gives, nanoseconds per pass.
fn median(mut measure: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    let mut times = (0..ROUNDS)
        .map(|_| measure())
        .collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn main() -> Result<(), Error> {
    let driver = NoopDriver::new(NoopDesc::quiet());
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry())?;
    let shader = Shader::from_code(&SHADERS[0])?;
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc {
        name: "add",
        shader: &shader,
        constants: &[],
    })?;
    let make = |name| gpu.buffer(&BufferDesc::storage(name, 256));
    let buffers = [make("a")?, make("b")?, make("c")?];
    let push = Push {
        count: 1,
        factor: 2,
        offset: 3,
        reserved: 0,
    };
    let record = || -> Result<f64, Error> {
        let mut frame = gpu.begin_frame()?;
        let start = Instant::now();
        for _ in 0..PASSES {
            let [a, b, c]: [Bound<'_>; 3] = buffers.each_ref().map(|buffer| buffer.whole());
            frame
                .compute("add", &pipeline)
                .bind(Bindings { a, b, c })
                .push(&push)
                .dispatch([1, 1, 1])?;
        }
        let time = start.elapsed();
        frame.submit()?;
        Ok(time.as_nanos() as f64 / f64::from(PASSES))
    };
    let off = median(|| {
        let time = record()?;
        drop(gpu.frame_results());
        Ok(time)
    })?;
    let mut open: Option<usize> = None;
    let left = median(|| {
        let start = Instant::now();
        for _ in 0..PASSES {
            if puffin::are_scopes_on() {
                open = Some(1);
            }
            black_box(&mut open).take();
        }
        Ok(start.elapsed().as_nanos() as f64 / f64::from(PASSES))
    })?;
    let mut profiler = Profiler::start(&gpu)?;
    let on = median(|| {
        let time = {
            puffin::profile_scope!("frame");
            record()?
        };
        profiler.end_frame();
        profiler.add_results(&gpu.frame_results());
        Ok(time)
    })?;
    println!("recording a pass, profiling off   {off:8.1} ns");
    println!(
        "what profiling adds when off      {left:8.2} ns  {:.2} %",
        100.0 * left / off
    );
    println!("recording a pass, profiling on    {on:8.1} ns");
    Ok(())
}
