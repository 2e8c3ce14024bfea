//! The program's window under a window manager: minimised it draws nothing and waits; brought back it goes on.

mod display;

use display::{Server, folder, program, succeeds, texels};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt, EventMask, Window};
use x11rb::rust_connection::RustConnection;

/// Frames of a run, and the one that asks to be minimised.
const FRAMES: u32 = 120;
const MINIMISED: u32 = 20;
/// How long the window stays minimised.
const REST: Duration = Duration::from_secs(3);

/// Values of `WM_STATE` (ICCCM 4.1.3.1).
const NORMAL: u32 = 1;
const ICONIC: u32 = 3;

/// A program that ends with this.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What another program can see and ask of the windows.
struct Client {
    connection: RustConnection,
    root: Window,
}

impl Client {
    fn connect(server: &Server) -> Self {
        let (connection, screen) = x11rb::connect(Some(&server.display)).expect("the display");
        let root = connection.setup().roots[screen].root;
        Self { connection, root }
    }

    fn atom(&self, name: &str) -> u32 {
        let cookie = self.connection.intern_atom(false, name.as_bytes());
        cookie.unwrap().reply().unwrap().atom
    }

    /// The program's window with its state, as soon as the window manager has it.
    fn window(&self) -> Option<(Window, u32)> {
        let wm_state = self.atom("WM_STATE");
        let mut open = vec![self.root];
        while let Some(window) = open.pop() {
            let property = |name: u32, kind: u32| {
                let cookie = self
                    .connection
                    .get_property(false, window, name, kind, 0, 64);
                // A window may be gone by now.
                cookie.unwrap().reply().ok()
            };
            let title = property(AtomEnum::WM_NAME.into(), AtomEnum::ANY.into());
            let state = property(wm_state, wm_state);
            if let (Some(title), Some(state)) = (title, state)
                && title.value.starts_with(b"Impel: ")
                && let Some(state) = state.value32().and_then(|mut values| values.next())
            {
                return Some((window, state));
            }
            if let Ok(tree) = self.connection.query_tree(window).unwrap().reply() {
                open.extend(tree.children);
            }
        }
        None
    }

