//! What is on this machine: programs, libraries, files, environment variables.
//!
//! All looks go through one root folder and one table of variables, so that tests can look at a folder
//! of their own in place of the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A machine to look at.
#[derive(Debug)]
pub(crate) struct Machine {
    root: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Machine {
    /// The machine that this program runs on.
    pub(crate) fn this() -> Machine {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Machine {
            root: PathBuf::from("/"),
            variables,
        }
    }

    /// The machine as it would be after a change of root, with no variables set.
    pub(crate) fn in_root(root: &Path) -> Machine {
        Machine {
            root: root.to_path_buf(),
            variables: BTreeMap::new(),
        }
    }

    /// A folder that stands for a machine.
    #[cfg(test)]
    pub(crate) fn at(root: &Path, variables: &[(&str, &str)]) -> Machine {
        Machine {
            root: root.to_path_buf(),
            variables: variables
                .iter()
                .map(|&(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }

    /// An environment variable; an empty one counts as unset.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Every environment variable with its value, in the order of the names.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The entries of a variable that holds a list of paths.
    pub(crate) fn paths_in(&self, name: &str) -> impl Iterator<Item = &str> {
        self.variable(name)
            .unwrap_or("")
            .split(':')
            .filter(|entry| !entry.is_empty())
    }

    /// Where a path of the machine lies for this program.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether a path of the machine exists.
    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// The text of a file of the machine, if it can be read.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// The entries of a folder of the machine, as paths of the machine, in the order of their names; none if
    /// there is no such folder.
    pub(crate) fn list(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else {
            return Vec::new();
        };
        let mut paths: Vec<String> = entries
            .filter_map(|entry| Some(format!("{folder}/{}", entry.ok()?.file_name().to_str()?)))
            .collect();
        paths.sort();
        paths
    }

    /// Whether a program of that name (or path) can be found. The folders for administration count too: an
    /// ordinary user's `PATH` leaves them out.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        if name.contains('/') {
            return self.path(name).is_file();
        }
        self.paths_in("PATH")
            .chain(["/usr/sbin", "/sbin"])
            .any(|folder| self.path(folder).join(name).is_file())
    }

    /// Whether the dynamic loader would find this shared library.
    pub(crate) fn has_library(&self, name: &str) -> bool {
        let standard = [
            format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH),
            format!("/lib/{}-linux-gnu", std::env::consts::ARCH),
            "/usr/lib64".into(),
            "/lib64".into(),
            "/usr/lib".into(),
            "/lib".into(),
            "/usr/local/lib".into(),
        ];
        self.paths_in("LD_LIBRARY_PATH")
            .chain(standard.iter().map(String::as_str))
            .any(|folder| self.path(folder).join(name).is_file())
            || self.is_in_loader_cache(name)
    }

    /// The loader's cache ends in a table of NUL-terminated strings, the libraries' paths among them.
    fn is_in_loader_cache(&self, name: &str) -> bool {
        let Ok(cache) = fs::read(self.path("/etc/ld.so.cache")) else {
            return false;
        };
        cache
            .split(|&byte| byte == 0)
            .filter_map(|piece| std::str::from_utf8(piece).ok())
            .any(|piece| {
                piece.starts_with('/') && Path::new(piece).ends_with(name) && self.exists(piece)
            })
    }

    /// The folder where Impel keeps what it built for this user: `$XDG_CACHE_HOME/impel` or `~/.cache/impel`.
    pub(crate) fn cache_folder(&self) -> Option<PathBuf> {
        let base = match self.variable("XDG_CACHE_HOME") {
            Some(folder) if folder.starts_with('/') => PathBuf::from(folder),
            _ => Path::new(self.variable("HOME")?).join(".cache"),
        };
        Some(base.join("impel"))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A folder that is removed at the end of a test.
    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        /// An empty folder of its own for the named test.
        pub(crate) fn new(test: &str) -> Folder {
            let path =
                std::env::temp_dir().join(format!("impel-setup-{test}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        /// Writes a file given by its path on the pretended machine.
        pub(crate) fn write(&self, path: &str, text: &str) {
            let path = self.0.join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Folder;
    use super::*;

    #[test]
    fn programs_are_looked_for_in_path_and_the_administrators_folders() {
        let folder = Folder::new("programs");
        folder.write("/opt/bin/cmake", "");
        folder.write("/usr/sbin/debootstrap", "");
        let machine = Machine::at(&folder.0, &[("PATH", "/usr/bin:/opt/bin")]);
        assert!(machine.has_program("cmake"));
        assert!(machine.has_program("debootstrap"));
        assert!(machine.has_program("/opt/bin/cmake"));
        assert!(!machine.has_program("ninja"));
        assert!(!Machine::at(&folder.0, &[]).has_program("cmake"));
    }

    #[test]
    fn libraries_are_found_in_folders_and_in_the_loaders_cache() {
        let folder = Folder::new("libraries");
        folder.write("/usr/lib64/libone.so.1", "");
        folder.write("/opt/two/libtwo.so.1", "");
        folder.write(
            "/etc/ld.so.cache",
            "head\0libtwo.so.1\0/opt/two/libtwo.so.1\0/opt/libgone.so\0",
        );
        let machine = Machine::at(&folder.0, &[]);
        assert!(machine.has_library("libone.so.1"));
        assert!(machine.has_library("libtwo.so.1"));
        assert!(
            !machine.has_library("libgone.so"),
            "in the cache but no longer on disk"
        );
        assert!(
            !machine.has_library("two.so.1"),
            "a part of a name is another name"
        );
    }

    #[test]
    fn the_cache_folder_follows_the_variables() {
        let root = Path::new("/");
        let at = |variables: &[(&str, &str)]| Machine::at(root, variables).cache_folder();
        assert_eq!(
            at(&[("HOME", "/home/a")]),
            Some("/home/a/.cache/impel".into())
        );
        assert_eq!(
            at(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "/x")]),
            Some("/x/impel".into())
        );
        // The specification says that a relative path is invalid and shall be ignored.
        assert_eq!(
            at(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "x")]),
            Some("/home/a/.cache/impel".into())
        );
        assert_eq!(at(&[]), None);
    }
}
