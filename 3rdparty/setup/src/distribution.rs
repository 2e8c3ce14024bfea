//! Which distribution this is, from `/etc/os-release`.

use crate::machine::Machine;

/// Facts about the distribution that decide how parts are installed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Distribution {
    /// As people know it, as in "Debian GNU/Linux 12 (bookworm)".
    pub(crate) name: String,
    /// As in "debian".
    pub(crate) id: String,
    /// The release's code name, as in "bookworm"; empty where there is none.
    pub(crate) codename: String,
    /// Whether `apt-get` installs packages here.
    pub(crate) has_apt: bool,
}

impl Distribution {
    /// Reads the machine's own description.
    pub(crate) fn of(machine: &Machine) -> Distribution {
        let text = machine
            .read("/etc/os-release")
            .or_else(|| machine.read("/usr/lib/os-release"))
            .unwrap_or_default();
        let value = |key: &str| field(&text, key).unwrap_or_default();
        let id = value("ID");
        let likes = value("ID_LIKE");
        let is_debian_like = [id.as_str()]
            .into_iter()
            .chain(likes.split_whitespace())
            .any(|name| name == "debian" || name == "ubuntu");
        Distribution {
            name: match value("PRETTY_NAME") {
                name if name.is_empty() => "this system".into(),
                name => name,
            },
            id,
            codename: value("VERSION_CODENAME"),
            has_apt: is_debian_like && machine.has_program("apt-get"),
        }
    }

    /// Whether this is Debian 12, whose own Mesa is too old.
    pub(crate) fn is_bookworm(&self) -> bool {
        self.id == "debian" && self.codename == "bookworm"
    }
}

fn field(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let value = line.strip_prefix(key)?.strip_prefix('=')?;
        Some(value.trim().trim_matches(['"', '\'']).to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;

    #[test]
    fn reads_debian_and_its_likes() {
        let folder = Folder::new("distribution");
        folder.write("/usr/bin/apt-get", "");
        folder.write(
            "/etc/os-release",
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n",
        );
        let machine = Machine::at(&folder.0, &[("PATH", "/usr/bin")]);
        let debian = Distribution::of(&machine);
        assert_eq!(debian.name, "Debian GNU/Linux 12 (bookworm)");
        assert!(debian.has_apt && debian.is_bookworm());

        folder.write(
            "/etc/os-release",
            "ID=pop\nID_LIKE=\"ubuntu debian\"\nVERSION_CODENAME=noble\n",
        );
        let pop = Distribution::of(&machine);
        assert!(pop.has_apt && !pop.is_bookworm());

        folder.write(
            "/etc/os-release",
            "ID=fedora\nPRETTY_NAME=\"Fedora Linux 42\"\n",
        );
        assert!(!Distribution::of(&machine).has_apt);
    }

    #[test]
    fn a_machine_that_says_nothing_has_no_apt() {
        let folder = Folder::new("no-distribution");
        let distribution = Distribution::of(&Machine::at(&folder.0, &[]));
        assert_eq!(distribution.name, "this system");
        assert!(!distribution.has_apt);
    }
}
