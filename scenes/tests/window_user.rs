//! What a user does at the keyboard, and what the window keeps from run to run.

mod display;

use display::{Server, folder, scenes, succeeds, texels};
use impel::app::{Control, Entry};
use std::path::Path;

/// Plays a script in the window; `reset` as the option.
fn play(server: &Server, folder: &Path, script: &str, reset: bool) {
    std::fs::write(folder.join("keys.txt"), script).unwrap();
    let mut arguments = vec![
        "cloud",
        "--window",
        "--draws",
        "100",
        "--size",
        "640x400",
        "--validate",
        "--script",
        "keys.txt",
    ];
    if reset {
        arguments.push("--reset");
    }
    let output = scenes(folder, &arguments, &[("DISPLAY", &server.display)]);
    succeeds(&output, script);
}

/// Pixels that two pictures do not have in common.
fn differing(folder: &Path, a: &str, b: &str) -> usize {
    let [(size, a), (other, b)] = [a, b].map(|name| texels(&folder.join(name)));
    assert_eq!(size, other);
    let pairs = a.chunks(3).zip(b.chunks(3));
    pairs.filter(|(a, b)| a != b).count()
}

#[test]
fn keys_show_help_hide_the_panels_and_write_pictures() {
    let server = Server::start();
    let folder = folder("window-keys");
    let script = "0 interface off\n3 screenshot bare.png\n\
                  4 key h\n6 key f1\n9 screenshot help.png\n\
                  10 key f1\n11 key h\n14 key f12\n15 key f10\n17 close\n";
    play(&server, &folder, script, true);
    let help = differing(&folder, "bare.png", "help.png");
    assert!(
        help > 640 * 400 / 2,
        "{help}: panels and help cover most of it"
    );
    let same = differing(&folder, "bare.png", "screenshot-0001.png");
    assert!(same <= 1, "{same}: the panels are hidden again");
}

#[test]
fn settings_stay_until_they_are_reset() {
    let server = Server::start();
    let folder = folder("window-settings");
    let shot = |name: &str| format!("0 interface off\n4 screenshot {name}\n6 close\n");
    play(&server, &folder, &shot("first.png"), true);
    // A switch that is kept from run to run, and has a meaning beside all others.
    let settings = impel::app::entries();
    let is_switch = |entry: &Entry| entry.kept && matches!(entry.control, Control::Switch);
    let kept = settings.iter().position(is_switch).unwrap();
    let steps = "1 next-setting\n".repeat(kept + 1);
    play(&server, &folder, &format!("{steps}3 close\n"), false);
    let name = format!("settings.{} = ", settings[kept].name);
    let file = folder.join("config/impel/window.conf");
    let value = || {
        let text = std::fs::read_to_string(&file).unwrap();
        let line = text.lines().find(|line| line.starts_with(&name));
        line.map(ToOwned::to_owned)
    };
    let changed = value();
    assert!(changed.is_some());
    play(&server, &folder, &shot("changed.png"), false);
    assert_eq!(value(), changed, "it is as it was left");
    play(&server, &folder, &shot("reset.png"), true);
    assert_ne!(value(), changed);
    assert!(differing(&folder, "first.png", "reset.png") <= 1);
}
