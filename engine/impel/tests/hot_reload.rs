//! Hot reload: shaders are edited on disk while frames are drawn.

mod common;

use impel::app::{HotReload, Reloadable};
use impel::effects::{EffectDesc, Effects};
use impel::gpu::noop::{NoopDesc, NoopDriver};
use impel::gpu::testing::gpu;
use impel::gpu::{BufferDesc, Gpu, GpuDesc, GraphicsState, Pipeline, Texture, TextureDesc, vk};
use impel::passes::Show;
use impel::renderer::{Capacities, RasterPath, Renderer, Settings};
use impel::spirv::Stage;
use impel::spirv::compose::{Library, Mix, Recipe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A copy of the engine's shaders.
fn copy(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders/glsl");
    for part in ["", "include"] {
        std::fs::create_dir_all(folder.join("glsl").join(part)).unwrap();
        for entry in std::fs::read_dir(from.join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let to = folder
                    .join("glsl")
                    .join(part)
                    .join(path.file_name().unwrap());
                std::fs::copy(&path, to).unwrap();
            }
        }
    }
    folder
}

fn edit(folder: &Path, file: &str, change: impl FnOnce(String) -> String) {
    let path = folder.join("glsl").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, change(text)).unwrap();
}

/// Adds a line at the end of `main`.
fn with_line(text: &str, line: &str) -> String {
    let (before, after) = text.rsplit_once('}').unwrap();
    format!("{before}    {line}\n}}{after}")
}

/// Nothing but pipelines.
fn of(pipelines: Vec<&mut Pipeline>) -> Reloadable<'_> {
    Reloadable {
        pipelines,
        effects: None,
    }
}

struct Rig {
    gpu: impel::gpu::testing::TestGpu,
    renderer: Renderer,
    reload: HotReload,
}

impl Rig {
    fn draw(&mut self) -> Vec<u8> {
        let size = self.renderer.size();
        let camera = common::camera(glam::Vec3::ZERO, 0.0, 0.0, size);
        let mut frame = self.gpu.begin_frame().unwrap();
        self.renderer.record(&mut frame, &camera).unwrap();
        let back = frame.read_back_texture(self.renderer.colour(), 0).unwrap();
        frame.submit().unwrap();
        back.wait().unwrap()
    }

    /// Draws until hot reload has done something: at most 60 frames from when the system told of the edit.
    fn next(&mut self) -> Vec<u8> {
        let begun = Instant::now();
        for frame in 0.. {
            if self.reload.poll(of(self.renderer.pipelines())) {
                return self.draw();
            }
            assert!(frame < 60, "60 frames, {:?}", begun.elapsed());
            self.draw();
            // As in a window that keeps in step with a display.
            std::thread::sleep(Duration::from_millis(16));
        }
        unreachable!()
    }
}

fn red(picture: &[u8]) -> usize {
    picture
        .chunks(4)
        .filter(|texel| texel[..3] == [255, 0, 0])
        .count()
}

#[test]
fn edits_are_taken_errors_are_told_and_mended() {
    let folder = copy("hot-reload");
    let gpu = gpu();
    let settings = Settings {
        path: RasterPath::Vertex,
        ..Settings::default()
    };
    let scene = common::eclipse(20);
    let renderer = Renderer::new(&gpu, &scene, [160, 120], settings, Capacities::default());
    let mut rig = Rig {
        renderer: renderer.unwrap(),
        reload: HotReload::watch(&folder).unwrap(),
        gpu,
    };
    let first = rig.draw();
    assert_eq!(red(&first), 0);

    // An edit: the picture changes, and nothing but the one pipeline is made anew.
    let original = std::fs::read_to_string(folder.join("glsl/background.frag")).unwrap();
    let painted = with_line(&original, "out_colour = vec4(1.0, 0.0, 0.0, 1.0);");
    edit(&folder, "background.frag", |_| painted.clone());
    let second = rig.next();
    assert!(red(&second) > 1000, "{}", red(&second));
    assert_eq!(rig.reload.state().last, ["background"]);
    assert!(rig.reload.state().errors.is_empty());

    // A mistake: the picture stays, file and line are told.
    edit(&folder, "background.frag", |text| {
        with_line(&text, "out_colour = no_such_thing;")
    });
    let wrong_line = std::fs::read_to_string(folder.join("glsl/background.frag")).unwrap();
    let wrong_line = wrong_line
        .lines()
        .position(|line| line.contains("no_such_thing"))
        .unwrap()
        + 1;
    let third = rig.next();
    assert!(third == second, "the picture stays");
    let errors = rig.reload.state().errors.join("\n");
    let place = format!("background.frag:{wrong_line}");
    assert!(
        errors.contains(&place) && errors.contains("no_such_thing"),
        "{errors}"
    );
    assert!(rig.reload.state().last.is_empty());

    // Mended.
    edit(&folder, "background.frag", |_| original.clone());
    let fourth = rig.next();
    assert!(rig.reload.state().errors.is_empty());
    assert!(fourth == first, "as at the beginning");

    // Other bindings than the program was built for.
    edit(&folder, "background.frag", |text| {
        text.replace("binding = 0, scalar", "binding = 5, scalar")
    });
    let fifth = rig.next();
    assert!(fifth == first);
    let errors = rig.reload.state().errors.join("\n");
    assert!(errors.contains("bake the shaders"), "{errors}");
    edit(&folder, "background.frag", |_| original.clone());
    rig.next();
    assert!(rig.reload.state().errors.is_empty());

    // An included file: all that include it, directly or not, and no others.
    edit(&folder, "include/sky.glsl", |text| text + "\n");
    rig.next();
    let rebuilt = rig.reload.state().last.clone();
    assert!(
        rebuilt.iter().any(|name| name == "background"),
        "{rebuilt:?}"
    );
    assert!(
        rebuilt
            .iter()
            .all(|name| !name.starts_with("cull") && name != "submit"),
        "{rebuilt:?}"
    );
}