    /// Waits until the window manager says so.
    fn wait_for(&self, state: u32, program: &mut Child) -> Window {
        let begun = Instant::now();
        loop {
            match self.window() {
                Some((window, found)) if found == state => return window,
                found => {
                    let ended = program.try_wait().unwrap();
                    assert!(ended.is_none(), "{found:?}, the program has ended");
                    assert!(begun.elapsed() < Duration::from_secs(120), "{found:?}");
                }
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// Asks the window manager to bring a window back, as a list of windows does.
    fn activate(&self, window: Window) {
        let kind = self.atom("_NET_ACTIVE_WINDOW");
        let message = ClientMessageEvent::new(32, window, kind, [2, 0, 0, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let connection = &self.connection;
        connection
            .send_event(false, self.root, mask, message)
            .unwrap();
        connection.flush().unwrap();
    }
}

/// Starts the window manager and waits until it has taken over: what is asked of it before is lost.
fn manage(server: &Server, folder: &std::path::Path) -> Ends {
    let manager = Command::new("blackbox")
        .env("DISPLAY", &server.display)
        .env("HOME", folder)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test needs the window manager blackbox; `cargo verify` installs it");
    let manager = Ends(manager);
    let client = Client::connect(server);
    let name = client.atom("_NET_SUPPORTING_WM_CHECK");
    let begun = Instant::now();
    loop {
        let cookie =
            client
                .connection
                .get_property(false, client.root, name, AtomEnum::WINDOW, 0, 1);
        if cookie.unwrap().reply().unwrap().value_len == 1 {
            return manager;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no manager");
        sleep(Duration::from_millis(20));
    }
}

/// Seconds that a process has computed (Linux counts hundredths).
fn computed(program: &Child) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", program.id())).unwrap();
    let after_name = text.rsplit_once(')').unwrap().1;
    let times = after_name.split_whitespace().skip(11).take(2);
    times
        .map(|ticks| ticks.parse::<f64>().unwrap() / 100.0)
        .sum()
}

#[test]
fn a_minimised_window_waits_and_comes_back() {
    let server = Server::start();
    let folder = folder("window-manager");
    let scene = [
        "cloud",
        "--draws",
        "300",
        "--size",
        "321x180",
        "--deterministic",
        "--validate",
    ];
    let run = |own: &[&str], variables: &[(&str, &str)]| {
        let all: Vec<_> = scene.iter().chain(own).copied().collect();
        let mut command = program(&folder, &all, variables);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    let headless = run(
        &["--headless", "--frames", "3", "--out", "expected.png"],
        &[],
    );
    succeeds(&headless.wait_with_output().unwrap(), "headless");

    let _manager = manage(&server, &folder);
    std::fs::write(
        folder.join("minimise.txt"),
        format!("1 interface off\n{MINIMISED} minimise on\n"),
    )
    .unwrap();
    let mut window = Ends(run(
        &[
            "--window",
            "--reset",
            "--frames",
            &FRAMES.to_string(),
            "--script",
            "minimise.txt",
            "--out",
            "found.png",
        ],
        &[("DISPLAY", &server.display)],
    ));
    let client = Client::connect(&server);
    client.wait_for(NORMAL, &mut window.0);
    let shown = client.wait_for(ICONIC, &mut window.0);
    // What was under way when the window went.
    sleep(Duration::from_millis(500));
    let before = computed(&window.0);
    sleep(REST);
    // It would have come to its last frame, if it counted them as fast as it draws or spins.
    let ended = window.0.try_wait().unwrap();
    assert!(ended.is_none(), "frames went on while minimised: {ended:?}");
    let share = (computed(&window.0) - before) / REST.as_secs_f64();
    assert!(share < 0.1, "minimised it takes {share} of a processor");

    client.activate(shown);
    client.wait_for(NORMAL, &mut window.0);
    let status = window.0.wait().unwrap();
    let mut text = String::new();
    let errors = window.0.stderr.take().unwrap();
    std::io::Read::read_to_string(&mut { errors }, &mut text).unwrap();
    assert!(status.success(), "{status} {text}");
    assert!(!text.contains("Validation Error"), "{text}");

    let (size, expected) = texels(&folder.join("expected.png"));
    let (shown_size, found) = texels(&folder.join("found.png"));
    assert_eq!((size, shown_size), ([321, 180], [321, 180]));
    let differing = expected.chunks(3).zip(found.chunks(3));
    let differing = differing.filter(|(a, b)| a != b).count();
    assert!(differing <= 1, "{differing} pixels differ");
}

#[test]
fn the_application_minimises_and_restores_itself() {
    let server = Server::start();
    let folder = folder("window-manager-own");
    let _manager = manage(&server, &folder);
    let script = "5 minimise on\n45 minimise off\n80 screenshot shot.png\n85 close\n";
    std::fs::write(folder.join("own.txt"), script).unwrap();
    let mut command = program(
        &folder,
        &[
            "cloud",
            "--window",
            "--reset",
            "--draws",
            "100",
            "--size",
            "320x240",
            "--validate",
            "--script",
            "own.txt",
        ],
        &[("DISPLAY", &server.display)],
    );
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut window = Ends(command.spawn().unwrap());
    let client = Client::connect(&server);
    client.wait_for(NORMAL, &mut window.0);
    client.wait_for(ICONIC, &mut window.0);
    client.wait_for(NORMAL, &mut window.0);
    let status = window.0.wait().unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(texels(&folder.join("shot.png")).0, [320, 240]);
}

#[test]
fn the_whole_screen_is_taken_and_given_back() {
    let server = Server::start();
    let folder = folder("window-manager-fullscreen");
    let _manager = manage(&server, &folder);
    // Many frames, since the window manager may be kept from answering for a while.
    let script = "0 interface off\n5 fullscreen on\n85 screenshot full.png\n\
                  86 fullscreen off\n166 screenshot window.png\n168 close\n";
    std::fs::write(folder.join("full.txt"), script).unwrap();
    let mut command = program(
        &folder,
        &[
            "viewer",
            "--window",
            "--reset",
            "--size",
            "320x240",
            "--validate",
            "--script",
            "full.txt",
        ],
        &[("DISPLAY", &server.display)],
    );
    succeeds(&command.output().unwrap(), "fullscreen");
    assert_eq!(texels(&folder.join("full.png")).0, [2560, 1600]);
    assert_eq!(texels(&folder.join("window.png")).0, [320, 240]);
}
