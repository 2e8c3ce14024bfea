//! shaderc's native library, built once per user.
//!
//! It takes some 25 minutes of processor time, and cargo would build it anew for each clone and each target folder.
//! So it is built in a small crate of its own, at the version that the lock file pins, and kept in the user's cache
//! folder. `.cargo/config.toml` points `shaderc-sys` at `.impel/shaderc` in the workspace, which is a link to it;
//! without the link `shaderc-sys` builds its own copy.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command;
use crate::error::Error;
use crate::lock_file;
use crate::machine::Machine;
use crate::workspace::Workspace;

const CRATE: &str = "shaderc-sys";
const LIBRARY: &str = "libshaderc_combined.a";
const VARIABLE: &str = "SHADERC_LIB_DIR";

/// Makes sure that the library is built and that the workspace's builds find it.
pub(crate) fn ensure(machine: &Machine, workspace: &Workspace) -> Result<(), Error> {
    let text = workspace.lock_file()?;
    let Some(version) = lock_file::version_of(&text, CRATE) else {
        return Ok(()); // nothing in the workspace uses it
    };
    let link = workspace.root.join(".impel/shaderc");
    if let Some(own) = machine.variable(VARIABLE)
        && Path::new(own) != link
    {
        println!("setup: {VARIABLE} is set; taking shaderc from {own}");
        return Ok(());
    }
    let cache = machine.cache_folder().ok_or_else(|| {
        Error::ByHand(
            "neither XDG_CACHE_HOME nor HOME is set; set one, so that built parts can be kept"
                .into(),
        )
    })?;
    let folder = cache.join(format!("shaderc-{version}"));
    if !folder.join(LIBRARY).is_file() {
        println!(
            "setup: building shaderc {version}, once for this user: about 25 minutes of processor time"
        );
        build(workspace, version, &folder)?;
    }
    point(&link, &folder)
}

/// Builds the library and puts it into the folder, whole or not at all.
fn build(workspace: &Workspace, version: &str, folder: &Path) -> Result<(), Error> {
    // A fixed name, so that a build that was broken off goes on where it stopped.
    let package = beside(folder, "building");
    create(&package.join("src"))?;
    write(&package.join("Cargo.toml"), &package_manifest(version))?;
    write(&package.join("src/lib.rs"), "")?;
    let target = package.join("target");
    let mut cargo = workspace.cargo();
    cargo.current_dir(&package).env_remove(VARIABLE);
    cargo
        .args(["build", "--release", "--target-dir"])
        .arg(&target);
    command::run(&mut cargo)?;

    let library = built_library(&target)?;
    let draft = beside(folder, "draft");
    let _ = fs::remove_dir_all(&draft);
    create(&draft)?;
    fs::copy(&library, draft.join(LIBRARY)).map_err(Error::file("copy", library))?;
    let _ = fs::remove_dir_all(folder);
    fs::rename(&draft, folder).map_err(Error::file("create", folder))?;
    // The build folder is a gigabyte; to be left with it is a nuisance, not a failure.
    let _ = fs::remove_dir_all(&package);
    Ok(())
}

/// A folder beside this one. (`with_extension` would take the version's last number for an extension.)
fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn package_manifest(version: &str) -> String {
    format!(
        "[package]\nname = \"shaderc-build\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n{CRATE} = {{ version = \"={version}\", features = [\"build-from-source\"] }}\n"
    )
}

/// The library among the outputs of the build scripts.
fn built_library(target: &Path) -> Result<PathBuf, Error> {
    let outputs = target.join("release/build");
    let entries = fs::read_dir(&outputs).map_err(Error::file("read", &outputs))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path().join("out/lib").join(LIBRARY)))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Error::ByHand(format!(
                "the build of {CRATE} left no {LIBRARY} in {}",
                outputs.display()
            ))
        })
}

/// Makes the link, unless it is right already.
fn point(link: &Path, folder: &Path) -> Result<(), Error> {
    if fs::read_link(link).is_ok_and(|target| target == folder) {
        return Ok(());
    }
    if let Some(parent) = link.parent() {
        create(parent)?;
    }
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(folder, link).map_err(Error::file("create", link))
}

fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file("create", folder))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;

    fn workspace(folder: &Folder, lock: &str) -> Workspace {
        folder.write("/w/Cargo.lock", lock);
        Workspace {
            root: folder.0.join("w"),
        }
    }

    const LOCK: &str = "[[package]]\nname = \"shaderc-sys\"\nversion = \"1.2.3\"\n";

    #[test]
    fn a_library_in_the_cache_is_linked_and_not_built() {
        let folder = Folder::new("shaderc-link");
        let workspace = workspace(&folder, LOCK);
        folder.write(
            "/cache/impel/shaderc-1.2.3/libshaderc_combined.a",
            "!<arch>",
        );
        let cache = folder.0.join("cache");
        let machine = Machine::at(
            Path::new("/"),
            &[("XDG_CACHE_HOME", cache.to_str().unwrap())],
        );
        let library = workspace.root.join(".impel/shaderc").join(LIBRARY);
        for _ in 0..2 {
            ensure(&machine, &workspace).unwrap();
            assert_eq!(fs::read_to_string(&library).unwrap(), "!<arch>");
        }
        // A link to another version is replaced.
        folder.write("/w/Cargo.lock", &LOCK.replace("1.2.3", "1.2.4"));
        folder.write("/cache/impel/shaderc-1.2.4/libshaderc_combined.a", "newer");
        ensure(&machine, &workspace).unwrap();
        assert_eq!(fs::read_to_string(&library).unwrap(), "newer");
    }

    #[test]
    fn nothing_is_done_where_nothing_is_needed() {
        let folder = Folder::new("shaderc-none");
        let without = workspace(&folder, "version = 4\n");
        ensure(&Machine::at(Path::new("/"), &[]), &without).unwrap();
        let with = workspace(&folder, LOCK);
        ensure(
            &Machine::at(Path::new("/"), &[(VARIABLE, "/opt/shaderc")]),
            &with,
        )
        .unwrap();
        assert!(!with.root.join(".impel").exists());
        let error = ensure(&Machine::at(Path::new("/"), &[]), &with)
            .unwrap_err()
            .to_string();
        assert!(error.contains("XDG_CACHE_HOME"), "{error}");
    }

    #[test]
    fn the_library_is_found_among_the_outputs() {
        let folder = Folder::new("shaderc-outputs");
        folder.write("/release/build/libc-1/out/lib/other.a", "");
        let error = built_library(&folder.0).unwrap_err().to_string();
        assert!(error.contains("left no libshaderc_combined.a"), "{error}");
        folder.write(
            "/release/build/shaderc-sys-2/out/lib/libshaderc_combined.a",
            "",
        );
        assert!(
            built_library(&folder.0)
                .unwrap()
                .ends_with("shaderc-sys-2/out/lib/libshaderc_combined.a")
        );
    }

    #[test]
    fn the_crate_pins_the_version() {
        let text = package_manifest("0.10.1");
        assert!(text.contains(
            "shaderc-sys = { version = \"=0.10.1\", features = [\"build-from-source\"] }"
        ));
    }
}
