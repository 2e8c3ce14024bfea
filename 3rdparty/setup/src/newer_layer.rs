//! The GPU tests once more, with the validation layer and the driver of a newer Debian.
//!
//! A layer finds only what its version knows, so the tests run under two: the machine's own, and that of Debian 13
//! in a root folder of its own, laid out once in the user's cache folder. The test programs are built outside as
//! ever; cargo starts each through setup, which enters the root. All mounts are made in a mount namespace that ends
//! with the program, so nothing is left mounted however it ends.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::apt_sources;
use crate::arguments::TestProgram;
use crate::command::{self, Privilege};
use crate::distribution::Distribution;
use crate::error::Error;
use crate::machine::Machine;
use crate::parts;
use crate::workspace::Workspace;

const SUITE: &str = "trixie";

/// The packages whose tests use the GPU; of the others nothing would be learnt by running them again.
const GPU_PACKAGES: [&str; 3] = ["impel-gpu", "impel", "scenes"];

/// What the tests need in the root, the libraries of a window included.
const PACKAGES: &str = "libvulkan1,mesa-vulkan-drivers,vulkan-validationlayers,spirv-tools,libstdc++6,xvfb,\
                        blackbox,libx11-6,libx11-xcb1,libxcursor1,libxi6,libxrandr2,libxkbcommon0,libxkbcommon-x11-0";

/// Records what a root was laid out with. What a longer list has beyond it is added; any other list means that the root is
/// laid out anew.
const STAMP: &str = "etc/impel-packages";

/// Enters the root. Arguments: root, user:group, working folder, the workspace, the target folder, then the program.
const ENTER: &str = r#"set -e
root=$1 user=$2 folder=$3 workspace=$4 target=$5
shift 5
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
for path in /proc /sys /dev; do mount --rbind "$path" "$root$path"; done
for path in "$workspace" "$target"; do
    mkdir -p "$root$path"
    mount --rbind "$path" "$root$path"
done
exec chroot --userspec="$user" "$root" env --ignore-environment --chdir="$folder" "$@"
"#;

/// Adds packages to the root. Arguments: root, then the packages.
const ADD: &str = r#"set -e
root=$1
shift
for path in /proc /sys /dev; do mount --rbind "$path" "$root$path"; done
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/var/cache/apt/archives/partial"
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
chroot "$root" apt-get update
chroot "$root" apt-get install --yes --no-install-recommends "$@"
chroot "$root" apt-get clean
"#;

/// Why the newer layer can't be used here; `None` if it can.
pub(crate) fn obstacle(privilege: Privilege) -> Option<&'static str> {
    if privilege == Privilege::None {
        return Some("it needs root or sudo, to lay out and enter a Debian 13 root");
    }
    let may_mount = privilege
        .command("unshare")
        .args(["--mount", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    (!may_mount).then_some(
        "this system does not let root make mounts of its own (a container without that right?)",
    )
}

/// The root folder, laid out if it is not there yet.
pub(crate) fn lay_out(machine: &Machine, privilege: Privilege) -> Result<PathBuf, Error> {
    let cache = machine.cache_folder().ok_or_else(|| {
        Error::ByHand(
            "neither XDG_CACHE_HOME nor HOME is set; set one, so that a Debian 13 root can be kept"
                .into(),
        )
    })?;
    let root = cache.join("debian13");
    let stamp = fs::read_to_string(root.join(STAMP)).unwrap_or_default();
    if stamp == PACKAGES {
        return Ok(root);
    }
    if let Some(lacking) = additions(&stamp, PACKAGES) {
        println!(
            "setup: adding {} to the Debian 13 root in {}",
            lacking.join(", "),
            root.display()
        );
        match add(privilege, &root, &lacking) {
            Ok(()) => return Ok(root),
            Err(error) => println!("setup: {error}; the root is laid out anew"),
        }
    }
    println!(
        "setup: laying out a Debian 13 root in {}, once for this user: some minutes",
        root.display()
    );
    fs::create_dir_all(&cache).map_err(Error::file("create", &cache))?;
    let draft = cache.join("debian13.building");
    let log_path = cache.join("debian13.log");
    let log = File::create(&log_path).map_err(Error::file("create", &log_path))?;
    remove(privilege, &[&root, &draft])?;

    let mut debootstrap = privilege.command("debootstrap");
    debootstrap
        .args(["--variant=minbase", &format!("--include={PACKAGES}"), SUITE])
        .arg(&draft);
    debootstrap.args(mirror(machine));
    debootstrap
        .stdout(log.try_clone().map_err(Error::file("write", &log_path))?)
        .stderr(log);
    if let Err(error) = command::run(&mut debootstrap) {
        return Err(Error::ByHand(format!(
            "{error}; its messages are in {}",
            log_path.display()
        )));
    }
    let archives = draft.join("var/cache/apt/archives");
    remove(privilege, &[&archives])?;
    write_stamp(privilege, &draft)?;
    command::run(privilege.command("mv").arg(&draft).arg(&root))?;
    Ok(root)
}

/// What of `wanted` is not in `present`; `None` when nothing is present, or something that is not wanted.
fn additions<'a>(present: &str, wanted: &'a str) -> Option<Vec<&'a str>> {
    let is_wanted = |package: &str| wanted.split(',').any(|other| other == package);
    if present.is_empty() || !present.split(',').all(is_wanted) {
        return None;
    }
    let is_lacking = |package: &&str| !present.split(',').any(|other| other == *package);
    Some(wanted.split(',').filter(is_lacking).collect())
}

