//! The machine's own apt sources, in both forms: `deb` lines (`sources.list`) and deb822 (`*.sources`).
//!
//! Setup knows no mirror's address. Where it needs another suite it takes everything but the suite's name from
//! the source that this machine gets Debian from, and so keeps to the mirror and keys that its owner chose.
//! Source: sources.list(5).

use crate::machine::Machine;

/// One source of packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// Addresses of the archive.
    pub(crate) uris: Vec<String>,
    /// As in "bookworm", "bookworm-updates".
    pub(crate) suites: Vec<String>,
    /// As in "main".
    pub(crate) components: Vec<String>,
    /// All else that was said (Signed-By, Architectures, ...), by deb822 field name. A value of several lines keeps
    /// its line breaks and indents, as deb822 writes an embedded key.
    pub(crate) options: Vec<(String, String)>,
}

impl Source {
    fn has_suite(&self, suite: &str) -> bool {
        self.suites.iter().any(|name| name == suite)
    }

    fn option(&self, field: &str) -> Option<&str> {
        let found = self
            .options
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(field));
        found.map(|(_, value)| value.as_str())
    }

    /// The same archive with another suite, as deb822 text.
    pub(crate) fn with_suite(&self, suite: &str) -> String {
        let mut text = format!(
            "Types: deb\nURIs: {}\nSuites: {suite}\nComponents: main\n",
            self.uris.join(" ")
        );
        for (name, value) in &self.options {
            // A value that starts on the next line has no space after the colon.
            let space = if value.starts_with('\n') { "" } else { " " };
            text.push_str(&format!("{name}:{space}{value}\n"));
        }
        text
    }

    /// An address that debootstrap understands: it knows no `mirror+file:` lists, so the first entry of such a list
    /// stands for it.
    pub(crate) fn mirror(&self, machine: &Machine) -> Option<String> {
        self.uris
            .iter()
            .find_map(|uri| match uri.strip_prefix("mirror+file:") {
                Some(path) => {
                    let text = machine.read(format!("/{}", path.trim_start_matches('/')))?;
                    let first = text
                        .lines()
                        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
                    first.split_whitespace().next().map(String::from)
                }
                None => ["http:", "https:", "ftp:", "file:"]
                    .iter()
                    .any(|scheme| uri.starts_with(scheme))
                    .then(|| uri.clone()),
            })
    }
}

/// Every source of binary packages that the machine has, in apt's order of reading.
pub(crate) fn read(machine: &Machine) -> Vec<Source> {
    let mut sources = parse_lines(&machine.read("/etc/apt/sources.list").unwrap_or_default());
    for path in machine.list("/etc/apt/sources.list.d") {
        let text = machine.read(&path).unwrap_or_default();
        if path.ends_with(".list") {
            sources.extend(parse_lines(&text));
        } else if path.ends_with(".sources") {
            sources.extend(parse_deb822(&text));
        }
    }
    sources
}

/// Whether some source offers the suite.
pub(crate) fn offers(sources: &[Source], suite: &str) -> bool {
    sources.iter().any(|source| {
        source.has_suite(suite) && source.components.iter().any(|name| name == "main")
    })
}

/// The source from which this machine gets Debian itself. Other vendors name their suites after Debian's releases
/// too, so a candidate is judged by what only Debian's archive has: its keyring, and an updates suite beside it.
pub(crate) fn debian_archive<'a>(sources: &'a [Source], codename: &str) -> Option<&'a Source> {
    let updates = format!("{codename}-updates");
    let score = |source: &Source| {
        let has_updates = sources.iter().any(|other| {
            other.has_suite(&updates) && other.uris.iter().any(|uri| source.uris.contains(uri))
        });
        let has_keyring = source
            .option("Signed-By")
            .is_some_and(|key| key.contains("debian-archive"));
        let has_usual_path = source
            .uris
            .iter()
            .any(|uri| uri.trim_end_matches('/').ends_with("/debian"));
        2 * u8::from(has_updates) + 2 * u8::from(has_keyring) + u8::from(has_usual_path)
    };
    let mut best: Option<(&Source, u8)> = None;
    for source in sources {
        let is_candidate = source.has_suite(codename)
            && source.components.iter().any(|name| name == "main")
            && !source.uris.iter().any(|uri| uri.starts_with("cdrom:"));
        if is_candidate && best.is_none_or(|(_, previous)| score(source) > previous) {
            best = Some((source, score(source)));
        }
    }
    best.map(|(source, _)| source)
}

