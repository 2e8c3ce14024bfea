//! Events from a file: what a test does to a window.

use super::event::{Command, Event, Key};
use crate::Error;
use std::path::Path;

/// Events by frame, in order. A line is `FRAME WORD [ARGUMENT]`; lines with `#` are comments:
///
/// ```text
/// 3 size 641x479        ask the window system
/// 5 resized 0x0         as if the window system had said it
/// 6 scale 1.25
/// 7 lose                the surface
/// 8 minimise on         ask the window system
/// 8 minimised on        as if the window system had done it
/// 9 fullscreen off
/// 10 panel settings on
/// 11 interface off
/// 12 help on
/// 13 next-setting
/// 13 reset-settings
/// 13 calibrate
/// 13 audit on
/// 13 count-invocations on
/// 14 screenshot shot.png
/// 15 key r
/// 20 close
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    events: Vec<(u64, Event)>,
}

impl Script {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Data`] with the line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            path: name.clone(),
            source,
        })?;
        Self::parse(&name, &text)
    }

    /// Reads text.
    ///
    /// # Errors
    /// [`Error::Data`] with the line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let mut events = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            if words.is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let event = event(&words).ok_or_else(|| Error::Data {
                file: file.to_owned(),
                line: index + 1,
                column: 1,
                message: format!("{line:?} is no event"),
            })?;
            events.push(event);
        }
        events.sort_by_key(|(frame, _)| *frame);
        Ok(Self { events })
    }

    /// Whether all events have been taken.
    pub(super) fn is_over(&self) -> bool {
        self.events.is_empty()
    }

    /// Takes the events of a frame and those before it.
    pub(super) fn due(&mut self, frame: u64) -> Vec<Event> {
        let count = self
            .events
            .iter()
            .take_while(|(due, _)| *due <= frame)
            .count();
        self.events.drain(..count).map(|(_, event)| event).collect()
    }
}

fn event(words: &[&str]) -> Option<(u64, Event)> {
    let [frame, word, arguments @ ..] = words else {
        return None;
    };
    let size = |text: &&str| {
        let (width, height) = text.split_once('x')?;
        Some([width.parse().ok()?, height.parse().ok()?])
    };
    let on = |text: &&str| match *text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    let first = arguments.first();
    let command = match (*word, arguments.len()) {
        ("size", 1) => Command::Size(size(first?)?),
        ("minimise", 1) => Command::Minimise(on(first?)?),
        ("fullscreen", 1) => Command::Fullscreen(on(first?)?),
        ("panel", 2) => Command::Panel {
            name: (*first?).to_owned(),
            open: on(arguments.get(1)?)?,
        },
        ("interface", 1) => Command::Interface(on(first?)?),
        ("help", 1) => Command::Help(on(first?)?),
        ("next-setting", 0) => Command::NextSetting,
        ("reset-settings", 0) => Command::ResetSettings,
        ("calibrate", 0) => Command::Calibrate,
        ("audit", 1) => Command::Audit(on(first?)?),
        ("count-invocations", 1) => Command::CountInvocations(on(first?)?),
        ("screenshot", 1) => Command::Screenshot((*first?).into()),
        _ => {
            let event = match (*word, arguments.len()) {
                ("resized", 1) => Event::Resized(size(first?)?),
                ("scale", 1) => Event::ScaleFactor(first?.parse().ok()?),
                ("minimised", 1) => Event::Minimised(on(first?)?),
                ("lose", 0) => Event::SurfaceLost,
                ("close", 0) => Event::Close,
                ("key", 1) => Event::Key {
                    key: match *first? {
                        "r" => Key::R,
                        "p" => Key::P,
                        "h" => Key::H,
                        "f1" => Key::F1,
                        "f10" => Key::F10,
                        "f12" => Key::F12,
                        _ => return None,
                    },
                    pressed: true,
                },
                _ => return None,
            };
            return Some((frame.parse().ok()?, event));
        }
    };
    Some((frame.parse().ok()?, Event::Command(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_and_mistakes_have_lines() {
        let text = "# a test\n5 close\n2 size 641x479\n2 scale 1.5\n";
        let mut script = Script::parse("s", text).unwrap();
        assert_eq!(script.due(1), []);
        assert_eq!(
            script.due(3),
            [
                Event::Command(Command::Size([641, 479])),
                Event::ScaleFactor(1.5)
            ]
        );
        assert_eq!(script.due(5), [Event::Close]);
        let error = Script::parse("s", "1 lose\n2 explode\n").unwrap_err();
        assert!(error.to_string().starts_with("s:2:1:"), "{error}");
    }
}
