//! Profiles: what is collected is written to a file and sent to a viewer, and both are read back.

mod common;
#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use common::{compute, noop, storage};
use impel_gpu::noop::{NoopDesc, NoopDriver};
use impel_gpu::puffin::{self, FrameView, Reader, Scope, ScopeCollection, StreamInfo};
use impel_gpu::{Gpu, GpuDesc, Pipeline, Profiler, testing};
use programs::fill;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PASSES: [&str; 3] = ["first pass", "second pass", "third pass"];
const FRAMES: u64 = 12;

/// puffin is one for the whole process, whatever the number of test threads.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(gpu: &Gpu, work: &Pipeline, buffer: &impel_gpu::Buffer) {
    puffin::profile_scope!("frame");
    let mut frame = gpu.begin_frame().unwrap();
    for name in PASSES {
        frame
            .compute(name, work)
            .bind([buffer.whole()])
            .push(&fill::Push {
                first: 0,
                count: 1024,
            })
            .dispatch_threads([1024, 1, 1])
            .unwrap();
    }
    frame.submit().unwrap();
}

/// Runs some frames under the profiler.
fn run(gpu: &Gpu, profiler: &mut Profiler) {
    let work = compute(gpu, "fill", fill::SHADERS);
    let buffer = storage(gpu, "buffer", 4096);
    for _ in 0..FRAMES {
        draw(gpu, &work, &buffer);
        profiler.end_frame();
        profiler.add_results(&gpu.frame_results());
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn scopes(stream: &StreamInfo, offset: u64) -> Vec<Scope<'_>> {
    let reader = Reader::with_offset(&stream.stream, offset).unwrap();
    reader.read_top_scopes().unwrap()
}

fn name<'a>(collection: &'a ScopeCollection, scope: &Scope<'_>) -> &'a str {
    collection
        .fetch_by_id(&scope.id)
        .expect("a known scope")
        .name()
}

/// Every scope of a stream at whatever depth, by name.
fn all_names(collection: &ScopeCollection, stream: &StreamInfo, offset: u64) -> Vec<String> {
    let mut names = Vec::new();
    for scope in scopes(stream, offset) {
        names.push(name(collection, &scope).to_owned());
        if scope.child_begin_position < scope.child_end_position {
            // Children end where their parent does, so that reading stops there.
            names.extend(all_names(collection, stream, scope.child_begin_position));
        }
    }
    names
}

/// Checks the last frames of a collected profile; gives how many had a GPU part.
fn check(view: &FrameView, device: &str) -> u64 {
    let collection = view.scope_collection();
    let mut with_gpu = 0;
    let mut last_end = i64::MIN;
    for data in view.latest_frames(FRAMES as usize) {
        let frame = data.unpacked().unwrap();
        let find = |gpu: bool| {
            let mut streams = frame.thread_streams.iter();
            streams.find(|(thread, _)| thread.name.starts_with("GPU: ") == gpu)
        };
        let (_, cpu) = find(false).expect("scopes of the CPU");
        let recorded = all_names(collection, cpu, 0);
        for pass in PASSES {
            assert_eq!(
                recorded.iter().filter(|name| *name == pass).count(),
                1,
                "{recorded:?}"
            );
        }
        let outer = scopes(cpu, 0);
        assert_eq!(name(collection, &outer[0]), "frame");
        let begun = outer[0].record.start_ns;
        let Some((thread, gpu)) = find(true) else {
            continue;
        };
        with_gpu += 1;
        assert_eq!(thread.name, format!("GPU: {device}"));
        let whole = scopes(gpu, 0);
        assert_eq!(whole.len(), 1, "one GPU frame for each frame of the CPU");
        assert_eq!(name(collection, &whole[0]), "GPU frame");
        let (from, to) = (whole[0].record.start_ns, whole[0].record.stop_ns());
        let passes = scopes(gpu, whole[0].child_begin_position);
        let names: Vec<_> = passes.iter().map(|pass| name(collection, pass)).collect();
        assert_eq!(
            names, PASSES,
            "the executor's names, nested in the GPU frame"
        );
        for pass in &passes {
            assert!(pass.record.start_ns >= from && pass.record.stop_ns() <= to);
        }
        // One time axis: the GPU works after the CPU began to record, within seconds, and in order.
        assert!(
            from > begun - 1_000_000 && from - begun < 10_000_000_000,
            "{}",
            from - begun
        );
        assert!(from >= last_end);
        last_end = to;
    }
    with_gpu
}

#[test]
fn a_capture_is_read_back_and_a_viewer_gets_the_same() {
    let _alone = alone();
    let gpu = testing::gpu();
    let path = file("capture.puffin");
    let mut profiler = Profiler::start(&gpu).unwrap();
    assert!(Profiler::start(&gpu).is_err(), "one at a time");
    profiler.write_to(&path).unwrap();
    let address = "127.0.0.1:18585";
    profiler.serve(address).unwrap();
    let client = puffin_http::Client::new(address.to_owned());
    // The server takes viewers when a frame comes.
    let begun = Instant::now();
    while profiler.viewers() == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no viewer connected"
        );
        puffin::profile_scope!("frame");
        drop(gpu.begin_frame().unwrap());
        profiler.end_frame();
        profiler.add_results(&gpu.frame_results());
        std::thread::sleep(Duration::from_millis(20));
    }
    run(&gpu, &mut profiler);
    let device = gpu.info().name.clone();
    profiler.finish().unwrap();

    let view = FrameView::read(&mut std::fs::File::open(&path).unwrap()).unwrap();
    let last = view.latest_frame().expect("frames").frame_index();
    assert_eq!(check(&view, &device), FRAMES);

    let begun = Instant::now();
    loop {
        let received = client.frame_view();
        let newest = received.latest_frame().map(|frame| frame.frame_index());
        if newest == Some(last) {
            assert_eq!(check(&received, &device), FRAMES);
            break;
        }
        drop(received);
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "frames did not arrive"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn without_calibration_frames_are_put_after_their_submit() {
    let _alone = alone();
    let driver = NoopDriver::new(NoopDesc::with(|device| {
        device.lacks("VK_KHR_calibrated_timestamps");
        device.lacks("VK_EXT_calibrated_timestamps");
    }));
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    assert!(!gpu.info().features.calibrated_timestamps);
    let mut profiler = Profiler::start(&gpu).unwrap();
    run(&gpu, &mut profiler);
    let (path, device) = (file("aligned.puffin"), gpu.info().name.clone());
    profiler.write_to(&path).unwrap();
    run(&gpu, &mut profiler);
    profiler.finish().unwrap();
    let view = FrameView::read(&mut std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(check(&view, &device), FRAMES);
}

#[test]
fn switched_off_nothing_is_collected() {
    let _alone = alone();
    let gpu = noop();
    let work = compute(&gpu, "fill", fill::SHADERS);
    let buffer = storage(&gpu, "buffer", 4096);
    for _ in 0..4 {
        draw(&gpu, &work, &buffer);
    }
    gpu.wait_idle().unwrap();
    let results = gpu.frame_results();
    assert!(!results.is_empty() && results.iter().all(|result| result.moments.is_none()));
}

#[test]
fn on_a_device_with_calibrated_timestamps_they_are_believed() {
    let _alone = alone();
    let gpu = testing::gpu();
    if !gpu.info().features.calibrated_timestamps {
        println!("this device has none: frames are aligned at submit");
        return;
    }
    let mut profiler = Profiler::start(&gpu).unwrap();
    let work = compute(&gpu, "fill", fill::SHADERS);
    let buffer = storage(&gpu, "buffer", 4096);
    for _ in 0..FRAMES {
        draw(&gpu, &work, &buffer);
        profiler.end_frame();
    }
    gpu.wait_idle().unwrap();
    let results = gpu.frame_results();
    let calibrated = |result: &&impel_gpu::FrameResult| {
        result
            .moments
            .is_some_and(|moments| moments.gpu_start_ns.is_some())
    };
    let timed = results
        .iter()
        .filter(|result| result.passes.len() == PASSES.len());
    // A thread that is put aside between two readings of the clock may cost one.
    assert!(timed.clone().filter(calibrated).count() as u64 >= FRAMES - 2);
    profiler.add_results(&results);
    profiler.finish().unwrap();
}
