//! A display that nobody sees, and the program on it.

#![allow(dead_code, reason = "each test uses its part")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A virtual X server, which ends with this.
pub(crate) struct Server {
    child: Child,
    pub(crate) display: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "2560x1600x24",
                "-nolisten",
                "tcp",
                // Else it begins anew whenever a program ends, and the next one may come too early.
                "-noreset",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("window tests need Xvfb; `cargo verify` installs it");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("a display number");
        Self {
            child,
            display: format!(":{}", line.trim()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder of its own for a test, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// `scenes run` in a folder, with a user of its own and no display but that in `variables`.
pub(crate) fn program(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scenes"));
    command
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .envs(variables.iter().copied())
        .args(["run"])
        .args(arguments);
    command
}

pub(crate) fn scenes(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = program(folder, arguments, variables);
    command.output().expect("the program starts")
}

/// Ended well, and validation said nothing.
pub(crate) fn succeeds(output: &Output, what: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {} {text}", output.status);
    assert!(!text.contains("Validation Error"), "{what}: {text}");
}

/// Size and RGB texels of a PNG.
pub(crate) fn texels(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file =
        std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    ([info.width, info.height], bytes)
}
