//! The program as people start it: exit status and one clear line for everything that is wrong.

use std::path::PathBuf;
use std::process::{Command, Output};

fn scenes(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scenes"))
        .args(arguments)
        .env_remove("IMPEL_DEVICE")
        .output()
        .unwrap()
}

fn temporary(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn assert_fails(arguments: &[&str], status: i32, part: &str) {
    let output = scenes(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}");
    assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    assert!(
        text.starts_with("error: ") && text.contains(part),
        "{arguments:?}: {text}"
    );
}

#[test]
fn bad_usage_is_one_line_and_status_2() {
    for (arguments, part) in [
        (&["run"][..], "<SCENE>"),
        (&["dance"], "'dance'"),
        (
            &["run", "cloud", "--size", "0x100"],
            "expected WIDTHxHEIGHT, each from 1 to 16384",
        ),
        (
            &["run", "cloud", "--size", "100000x1"],
            "expected WIDTHxHEIGHT, each from 1 to 16384",
        ),
        (&["run", "cloud", "--frames", "0"], "--frames"),
        (&["run", "cloud", "--draws", "-1"], "-1"),
        (&["run", "cloud", "--cull", "cone=off"], "there is no stage"),
        (&["run", "cloud", "--lod", "fine"], "expected error=PIXELS"),
        (
            &["run", "cloud", "--path", "ray"],
            "expected one of hybrid, mesh, task, vertex",
        ),
        (&["run", "cloud", "--shard", "4/4"], "expected I/N"),
        // What would be passed over in silence.
        (
            &["run", "mixins", "--draws", "3"],
            "--draws: expected a scene of instances, got mixins",
        ),
        (&["run", "mixins", "--view", "lods"], "--view: expected"),
        (
            &["run", "cloud", "--window", "--json", "a.json"],
            "--json: expected a run without a window",
        ),
        (
            &["run", "cloud", "--window", "--warmup", "1"],
            "--warmup: expected a run without a window",
        ),
        (
            &["run", "cloud", "--window", "--out", "a.png"],
            "--out: expected --frames with it",
        ),
    ] {
        assert_fails(arguments, 2, part);
    }
}

/// No scene shows a pixel that culling has changed.
#[test]
fn audits_find_nothing() {
    for (scene, camera, draws) in [
        ("cloud", "turning", "4000"),
        ("city", "walk", "4000"),
        ("field", "turning", "20000"),
    ] {
        let fixed = [
            "run", scene, "--camera", camera, "--draws", draws, "--size", "231x131",
        ];
        let output =
            scenes(&[&fixed[..], &["--frames", "5", "--audit", "--moving", "300"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{scene}: {text}");
        let line = text
            .lines()
            .find(|line| line.starts_with("pixels"))
            .unwrap();
        assert!(line.contains(" 0   of 5 frames"), "{scene}: {line}");
    }
}

#[test]
fn calibration_proposes_and_comparison_reads_reports() {
    let fixed = [
        "cloud", "--draws", "500", "--size", "64x40", "--frames", "3",
    ];
    let output = scenes(&[&["calibrate"][..], &fixed].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 10, "{text}");
    assert!(
        text.lines()
            .last()
            .unwrap()
            .starts_with("proposal: --raster-threshold "),
        "{text}"
    );
    let report = temporary("comparison.json");
    let report = report.to_str().unwrap();
    let run = scenes(&[&["run"][..], &fixed, &["--json", report]].concat());
    assert_eq!(run.status.code(), Some(0));
    let output = scenes(&["compare", report, report]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("frame, ms") && text.contains("1.000 +-"),
        "{text}"
    );
    assert_fails(&["compare", report, "not-there.json"], 1, "not-there.json");
}

#[test]
fn bad_input_is_one_line_and_status_1() {
    let scene = temporary("mistake.toml");
    std::fs::write(
        &scene,
        "title = \"x\"\nsize = [1, 1]\nmeshes = []\ncamera = \"a\"\nsky = 1\n[cameras.a]\n",
    )
    .unwrap();
    let mesh = temporary("broken.obj");
    std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 nan\nf 1 2 3\n").unwrap();
    let camera = temporary("camera.toml");
    std::fs::write(&camera, "yaw = 3\nroll = 1\n").unwrap();
    let nowhere = temporary("nowhere.toml");
    std::fs::write(&nowhere, "position = [0.0, nan, 0.0]\n").unwrap();
    let short = temporary("short.toml");
    std::fs::write(&short, "draw_distance = -1.0\n").unwrap();
    let folder = temporary("folder.toml");
    std::fs::create_dir_all(&folder).unwrap();
    let [scene, mesh, camera, nowhere, short, folder] =
        [&scene, &mesh, &camera, &nowhere, &short, &folder].map(|path| path.to_str().unwrap());
    for (arguments, part) in [
        (&["run", "cluod"][..], "scene: expected city, cloud, field"),
        (&["run", scene], "mistake.toml:5:1: unknown field `sky`"),
        (&["run", "missing.toml"], "missing.toml: "),
        (&["run", "cloud", "--camera", "left"], "camera: expected"),
        (
            &["run", "cloud", "--camera", camera],
            "camera.toml:2:1: unknown field `roll`",
        ),
        (
            &["run", "cloud", "--camera", nowhere],
            "finite numbers, got NaN",
        ),
        (
            &["run", "cloud", "--camera", short],
            "more than the lens's near, 0.01, got -1",
        ),
        (&["run", folder], "folder.toml: expected a plain file"),
        (
            &["run", "cloud", "--device", "no such device"],
            "no such device",
        ),
        // Before anything is looked for or rendered.
        (
            &["run", "cloud", "--device", "none", "--out", "missing/a.png"],
            "missing/a.png",
        ),
        (
            &[
                "run",
                "cloud",
                "--device",
                "none",
                "--json",
                "missing/a.json",
            ],
            "missing/a.json",
        ),
        (
            &["run", "cloud", "--draws", "1", "--mesh", "missing.obj"],
            "missing.obj",
        ),
        (
            &["run", "cloud", "--draws", "1", "--mesh", mesh],
            "broken.obj",
        ),
        (&["run", "cloud", "--draws", "1", "--mesh", "gear"], "gear"),
    ] {
        assert_fails(arguments, 1, part);
    }
}

/// A reader that has enough, as in `scenes run --help | head -1`, makes no failure.
#[test]
fn closed_pipes_are_no_failure() {
    for arguments in [
        &["--help"][..],
        &["run", "--help"],
        &["--version"],
        &["list"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_scenes"))
            .args(arguments)
            .stdout(writer)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && text.is_empty(),
            "{arguments:?}: {text}"
        );
    }
}

#[test]
fn list_names_every_scene() {
    let output = scenes(&["list"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for (name, _) in scenes::data::BUILT_IN {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
}

#[test]
fn a_run_writes_picture_json_and_table() {
    let (picture, json) = (temporary("run.png"), temporary("run.json"));
    let output = scenes(&[
        "run",
        "cloud",
        "--headless",
        "--draws",
        "400",
        "--mesh",
        "gear:2400",
        "asteroid:1500",
        "--size",
        "161x91",
        "--frames",
        "5",
        "--warmup",
        "1",
        "--validate",
        "--out",
        picture.to_str().unwrap(),
        "--json",
        json.to_str().unwrap(),
    ]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let table = String::from_utf8(output.stdout).unwrap();
    for part in [
        "early cull",
        "hzb",
        "late draw",
        "triangles in the scene",
        "picture: ",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let decoder = png::Decoder::new(std::io::BufReader::new(
        std::fs::File::open(&picture).unwrap(),
    ));
    let info = decoder.read_info().unwrap();
    assert_eq!((info.info().width, info.info().height), (161, 91));

    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let number = |path: &str| {
        report
            .pointer(path)
            .and_then(serde_json::Value::as_u64)
            .unwrap_or_else(|| panic!("{path}"))
    };
    assert_eq!(
        (number("/schema"), number("/frames"), number("/warmup")),
        (1, 5, 1)
    );
    assert_eq!(number("/triangles_in_scene"), 200 * 2400 + 200 * 1500);
    assert_eq!(number("/instances/total"), 400);
    let parts = ["frustum_culled", "occlusion_culled", "drawn"]
        .map(|part| number(&format!("/instances/{part}")));
    assert_eq!(parts.iter().sum::<u64>(), 400);
    assert_eq!(
        number("/instances/early") + number("/instances/late"),
        number("/instances/drawn")
    );
    assert_eq!(number("/validation/messages"), 0);
    assert_eq!(report["frames_detail"].as_array().unwrap().len(), 5);
    assert_eq!(report["frames_detail"][0]["early"], 0);
    assert!(report["passes"].as_array().unwrap().len() >= 10);
    assert!(report["gpu_frame_ms_median"].as_f64().unwrap() > 0.0);
    assert_schema(&report);
}

/// Everything that schema 1 promises is there, and of its type.
fn assert_schema(report: &serde_json::Value) {
    let of = |kind: &str, value: &serde_json::Value| match kind {
        "text" => value.is_string(),
        "text or null" => value.is_string() || value.is_null(),
        "count" => value.is_u64(),
        "number" => value.is_number(),
        "switch" => value.is_boolean(),
        "object" => value.is_object(),
        "counts" => value
            .as_array()
            .is_some_and(|all| !all.is_empty() && all.iter().all(serde_json::Value::is_u64)),
        _ => panic!("{kind}"),
    };
    for (kind, places) in [
        (
            "text",
            "/scene /device/name /device/type /device/driver /device/api /path /binding /version /command /passes/0/name",
        ),
        ("text or null", "/validation/layer /picture"),
        ("object", "/camera /settings"),
        ("counts", "/size /lod_histogram"),
        (
            "count",
            "/schema /frames /seed /warmup /triangles_in_scene /triangles_drawn /triangles_by_compute /barriers \
             /instances/total /instances/frustum_culled /instances/occlusion_culled /instances/early /instances/late \
             /instances/drawn /meshlets/tested /meshlets/cone_culled /meshlets/frustum_culled \
             /meshlets/occlusion_culled /meshlets/drawn /overflow/draws /overflow/clusters /peak_device_bytes \
             /validation/messages",
        ),
        (
            "number",
            "/passes/0/gpu_ms_median /passes/0/gpu_ms_p95 /passes/0/cpu_us_median /gpu_frame_ms_median \
             /gpu_frame_ms_p95 /cpu_record_ms_median /load_ms",
        ),
        ("switch", "/validation/enabled"),
    ] {
        for place in places.split_whitespace() {
            let found = report.pointer(place);
            assert!(
                found.is_some_and(|value| of(kind, value)),
                "{place}: {found:?}"
            );
        }
    }
    for frame in report["frames_detail"].as_array().unwrap() {
        assert!(frame["early"].is_u64() && frame["late"].is_u64() && frame["gpu_ms"].is_number());
    }
}

/// The scene of composed effects is timed, profiled and told of as the others are.
#[test]
fn mixins_report_as_other_scenes_do() {
    let (json, capture) = (temporary("mixins.json"), temporary("mixins.puffin"));
    let output = scenes(&[
        "run",
        "mixins",
        "--headless",
        "--size",
        "160x120",
        "--frames",
        "4",
        "--warmup",
        "1",
        "--json",
        json.to_str().unwrap(),
        "--puffin",
        capture.to_str().unwrap(),
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("toon, unlit, rim, fog"), "{table}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_schema(&report);
    assert_eq!(
        (&report["frames"], &report["permutations"]),
        (&4.into(), &48.into())
    );
    assert!(report["passes"].as_array().unwrap().len() >= 48);
    let compared = scenes(&["compare", json.to_str().unwrap(), json.to_str().unwrap()]);
    assert!(compared.status.success());
    let bytes = std::fs::read(&capture).unwrap();
    let view = impel::gpu::puffin::FrameView::read(&mut bytes.as_slice()).unwrap();
    assert!(view.recent_frames().count() >= 3);
}

/// A frame that takes longer than the run may wait ends it, with the passes that it is at; also while the device is busy.
#[test]
fn a_run_does_not_wait_for_ever() {
    let heavy = ["--lod", "force=0", "--path", "vertex", "--frames", "2"];
    let arguments = ["run", "cloud", "--headless", "--size", "1280x720"];
    // A GPU may be done in a second, a driver on the CPU never is.
    let device = scenes(&[
        "run",
        "viewer",
        "--headless",
        "--size",
        "8x8",
        "--frames",
        "1",
    ]);
    if !String::from_utf8_lossy(&device.stdout).contains("(cpu, ") {
        println!("not on a CPU driver: no frame takes long enough");
        return;
    }
    let all = [&arguments[..], &heavy, &["--give-up", "1"]].concat();
    assert_fails(
        &all,
        1,
        "the device hangs: frame 1 is not done after 1 s; passes handed over: ",
    );
}

/// Shards of a sequence are the pictures that one run makes.
#[test]
fn shards_make_the_same_pictures() {
    let run = |name: &str, shard: &[&str]| {
        let out = temporary(name);
        let arguments = [
            "run",
            "cloud",
            "--draws",
            "300",
            "--mesh",
            "asteroid:1500",
            "--size",
            "96x64",
            "--frames",
            "4",
            "--camera",
            "turning",
            "--view",
            "depth",
            "--every",
            "1",
            "--out",
            out.to_str().unwrap(),
        ];
        let output = scenes(&[&arguments[..], shard].concat());
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run("whole.png", &[]);
    run("part.png", &["--shard", "0/2"]);
    run("part.png", &["--shard", "1/2"]);
    for frame in 0..4 {
        let [whole, part] = ["whole", "part"]
            .map(|name| std::fs::read(temporary(&format!("{name}-{frame:05}.png"))).unwrap());
        assert_eq!(whole, part, "frame {frame}");
    }
}