fn target(gpu: &Gpu) -> Texture {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.texture(&TextureDesc {
        name: "target",
        size: [8, 8, 1],
        usage,
        ..TextureDesc::default()
    })
    .unwrap()
}

#[test]
fn what_is_made_after_an_edit_is_made_of_the_edited_shader() {
    let folder = copy("hot-reload-later");
    let gpu = gpu();
    let scene = common::eclipse(20);
    let settings = Settings {
        path: RasterPath::Hybrid,
        ..Settings::default()
    };
    let renderer = Renderer::new(&gpu, &scene, [64, 48], settings, Capacities::default());
    let mut rig = Rig {
        renderer: renderer.unwrap(),
        reload: HotReload::watch(&folder).unwrap(),
        gpu,
    };
    // The auditor comes into being with the first audit.
    edit(&folder, "audit.comp", |text| {
        text.replace(
            "void main() {",
            "void main() {\n    atomicAdd(result.count, 1u);",
        )
    });
    rig.next();
    assert_eq!(rig.reload.state().last, ["audit"]);
    let camera = common::camera(glam::Vec3::ZERO, 0.0, 0.0, [64, 48]);
    let mut frame = rig.gpu.begin_frame().unwrap();
    rig.renderer.record(&mut frame, &camera).unwrap();
    let audit = rig.renderer.audit(&mut frame).unwrap();
    frame.submit().unwrap();
    assert_eq!(audit.wait().unwrap().pixels, 64 * 48, "one for each pixel");

    // A pass that somebody makes later is found out when hot reload next sees it.
    edit(&folder, "show.frag", |text| {
        with_line(&text, "out_colour = vec4(1.0, 0.0, 0.0, 1.0);")
    });
    let mut first = Show::new(&rig.gpu).unwrap();
    let begun = Instant::now();
    while !rig.reload.poll(of(vec![first.pipeline()])) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut second = Show::new(&rig.gpu).unwrap();
    assert!(rig.reload.poll(of(vec![second.pipeline()])));
    assert!(
        !rig.reload
            .poll(of(vec![first.pipeline(), second.pipeline()]))
    );
    let picture = target(&rig.gpu);
    let shown = shown(&rig.gpu);
    let mut frame = rig.gpu.begin_frame().unwrap();
    frame.clear(&picture, [0.0, 1.0, 0.0, 1.0]).unwrap();
    second.record(&mut frame, &picture, &shown).unwrap();
    let back = frame.read_back_texture(&shown, 0).unwrap();
    frame.submit().unwrap();
    assert_eq!(red(&back.wait().unwrap()), 64);
}

/// A target that can be read.
fn shown(gpu: &Gpu) -> Texture {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    gpu.texture(&TextureDesc {
        name: "shown",
        size: [8, 8, 1],
        usage,
        ..TextureDesc::default()
    })
    .unwrap()
}

