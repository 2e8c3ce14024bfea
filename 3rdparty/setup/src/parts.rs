//! The native parts that Impel needs, how each is looked for, and the Debian package that brings it.

use crate::driver;
use crate::machine::Machine;
use crate::manifest::{self, Manifest};

/// How a part is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// One of these programs.
    Program(&'static [&'static str]),
    /// The program that a variable names, else one of these.
    ProgramOf(&'static str, &'static [&'static str]),
    /// A shared library.
    Library(&'static str),
    /// A driver with Vulkan 1.3, mesh shaders preferred.
    Driver,
    /// The Khronos validation layer.
    ValidationLayer,
}

/// A native part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// What it is, for a person.
    pub(crate) what: &'static str,
    /// The package of Debian and its likes.
    pub(crate) package: &'static str,
    /// How it is looked for.
    pub(crate) probe: Probe,
}

const fn part(what: &'static str, package: &'static str, probe: Probe) -> Part {
    Part {
        what,
        package,
        probe,
    }
}

/// What building and running the demo takes.
pub(crate) const DEMO: &[Part] = &[
    part(
        "C++ compiler",
        "g++",
        Probe::ProgramOf("CXX", &["c++", "g++", "clang++"]),
    ),
    part(
        "Vulkan loader",
        "libvulkan1",
        Probe::Library("libvulkan.so.1"),
    ),
    part(
        "Vulkan 1.3 driver with mesh shaders",
        "mesa-vulkan-drivers",
        Probe::Driver,
    ),
    part("X11 library", "libx11-6", Probe::Library("libX11.so.6")),
    part(
        "X11-XCB library",
        "libx11-xcb1",
        Probe::Library("libX11-xcb.so.1"),
    ),
    part(
        "X cursor library",
        "libxcursor1",
        Probe::Library("libXcursor.so.1"),
    ),
    part("X input library", "libxi6", Probe::Library("libXi.so.6")),
    part(
        "X RandR library",
        "libxrandr2",
        Probe::Library("libXrandr.so.2"),
    ),
    part(
        "xkbcommon library",
        "libxkbcommon0",
        Probe::Library("libxkbcommon.so.0"),
    ),
    part(
        "xkbcommon-x11 library",
        "libxkbcommon-x11-0",
        Probe::Library("libxkbcommon-x11.so.0"),
    ),
];

/// What the tests take beyond that.
pub(crate) const VERIFY: &[Part] = &[
    // These four build shaderc.
    part("CMake", "cmake", Probe::Program(&["cmake"])),
    part("make or ninja", "make", Probe::Program(&["make", "ninja"])),
    part("git", "git", Probe::Program(&["git"])),
    part("Python 3", "python3", Probe::Program(&["python3"])),
    part(
        "Vulkan validation layer",
        "vulkan-validationlayers",
        Probe::ValidationLayer,
    ),
    part(
        "SPIR-V tools",
        "spirv-tools",
        Probe::Program(&["spirv-val"]),
    ),
    part("virtual X server", "xvfb", Probe::Program(&["Xvfb"])),
    // Small, and knows both the old and the new conventions for minimised windows.
    part("window manager", "blackbox", Probe::Program(&["blackbox"])),
];

/// What laying out another Debian takes.
pub(crate) const NEWER_LAYER: &[Part] = &[part(
    "debootstrap",
    "debootstrap",
    Probe::Program(&["debootstrap"]),
)];

/// Those of the parts that this machine lacks.
pub(crate) fn missing(machine: &Machine, lists: &[&[Part]]) -> Vec<Part> {
    let parts = lists.iter().flat_map(|list| list.iter());
    parts
        .filter(|part| !is_present(machine, part.probe))
        .copied()
        .collect()
}

fn is_present(machine: &Machine, probe: Probe) -> bool {
    match probe {
        Probe::Program(names) => names.iter().any(|name| machine.has_program(name)),
        Probe::ProgramOf(variable, names) => match machine.variable(variable) {
            // The variable may hold arguments after the program, or a wrapper such as ccache before it.
            Some(value) => value
                .split_whitespace()
                .all(|word| word.starts_with('-') || machine.has_program(word)),
            None => names.iter().any(|name| machine.has_program(name)),
        },
        Probe::Library(name) => machine.has_library(name),
        Probe::Driver => driver::find(machine).is_ok(),
        Probe::ValidationLayer => validation_layer(machine).is_some(),
    }
}

/// The version of Vulkan that the machine's Khronos validation layer was made for; `None` without a layer.
pub(crate) fn validation_layer(machine: &Machine) -> Option<[u32; 3]> {
    const NAME: &str = "VkLayer_khronos_validation.json";
    let mut folders: Vec<String> = machine
        .paths_in("VK_LAYER_PATH")
        .map(String::from)
        .collect();
    if folders.is_empty() {
        folders = manifest::folders(machine, "explicit_layer.d");
        folders.extend(machine.paths_in("VK_ADD_LAYER_PATH").map(String::from));
    }
    folders.iter().find_map(|folder| {
        let path = format!("{folder}/{NAME}");
        let manifest = Manifest::parse(&machine.read(&path)?)?;
        manifest
            .library_exists(machine, &path)
            .then_some(manifest.version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;

    fn packages(machine: &Machine, lists: &[&[Part]]) -> Vec<&'static str> {
        missing(machine, lists)
            .iter()
            .map(|part| part.package)
            .collect()
    }

    #[test]
    fn an_empty_machine_lacks_everything() {
        let folder = Folder::new("parts-empty");
        let machine = Machine::at(&folder.0, &[("PATH", "/usr/bin")]);
        assert_eq!(missing(&machine, &[DEMO]), DEMO);
        assert_eq!(packages(&machine, &[NEWER_LAYER]), ["debootstrap"]);
        assert_eq!(
            missing(&machine, &[DEMO, VERIFY]).len(),
            DEMO.len() + VERIFY.len()
        );
    }

    #[test]
    fn what_is_there_is_not_missing() {
        let folder = Folder::new("parts-some");
        folder.write("/usr/bin/g++", "");
        folder.write("/usr/bin/ninja", "");
        folder.write("/usr/lib64/libvulkan.so.1", "");
        folder.write("/usr/lib64/liblayer.so", "");
        folder.write(
            "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
            "{\"layer\": {\"library_path\": \"liblayer.so\", \"api_version\": \"1.3.239\"}}",
        );
        let machine = Machine::at(&folder.0, &[("PATH", "/usr/bin")]);
        let missing = packages(&machine, &[DEMO, VERIFY]);
        for present in ["g++", "make", "libvulkan1", "vulkan-validationlayers"] {
            assert!(!missing.contains(&present), "{present}");
        }
        for absent in [
            "mesa-vulkan-drivers",
            "libxi6",
            "cmake",
            "spirv-tools",
            "xvfb",
            "blackbox",
        ] {
            assert!(missing.contains(&absent), "{absent}");
        }
        assert_eq!(validation_layer(&machine), Some([1, 3, 239]));
    }

    #[test]
    fn the_compiler_that_a_variable_names_must_exist() {
        let folder = Folder::new("parts-compiler");
        folder.write("/usr/bin/g++", "");
        let lacks_compiler = |value: &str| {
            let machine = Machine::at(&folder.0, &[("PATH", "/usr/bin"), ("CXX", value)]);
            packages(&machine, &[DEMO]).contains(&"g++")
        };
        assert!(!lacks_compiler("g++ -std=c++17"));
        assert!(!lacks_compiler(""));
        assert!(lacks_compiler("ccache g++"));
        assert!(lacks_compiler("clang++"));
    }

    #[test]
    fn a_layer_without_its_library_is_no_layer() {
        let folder = Folder::new("parts-layer");
        let text =
            "{\"layer\": {\"library_path\": \"./liblayer.so\", \"api_version\": \"1.4.309\"}}";
        folder.write("/opt/layers/VkLayer_khronos_validation.json", text);
        let machine = Machine::at(&folder.0, &[("VK_LAYER_PATH", "/opt/layers")]);
        assert_eq!(validation_layer(&machine), None);
        folder.write("/opt/layers/liblayer.so", "");
        assert_eq!(validation_layer(&machine), Some([1, 4, 309]));
    }
}