/// Reads the form with one line per source.
pub(crate) fn parse_lines(text: &str) -> Vec<Source> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Source> {
    let line = line.split('#').next()?.trim();
    let mut rest = line.strip_prefix("deb")?;
    if !rest.starts_with(char::is_whitespace) {
        return None; // deb-src, or something else altogether
    }
    rest = rest.trim_start();
    let mut options = Vec::new();
    if let Some(bracketed) = rest.strip_prefix('[') {
        let (inside, after) = bracketed.split_once(']')?;
        options = inside.split_whitespace().filter_map(parse_option).collect();
        rest = after;
    }
    let mut words = rest.split_whitespace().map(String::from);
    Some(Source {
        uris: vec![words.next()?],
        suites: vec![words.next()?],
        components: words.collect(),
        options,
    })
}

/// An option of the one-line form under its deb822 name. `name+=` and `name-=` change a list's default; they are
/// left out, since they have no meaning for one more suite.
fn parse_option(option: &str) -> Option<(String, String)> {
    let (name, value) = option.split_once('=')?;
    if name.ends_with(['+', '-']) {
        return None;
    }
    let name = match name {
        "arch" => "Architectures".to_string(),
        "lang" => "Languages".to_string(),
        "target" => "Targets".to_string(),
        other => other
            .split('-')
            .map(|word| {
                let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
                first.to_uppercase() + rest
            })
            .collect::<Vec<_>>()
            .join("-"),
    };
    Some((name, value.replace(',', " ")))
}

/// Reads the deb822 form.
pub(crate) fn parse_deb822(text: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    // The empty line at the end closes the last paragraph.
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            sources.extend(source_of(std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_string(), value.trim().to_string()));
        }
    }
    sources
}

