//! Is there a driver with Vulkan 1.3, mesh shaders preferred? Decided from files alone: the loader's manifests
//! and the devices that the kernel shows.

use crate::machine::Machine;
use crate::manifest::{self, Manifest};

/// Mesa 24.0 was built with headers 1.3.274. Its lavapipe is the first that has mesh shaders; the minor version
/// in lavapipe's manifest says nothing (1.1 for long), so the headers' number stands for Mesa's.
const FIRST_GOOD_LAVAPIPE_HEADERS: u32 = 274;

/// Mesa's drivers are installed together, whatever is in the machine: a part of the manifest's name, and the PCI
/// vendor whose device must be there for the driver to find anything.
const VENDORS: [(&str, &str); 6] = [
    ("radeon", "0x1002"),
    ("amd", "0x1002"),
    ("intel", "0x8086"),
    ("nouveau", "0x10de"),
    ("virtio", "0x1af4"),
    ("gfxstream", "0x1af4"),
];

/// The variables with which a person picks drivers; while one is set the loader looks nowhere else.
const OVERRIDES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Whether some driver will do; else why each that was found won't, as lines for a person.
pub(crate) fn find(machine: &Machine) -> Result<(), Vec<String>> {
    let mut reasons = Vec::new();
    for path in manifests(machine) {
        match judge(machine, &path) {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(format!("{path}: {reason}")),
        }
    }
    Err(reasons)
}

/// The variable with which a person has picked drivers, if any.
pub(crate) fn override_variable(machine: &Machine) -> Option<&'static str> {
    OVERRIDES
        .into_iter()
        .find(|name| machine.variable(name).is_some())
}

fn manifests(machine: &Machine) -> Vec<String> {
    let places: Vec<String> = match override_variable(machine) {
        Some(name) => machine.paths_in(name).map(String::from).collect(),
        None => manifest::folders(machine, "icd.d")
            .into_iter()
            .chain(machine.paths_in("VK_ADD_DRIVER_FILES").map(String::from))
            .collect(),
    };
    let mut manifests = Vec::new();
    for place in places {
        if place.ends_with(".json") {
            manifests.push(place);
        } else {
            let entries = machine.list(&place);
            manifests.extend(entries.into_iter().filter(|path| path.ends_with(".json")));
        }
    }
    manifests
}

fn judge(machine: &Machine, path: &str) -> Result<(), String> {
    let text = machine.read(path).ok_or("cannot be read")?;
    let manifest = Manifest::parse(&text).ok_or("is not a driver manifest")?;
    if !manifest.library_exists(machine, path) {
        return Err(format!("its library {} is not there", manifest.library));
    }
    let [major, minor, patch] = manifest.version;
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.contains("lvp") {
        return if patch >= FIRST_GOOD_LAVAPIPE_HEADERS {
            Ok(())
        } else {
            Err("lavapipe older than Mesa 24, which lacks mesh shaders".into())
        };
    }
    if (major, minor) < (1, 3) {
        return Err(format!("has Vulkan {major}.{minor}, 1.3 is needed"));
    }
    if has_device(machine, name) {
        Ok(())
    } else {
        Err("no device of its kind in this machine".into())
    }
}

