//! The application in a window that nobody sees: the window system's part is played by the test, under validation.

mod common;

use egui::{Color32, RawInput, Rect, pos2, vec2};
use impel::app::{
    App, AppDesc, CameraControl, Command, Event, MouseButton, PANELS, Preferences, RendererContent,
    entries,
};
use impel::gpu::testing::{TestGpu, gpu_with};
use impel::gpu::{Frame, Gpu, GpuDesc, Texture, TextureDesc, Window, WindowDesc, vk};
use impel::math::Lens;
use impel::passes::{Show, Ui};
use impel::renderer::{Capacities, RasterPath, Renderer, Settings};
use impel::scene::{CameraKey, CameraPath, Scene};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A picture that the application has written: path, size, texels.
type Picture = (PathBuf, [u32; 2], Vec<u8>);

thread_local! {
    static PICTURES: RefCell<Vec<Picture>> = const { RefCell::new(Vec::new()) };
}

fn headless() -> TestGpu {
    gpu_with(&GpuDesc {
        surface_extensions: vec![
            impel::gpu::ash::khr::surface::NAME,
            impel::gpu::ash::ext::headless_surface::NAME,
        ],
        ..GpuDesc::default()
    })
}

fn desc(size: [u32; 2]) -> AppDesc {
    AppDesc {
        size,
        vsync: false,
        reset: true,
        write_picture: |path, size, texels| {
            let picture = (path.to_owned(), size, texels.to_vec());
            PICTURES.with(|pictures| pictures.borrow_mut().push(picture));
            Ok(())
        },
        ..AppDesc::default()
    }
}

fn path() -> CameraPath {
    CameraPath {
        keys: vec![CameraKey::default()],
        turn: 0.0,
        lens: Lens::default(),
    }
}

fn settings() -> Settings {
    Settings {
        path: RasterPath::Vertex,
        ..Settings::default()
    }
}

fn app(gpu: &Gpu, desc: AppDesc) -> App {
    app_with(gpu, desc, settings(), &common::eclipse(40))
}

/// What moves turns a twentieth of a circle a frame.
fn app_with(gpu: &Gpu, desc: AppDesc, settings: Settings, scene: &Scene) -> App {
    let window = Window::headless(
        gpu,
        &WindowDesc {
            size: desc.size,
            vsync: false,
            ..WindowDesc::default()
        },
    )
    .unwrap();
    let room = Capacities::default();
    let renderer = Renderer::new(gpu, scene, desc.size, settings, room).unwrap();
    let mut content = Box::new(RendererContent::new(renderer, scene.triangle_count()));
    content.spin = std::f32::consts::TAU / 20.0;
    let camera = CameraControl::new(path(), 1.0, None);
    App::new(gpu, window, content, camera, desc).unwrap()
}

fn shot(name: &str) -> Event {
    Event::Command(Command::Screenshot(name.into()))
}

/// The picture written last under a name.
fn picture(name: &str) -> ([u32; 2], Vec<u8>) {
    PICTURES.with(|pictures| {
        let pictures = pictures.borrow();
        let found = pictures
            .iter()
            .rev()
            .find(|(path, ..)| path == Path::new(name));
        let (_, size, texels) = found.unwrap_or_else(|| panic!("{name} was not written"));
        (*size, texels.clone())
    })
}

#[test]
fn whatever_a_window_system_does_is_survived() {
    let gpu = headless();
    let mut app = app(&gpu, desc([320, 200]));
    let frame = |app: &mut App| app.frame(RawInput::default()).unwrap();
    let mut random = 7_u32;
    let mut next = |most: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % most + 1
    };
    for round in 0..200 {
        let size = match round {
            3 => [1, 1],
            4 => [3, 7],
            5 => [641, 479],
            _ => [next(400), next(300)],
        };
        app.event(&Event::Resized(size), false);
        app.event(
            &Event::ScaleFactor([1.0, 1.25, 1.5, 2.0, f64::NAN][round % 5]),
            false,
        );
        if round % 10 == 9 {
            app.event(&Event::SurfaceLost, false);
        }
        let outcome = frame(&mut app);
        assert!(!outcome.close && !outcome.idle);
        assert_eq!(app.window().image_size(), Some(size));
        if round % 15 == 14 {
            app.event(&Event::Resized([0, 0]), false);
            for _ in 0..3 {
                assert!(frame(&mut app).idle, "nothing to see, nothing to do");
            }
        }
    }
    app.event(&Event::Close, false);
    assert!(frame(&mut app).close);
    app.finish().unwrap();
}

