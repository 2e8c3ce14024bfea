//! The program in a real window, on a virtual X server: it opens, is resized and lost, goes through its settings, closes, and
//! validation has nothing to say.

mod display;

use display::{Server, folder, scenes, succeeds, texels};

#[test]
fn the_window_shows_each_scene_as_it_is_without_one() {
    let server = Server::start();
    let folder = folder("window-scenes");
    for (scene, draws, moving) in [
        ("cloud", "500", "400"),
        ("field", "500", "0"),
        ("city", "300", "0"),
        ("passes", "300", "300"),
        ("viewer", "1", "0"),
        ("mixins", "", ""),
    ] {
        let (window, headless) = (format!("{scene}-window.png"), format!("{scene}.png"));
        let mut common = vec!["--size", "321x180", "--deterministic", "--validate"];
        if scene != "mixins" {
            common.extend(["--draws", draws, "--moving", moving]);
        }
        let run = |own: &[&str], variables: &[(&str, &str)]| {
            let all: Vec<_> = [scene].iter().chain(&common).chain(own).copied().collect();
            succeeds(&scenes(&folder, &all, variables), scene);
        };
        run(&["--headless", "--frames", "3", "--out", &headless], &[]);
        run(
            &["--window", "--reset", "--frames", "3", "--out", &window],
            &[("DISPLAY", &server.display)],
        );
        let (size, expected) = texels(&folder.join(headless));
        let (shown, found) = texels(&folder.join(window));
        assert_eq!((shown, size), ([321, 180], [321, 180]), "{scene}");
        let different = expected
            .chunks(3)
            .zip(found.chunks(3))
            .filter(|(a, b)| a != b)
            .count();
        // Where two surfaces have the same depth either may be seen.
        assert!(different <= 1, "{scene}: {different} pixels differ");
        assert!(
            expected.chunks(3).any(|texel| texel != &expected[..3]),
            "{scene} is empty"
        );
    }
}

/// What a culling camera that stands still leaves out, while the one that looks goes on, is the same in a window.
#[test]
fn a_frozen_camera_leaves_out_the_same_in_a_window() {
    let server = Server::start();
    let folder = folder("window-frozen");
    let run = |own: &[&str], display: &str| {
        let common = "cloud --draws 2000 --size 321x180 --camera turning --frames 40";
        let all: Vec<_> = common.split(' ').chain(own.iter().copied()).collect();
        succeeds(&scenes(&folder, &all, &[("DISPLAY", display)]), "frozen");
    };
    let frozen = ["--deterministic", "--freeze-camera", "--validate"];
    run(
        &[&frozen[..], &["--window", "--reset", "--out", "window.png"]].concat(),
        &server.display,
    );
    run(
        &[&frozen[..], &["--headless", "--out", "frozen.png"]].concat(),
        "",
    );
    run(&["--headless", "--out", "moving.png"], "");
    let [window, frozen, moving] =
        ["window", "frozen", "moving"].map(|name| texels(&folder.join(name.to_owned() + ".png")).1);
    let different = |other: &[u8]| {
        let pairs = window.chunks(3).zip(other.chunks(3));
        pairs.filter(|(a, b)| a != b).count()
    };
    // Where two surfaces have the same depth either may be seen.
    assert!(
        different(&frozen) <= 1,
        "{} pixels differ",
        different(&frozen)
    );
    assert!(
        different(&moving) > 321 * 180 / 20,
        "{} pixels differ",
        different(&moving)
    );
}

#[test]
fn two_hundred_sizes_losses_and_all_settings() {
    let server = Server::start();
    let folder = folder("window-storm");
    let mut random = 99_u32;
    let mut next = |most: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % most + 1
    };
    let mut script = String::from("1 interface on\n");
    for (index, panel) in impel::app::PANELS.iter().enumerate() {
        let from = 30 * (index + 1);
        script += &format!("{from} panel {panel} on\n{} panel {panel} off\n", from + 20);
    }
    for frame in 0..200 {
        let [width, height] = match frame {
            0 => [1, 1],
            1 => [3, 7],
            2 => [641, 479],
            _ => [next(240), next(180)],
        };
        script += &format!("{frame} size {width}x{height}\n");
        match frame % 20 {
            5 => script += &format!("{frame} scale {}\n", [1.0, 1.25, 1.5, 2.0][frame / 20 % 4]),
            11 => script += &format!("{frame} lose\n"),
            13 => script += &format!("{frame} minimise {}\n", ["on", "off"][frame / 20 % 2]),
            // Nothing to see for a while, as when it is minimised.
            15 => script += &format!("{frame} resized 0x0\n"),
            _ => script += &format!("{frame} next-setting\n"),
        }
    }
    script += "205 size 400x300\n209 screenshot shot.png\n212 close\n";
    std::fs::write(folder.join("storm.txt"), script).unwrap();
    let output = scenes(
        &folder,
        &[
            "cloud",
            "--window",
            "--reset",
            "--draws",
            "40",
            "--size",
            "320x240",
            "--validate",
            "--script",
            "storm.txt",
        ],
        &[("DISPLAY", &server.display)],
    );
    succeeds(&output, "storm");
    let (size, _) = texels(&folder.join("shot.png"));
    assert_eq!(size, [400, 300]);
}

