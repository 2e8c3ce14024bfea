//! What the window remembers from run to run: one `name = value` a line.

use super::controls::entries;
use crate::Error;
use crate::renderer::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names and values. What is not understood is left out when it is read, so that an old or damaged file does no harm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preferences {
    values: BTreeMap<String, String>,
}

impl Preferences {
    /// The user's file: `impel/window.conf` in `XDG_CONFIG_HOME`, else in `.config` of the home folder. `None` without either.
    #[must_use]
    pub fn file() -> Option<PathBuf> {
        let folder = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let config = folder("XDG_CONFIG_HOME")
            .or_else(|| folder("APPDATA"))
            .or_else(|| Some(folder("HOME")?.join(".config")))?;
        Some(config.join("impel").join("window.conf"))
    }

    /// Reads a file; nothing when there is none.
    #[must_use]
    pub fn load(path: &Path) -> Self {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                log::warn!("{}: {error}; preferences are not used", path.display());
                String::new()
            }
        };
        Self::parse(&text)
    }

    fn parse(text: &str) -> Self {
        let values = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect();
        Self { values }
    }

    /// Writes the file, with its folder.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let wrong = |source| Error::File {
            path: path.display().to_string(),
            source,
        };
        let mut text = String::from("# Written by Impel when its window closes.\n");
        for (name, value) in &self.values {
            text += &format!("{name} = {value}\n");
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(wrong)?;
        }
        // Whole or not at all.
        let whole = path.with_extension("new");
        std::fs::write(&whole, text)
            .and_then(|()| std::fs::rename(&whole, path))
            .map_err(wrong)
    }

    /// A value by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Keeps a value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// A value that says on or off.
    #[must_use]
    pub fn is_on(&self, name: &str, otherwise: bool) -> bool {
        match self.get(name) {
            Some("on") => true,
            Some("off") => false,
            _ => otherwise,
        }
    }

    /// Keeps a value that says on or off.
    pub fn set_on(&mut self, name: &str, on: bool) {
        self.set(name, if on { "on" } else { "off" });
    }

    /// Keeps the renderer's settings.
    pub(super) fn keep_settings(&mut self, settings: &Settings) {
        for entry in entries().iter().filter(|entry| entry.kept) {
            let name = format!("settings.{}", entry.name);
            match entry.text(settings) {
                Some(text) => self.set(&name, &text),
                None => {
                    self.values.remove(&name);
                }
            }
        }
    }

    /// Gives the renderer's settings back.
    pub(super) fn restore_settings(&self, settings: &mut Settings) {
        for entry in entries().iter().filter(|entry| entry.kept) {
            if let Some(text) = self.get(&format!("settings.{}", entry.name)) {
                entry.set_text(settings, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::LodMode;

    #[test]
    fn settings_come_back_and_rubbish_does_no_harm() {
        let folder = std::env::temp_dir().join(format!("impel-preferences-{}", std::process::id()));
        let path = folder.join("window.conf");
        let mut settings = Settings::default();
        settings.culling.occlusion = false;
        settings.lod = LodMode::Distance {
            base: 3.5,
            step: 2.0,
        };
        settings.freeze_camera = true;
        let mut kept = Preferences::default();
        kept.keep_settings(&settings);
        kept.set_on("panel.settings", true);
        kept.save(&path).unwrap();
        let loaded = Preferences::load(&path);
        assert_eq!(loaded, kept);
        let mut restored = Settings::default();
        loaded.restore_settings(&mut restored);
        assert!(!restored.freeze_camera, "not kept");
        restored.freeze_camera = true;
        assert_eq!(restored, settings);
        std::fs::remove_dir_all(&folder).unwrap();

        let rubbish = Preferences::parse("settings.lod = 7\n\0\nsettings.lod-error = -1\n=\nx");
        let mut untouched = Settings::default();
        rubbish.restore_settings(&mut untouched);
        assert_eq!(untouched, Settings::default());
        assert_eq!(Preferences::load(&path), Preferences::default());
    }
}
