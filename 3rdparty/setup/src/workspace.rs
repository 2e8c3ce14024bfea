//! The workspace that this program belongs to, and cargo in it.

use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;

/// The workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Its root folder.
    pub(crate) root: PathBuf,
}

impl Workspace {
    /// The workspace that cargo runs this program from.
    pub(crate) fn find() -> Result<Workspace, Error> {
        // The variable is right even where the folder was moved after the build. While cargo runs a test through
        // this program it names the test's package, at another depth.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = package
            .ancestors()
            .find(|folder| folder.join("Cargo.lock").is_file());
        root.map(|root| Workspace { root: root.into() })
            .ok_or_else(|| {
                Error::ByHand(format!(
                    "{} is in no workspace; run `cargo demo` or `cargo verify` inside Impel's",
                    package.display()
                ))
            })
    }

    /// The cargo that runs this program, to be started in the folder at hand.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        // What `cargo run` says about this package must not reach the build scripts of others.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// The text of the lock file.
    pub(crate) fn lock_file(&self) -> Result<String, Error> {
        let path = self.root.join("Cargo.lock");
        std::fs::read_to_string(&path).map_err(Error::file("read", path))
    }
}
