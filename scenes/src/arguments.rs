//! The command line.

use clap::{Args, Parser, Subcommand};
use impel::math::LodMode;
use impel::renderer::{Culling, DebugView, MAX_SIZE, RasterPath};
use std::path::PathBuf;

/// Demo scenes of Impel.
#[derive(Debug, Parser)]
#[command(name = "scenes", version, about)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the scenes.
    List,
    /// Render a scene and print what it took.
    Run(Box<RunArguments>),
    /// Try raster thresholds on a scene and propose the fastest.
    Calibrate(Box<RunArguments>),
    /// Print the ratios of two runs, each the file of a run's `--json`.
    Compare {
        /// The run that the other is compared with.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
}

/// Options of a run.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// A scene of `scenes list`, or the path of a scene file.
    pub scene: String,
    /// Render in a window: as without either where there is a display.
    #[arg(long, conflicts_with = "headless")]
    pub window: bool,
    /// Render without a window: as without either where there is no display.
    #[arg(long)]
    pub headless: bool,
    /// Begin with the options and defaults, not with what the window had last.
    #[arg(long)]
    pub reset: bool,
    /// Where profiles of CPU and GPU go; `puffin_viewer` loads the file.
    #[arg(long, value_name = "FILE")]
    pub puffin: Option<PathBuf>,
    /// Let `puffin_viewer` connect while it runs; to this address if one is given.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8585", require_equals = true)]
    pub serve_puffin: Option<String>,
    /// Play events of the window from a file (for tests).
    #[arg(long, value_name = "FILE", requires = "window")]
    pub script: Option<PathBuf>,
    /// Size of the picture.
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Number of frames; without it, as many as take some seconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub frames: Option<u64>,
    /// Number of instances.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub draws: Option<u32>,
    /// So many of the instances turn, one degree a frame.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub moving: u32,
    /// Meshes in place of the scene's: files or built-ins such as `gear:4952`.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub mesh: Vec<String>,
    /// How clusters become pixels: hybrid, mesh, task or vertex; by default the first that the device can.
    #[arg(long, value_parser = |text: &str| text.parse::<RasterPath>())]
    pub path: Option<RasterPath>,
    /// In the hybrid path: the compute rasteriser takes clusters without larger triangles, in pixels; 0 for none.
    #[arg(long, value_name = "PX")]
    pub raster_threshold: Option<f32>,
    /// Draw each frame once more without culling: a pixel that differs fails the run, or is told in the window's settings.
    #[arg(long)]
    pub audit: bool,
    /// Fill lists in a fixed order: two runs give the same picture byte by byte.
    #[arg(long)]
    pub deterministic: bool,
    /// Culling, level of detail and hidden surfaces stay those of the first frame while the camera moves on.
    #[arg(long)]
    pub freeze_camera: bool,
    /// Switch culling stages: frustum, occlusion, meshlet-cone, meshlet-frustum, meshlet-occlusion, all.
    #[arg(long, value_name = "KEY=on|off", num_args = 1.., value_parser = cull)]
    pub cull: Vec<(String, bool)>,
    /// Level of detail: `error=PIXELS`, `force=LEVEL`, or `distance=BASE,STEP`.
    #[arg(long, value_name = "RULE", value_parser = lod)]
    pub lod: Option<LodMode>,
    /// What the picture shows: shaded, meshlets, lods, normals, depth, instances, raster, overdraw, culled-by, hzb.
    #[arg(long, value_parser = |text: &str| text.parse::<DebugView>())]
    pub view: Option<DebugView>,
    /// The level that the view hzb shows.
    #[arg(long, value_name = "LEVEL", default_value_t = 0)]
    pub hzb_level: u32,
    /// A camera of the scene, or the path of a camera file.
    #[arg(long, value_name = "NAME|PATH")]
    pub camera: Option<String>,
    /// Seed of the generator.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Device: its number, or a part of its name.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Where the last frame's picture goes (PNG).
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write every N-th frame, with its number in the name, not only the last.
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,
    /// Where the run's numbers go (JSON).
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Check every use of Vulkan; a message fails the run.
    #[arg(long)]
    pub validate: bool,
    /// Without a window: end with an error when a frame takes the device more seconds; 0 for never. By default 120 on a GPU.
    #[arg(long, value_name = "SECONDS")]
    pub give_up: Option<u64>,
    /// Frames at the beginning whose times do not count.
    #[arg(long, value_name = "N")]
    pub warmup: Option<u64>,
    /// Render only frames I, I + N, I + 2N, ..
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<(u64, u64)>,
}