/// Whether the kernel shows a device that the driver with this manifest name could drive.
fn has_device(machine: &Machine, name: &str) -> bool {
    if name.contains("swiftshader") {
        return true;
    }
    if name.contains("nvidia") {
        return machine.exists("/dev/nvidiactl");
    }
    if name.contains("dzn") {
        return machine.exists("/dev/dxg");
    }
    let nodes: Vec<String> = machine
        .list("/sys/class/drm")
        .into_iter()
        .filter(|path| path.contains("/renderD"))
        .collect();
    match VENDORS.iter().find(|(part, _)| name.contains(part)) {
        Some((_, vendor)) => nodes.iter().any(|node| {
            let found = machine.read(format!("{node}/device/vendor"));
            found.is_some_and(|found| found.trim() == *vendor)
        }),
        None => !nodes.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;

    fn manifest(version: &str, library: &str) -> String {
        format!("{{\"ICD\": {{\"api_version\": \"{version}\", \"library_path\": \"{library}\"}}}}")
    }

    fn machine_with(test: &str, files: &[(&str, String)]) -> Folder {
        let folder = Folder::new(test);
        folder.write("/usr/lib64/libdriver.so", "");
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn reason(folder: &Folder, variables: &[(&str, &str)]) -> String {
        find(&Machine::at(&folder.0, variables))
            .unwrap_err()
            .join("\n")
    }

    #[test]
    fn lavapipe_must_be_new_enough() {
        // As Debian 12 has it, and as its backports suite has it.
        let old = machine_with(
            "lavapipe-old",
            &[(
                "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
                manifest("1.1.230", "/usr/lib64/libdriver.so"),
            )],
        );
        assert!(reason(&old, &[]).contains("older than Mesa 24"));
        let new = machine_with(
            "lavapipe-new",
            &[(
                "/usr/share/vulkan/icd.d/lvp_icd.json",
                manifest("1.4.305", "libdriver.so"),
            )],
        );
        assert!(find(&Machine::at(&new.0, &[])).is_ok());
    }

    #[test]
    fn a_missing_library_or_a_broken_manifest_is_no_driver() {
        let folder = machine_with(
            "driver-broken",
            &[
                ("/etc/vulkan/icd.d/a.json", "{".into()),
                (
                    "/etc/vulkan/icd.d/lvp.json",
                    manifest("1.4.305", "libgone.so"),
                ),
            ],
        );
        let reason = reason(&folder, &[]);
        assert!(
            reason.contains("/etc/vulkan/icd.d/a.json: is not a driver manifest"),
            "{reason}"
        );
        assert!(reason.contains("libgone.so is not there"), "{reason}");
        let empty = Folder::new("driver-none");
        assert_eq!(find(&Machine::at(&empty.0, &[])), Err(Vec::new()));
    }

    #[test]
    fn a_hardware_driver_needs_its_hardware() {
        let folder = machine_with(
            "driver-hardware",
            &[(
                "/usr/share/vulkan/icd.d/radeon_icd.json",
                manifest("1.3.230", "libdriver.so"),
            )],
        );
        assert!(reason(&folder, &[]).contains("no device of its kind"));
        folder.write("/sys/class/drm/renderD128/device/vendor", "0x8086\n");
        assert!(reason(&folder, &[]).contains("no device of its kind"));
        folder.write("/sys/class/drm/renderD129/device/vendor", "0x1002\n");
        assert!(find(&Machine::at(&folder.0, &[])).is_ok());
    }

    #[test]
    fn nvidia_and_old_hardware() {
        let folder = machine_with(
            "driver-nvidia",
            &[(
                "/etc/vulkan/icd.d/nvidia_icd.json",
                manifest("1.3.303", "libdriver.so"),
            )],
        );
        assert!(reason(&folder, &[]).contains("no device"));
        folder.write("/dev/nvidiactl", "");
        assert!(find(&Machine::at(&folder.0, &[])).is_ok());
        folder.write(
            "/etc/vulkan/icd.d/nvidia_icd.json",
            &manifest("1.2.175", "libdriver.so"),
        );
        assert!(reason(&folder, &[]).contains("1.3 is needed"));
    }

    #[test]
    fn the_variables_hide_the_standard_folders() {
        let folder = machine_with(
            "driver-variables",
            &[
                (
                    "/usr/share/vulkan/icd.d/lvp_icd.json",
                    manifest("1.4.305", "libdriver.so"),
                ),
                ("/opt/lvp.json", manifest("1.4.305", "libdriver.so")),
            ],
        );
        for name in OVERRIDES {
            let gone = [(name, "/opt/gone.json")];
            assert!(reason(&folder, &gone).contains("/opt/gone.json: cannot be read"));
            for good in ["/opt/gone.json:/opt/lvp.json", "/opt"] {
                assert!(
                    find(&Machine::at(&folder.0, &[(name, good)])).is_ok(),
                    "{name}={good}"
                );
            }
        }
    }
}