#[test]
fn every_setting_and_every_panel_is_gone_through() {
    let gpu = headless();
    let mut app = app(&gpu, desc([640, 480]));
    for name in PANELS {
        app.event(
            &Event::Command(Command::Panel {
                name: name.into(),
                open: true,
            }),
            false,
        );
    }
    app.event(&Event::Command(Command::Help(true)), false);
    for _ in 0..2 * entries().len() {
        app.event(&Event::Command(Command::NextSetting), false);
        app.frame(RawInput::default()).unwrap();
    }
    app.finish().unwrap();
}

#[test]
fn settings_go_back_to_what_the_scene_had() {
    let gpu = headless();
    let own = Settings {
        mesh_shaders: false,
        fog_distance: 7.0,
        ..settings()
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reset-settings");
    let _ = std::fs::remove_dir_all(&folder);
    let file = folder.join("window.conf");
    let mut kept = Preferences::default();
    kept.set("settings.occlusion", "off");
    kept.save(&file).unwrap();
    let described = AppDesc {
        preferences: Some(file),
        reset: false,
        ..desc([64, 48])
    };
    let mut app = app_with(&gpu, described, own, &common::eclipse(10));
    let mut changed = own;
    changed.culling.occlusion = false;
    assert_eq!(*app.content().settings().unwrap(), changed);
    for _ in 0..7 {
        app.event(&Event::Command(Command::NextSetting), false);
        app.frame(RawInput::default()).unwrap();
    }
    assert_ne!(*app.content().settings().unwrap(), changed);
    app.event(&Event::Command(Command::ResetSettings), false);
    assert_eq!(
        *app.content().settings().unwrap(),
        own,
        "not the user's, and not the engine's"
    );
    app.finish().unwrap();
}

#[test]
fn culling_is_audited_and_what_is_frozen_away_is_found() {
    let gpu = headless();
    let hybrid = Settings {
        path: RasterPath::Hybrid,
        ..settings()
    };
    let mut app = app_with(&gpu, desc([96, 64]), hybrid, &common::crowd(80, 8.0, 5));
    let audited = |app: &mut App| app.content().audit().unwrap().clone();
    let frames = |app: &mut App, count: usize| {
        for _ in 0..count {
            app.frame(RawInput::default()).unwrap();
        }
        gpu.wait_idle().unwrap();
    };
    frames(&mut app, 2);
    assert_eq!(audited(&mut app).frames, 0);
    app.event(&Event::Command(Command::Audit(true)), false);
    frames(&mut app, 6);
    let found = audited(&mut app);
    assert!(found.frames >= 3, "{found:?}");
    assert_eq!((found.false_frames, found.last.pixels), (0, 0), "{found:?}");

    // Culling stays, the camera turns away: what it sees now was culled as outside of the view.
    app.content().settings().unwrap().freeze_camera = true;
    frames(&mut app, 2);
    let button = |pressed| Event::Button {
        button: MouseButton::Left,
        pressed,
    };
    app.event(&button(true), false);
    app.event(&Event::Moved([300.0, 0.0]), false);
    frames(&mut app, 8);
    let found = audited(&mut app);
    assert!(found.false_frames > 0 && found.last.pixels > 0, "{found:?}");
    assert!(!found.last.examples.is_empty());

    // Another path cannot, and says nothing; switched off all is forgotten.
    app.content().settings().unwrap().path = RasterPath::Vertex;
    frames(&mut app, 2);
    app.event(&Event::Command(Command::Audit(false)), false);
    frames(&mut app, 1);
    assert_eq!(audited(&mut app).frames, 0);
    app.finish().unwrap();
}

#[test]
fn moving_instances_move_and_invocations_are_counted_on_request() {
    let gpu = headless();
    let scene = Scene {
        moving: 41,
        ..common::eclipse(40)
    };
    let mut app = app_with(&gpu, desc([96, 64]), settings(), &scene);
    app.event(&Event::Command(Command::Interface(false)), false);
    app.event(&shot("early"), false);
    let frame = |app: &mut App| app.frame(RawInput::default()).unwrap();
    for _ in 0..12 {
        frame(&mut app);
    }
    app.event(&shot("late"), false);
    frame(&mut app);
    assert_eq!(
        app.content().settings().unwrap().spin,
        0.0,
        "none of the user's"
    );
    let counted = |app: &mut App, on: bool| {
        app.event(&Event::Command(Command::CountInvocations(on)), false);
        frame(app);
        gpu.wait_idle().unwrap();
        let results = gpu.frame_results();
        let passes = &results.last().unwrap().passes;
        passes.iter().any(|pass| pass.statistics.is_some())
    };
    assert!(!counted(&mut app, false));
    assert_eq!(
        counted(&mut app, true),
        gpu.info().features.pipeline_statistics
    );
    app.finish().unwrap();
    assert_ne!(picture("early"), picture("late"));
}

#[test]
fn a_calibration_ends_with_one_of_its_thresholds() {
    let gpu = headless();
    let mut app = app(&gpu, desc([64, 48]));
    let calibrate = Event::Command(Command::Calibrate);
    app.event(&calibrate, false);
    assert!(!app.is_calibrating(), "the vertex path has nothing to try");
    app.content().settings().unwrap().path = RasterPath::Hybrid;
    app.event(&calibrate, false);
    let mut tried = std::collections::BTreeSet::new();
    for frame in 0.. {
        assert!(frame < 1000, "it ends");
        let threshold = app.content().settings().unwrap().raster_threshold;
        tried.insert(threshold.to_bits());
        if !app.is_calibrating() {
            assert!(Settings::RASTER_THRESHOLDS.contains(&threshold));
            break;
        }
        app.frame(RawInput::default()).unwrap();
    }
    assert_eq!(tried.len(), Settings::RASTER_THRESHOLDS.len());
    app.finish().unwrap();
}

#[test]
fn a_minimised_window_draws_nothing() {
    let gpu = headless();
    let mut app = app(&gpu, desc([64, 48]));
    let frame = |app: &mut App| app.frame(RawInput::default()).unwrap();
    assert!(!frame(&mut app).idle);
    gpu.wait_idle().unwrap();
    drop(gpu.frame_results());
    app.event(&Event::Minimised(true), false);
    for _ in 0..3 {
        assert!(frame(&mut app).idle);
    }
    gpu.wait_idle().unwrap();
    let before = gpu.begin_frame().unwrap().number();
    assert!(frame(&mut app).idle);
    assert_eq!(
        gpu.begin_frame().unwrap().number(),
        before + 1,
        "none in between"
    );
    app.event(&Event::Minimised(false), false);
    assert!(!frame(&mut app).idle);
    app.finish().unwrap();
}

#[test]
fn the_picture_is_that_of_the_renderer_alone() {
    let gpu = headless();
    let size = [320, 240];
    let mut app = app(&gpu, desc(size));
    app.event(&Event::Command(Command::Interface(false)), false);
    app.frame(RawInput::default()).unwrap();
    app.event(&shot("alone"), false);
    app.frame(RawInput::default()).unwrap();
    app.finish().unwrap();

    let scene = common::eclipse(40);
    let room = Capacities::default();
    let mut renderer = Renderer::new(&gpu, &scene, size, settings(), room).unwrap();
    let camera = path().camera(0, 1, size[0] as f32 / size[1] as f32);
    let mut texels = Vec::new();
    for _ in 0..2 {
        let mut frame = gpu.begin_frame().unwrap();
        renderer.record(&mut frame, &camera).unwrap();
        let back = frame.read_back_texture(renderer.colour(), 0).unwrap();
        frame.submit().unwrap();
        texels = back.wait().unwrap();
    }
    let (shown_size, shown) = picture("alone");
    assert_eq!(shown_size, size);
    let different = shown
        .chunks(4)
        .zip(texels.chunks(4))
        .filter(|(a, b)| a != b)
        .count();
    assert!(different <= 1, "{different} pixels differ");
    assert!(
        texels.chunks(4).any(|texel| texel != &texels[..4]),
        "something is in it"
    );
}

#[test]
fn preferences_come_back() {
    let gpu = headless();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("preferences");
    let file = folder.join("window.conf");
    let _ = std::fs::remove_dir_all(&folder);
    let with = |reset| AppDesc {
        preferences: Some(file.clone()),
        reset,
        ..desc([320, 200])
    };
    let mut first = app(&gpu, with(false));
    let settings = first.content().settings().unwrap();
    settings.culling.occlusion = false;
    first.event(
        &Event::Command(Command::Panel {
            name: "shaders".into(),
            open: true,
        }),
        false,
    );
    first.frame(RawInput::default()).unwrap();
    first.finish().unwrap();
    assert!(Preferences::load(&file).is_on("panel.shaders", false));
    let mut second = app(&gpu, with(false));
    assert!(!second.content().settings().unwrap().culling.occlusion);
    let mut reset = app(&gpu, with(true));
    assert!(reset.content().settings().unwrap().culling.occlusion);
}

/// A picture to draw to.
fn target(gpu: &Gpu, format: vk::Format, size: [u32; 2]) -> Texture {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.texture(&TextureDesc {
        name: "target",
        format,
        size: [size[0], size[1], 1],
        usage,
        ..TextureDesc::default()
    })
    .unwrap()
}

/// Runs egui once for a picture of a size, and gives what it wants drawn.
fn interface(
    context: &egui::Context,
    size: [u32; 2],
    scale: f32,
    run: impl FnMut(&egui::Context),
) -> (egui::TexturesDelta, Vec<egui::ClippedPrimitive>) {
    let points = vec2(size[0] as f32 / scale, size[1] as f32 / scale);
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), points)),
        ..RawInput::default()
    };
    input
        .viewports
        .entry(egui::ViewportId::ROOT)
        .or_default()
        .native_pixels_per_point = Some(scale);
    let output = context.run(input, run);
    let primitives = context.tessellate(output.shapes, output.pixels_per_point);
    (output.textures_delta, primitives)
}

