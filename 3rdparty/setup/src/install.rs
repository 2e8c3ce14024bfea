//! From what is missing to what is installed, and how.

use std::fs;
use std::process::Command;

use crate::apt_sources::{self, Source};
use crate::command::{self, Privilege};
use crate::distribution::Distribution;
use crate::driver;
use crate::error::Error;
use crate::machine::Machine;
use crate::parts::{self, Part, Probe};

/// Where the source of the backports suite goes.
const BACKPORTS_FILE: &str = "/etc/apt/sources.list.d/impel-backports.sources";

/// One step of an installation.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Write the description of a further suite.
    AddSource { suite: String, text: String },
    /// Fetch the lists of packages.
    Update,
    /// Install packages, from the named suite where one is given.
    Install {
        suite: Option<String>,
        packages: Vec<&'static str>,
    },
}

/// Makes sure that all these parts are there. Says what is missing and how it is installed, then installs it when
/// it may. Says and does nothing if nothing is missing.
pub(crate) fn ensure(machine: &Machine, lists: &[&[Part]], no_install: bool) -> Result<(), Error> {
    let missing = parts::missing(machine, lists);
    if missing.is_empty() {
        return Ok(());
    }
    println!("setup: missing on {}:", Distribution::of(machine).name);
    for part in &missing {
        println!("  {} (package {})", part.what, part.package);
        if part.probe == Probe::Driver {
            for reason in driver::find(machine).err().unwrap_or_default() {
                println!("    {reason}");
            }
        }
    }
    let steps = plan(machine, &missing)?;
    let privilege = Privilege::of(machine);
    println!("setup: to install it:");
    for step in &steps {
        println!("  {}", describe(step, privilege));
        if let Step::AddSource { text, .. } = step {
            text.lines().for_each(|line| println!("    {line}"));
        }
    }
    if no_install {
        return Err(Error::ByHand(format!(
            "{}; --no-install was given",
            count(&missing)
        )));
    }
    if privilege == Privilege::None {
        return Err(Error::ByHand(format!(
            "{} and this user is not root and has no sudo; do the above as root, then try again",
            count(&missing)
        )));
    }
    for step in &steps {
        perform(step, privilege)?;
    }
    let still_missing = parts::missing(machine, lists);
    if still_missing.is_empty() {
        println!("setup: all parts are there now");
        return Ok(());
    }
    let names: Vec<&str> = still_missing.iter().map(|part| part.what).collect();
    Err(Error::ByHand(format!(
        "still missing after the installation: {}; install what fits this machine by hand",
        names.join(", ")
    )))
}

fn count(missing: &[Part]) -> String {
    match missing {
        [part] => format!("{} is missing", part.what),
        _ => format!("{} parts are missing", missing.len()),
    }
}

fn plan(machine: &Machine, missing: &[Part]) -> Result<Vec<Step>, Error> {
    let wants_driver = missing.iter().any(|part| part.probe == Probe::Driver);
    if wants_driver && let Some(name) = driver::override_variable(machine) {
        return Err(Error::ByHand(format!(
            "{name} is set, and none of the drivers it names will do (see above); unset it or name a driver with Vulkan 1.3"
        )));
    }
    plan_for(
        &Distribution::of(machine),
        &apt_sources::read(machine),
        missing,
    )
}

fn plan_for(
    distribution: &Distribution,
    sources: &[Source],
    missing: &[Part],
) -> Result<Vec<Step>, Error> {
    if !distribution.has_apt {
        let names: Vec<&str> = missing.iter().map(|part| part.what).collect();
        return Err(Error::ByHand(format!(
            "setup installs with apt only; on {} please install by hand: {}",
            distribution.name,
            names.join(", ")
        )));
    }
    let mut steps = Vec::new();
    let mut plain = Vec::new();
    let mut backported = Vec::new();
    for part in missing {
        // Mesa 22.3 of Debian 12 lacks mesh shaders; its backports suite has Mesa 25.
        if part.probe == Probe::Driver && distribution.is_bookworm() {
            backported.push(part.package);
        } else {
            plain.push(part.package);
        }
    }
    let suite = format!("{}-backports", distribution.codename);
    if !backported.is_empty() && !apt_sources::offers(sources, &suite) {
        let archive = apt_sources::debian_archive(sources, &distribution.codename).ok_or_else(|| {
            Error::ByHand(format!(
                "the apt sources name no archive with the suite {}; add its suite {suite} by hand, then try again",
                distribution.codename
            ))
        })?;
        steps.push(Step::AddSource {
            text: archive.with_suite(&suite),
            suite: suite.clone(),
        });
    }
    steps.push(Step::Update);
    for (suite, packages) in [(None, plain), (Some(suite), backported)] {
        if !packages.is_empty() {
            steps.push(Step::Install { suite, packages });
        }
    }
    Ok(steps)
}

fn describe(step: &Step, privilege: Privilege) -> String {
    match step {
        Step::AddSource { suite, .. } => {
            format!("write {BACKPORTS_FILE} (suite {suite} from this machine's own mirror)")
        }
        Step::Update | Step::Install { .. } => command::text(&apt_command(step, privilege)),
    }
}

fn apt_command(step: &Step, privilege: Privilege) -> Command {
    // No question may stop an installation that nobody watches; a lock held by another apt is waited for.
    let mut command = privilege.command("env");
    command.args([
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "--option=DPkg::Lock::Timeout=300",
    ]);
    match step {
        Step::Install { suite, packages } => {
            command.args(["install", "--yes", "--no-install-recommends"]);
            if let Some(suite) = suite {
                command.arg(format!("--target-release={suite}"));
            }
            command.args(packages);
        }
        Step::Update | Step::AddSource { .. } => {
            command.arg("update");
        }
    }
    command
}

