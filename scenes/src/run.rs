//! Runs a scene without a window: the same frames every time.

use crate::arguments::RunArguments;
use crate::chain::Chain;
use crate::report::{AuditSum, Camera, Device, FrameDetail, Report, SCHEMA, Validation};
use crate::setup::Setup;
use crate::times::Times;
use crate::{Error, picture, progress};
use impel::gpu::{DeviceKind, Gpu, puffin};
use impel::renderer::{AuditReport, Renderer, Statistics, StatisticsTicket};
use impel::scene::CameraPath;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Frames of a run that does not say how many: some seconds' worth on a software device, and on a GPU.
const FRAMES_ON_CPU: u64 = 6;
const FRAMES_ON_GPU: u64 = 240;
/// Degrees that moving instances turn per frame.
pub(crate) const SPIN: f32 = 1.0;
/// A GPU that takes longer for a frame hangs, seconds: systems reset one after some ten.
const GIVE_UP: u64 = 120;
/// Frames in flight whose statistics have not been read.
const IN_FLIGHT: usize = 2;

/// Runs a scene and gives its report.
///
/// # Errors
/// Bad input, a device that cannot, or validation messages.
pub fn run(arguments: &RunArguments) -> Result<Report, Error> {
    let start = Instant::now();
    let setup = Setup::new(arguments, Vec::new())?;
    limit_waits(&setup.gpu, arguments);
    let renderer = setup.renderer()?;
    let chain = (setup.data.chain)
        .then(|| Chain::new(&setup.gpu, setup.size))
        .transpose()?;
    let Setup {
        gpu,
        scene,
        settings,
        camera_name,
        path,
        size,
        seed,
        ..
    } = setup;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;

    let frames = frames(&gpu, arguments);
    let (shard, shards) = arguments.shard.unwrap_or((0, 1));
    let numbers: Vec<u64> = (shard..frames).step_by(shards as usize).collect();
    let warmup = arguments
        .warmup
        .unwrap_or(2)
        .min((numbers.len() as u64).saturating_sub(1));
    let times = Times::start(&gpu, arguments)?;
    let mut run = Run::new(&gpu, renderer, path, frames, times);
    run.chain = chain;
    for &number in &numbers {
        run.frame(number, numbers.last() == Some(&number), arguments)?;
    }
    run.finish()?;

    let last_camera = run
        .path
        .camera(numbers.last().copied().unwrap_or(0), frames, aspect(size));
    let mut report = Report {
        schema: SCHEMA,
        scene: arguments.scene.clone(),
        device: Device::from(gpu.info()),
        size,
        frames: numbers.len() as u64,
        path: settings.path.name(),
        binding: "push",
        version: env!("CARGO_PKG_VERSION"),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        seed,
        warmup,
        camera: Camera::new(&camera_name, &last_camera),
        settings: (&settings).into(),
        triangles_in_scene: scene.triangle_count(),
        frames_detail: run.details(),
        load_ms,
        peak_device_bytes: run.peak_device_bytes,
        audit: arguments.audit.then_some(run.audit),
        validation: Validation::of(&gpu),
        picture: run.picture.as_ref().map(|path| path.display().to_string()),
        ..Report::default()
    };
    report.count(&run.statistics.last().copied().unwrap_or_default());
    report.time(run.times.results.get(warmup as usize..).unwrap_or_default());
    Ok(report)
}

/// Lets the run end where the device hangs. Software takes the time that it takes, and what is virtual may be software.
pub(crate) fn limit_waits(gpu: &Gpu, arguments: &RunArguments) {
    let otherwise = match gpu.info().kind {
        DeviceKind::Discrete | DeviceKind::Integrated => GIVE_UP,
        _ => 0,
    };
    let seconds = arguments.give_up.unwrap_or(otherwise);
    gpu.limit_waits((seconds > 0).then(|| Duration::from_secs(seconds)));
}

/// How many frames a run has.
pub(crate) fn frames(gpu: &Gpu, arguments: &RunArguments) -> u64 {
    arguments.frames.unwrap_or(match gpu.info().kind {
        DeviceKind::Cpu => FRAMES_ON_CPU,
        _ => FRAMES_ON_GPU,
    })
}

/// Width over height.
fn aspect(size: [u32; 2]) -> f32 {
    size[0] as f32 / size[1] as f32
}

/// The frames of a run.
struct Run {
    gpu: Gpu,
    renderer: Renderer,
    /// Passes behind the renderer's.
    chain: Option<Chain>,
    times: Times,
    path: CameraPath,
    frames: u64,
    tickets: VecDeque<StatisticsTicket>,
    statistics: Vec<Statistics>,
    peak_device_bytes: u64,
    picture: Option<PathBuf>,
    audit: AuditSum,
    bar: indicatif::ProgressBar,
}

