//! What happens to a window, in words of our own.

use std::path::PathBuf;
use winit::event::{ElementState, MouseScrollDelta, WindowEvent};
use winit::keyboard::{KeyCode, PhysicalKey};

/// Something that happened to the window, or was asked of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The content has another size, pixels; zero while minimised.
    Resized([u32; 2]),
    /// The window was minimised, or has come back.
    Minimised(bool),
    /// Pixels per point of the display.
    ScaleFactor(f64),
    /// A key went down or up.
    Key {
        /// Which, by its place on the keyboard.
        key: Key,
        /// Down.
        pressed: bool,
    },
    /// A mouse button went down or up.
    Button {
        /// Which.
        button: MouseButton,
        /// Down.
        pressed: bool,
    },
    /// The mouse moved, in its own units: right and down.
    Moved([f32; 2]),
    /// The wheel turned, lines.
    Scrolled(f32),
    /// The window has the keyboard, or has it no more.
    Focused(bool),
    /// The window system has taken the surface away.
    SurfaceLost,
    /// The window is to close.
    Close,
    /// Not from the window system.
    Command(Command),
}

/// What a script or a test may ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Open or close a panel.
    Panel {
        /// Its name, see [`PANELS`](super::PANELS).
        name: String,
        /// Whether it is open afterwards.
        open: bool,
    },
    /// Show or hide the whole user interface.
    Interface(bool),
    /// Show or hide the help.
    Help(bool),
    /// Move the next setting of all one step on; after the last it begins anew.
    NextSetting,
    /// Put all settings back to what they were before the user changed any.
    ResetSettings,
    /// Have each frame audited, or no more.
    Audit(bool),
    /// Count invocations of each pass, or no more.
    CountInvocations(bool),
    /// Find the fastest raster threshold, for the hybrid path.
    Calibrate,
    /// Write what is seen to a file.
    Screenshot(PathBuf),
    /// Ask the window system for another size, pixels.
    Size([u32; 2]),
    /// Ask the window system to minimise the window, or to bring it back.
    Minimise(bool),
    /// Ask the window system for the whole screen, or for a window.
    Fullscreen(bool),
}

/// A key, by its place on a US keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Key {
    W,
    A,
    S,
    D,
    Q,
    E,
    R,
    P,
    H,
    V,
    Shift,
    Control,
    Escape,
    Home,
    F1,
    F10,
    F11,
    F12,
    PrintScreen,
}

/// A mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MouseButton {
    Left,
    Right,
    Middle,
}

impl Event {
    /// What a window event of winit's means here, if anything. The mouse's motion comes from its device, not from here.
    pub(super) fn from_winit(event: &WindowEvent) -> Option<Event> {
        Some(match event {
            WindowEvent::Resized(size) => Event::Resized([size.width, size.height]),
            WindowEvent::ScaleFactorChanged { scale_factor, .. } => {
                Event::ScaleFactor(*scale_factor)
            }
            WindowEvent::CloseRequested => Event::Close,
            WindowEvent::Focused(focused) => Event::Focused(*focused),
            WindowEvent::KeyboardInput { event, .. } if !event.repeat => Event::Key {
                key: Key::from_winit(event.physical_key)?,
                pressed: event.state == ElementState::Pressed,
            },
            WindowEvent::MouseInput { state, button, .. } => Event::Button {
                button: match button {
                    winit::event::MouseButton::Left => MouseButton::Left,
                    winit::event::MouseButton::Right => MouseButton::Right,
                    winit::event::MouseButton::Middle => MouseButton::Middle,
                    _ => return None,
                },
                pressed: *state == ElementState::Pressed,
            },
            WindowEvent::MouseWheel { delta, .. } => Event::Scrolled(match delta {
                MouseScrollDelta::LineDelta(_, lines) => *lines,
                // About what one line of a wheel comes to.
                MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
            }),
            _ => return None,
        })
    }
}

impl Key {
    fn from_winit(key: PhysicalKey) -> Option<Key> {
        let PhysicalKey::Code(code) = key else {
            return None;
        };
        Some(match code {
            KeyCode::KeyW => Key::W,
            KeyCode::KeyA => Key::A,
            KeyCode::KeyS => Key::S,
            KeyCode::KeyD => Key::D,
            KeyCode::KeyQ => Key::Q,
            KeyCode::KeyE => Key::E,
            KeyCode::KeyR => Key::R,
            KeyCode::KeyP => Key::P,
            KeyCode::KeyH => Key::H,
            KeyCode::KeyV => Key::V,
            KeyCode::ShiftLeft | KeyCode::ShiftRight => Key::Shift,
            KeyCode::ControlLeft | KeyCode::ControlRight => Key::Control,
            KeyCode::Escape => Key::Escape,
            KeyCode::Home => Key::Home,
            KeyCode::F1 => Key::F1,
            KeyCode::F10 => Key::F10,
            KeyCode::F11 => Key::F11,
            KeyCode::F12 => Key::F12,
            KeyCode::PrintScreen => Key::PrintScreen,
            _ => return None,
        })
    }
}