fn add(privilege: Privilege, root: &Path, packages: &[&str]) -> Result<(), Error> {
    let mut command = privilege.command("unshare");
    command
        .args(["--mount", "--propagation=private", "sh", "-c", ADD, "sh"])
        .arg(root)
        .args(packages);
    command::run(command.stdout(Stdio::null()))?;
    write_stamp(privilege, root)
}

fn write_stamp(privilege: Privilege, root: &Path) -> Result<(), Error> {
    let mut stamp = privilege.command("sh");
    stamp
        .args(["-c", "printf %s \"$1\" > \"$2\"", "sh", PACKAGES])
        .arg(root.join(STAMP));
    command::run(&mut stamp)
}

/// The machine's own mirror of Debian; without one debootstrap has its default.
fn mirror(machine: &Machine) -> Option<String> {
    let distribution = Distribution::of(machine);
    let sources = apt_sources::read(machine);
    apt_sources::debian_archive(&sources, &distribution.codename)
        .filter(|_| distribution.id == "debian")
        .and_then(|archive| archive.mirror(machine))
}

fn remove(privilege: Privilege, paths: &[&Path]) -> Result<(), Error> {
    command::run(
        privilege
            .command("rm")
            .args(["--recursive", "--force", "--one-file-system", "--"])
            .args(paths),
    )
}

/// The version of the validation layer in the root, as in "1.4.309".
pub(crate) fn layer_version(root: &Path) -> String {
    match parts::validation_layer(&Machine::in_root(root)) {
        Some([major, minor, patch]) => format!("{major}.{minor}.{patch}"),
        None => "of unknown version".into(),
    }
}

/// The cargo option that makes cargo start each test program inside the root.
pub(crate) fn runner_option(root: &Path) -> Result<String, Error> {
    let setup = std::env::current_exe().map_err(Error::file("find", "setup"))?;
    // Rust's debug form of a string is a TOML basic string, but for characters that no sane path has.
    Ok(format!(
        "target.'cfg(all())'.runner=[{:?}, \"in-newer-root\", {:?}]",
        setup.to_string_lossy(),
        root.to_string_lossy()
    ))
}

/// Runs one test program inside the root, if it is of a package that uses the GPU; the exit status is the program's.
pub(crate) fn run_test(
    machine: &Machine,
    workspace: &Workspace,
    test: &TestProgram,
) -> Result<ExitCode, Error> {
    let package = machine.variable("CARGO_PKG_NAME").unwrap_or("");
    if !GPU_PACKAGES.contains(&package) {
        println!("left out here: {package} does not use the GPU");
        return Ok(ExitCode::SUCCESS);
    }
    let mut enter = enter_command(machine, workspace, test, Privilege::of(machine))?;
    let status = enter.status().map_err(|cause| Error::Start {
        program: "unshare".into(),
        cause,
    })?;
    let code = status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1);
    Ok(ExitCode::from(code))
}