fn texels(frame: Frame, back: &impel::gpu::ReadBack) -> Vec<u8> {
    frame.submit().unwrap();
    back.wait().unwrap()
}

#[test]
fn targets_that_convert_and_that_do_not_show_the_same() {
    let gpu = headless();
    let size = [257, 131];
    let picture = target(&gpu, vk::Format::R8G8B8A8_UNORM, size);
    let (context, mut ui, show) = (
        egui::Context::default(),
        Ui::new(&gpu).unwrap(),
        Show::new(&gpu).unwrap(),
    );
    let (textures, primitives) = interface(&context, size, 1.25, |context| {
        egui::CentralPanel::default().show(context, |ui| {
            ui.heading("Both the same");
            for grey in 0..=255 {
                let rect = Rect::from_min_size(
                    pos2(
                        f32::from(grey % 32_u8) * 6.0,
                        40.0 + f32::from(grey / 32) * 7.0,
                    ),
                    vec2(6.0, 7.0),
                );
                ui.painter()
                    .rect_filled(rect, 0.0, Color32::from_rgb(grey, 255 - grey, 30));
            }
        });
    });
    ui.prepare(&textures, &primitives, 1.25).unwrap();
    let mut seen = Vec::new();
    for format in [
        vk::Format::R8G8B8A8_UNORM,
        vk::Format::R8G8B8A8_SRGB,
        vk::Format::B8G8R8A8_UNORM,
        vk::Format::B8G8R8A8_SRGB,
    ] {
        let shown = target(&gpu, format, size);
        let mut frame = gpu.begin_frame().unwrap();
        frame.clear(&picture, [0.2, 0.4, 0.6, 1.0]).unwrap();
        ui.record(&mut frame, &picture, &[]).unwrap();
        show.record(&mut frame, &picture, &shown).unwrap();
        let back = frame.read_back_texture(&shown, 0).unwrap();
        let mut bytes = texels(frame, &back);
        if matches!(
            format,
            vk::Format::B8G8R8A8_UNORM | vk::Format::B8G8R8A8_SRGB
        ) {
            bytes.chunks_exact_mut(4).for_each(|texel| texel.swap(0, 2));
        }
        seen.push(bytes);
    }
    let colours: std::collections::HashSet<_> =
        seen[0].chunks(4).map(|texel| texel.to_vec()).collect();
    assert!(colours.len() > 200, "{} colours", colours.len());
    for other in &seen[1..] {
        assert!(*other == seen[0], "the formats differ");
    }
}

