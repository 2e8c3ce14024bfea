//! The camera in a window: it plays a path, flies, or goes round a thing; what it does can be recorded.

use super::event::{Key, MouseButton};
use super::input::Input;
use crate::math::{Camera, Lens};
use crate::scene::{CameraKey, CameraPath};
use glam::Vec3;
use std::fmt::Write as _;

/// Seconds between two keys of a recording. Between keys the path is a smooth curve.
const KEY_INTERVAL: f64 = 0.25;
/// Frames that one round of a path takes in the window.
const PATH_FRAMES: u64 = 600;
/// Degrees per unit of the mouse.
const LOOK: f32 = 0.15;

/// A thing to go round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrbitView {
    /// Its middle, world space.
    pub centre: Vec3,
    /// Radius of a sphere around it, world units.
    pub radius: f32,
}

/// Where the camera is, and what moves it.
#[derive(Clone, Debug)]
pub struct CameraControl {
    path: CameraPath,
    /// Frame of the path; None once the user has taken over.
    playing: Option<u64>,
    at: CameraKey,
    /// World units per second.
    pub(super) speed: f32,
    orbit: Option<(OrbitView, f32)>,
    recording: Option<Recording>,
}

#[derive(Clone, Debug)]
struct Recording {
    keys: Vec<CameraKey>,
    /// Seconds since the last key.
    since: f64,
}

impl CameraControl {
    /// Begins with a path. With `orbit` the user goes round that thing, else flies.
    #[must_use]
    pub fn new(path: CameraPath, speed: f32, orbit: Option<OrbitView>) -> Self {
        let at = path.keys.first().copied().unwrap_or_default();
        let orbit = orbit.map(|view| (view, (at.position - view.centre).length().max(view.radius)));
        Self {
            path,
            playing: Some(0),
            at,
            speed,
            orbit,
            recording: None,
        }
    }

    /// Goes back to the beginning of the path.
    pub fn restart(&mut self) {
        self.at = self.path.keys.first().copied().unwrap_or_default();
        self.playing = Some(0);
        if let Some((view, distance)) = &mut self.orbit {
            *distance = (self.at.position - view.centre).length().max(view.radius);
        }
    }

    /// Whether the path moves the camera.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.playing.is_some() && (self.path.keys.len() > 1 || self.path.turn != 0.0)
    }

    /// Where it is.
    #[must_use]
    pub fn key(&self) -> CameraKey {
        self.at
    }

    /// Moves on by `seconds` and gives the camera.
    pub(super) fn update(&mut self, seconds: f64, input: &Input, aspect: f32) -> Camera {
        let lens = Lens {
            aspect,
            ..self.path.lens
        };
        let camera = match self.playing {
            Some(_) if self.is_moved(input) => {
                self.playing = None;
                self.steer(seconds as f32, input, lens)
            }
            Some(frame) => {
                let camera = self.path.camera(frame % PATH_FRAMES, PATH_FRAMES, aspect);
                self.playing = Some(frame + 1);
                self.at = key_of(&camera);
                camera
            }
            None => self.steer(seconds as f32, input, lens),
        };
        if let Some(recording) = &mut self.recording {
            recording.since += seconds;
            if recording.since >= KEY_INTERVAL || recording.keys.is_empty() {
                recording.since = 0.0;
                recording.keys.push(self.at);
            }
        }
        camera
    }

    fn is_moved(&self, input: &Input) -> bool {
        let keys = [Key::W, Key::A, Key::S, Key::D, Key::Q, Key::E];
        let looks = input.is_held(MouseButton::Right) || input.is_held(MouseButton::Left);
        keys.into_iter().any(|key| input.is_down(key))
            || looks && input.motion != [0.0; 2]
            || self.orbit.is_some() && input.scroll != 0.0
    }

    fn steer(&mut self, seconds: f32, input: &Input, lens: Lens) -> Camera {
        if input.is_held(MouseButton::Right) || input.is_held(MouseButton::Left) {
            self.at.yaw = (self.at.yaw - input.motion[0] * LOOK).rem_euclid(360.0);
            self.at.pitch = (self.at.pitch - input.motion[1] * LOOK).clamp(-89.0, 89.0);
        }
        let mut steps = Vec3::new(
            input.axis(Key::D, Key::A),
            input.axis(Key::E, Key::Q),
            input.axis(Key::S, Key::W),
        );
        if input.is_down(Key::Shift) {
            steps *= 5.0;
        }
        let turned = |key: &CameraKey| Camera::by_angles(key.position, key.yaw, key.pitch, lens);
        let orientation = turned(&self.at).orientation;
        if let Some((view, distance)) = &mut self.orbit {
            *distance *= 0.9_f32.powf(input.scroll) * (1.0 + steps.z * seconds);
            *distance = distance.clamp(view.radius * 0.05, view.radius * 50.0);
            view.centre +=
                orientation * Vec3::new(steps.x, steps.y, 0.0) * *distance * 0.5 * seconds;
            self.at.position = view.centre + orientation.z_axis * *distance;
        } else {
            if input.scroll != 0.0 {
                self.speed = (self.speed * 1.2_f32.powf(input.scroll)).clamp(0.01, 10_000.0);
            }
            self.at.position += orientation * steps * self.speed * seconds;
        }
        turned(&self.at)
    }

    /// Whether a recording is under way.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Begins to record, or ends it and gives the path as a camera file, which `--camera` takes. `None` when it began, or
    /// nothing was recorded.
    pub fn toggle_recording(&mut self) -> Option<String> {
        match self.recording.take() {
            None => {
                self.recording = Some(Recording {
                    keys: Vec::new(),
                    since: 0.0,
                });
                None
            }
            Some(recording) => {
                let last = recording.keys.last().is_some_and(|last| *last != self.at);
                let mut keys = unwound(&recording.keys);
                if last {
                    keys.push(self.at);
                    keys = unwound(&keys);
                }
                (!keys.is_empty()).then(|| camera_file(&keys, self.path.lens.draw_distance))
            }
        }
    }
}