fn enter_command(
    machine: &Machine,
    workspace: &Workspace,
    test: &TestProgram,
    privilege: Privilege,
) -> Result<Command, Error> {
    let folder = std::env::current_dir().map_err(Error::file("find", "the working folder"))?;
    // Cargo puts test programs into TARGET/PROFILE/deps, and what they start into TARGET/PROFILE.
    let target = test.executable.ancestors().nth(3).unwrap_or(Path::new("/"));
    if target.parent().is_none() || target.as_os_str().is_empty() {
        return Err(Error::Usage(format!(
            "in-newer-root: {} is not a test program in cargo's target folder",
            test.executable.display()
        )));
    }
    let id = |id: Option<String>| id.unwrap_or("0".into());
    let user = format!("{}:{}", id(command::user_id()), id(command::group_id()));
    let mut command = privilege.command("unshare");
    command.args(["--mount", "--propagation=private", "sh", "-c", ENTER, "sh"]);
    command
        .arg(&test.root)
        .arg(user)
        .arg(folder)
        .arg(&workspace.root)
        .arg(target);
    command.args(["HOME=/tmp", "PATH=/usr/local/bin:/usr/bin:/bin"]);
    command.args(
        machine
            .variables()
            .filter(|(name, _)| is_passed(name))
            .map(|(name, value)| format!("{name}={value}")),
    );
    command.arg(&test.executable).args(&test.arguments);
    Ok(command)
}

/// Of the variables only those pass that a test may know: paths, displays and drivers mean nothing in the root.
fn is_passed(name: &str) -> bool {
    [
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_EXE_",
        "IMPEL_",
        "RUST_",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
        || ["CI", "LANG", "LC_ALL", "TERM"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;

    #[test]
    fn the_mirror_is_the_machines_own() {
        let folder = Folder::new("newer-mirror");
        folder.write("/etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n");
        folder.write(
            "/etc/apt/sources.list",
            "deb http://mirror.example/debian bookworm main\n",
        );
        let machine = Machine::at(&folder.0, &[]);
        assert_eq!(
            mirror(&machine).as_deref(),
            Some("http://mirror.example/debian")
        );
        // Ubuntu's archive has no Debian in it.
        folder.write("/etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\n");
        folder.write(
            "/etc/apt/sources.list",
            "deb http://mirror.example/ubuntu noble main\n",
        );
        assert_eq!(mirror(&machine), None);
    }

    #[test]
    fn a_test_enters_the_root_with_its_folders_and_few_variables() {
        let variables = [
            ("CARGO_MANIFEST_DIR", "/w/engine/gpu"),
            ("IMPEL_BLESS", "1"),
            ("VK_DRIVER_FILES", "/opt/x.json"),
            ("LD_LIBRARY_PATH", "/opt"),
            ("CARGO_REGISTRY_TOKEN", "secret"),
        ];
        let machine = Machine::at(Path::new("/"), &variables);
        let workspace = Workspace { root: "/w".into() };
        let mut test = TestProgram {
            root: "/cache/debian13".into(),
            executable: "/t/debug/deps/gpu-1".into(),
            arguments: vec!["--nocapture".into()],
        };
        let command = enter_command(&machine, &workspace, &test, Privilege::Root).unwrap();
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let end = [
            "/w",
            "/t",
            "HOME=/tmp",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "CARGO_MANIFEST_DIR=/w/engine/gpu",
            "IMPEL_BLESS=1",
            "/t/debug/deps/gpu-1",
            "--nocapture",
        ];
        assert!(words.ends_with(&end.map(String::from)), "{words:?}");
        assert_eq!(words[6], "/cache/debian13");

        for stray in ["gpu", "/gpu", "/deps/gpu", "/debug/deps/gpu"] {
            test.executable = stray.into();
            assert!(
                enter_command(&machine, &workspace, &test, Privilege::Root).is_err(),
                "{stray}"
            );
        }
    }

    #[test]
    fn a_root_gets_what_it_lacks_or_is_laid_out_anew() {
        assert_eq!(additions("a,b", "a,new,b,c"), Some(vec!["new", "c"]));
        assert_eq!(additions("a,b", "b,a"), Some(Vec::new()));
        assert_eq!(additions("a,old", "a,b"), None, "one is not wanted");
        assert_eq!(additions("", "a"), None, "there is no root");
    }

    #[test]
    fn without_rights_it_is_not_run() {
        assert!(obstacle(Privilege::None).is_some_and(|reason| reason.contains("root or sudo")));
    }

    #[test]
    fn the_runner_is_toml() {
        let option = runner_option(Path::new("/a b/\"c\"")).unwrap();
        assert!(
            option.starts_with("target.'cfg(all())'.runner=[\"/"),
            "{option}"
        );
        assert!(
            option.ends_with(r#", "in-newer-root", "/a b/\"c\""]"#),
            "{option}"
        );
    }
}