impl RunArguments {
    /// The culling stages after all switches, in the order given.
    ///
    /// # Errors
    /// Text for people when there is no such stage.
    pub fn culling(&self) -> Culling {
        let mut culling = Culling::ALL;
        for (key, on) in &self.cull {
            for (name, switch) in culling.stages() {
                if key == name || key == "all" {
                    *switch = *on;
                }
            }
        }
        culling
    }
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parsed = text
        .split_once('x')
        .and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    parsed
        .filter(|size: &[u32; 2]| size.iter().all(|side| (1..=MAX_SIZE).contains(side)))
        .ok_or_else(|| format!("expected WIDTHxHEIGHT, each from 1 to {MAX_SIZE}"))
}

fn cull(text: &str) -> Result<(String, bool), String> {
    let mut all = Culling::ALL;
    let names: Vec<_> = all
        .stages()
        .into_iter()
        .map(|(name, _)| name)
        .chain(["all"])
        .collect();
    let (key, value) = text.split_once('=').ok_or("expected KEY=on or KEY=off")?;
    if !names.contains(&key) {
        return Err(format!(
            "there is no stage {key:?}; expected one of {}",
            names.join(", ")
        ));
    }
    match value {
        "on" => Ok((key.into(), true)),
        "off" => Ok((key.into(), false)),
        _ => Err(format!("expected {key}=on or {key}=off")),
    }
}

fn lod(text: &str) -> Result<LodMode, String> {
    let (rule, value) = text.split_once('=').unwrap_or((text, ""));
    let number = |text: &str| {
        text.parse::<f32>()
            .ok()
            .filter(|number| number.is_finite() && *number > 0.0)
    };
    let parsed = match rule {
        "error" => number(value).map(|pixels| LodMode::Error { pixels }),
        "force" => value.parse().ok().map(|lod| LodMode::Forced { lod }),
        "distance" => value.split_once(',').and_then(|(base, step)| {
            let step = number(step).filter(|step| *step > 1.0)?;
            Some(LodMode::Distance {
                base: number(base)?,
                step,
            })
        }),
        _ => None,
    };
    parsed.ok_or_else(|| {
        "expected error=PIXELS, force=LEVEL, or distance=BASE,STEP with STEP over 1".into()
    })
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parsed
        .filter(|(i, n)| i < n)
        .ok_or_else(|| "expected I/N with I from 0 to N - 1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str]) -> Result<RunArguments, clap::Error> {
        let all = ["scenes", "run", "cloud"].iter().chain(arguments);
        match Arguments::try_parse_from(all)?.command {
            Command::Run(run) => Ok(*run),
            _ => unreachable!(),
        }
    }

    #[test]
    fn options_are_read() {
        let run = run(&[
            "--size",
            "641x479",
            "--cull",
            "all=off",
            "frustum=on",
            "--cull",
            "meshlet-cone=on",
            "--lod",
            "distance=4,1.25",
            "--shard",
            "1/4",
            "--view",
            "lods",
            "--path",
            "vertex",
            "--mesh",
            "a.obj",
            "gear:4952",
        ])
        .unwrap();
        assert_eq!(run.size, Some([641, 479]));
        assert_eq!(
            run.culling(),
            Culling {
                frustum: true,
                meshlet_cone: true,
                ..Culling::NONE
            }
        );
        assert_eq!(
            run.lod,
            Some(LodMode::Distance {
                base: 4.0,
                step: 1.25
            })
        );
        assert_eq!(run.shard, Some((1, 4)));
        assert_eq!(
            (run.view, run.path),
            (Some(DebugView::Lods), Some(RasterPath::Vertex))
        );
        assert_eq!(run.mesh, ["a.obj", "gear:4952"]);
    }

    #[test]
    fn wrong_options_are_refused() {
        for wrong in [
            &["--size", "0x720"][..],
            &["--size", "100000x1"],
            &["--size", "12"],
            &["--frames", "0"],
            &["--draws", "10000001"],
            &["--cull", "cone=on"],
            &["--cull", "frustum=maybe"],
            &["--lod", "error=0"],
            &["--lod", "error=nan"],
            &["--lod", "distance=4,1"],
            &["--lod", "best"],
            &["--shard", "2/2"],
            &["--shard", "0/0"],
            &["--path", "fast"],
            &["--view", "pretty"],
            &["--every", "2"],
            &["--colour"],
        ] {
            assert!(run(wrong).is_err(), "{wrong:?}");
        }
    }
}