#[test]
fn scale_factors_of_the_display_enlarge_the_panels() {
    let server = Server::start();
    let folder = folder("window-scales");
    let script = "1 panel settings on\n1 panel performance on\n4 screenshot shot.png\n6 close\n";
    std::fs::write(folder.join("shoot.txt"), script).unwrap();
    let mut covered = Vec::new();
    for scale in ["1", "1.25", "1.5", "2"] {
        let output = scenes(
            &folder,
            &[
                "viewer",
                "--window",
                "--reset",
                "--size",
                "1000x600",
                "--validate",
                "--script",
                "shoot.txt",
            ],
            &[
                ("DISPLAY", server.display.as_str()),
                ("WINIT_X11_SCALE_FACTOR", scale),
            ],
        );
        succeeds(&output, scale);
        let (size, bytes) = texels(&folder.join("shot.png"));
        assert_eq!(size, [1000, 600]);
        // The panels' own background; nothing of the scene has this grey.
        let column = bytes
            .chunks(3)
            .filter(|texel| *texel == [27, 27, 27])
            .count();
        covered.push(column);
    }
    assert!(
        covered.is_sorted() && covered[3] > covered[0] * 3 / 2,
        "{covered:?}"
    );
}

#[test]
fn a_camera_is_recorded_and_played_back() {
    let server = Server::start();
    let folder = folder("window-camera");
    std::fs::write(folder.join("record.txt"), "2 key r\n12 key r\n14 close\n").unwrap();
    let output = scenes(
        &folder,
        &[
            "cloud",
            "--window",
            "--reset",
            "--draws",
            "100",
            "--size",
            "160x90",
            "--camera",
            "turning",
            "--script",
            "record.txt",
        ],
        &[("DISPLAY", &server.display)],
    );
    succeeds(&output, "recording");
    let recorded = std::fs::read_to_string(folder.join("camera-0001.toml")).unwrap();
    assert!(recorded.matches("position").count() >= 2, "{recorded}");
    let output = scenes(
        &folder,
        &[
            "cloud",
            "--headless",
            "--draws",
            "100",
            "--size",
            "160x90",
            "--camera",
            "camera-0001.toml",
            "--frames",
            "3",
            "--out",
            "played.png",
            "--every",
            "1",
        ],
        &[],
    );
    succeeds(&output, "playing");
    let frame = |number| texels(&folder.join(format!("played-{number:05}.png")));
    let (first, last) = (frame(0), frame(2));
    assert_eq!(first.0, [160, 90]);
    // The camera was turning while it was recorded.
    let pairs = first.1.chunks(3).zip(last.1.chunks(3));
    let different = pairs.filter(|(a, b)| a != b).count();
    assert!(different > 160 * 90 / 20, "{different} pixels differ");
}

#[test]
fn profiles_are_written_with_and_without_a_window() {
    let server = Server::start();
    let folder = folder("window-profiles");
    for (kind, display) in [("--window", server.display.as_str()), ("--headless", "")] {
        let output = scenes(
            &folder,
            &[
                "cloud",
                kind,
                "--draws",
                "100",
                "--size",
                "160x90",
                "--frames",
                "6",
                "--puffin",
                "capture.puffin",
            ],
            &[("DISPLAY", display)],
        );
        succeeds(&output, kind);
        let bytes = std::fs::read(folder.join("capture.puffin")).unwrap();
        let view = impel::gpu::puffin::FrameView::read(&mut bytes.as_slice()).unwrap();
        let with_gpu = view.recent_frames().filter(|frame| {
            let frame = frame.unpacked().unwrap();
            frame
                .thread_streams
                .keys()
                .any(|thread| thread.name.starts_with("GPU: "))
        });
        assert!(with_gpu.count() >= 5, "{kind}");
    }
}

#[test]
fn without_a_display_a_window_is_refused_plainly() {
    let folder = folder("window-none");
    let output = scenes(&folder, &["cloud", "--window"], &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.starts_with("error: window: expected a display") && text.lines().count() == 1,
        "{text}"
    );
}