#[test]
fn user_textures_are_drawn_and_clips_hold_at_fractional_scales() {
    let gpu = headless();
    for scale in [1.0_f32, 1.25, 1.5, 2.0] {
        let size = [200, 150];
        let picture = target(&gpu, vk::Format::R8G8B8A8_UNORM, size);
        let user = target(&gpu, vk::Format::R8G8B8A8_UNORM, [4, 4]);
        let (context, mut ui) = (egui::Context::default(), Ui::new(&gpu).unwrap());
        let id = egui::TextureId::User(7);
        let clip = Rect::from_min_max(pos2(10.3, 7.7), pos2(50.9, 40.1));
        let (textures, primitives) = interface(&context, size, scale, |context| {
            let painter = context.layer_painter(egui::LayerId::background());
            let everything = Rect::from_min_max(pos2(-100.0, -100.0), pos2(1000.0, 1000.0));
            let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            painter
                .with_clip_rect(clip)
                .image(id, everything, uv, Color32::WHITE);
        });
        ui.prepare(&textures, &primitives, scale).unwrap();
        let mut frame = gpu.begin_frame().unwrap();
        frame.clear(&picture, [0.0; 4]).unwrap();
        frame.clear(&user, [1.0, 0.0, 0.0, 1.0]).unwrap();
        ui.record(&mut frame, &picture, &[(id, &user)]).unwrap();
        let back = frame.read_back_texture(&picture, 0).unwrap();
        let bytes = texels(frame, &back);
        let [left, top, right, bottom] = [clip.min.x, clip.min.y, clip.max.x, clip.max.y]
            .map(|points| (points * scale).round() as usize);
        for (index, texel) in bytes.chunks(4).enumerate() {
            let (x, y) = (index % 200, index / 200);
            let inside = (left..right).contains(&x) && (top..bottom).contains(&y);
            let expected: [u8; 4] = if inside { [255, 0, 0, 255] } else { [0; 4] };
            assert_eq!(texel, expected, "{x}, {y} at scale {scale}");
        }
    }
}

