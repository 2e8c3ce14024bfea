//! Keys and buttons that are down, and how far the mouse went since the last frame.

use super::event::{Event, Key, MouseButton};
use std::collections::HashSet;

/// What the camera listens to.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    keys: HashSet<Key>,
    buttons: HashSet<MouseButton>,
    /// Right and down, in the mouse's units.
    pub(super) motion: [f32; 2],
    /// Lines away from the user.
    pub(super) scroll: f32,
}

impl Input {
    /// Takes an event. `taken` says that the user interface has a use for it: then only releases count.
    pub(super) fn event(&mut self, event: &Event, taken: bool) {
        match event {
            Event::Key { key, pressed: true } if !taken => {
                self.keys.insert(*key);
            }
            Event::Key {
                key,
                pressed: false,
            } => {
                self.keys.remove(key);
            }
            Event::Button {
                button,
                pressed: true,
            } if !taken => {
                self.buttons.insert(*button);
            }
            Event::Button {
                button,
                pressed: false,
            } => {
                self.buttons.remove(button);
            }
            Event::Moved([x, y]) => {
                self.motion[0] += x;
                self.motion[1] += y;
            }
            Event::Scrolled(lines) if !taken => self.scroll += lines,
            // Releases go to whoever has the keyboard then.
            Event::Focused(false) => *self = Input::default(),
            _ => {}
        }
    }

    /// Begins a new frame.
    pub(super) fn end_frame(&mut self) {
        (self.motion, self.scroll) = ([0.0; 2], 0.0);
    }

    pub(super) fn is_down(&self, key: Key) -> bool {
        self.keys.contains(&key)
    }

    pub(super) fn is_held(&self, button: MouseButton) -> bool {
        self.buttons.contains(&button)
    }

    /// 1 for the first key, -1 for the second, 0 for neither or both.
    pub(super) fn axis(&self, positive: Key, negative: Key) -> f32 {
        f32::from(i8::from(self.is_down(positive)) - i8::from(self.is_down(negative)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_interface_takes_is_only_released() {
        let mut input = Input::default();
        let key = |pressed| Event::Key {
            key: Key::W,
            pressed,
        };
        input.event(&key(true), true);
        assert!(!input.is_down(Key::W));
        input.event(&key(true), false);
        assert_eq!(input.axis(Key::W, Key::S), 1.0);
        input.event(&key(false), true);
        assert_eq!(input.axis(Key::W, Key::S), 0.0);
        input.event(&key(true), false);
        input.event(&Event::Focused(false), false);
        assert!(!input.is_down(Key::W), "lost with the keyboard");
    }
}