fn perform(step: &Step, privilege: Privilege) -> Result<(), Error> {
    println!("setup: {}", describe(step, privilege));
    match step {
        Step::AddSource { text, .. } => {
            let draft = std::env::temp_dir()
                .join(format!("impel-backports-{}.sources", std::process::id()));
            fs::write(&draft, text).map_err(Error::file("write", &draft))?;
            let result = command::run(
                privilege
                    .command("install")
                    .arg("--mode=644")
                    .arg(&draft)
                    .arg(BACKPORTS_FILE),
            );
            let _ = fs::remove_file(&draft);
            result
        }
        // One unreachable source of a third party fails an update; whether it matters shows in the installation.
        Step::Update => {
            if let Err(error) = command::run(&mut apt_command(step, privilege)) {
                println!("setup: {error}; going on with the lists at hand");
            }
            Ok(())
        }
        Step::Install { .. } => command::run(&mut apt_command(step, privilege)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;
    use crate::parts::{DEMO, VERIFY};

    fn distribution(id: &str, codename: &str) -> Distribution {
        Distribution {
            name: format!("{id} {codename}"),
            id: id.into(),
            codename: codename.into(),
            has_apt: true,
        }
    }

    fn part(package: &str) -> Part {
        let mut parts = DEMO.iter().chain(VERIFY);
        *parts.find(|part| part.package == package).unwrap()
    }

    fn sources(text: &str) -> Vec<Source> {
        apt_sources::parse_lines(text)
    }

    const BOOKWORM: &str = "deb http://mirror.example/debian bookworm main\n";

    #[test]
    fn debian_12_takes_the_driver_from_backports() {
        let missing = [part("g++"), part("mesa-vulkan-drivers"), part("libxi6")];
        let steps = plan_for(
            &distribution("debian", "bookworm"),
            &sources(BOOKWORM),
            &missing,
        )
        .unwrap();
        let suite = "bookworm-backports".to_string();
        let expected = [
            Step::AddSource {
                suite: suite.clone(),
                text: "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm-backports\nComponents: main\n"
                    .into(),
            },
            Step::Update,
            Step::Install {
                suite: None,
                packages: vec!["g++", "libxi6"],
            },
            Step::Install {
                suite: Some(suite),
                packages: vec!["mesa-vulkan-drivers"],
            },
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_backports_suite_that_is_there_is_not_added_again() {
        let text = format!("{BOOKWORM}deb http://other.example/debian bookworm-backports main\n");
        let missing = [part("mesa-vulkan-drivers")];
        let steps = plan_for(
            &distribution("debian", "bookworm"),
            &sources(&text),
            &missing,
        )
        .unwrap();
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0], Step::Update);
    }

    #[test]
    fn nothing_but_the_driver_needs_backports() {
        let missing = [part("cmake"), part("vulkan-validationlayers")];
        for codename in ["bookworm", "trixie"] {
            let steps = plan_for(&distribution("debian", codename), &[], &missing).unwrap();
            let packages = vec!["cmake", "vulkan-validationlayers"];
            assert_eq!(
                steps,
                [
                    Step::Update,
                    Step::Install {
                        suite: None,
                        packages
                    }
                ]
            );
        }
        let driver = [part("mesa-vulkan-drivers")];
        for (id, codename) in [("debian", "trixie"), ("ubuntu", "noble")] {
            let steps = plan_for(&distribution(id, codename), &[], &driver).unwrap();
            let packages = vec!["mesa-vulkan-drivers"];
            assert_eq!(
                steps,
                [
                    Step::Update,
                    Step::Install {
                        suite: None,
                        packages
                    }
                ]
            );
        }
    }

    #[test]
    fn what_cannot_be_planned_says_what_to_do() {
        let missing = [part("mesa-vulkan-drivers"), part("g++")];
        let fedora = Distribution {
            name: "Fedora Linux 42".into(),
            ..Distribution::default()
        };
        let error = plan_for(&fedora, &[], &missing).unwrap_err().to_string();
        assert!(
            error.contains("Fedora Linux 42") && error.contains("C++ compiler"),
            "{error}"
        );
        let no_archive = sources("deb http://vendor.example/apt stable main");
        let error =
            plan_for(&distribution("debian", "bookworm"), &no_archive, &missing).unwrap_err();
        assert!(
            error.to_string().contains("bookworm-backports by hand"),
            "{error}"
        );
    }

    #[test]
    fn a_driver_picked_by_hand_is_not_replaced() {
        let folder = Folder::new("install-override");
        let machine = Machine::at(&folder.0, &[("VK_DRIVER_FILES", "/gone.json")]);
        let error = plan(&machine, &[part("mesa-vulkan-drivers")])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("VK_DRIVER_FILES is set"), "{error}");
    }

    #[test]
    fn commands_say_what_they_do() {
        let step = Step::Install {
            suite: Some("bookworm-backports".into()),
            packages: vec!["mesa-vulkan-drivers"],
        };
        let text = describe(&step, Privilege::Sudo);
        assert!(
            text.starts_with("sudo env DEBIAN_FRONTEND=noninteractive apt-get"),
            "{text}"
        );
        assert!(
            text.ends_with("--target-release=bookworm-backports mesa-vulkan-drivers"),
            "{text}"
        );
        assert!(describe(&Step::Update, Privilege::Root).ends_with("update"));
    }
}
