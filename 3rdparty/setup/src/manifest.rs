//! The loader's JSON manifests, of drivers and of layers: which library, which version of Vulkan.
//!
//! Both forms have each of these keys once, as a string, and no nesting that could confuse them, so a scan for
//! the string after the key is enough. Source: the Vulkan loader's "LoaderDriverInterface" and
//! "LoaderLayerInterface" documents.

use std::path::Path;

use crate::machine::Machine;

/// What a manifest says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Name or path of the shared library.
    pub(crate) library: String,
    /// Version of Vulkan: major, minor, patch.
    pub(crate) version: [u32; 3],
}

impl Manifest {
    /// Reads a manifest's text; `None` if it is not one.
    pub(crate) fn parse(text: &str) -> Option<Manifest> {
        Some(Manifest {
            library: string_after_key(text, "library_path")?,
            version: parse_version(&string_after_key(text, "api_version")?)?,
        })
    }

    /// Whether the library can be found. A plain name is left to the dynamic loader, a relative path starts at
    /// the manifest's own folder.
    pub(crate) fn library_exists(&self, machine: &Machine, manifest_path: &str) -> bool {
        if !self.library.contains('/') {
            return machine.has_library(&self.library);
        }
        let folder = Path::new(manifest_path).parent().unwrap_or(Path::new("/"));
        machine.exists(folder.join(&self.library))
    }
}

/// The folders in which the loader looks for manifests of a kind (`icd.d`, `explicit_layer.d`), in its order.
pub(crate) fn folders(machine: &Machine, kind: &str) -> Vec<String> {
    let or = |name: &str, default: &str| machine.variable(name).unwrap_or(default).to_string();
    let home = machine.variable("HOME").unwrap_or("/nonexistent");
    let config_home = or("XDG_CONFIG_HOME", &format!("{home}/.config"));
    let data_home = or("XDG_DATA_HOME", &format!("{home}/.local/share"));
    let config_folders = or("XDG_CONFIG_DIRS", "/etc/xdg");
    let data_folders = or("XDG_DATA_DIRS", "/usr/local/share:/usr/share");
    [config_home.as_str()]
        .into_iter()
        .chain(config_folders.split(':'))
        .chain(["/usr/local/etc", "/etc"])
        .chain([data_home.as_str()])
        .chain(data_folders.split(':'))
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| format!("{}/vulkan/{kind}", folder.trim_end_matches('/')))
        .collect()
}

fn parse_version(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split('.').map(|number| number.trim().parse().ok());
    Some([
        numbers.next()??,
        numbers.next()??,
        numbers.next().flatten().unwrap_or(0),
    ])
}

/// The string value of the first `"key": "value"`.
fn string_after_key(text: &str, key: &str) -> Option<String> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('"')? + 1..];
        let (string, after) = read_string(rest)?;
        rest = after;
        if string == key
            && let Some(value) = rest.trim_start().strip_prefix(':')
        {
            return Some(read_string(value.trim_start().strip_prefix('"')?)?.0);
        }
    }
}

/// Reads a JSON string whose opening quote was taken already; gives it and what follows its closing quote.
fn read_string(text: &str) -> Option<(String, &str)> {
    let mut string = String::new();
    let mut characters = text.char_indices();
    while let Some((position, character)) = characters.next() {
        match character {
            '"' => return Some((string, &text[position + 1..])),
            // No path or version needs more than the escapes that stand for themselves.
            '\\' => string.push(characters.next()?.1),
            _ => string.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;

    #[test]
    fn reads_a_drivers_manifest() {
        let text = r#"{ "ICD": { "api_version": "1.4.305", "library_path": "libvulkan_lvp.so" },
                        "file_format_version": "1.0.0" }"#;
        let manifest = Manifest::parse(text).unwrap();
        assert_eq!(manifest.library, "libvulkan_lvp.so");
        assert_eq!(manifest.version, [1, 4, 305]);
    }

    #[test]
    fn a_key_inside_a_value_is_no_key() {
        let text = r#"{"description": "the \"library_path\" : \"x\" key", "library_path" : "C:\/y\\z", "api_version":"1.3"}"#;
        let manifest = Manifest::parse(text).unwrap();
        assert_eq!(manifest.library, "C:/y\\z");
        assert_eq!(manifest.version, [1, 3, 0]);
        let value = r#"{"name": "api_version", "library_path": "a", "api_version": "1.3.1"}"#;
        assert_eq!(Manifest::parse(value).unwrap().version, [1, 3, 1]);
    }

    #[test]
    fn nonsense_is_no_manifest() {
        for text in [
            "",
            "{}",
            "\"",
            "\"library_path\"",
            "\"library_path\": 3",
            "\"library_path\": \"a\\",
            "\"library_path\": \"a\", \"api_version\": \"one\"",
            "\"library_path\": \"a\", \"api_version\": \"1\"",
        ] {
            assert_eq!(Manifest::parse(text), None, "{text}");
        }
    }

    #[test]
    fn relative_libraries_start_at_the_manifest() {
        let folder = Folder::new("manifest");
        folder.write("/opt/driver/libone.so", "");
        let machine = Machine::at(&folder.0, &[]);
        let exists = |library: &str| {
            let manifest = Manifest {
                library: library.into(),
                version: [1, 3, 0],
            };
            manifest.library_exists(&machine, "/opt/driver/icd.json")
        };
        assert!(exists("./libone.so"));
        assert!(exists("/opt/driver/libone.so"));
        assert!(!exists("libone.so"), "a plain name is the dynamic loader's");
        assert!(!exists("./libtwo.so"));
    }

    #[test]
    fn folders_follow_the_variables() {
        let machine = Machine::at(
            Path::new("/"),
            &[("HOME", "/home/a"), ("XDG_DATA_DIRS", "/one/:two:/three")],
        );
        let folders = folders(&machine, "icd.d");
        assert_eq!(
            folders,
            [
                "/home/a/.config/vulkan/icd.d",
                "/etc/xdg/vulkan/icd.d",
                "/usr/local/etc/vulkan/icd.d",
                "/etc/vulkan/icd.d",
                "/home/a/.local/share/vulkan/icd.d",
                "/one/vulkan/icd.d",
                "/three/vulkan/icd.d",
            ]
        );
    }
}