#[test]
fn five_hundred_reloads_leave_nothing_behind() {
    let folder = copy("hot-reload-many");
    // At its end the device tells of whatever was not destroyed.
    let gpu = gpu();
    let (picture, shown) = (target(&gpu), target(&gpu));
    let mut show = Show::new(&gpu).unwrap();
    let mut reload = HotReload::watch(&folder).unwrap();
    let original = std::fs::read_to_string(folder.join("glsl/show.frag")).unwrap();
    let mut bytes = Vec::new();
    for round in 0..500 {
        edit(&folder, "show.frag", |_| {
            with_line(&original, &format!("out_colour.a = {round}.0;"))
        });
        let begun = Instant::now();
        loop {
            if reload.poll(of(vec![show.pipeline()])) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "round {round}");
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut frame = gpu.begin_frame().unwrap();
        show.record(&mut frame, &picture, &shown).unwrap();
        frame.submit().unwrap();
        bytes.push(gpu.allocated_bytes());
    }
    assert!(reload.state().replaced >= 500);
    assert_eq!(bytes.first(), bytes.last());
}

const CLASS: &str = "#version 460
#pragma mixin class Value
#pragma mixin stage compute
#pragma mixin virtual int mx_value();
#pragma mixin virtual void mx_main();
#include <mixin>
layout(set = 0, binding = 0) buffer Out { int v[]; } result;
int mx_value() { return 0; }
void mx_main() { result.v[0] = mx_value(); }
";

fn heir(value: usize) -> String {
    format!(
        "#version 460\n#pragma mixin class Heir\n#pragma mixin stage compute\n#pragma mixin inherit Value\n\
         #pragma mixin override int mx_value();\n#include <mixin>\nint mx_value() {{ return {value}; }}\n"
    )
}

/// As for pipelines, so for effects: on a driver that counts its objects, round by round.
#[test]
fn five_hundred_reloads_of_a_class_leave_nothing_behind() {
    let folder = copy("hot-reload-class");
    std::fs::create_dir_all(folder.join("mixins")).unwrap();
    std::fs::write(folder.join("mixins/Value.glsl"), CLASS).unwrap();
    let file = folder.join("mixins/Heir.glsl");
    std::fs::write(&file, heir(0)).unwrap();
    let driver = NoopDriver::new(NoopDesc::default());
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    let buffer = gpu.buffer(&BufferDesc::storage("result", 64)).unwrap();
    let mut library = Library::new();
    library
        .add_folder(&folder.join("mixins"), "mixins")
        .unwrap();
    let mut effects = Effects::new(&gpu, library);
    let mut reload = HotReload::watch(&folder).unwrap();
    let recipes =
        ["Heir", "Value"].map(|class| Recipe::new(class, Mix::of(&[class]), &[Stage::Compute]));
    let kinds = [
        vk::ObjectType::PIPELINE,
        vk::ObjectType::PIPELINE_LAYOUT,
        vk::ObjectType::DESCRIPTOR_SET_LAYOUT,
        vk::ObjectType::DESCRIPTOR_UPDATE_TEMPLATE,
        vk::ObjectType::SHADER_MODULE,
        vk::ObjectType::DEVICE_MEMORY,
    ];
    let mut live = Vec::new();
    for round in 1..=500 {
        for recipe in &recipes {
            let desc = EffectDesc {
                recipe,
                state: GraphicsState::default(),
                constants: &[],
            };
            let pipeline = effects.pipeline(&desc).unwrap();
            let mut frame = gpu.begin_frame().unwrap();
            let pass = frame.compute("effect", &pipeline).bind([buffer.whole()]);
            pass.dispatch([1, 1, 1]).unwrap();
            frame.submit().unwrap();
        }
        drop(driver.take_submissions());
        live.push(kinds.map(|kind| driver.live(kind)));
        std::fs::write(&file, heir(round)).unwrap();
        let begun = Instant::now();
        loop {
            let target = Reloadable {
                pipelines: Vec::new(),
                effects: Some(&mut effects),
            };
            if reload.poll(target) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "round {round}");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(reload.state().errors.is_empty(), "{:?}", reload.state());
    }
    // An editor's one write may come in two events.
    assert!(reload.state().replaced >= 500);
    // Two pipelines, and those that frames in flight still use.
    let (first, last) = (&live[10..20], &live[490..]);
    assert_eq!(first.iter().max(), last.iter().max(), "{live:?}");
    assert!(last[0][0] <= 6, "{live:?}");
    drop((effects, buffer));
    drop(gpu);
    assert!(driver.errors().is_empty(), "{:?}", driver.errors());
    assert!(driver.leaks().is_empty(), "{:?}", driver.leaks());
}