impl Run {
    fn new(gpu: &Gpu, renderer: Renderer, path: CameraPath, frames: u64, times: Times) -> Self {
        Self {
            gpu: gpu.clone(),
            renderer,
            chain: None,
            times,
            path,
            frames,
            tickets: VecDeque::new(),
            statistics: Vec::new(),
            peak_device_bytes: 0,
            picture: None,
            audit: AuditSum::default(),
            bar: progress::frames(frames),
        }
    }

    /// Renders one frame, and ends it for profiles.
    fn frame(&mut self, number: u64, last: bool, arguments: &RunArguments) -> Result<(), Error> {
        self.draw(number, last, arguments)?;
        self.times.end();
        Ok(())
    }

    /// Renders one frame, and writes its picture when it is asked for.
    fn draw(&mut self, number: u64, last: bool, arguments: &RunArguments) -> Result<(), Error> {
        puffin::profile_scope!("frame");
        let size = self.renderer.size();
        let camera = self.path.camera(number, self.frames, aspect(size));
        self.renderer.settings.freeze_camera = arguments.freeze_camera && self.times.has_begun();
        self.renderer.settings.spin = (number % 360) as f32 * SPIN.to_radians();
        let mut frame = self.gpu.begin_frame()?;
        self.times.begin(frame.number());
        self.tickets
            .push_back(self.renderer.record(&mut frame, &camera)?);
        let audit = match arguments.audit {
            true => Some(self.renderer.audit(&mut frame)?),
            false => None,
        };
        if let Some(chain) = &mut self.chain {
            chain.record(&mut frame, self.renderer.colour())?;
        }
        let shown = match &self.chain {
            Some(chain) => chain.picture(),
            None => self.renderer.colour(),
        };
        let wanted = match (&arguments.out, arguments.every) {
            (Some(out), Some(every)) if number.is_multiple_of(every) => {
                Some(picture::numbered(out, number))
            }
            (Some(out), None) if last => Some(out.clone()),
            _ => None,
        };
        let texels = match wanted {
            Some(path) => Some((path, frame.read_back_texture(shown, 0)?)),
            None => None,
        };
        frame.submit()?;
        if let Some(audit) = audit {
            self.take_audit(number, &audit.wait()?)?;
        }
        self.peak_device_bytes = self.peak_device_bytes.max(self.gpu.allocated_bytes());
        if let Some((path, texels)) = texels {
            picture::write(&path, size, &texels.wait()?)?;
            self.picture = Some(absolute(&path));
        }
        while self.tickets.len() > IN_FLIGHT {
            self.take_statistics()?;
        }
        self.bar.inc(1);
        Ok(())
    }

    /// Adds up what the auditor found.
    fn take_audit(&mut self, number: u64, found: &AuditReport) -> Result<(), Error> {
        let lost = found.overflow;
        if lost.draws + lost.clusters > 0 {
            let given = format!(
                "{} instances and {} clusters too many",
                lost.draws, lost.clusters
            );
            return Err(Error::value(
                "audit",
                "a scene that can be drawn whole",
                given,
            ));
        }
        self.audit.frames += 1;
        self.audit.false_pixels += found.pixels;
        for example in &found.examples {
            let [x, y] = example.pixel;
            let (instance, meshlet) = (example.instance, example.meshlet);
            log::error!(
                "frame {number}: pixel {x},{y} lacks meshlet {meshlet} of instance {instance}"
            );
        }
        Ok(())
    }

    fn take_statistics(&mut self) -> Result<(), Error> {
        if let Some(ticket) = self.tickets.pop_front() {
            self.statistics.push(ticket.wait()?);
        }
        Ok(())
    }

    /// Waits for what is under way.
    fn finish(&mut self) -> Result<(), Error> {
        while !self.tickets.is_empty() {
            self.take_statistics()?;
        }
        self.times.finish(self.statistics.len())?;
        self.bar.finish_and_clear();
        Ok(())
    }

    fn details(&self) -> Vec<FrameDetail> {
        let ms = |index: usize| {
            self.times
                .results
                .get(index)
                .map_or(0.0, |result| result.gpu_ns as f64 / 1e6)
        };
        let detail = |(index, statistics): (usize, &Statistics)| FrameDetail {
            early: statistics.instances.early,
            late: statistics.instances.late,
            gpu_ms: ms(index),
        };
        self.statistics.iter().enumerate().map(detail).collect()
    }
}

/// Where a picture is, for people in another folder.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
