//! What profiling costs the recording of a frame: the standard renderer's, on the no-op device, where every command is an empty
//! function.
//!
//! Switched off, what is left of it is one check before each pass and one after it. To see what that is, build without it and
//! count instructions, which tell more than times about so little:
//!
//! ```text
//! cargo bench -p benches --bench profiling
//! IMPEL_WITHOUT_SCOPES=1 cargo bench -p benches --bench profiling
//! valgrind --tool=callgrind --toggle-collect='profiling::timed*' BENCH --callgrind
//! ```
//!
//! BENCH is the executable that the first, or the second, command names.

use impel::geometry::{self, BuiltIn};
use impel::gpu::noop::{NoopDesc, NoopDriver};
use impel::gpu::{Frame, Gpu, GpuDesc, Profiler, puffin};
use impel::math::{Camera, Lens};
use impel::renderer::{Capacities, RasterPath, Renderer, Settings};
use impel::scene::{Cloud, Scene};
use std::sync::Arc;
use std::time::Instant;

type Error = Box<dyn std::error::Error>;

/// Frames of a round, and rounds; and frames that callgrind counts.
const FRAMES: u32 = 50;
const ROUNDS: usize = 200;
const COUNTED: u32 = 100;

/// Times a frame's recording. Not inlined, so that callgrind can be told to count what happens in here.
#[inline(never)]
fn timed(renderer: &mut Renderer, frame: &mut Frame, camera: &Camera) -> Result<f64, Error> {
    let start = Instant::now();
    renderer.record(frame, camera)?;
    Ok(start.elapsed().as_nanos() as f64)
}

struct Rig {
    gpu: Gpu,
    renderer: Renderer,
    camera: Camera,
    passes: usize,
}

impl Rig {
    fn new(gpu: &Gpu) -> Result<Self, Error> {
        let source = "gear:2400".parse::<BuiltIn>()?.generate()?;
        let mesh = geometry::process(&source, &geometry::Settings::default(), &|_| {})?;
        let cloud = Cloud {
            instances: 1000,
            ..Cloud::default()
        };
        let scene = Scene {
            meshes: vec![Arc::new(mesh)],
            instances: cloud.generate(1),
            moving: 0,
        };
        let settings = Settings {
            path: RasterPath::Hybrid,
            ..Settings::default()
        };
        let room = Capacities::default();
        Ok(Self {
            gpu: gpu.clone(),
            renderer: Renderer::new(gpu, &scene, [640, 360], settings, room)?,
            camera: Camera::by_angles(impel::glam::Vec3::ZERO, 0.0, 0.0, Lens::default()),
            passes: 0,
        })
    }

    /// Records and submits a frame; gives the nanoseconds that recording took.
    fn frame(&mut self) -> Result<f64, Error> {
        let mut frame = self.gpu.begin_frame()?;
        let time = timed(&mut self.renderer, &mut frame, &self.camera)?;
        frame.submit()?;
        Ok(time)
    }

    /// The fastest round of frames, nanoseconds a frame; `after` goes after each frame.
    fn fastest(&mut self, mut after: impl FnMut(&mut Self)) -> Result<f64, Error> {
        let mut fastest = f64::INFINITY;
        for _ in 0..ROUNDS {
            let mut sum = 0.0;
            for _ in 0..FRAMES {
                sum += self.frame()?;
                after(self);
            }
            fastest = fastest.min(sum / f64::from(FRAMES));
        }
        Ok(fastest)
    }

    fn take_results(&mut self) -> Vec<impel::gpu::FrameResult> {
        let results = self.gpu.frame_results();
        if let Some(result) = results.last() {
            self.passes = result.passes.len();
        }
        results
    }
}

fn main() -> Result<(), Error> {
    let driver = NoopDriver::new(NoopDesc::quiet());
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry())?;
    let mut rig = Rig::new(&gpu)?;
    let built = match option_env!("IMPEL_WITHOUT_SCOPES") {
        None => "built in",
        Some(_) => "left out",
    };
    if std::env::args().any(|argument| argument == "--callgrind") {
        for _ in 0..COUNTED {
            rig.frame()?;
            drop(rig.take_results());
        }
        println!("{COUNTED} frames of {} passes, scopes {built}", rig.passes);
        return Ok(());
    }
    let off = rig.fastest(|rig| drop(rig.take_results()))?;
    println!("a frame of {} passes, scopes {built}", rig.passes);
    println!("recording, profiling off {:8.2} us", off / 1e3);
    let mut profiler = Profiler::start(&gpu)?;
    let on = rig.fastest(|rig| {
        puffin::profile_scope!("results");
        let results = rig.take_results();
        profiler.end_frame();
        profiler.add_results(&results);
    })?;
    println!("recording, profiling on  {:8.2} us", on / 1e3);
    Ok(())
}