fn key_of(camera: &Camera) -> CameraKey {
    let forward = camera.forward();
    CameraKey {
        position: camera.position,
        yaw: (-forward.x).atan2(-forward.z).to_degrees(),
        pitch: forward.y.clamp(-1.0, 1.0).asin().to_degrees(),
    }
}

/// Angles without jumps: a curve from 359 degrees to 1 must not go all the way round.
fn unwound(keys: &[CameraKey]) -> Vec<CameraKey> {
    let mut out: Vec<CameraKey> = Vec::with_capacity(keys.len());
    for key in keys {
        let before = out.last().map_or(key.yaw, |last| last.yaw);
        let turn = (key.yaw - before + 180.0).rem_euclid(360.0) - 180.0;
        out.push(CameraKey {
            yaw: before + turn,
            ..*key
        });
    }
    out
}

/// The text of a camera file.
fn camera_file(keys: &[CameraKey], draw_distance: f32) -> String {
    let mut text = String::from("# Recorded in the window, a key every quarter of a second.\n");
    if draw_distance.is_finite() {
        let _ = writeln!(text, "draw_distance = {draw_distance:?}");
    }
    text += "keys = [\n";
    for CameraKey {
        position,
        yaw,
        pitch,
    } in keys
    {
        let [x, y, z] = position.to_array();
        let _ = writeln!(
            text,
            "    {{ position = [{x:?}, {y:?}, {z:?}], yaw = {yaw:?}, pitch = {pitch:?} }},"
        );
    }
    text + "]\n"
}

#[cfg(test)]
mod tests {
    use super::super::event::Event;
    use super::*;

    fn still() -> CameraControl {
        let path = CameraPath {
            keys: vec![CameraKey {
                position: Vec3::new(1.0, 2.0, 3.0),
                yaw: -90.0,
                pitch: 10.0,
            }],
            turn: 0.0,
            lens: Lens::default(),
        };
        CameraControl::new(path, 2.0, None)
    }

    fn press(input: &mut Input, key: Key) {
        input.event(&Event::Key { key, pressed: true }, false);
    }

    #[test]
    fn untouched_it_is_the_path_to_the_bit() {
        let mut control = still();
        let camera = control.update(0.1, &Input::default(), 1.5);
        assert_eq!(camera, control.path.camera(0, 1, 1.5));
        assert_eq!(camera, control.update(0.1, &Input::default(), 1.5));
    }

    #[test]
    fn it_flies_where_it_looks() {
        let mut control = still();
        let mut input = Input::default();
        let before = control.update(0.1, &input, 1.0);
        press(&mut input, Key::W);
        let after = control.update(0.5, &input, 1.0);
        let way = after.position - before.position;
        assert!((way - before.forward()).length() < 1e-5, "{way}");
        press(&mut input, Key::Shift);
        let fast = control.update(0.5, &input, 1.0).position - after.position;
        assert!((fast.length() - 5.0).abs() < 1e-4);
        control.restart();
        assert_eq!(control.update(0.1, &Input::default(), 1.0), before);
    }

    #[test]
    fn it_goes_round() {
        let view = OrbitView {
            centre: Vec3::ZERO,
            radius: 1.0,
        };
        let path = CameraPath {
            keys: vec![CameraKey {
                position: Vec3::new(0.0, 0.0, 4.0),
                ..CameraKey::default()
            }],
            turn: 0.0,
            lens: Lens::default(),
        };
        let mut control = CameraControl::new(path, 1.0, Some(view));
        let mut input = Input::default();
        let left = MouseButton::Left;
        input.event(
            &Event::Button {
                button: left,
                pressed: true,
            },
            false,
        );
        input.event(&Event::Moved([200.0, 50.0]), false);
        let camera = control.update(0.1, &input, 1.0);
        assert!((camera.position.length() - 4.0).abs() < 1e-4);
        assert!((camera.forward() + camera.position.normalize()).length() < 1e-4);
        input.end_frame();
        input.event(&Event::Scrolled(2.0), false);
        assert!(control.update(0.1, &input, 1.0).position.length() < 3.5);
    }

    #[test]
    fn a_recording_has_no_jumps() {
        let mut control = still();
        assert_eq!(control.toggle_recording(), None);
        for yaw in [350.0, 359.0, 3.0, 10.0] {
            control.playing = None;
            control.at.yaw = yaw;
            control.update(0.3, &Input::default(), 1.0);
        }
        let text = control.toggle_recording().unwrap();
        assert_eq!(text.matches("position").count(), 4, "{text}");
        assert!(
            text.contains("yaw = 363.0") && text.contains("yaw = 370.0"),
            "{text}"
        );
        assert!(!control.is_recording());
    }
}