fn source_of(fields: Vec<(String, String)>) -> Option<Source> {
    let mut source = Source::default();
    let mut is_binary = false;
    for (name, value) in fields {
        let words = || {
            value
                .split_whitespace()
                .map(String::from)
                .collect::<Vec<_>>()
        };
        match name.to_ascii_lowercase().as_str() {
            "types" => is_binary = words().iter().any(|word| word == "deb"),
            "uris" => source.uris = words(),
            "suites" => source.suites = words(),
            "components" => source.components = words(),
            "enabled" => {
                if ["no", "false", "without", "off", "disable"].contains(&value.as_str()) {
                    return None;
                }
            }
            _ => source.options.push((name, value)),
        }
    }
    (is_binary && !source.uris.is_empty()).then_some(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::Folder;
    use std::path::Path;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn reads_lines() {
        let text = "\
# deb http://commented.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib # the mirror
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64,arm64 signed-by=/keys/a.gpg check-valid-until=no lang+=de] https://other.example/apt bookworm main
debris
deb
deb http://lonely.example
deb [open http://x.example bookworm main
";
        let sources = parse_lines(text);
        assert_eq!(sources.len(), 2);
        assert_eq!(sources[0].uris, ["http://mirror.example/debian"]);
        assert_eq!(sources[0].components, ["main", "contrib"]);
        let expected = [
            ("Architectures", "amd64 arm64"),
            ("Signed-By", "/keys/a.gpg"),
            ("Check-Valid-Until", "no"),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(sources[1].options, expected);
    }

    const DEB822: &str = "\
Types: deb deb-src
# a comment inside
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb-src
URIs: http://sources.example/debian
Suites: bookworm
Components: main


Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm-backports
Components: main

types: deb
uris: http://key.example/debian
suites: trixie
components: main
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----
";

    #[test]
    fn reads_deb822() {
        let sources = parse_deb822(DEB822);
        assert_eq!(sources.len(), 2, "{sources:?}");
        assert_eq!(sources[0].suites, ["bookworm", "bookworm-updates"]);
        assert_eq!(sources[1].uris, ["http://key.example/debian"]);
        assert!(
            !offers(&sources, "bookworm-backports"),
            "a source that is switched off offers nothing"
        );
        assert!(offers(&sources, "bookworm-updates"));
    }

    #[test]
    fn another_suite_keeps_mirror_and_keys() {
        let sources = parse_deb822(DEB822);
        assert_eq!(
            sources[0].with_suite("bookworm-backports"),
            "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm-backports\nComponents: main\n\
             Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        );
        let embedded = sources[1].with_suite("trixie-backports");
        assert!(
            embedded.contains("signed-by:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n"),
            "{embedded}"
        );
        // What was written reads back as the same archive.
        let again = parse_deb822(&embedded);
        assert_eq!(again[0].options, sources[1].options);
    }

    #[test]
    fn debians_archive_is_told_from_other_vendors() {
        let text = "\
deb [signed-by=/keys/vendor.gpg] https://packages.vendor.example/debian/ bookworm main
deb http://mirror.example/linux/debian12 bookworm main
deb http://mirror.example/linux/debian12 bookworm-updates main
deb cdrom:[Debian]/ bookworm main
deb https://tools.example/linux/debian bookworm stable
";
        let sources = parse_lines(text);
        let archive = debian_archive(&sources, "bookworm").unwrap();
        assert_eq!(archive.uris, ["http://mirror.example/linux/debian12"]);
        assert_eq!(debian_archive(&sources, "trixie"), None);
        assert_eq!(
            debian_archive(&parse_lines("deb cdrom:x bookworm main"), "bookworm"),
            None
        );
    }

    #[test]
    fn mirrors_that_debootstrap_understands() {
        let folder = Folder::new("mirrors");
        folder.write(
            "/etc/apt/mirrors/debian.list",
            "# list\nhttp://first.example/debian priority:1\nhttp://second.example\n",
        );
        let machine = Machine::at(&folder.0, &[]);
        let mirror = |uris: &str| {
            let source = Source {
                uris: words(uris),
                ..Source::default()
            };
            source.mirror(&machine)
        };
        assert_eq!(
            mirror("http://a.example/debian http://b.example").as_deref(),
            Some("http://a.example/debian")
        );
        let listed = Some("http://first.example/debian");
        assert_eq!(
            mirror("mirror+file:///etc/apt/mirrors/debian.list").as_deref(),
            listed
        );
        assert_eq!(
            mirror("mirror+file:/etc/apt/mirrors/debian.list").as_deref(),
            listed
        );
        assert_eq!(
            mirror("mirror+file:/gone ftp://c.example").as_deref(),
            Some("ftp://c.example")
        );
        assert_eq!(mirror("tor+http://d.example"), None);
    }

    #[test]
    fn reads_every_file_of_the_machine() {
        let folder = Folder::new("sources");
        folder.write(
            "/etc/apt/sources.list",
            "deb http://one.example/debian bookworm main\n",
        );
        folder.write("/etc/apt/sources.list.d/b.sources", DEB822);
        folder.write(
            "/etc/apt/sources.list.d/a.list",
            "deb http://two.example/debian bookworm-backports main\n",
        );
        folder.write(
            "/etc/apt/sources.list.d/c.list.save",
            "deb http://three.example/debian sid main\n",
        );
        let sources = read(&Machine::at(&folder.0, &[]));
        assert_eq!(sources.len(), 4);
        assert_eq!(sources[1].uris, ["http://two.example/debian"]);
        assert!(offers(&sources, "bookworm-backports"));
        assert!(read(&Machine::at(Path::new("/nonexistent"), &[])).is_empty());
    }
}