#[test]
fn ten_thousand_glyphs_are_drawn_in_one_frame() {
    let gpu = headless();
    let size = [1024, 768];
    let picture = target(&gpu, vk::Format::R8G8B8A8_UNORM, size);
    let (context, mut ui) = (egui::Context::default(), Ui::new(&gpu).unwrap());
    let line: String = ('!'..='~').cycle().take(200).collect();
    let (textures, primitives) = interface(&context, size, 1.0, |context| {
        let painter = context.layer_painter(egui::LayerId::background());
        for row in 0..50 {
            let at = pos2(2.0, row as f32 * 15.0);
            let font = egui::FontId::monospace(8.0);
            painter.text(at, egui::Align2::LEFT_TOP, &line, font, Color32::WHITE);
        }
    });
    let corners: usize = primitives
        .iter()
        .map(|clipped| match &clipped.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.vertices.len(),
            egui::epaint::Primitive::Callback(_) => 0,
        })
        .sum();
    assert!(corners >= 4 * 10_000, "{corners}");
    ui.prepare(&textures, &primitives, 1.0).unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    frame.clear(&picture, [0.0; 4]).unwrap();
    ui.record(&mut frame, &picture, &[]).unwrap();
    let back = frame.read_back_texture(&picture, 0).unwrap();
    let bytes = texels(frame, &back);
    // Every row of text has left something, the last one, too.
    for row in 0..50 {
        let band = &bytes[row * 15 * 1024 * 4..(row * 15 + 15) * 1024 * 4];
        let lit = band.chunks(4).filter(|texel| texel[0] > 100).count();
        assert!(lit > 1000, "row {row} has {lit} lit pixels");
    }
}
