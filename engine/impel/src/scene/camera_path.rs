//! Cameras that move in a repeatable way.

use crate::math::{Camera, Lens};
use glam::Vec3;

/// A camera at one point of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CameraKey {
    /// Position, world space.
    pub position: Vec3,
    /// Degrees; 0 looks along -Z, positive turns left.
    pub yaw: f32,
    /// Degrees; positive looks up.
    pub pitch: f32,
}

/// A camera per frame, by frame number alone: no clock, so that runs repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraPath {
    /// One key: the camera stands there. More: it goes through all of them at even time, smoothly (Catmull-Rom).
    pub keys: Vec<CameraKey>,
    /// Yaw added per frame, degrees.
    pub turn: f32,
    /// The lens; its aspect is set by the picture.
    pub lens: Lens,
}

impl CameraPath {
    /// The camera of frame `frame` of `frames`: at `frame / (frames - 1)` of the path, or its start when there is only one frame.
    #[must_use]
    pub fn camera(&self, frame: u64, frames: u64, aspect: f32) -> Camera {
        let position = if frames > 1 {
            frame as f64 / (frames - 1) as f64
        } else {
            0.0
        };
        let key = self.at(position);
        let turned =
            (f64::from(key.yaw) + f64::from(self.turn) * frame as f64).rem_euclid(360.0) as f32;
        Camera::by_angles(
            key.position,
            turned,
            key.pitch,
            Lens {
                aspect,
                ..self.lens
            },
        )
    }

    /// The key at `position`, from 0 to 1.
    fn at(&self, position: f64) -> CameraKey {
        let last = self.keys.len().saturating_sub(1);
        let along = position.clamp(0.0, 1.0) * last as f64;
        let segment = (along.floor() as usize).min(last.saturating_sub(1));
        let t = (along - segment as f64) as f32;
        let key = |offset: isize| {
            let index = segment.saturating_add_signed(offset).min(last);
            self.keys.get(index).copied().unwrap_or_default()
        };
        if last == 0 {
            return key(0);
        }
        let neighbours = [key(-1), key(0), key(1), key(2)];
        let through = |component: fn(&CameraKey) -> f32| {
            let [a, b, c, d] =
                [0, 1, 2, 3].map(|i: usize| neighbours.get(i).map_or(0.0, component));
            0.5 * (2.0 * b
                + (c - a) * t
                + (2.0 * a - 5.0 * b + 4.0 * c - d) * t * t
                + (3.0 * (b - c) + d - a) * t * t * t)
        };
        CameraKey {
            position: Vec3::new(
                through(|k| k.position.x),
                through(|k| k.position.y),
                through(|k| k.position.z),
            ),
            yaw: through(|k| k.yaw),
            pitch: through(|k| k.pitch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(keys: &[f32]) -> CameraPath {
        let key = |&x: &f32| CameraKey {
            position: Vec3::new(x, 0.0, 0.0),
            yaw: x * 10.0,
            pitch: 0.0,
        };
        CameraPath {
            keys: keys.iter().map(key).collect(),
            turn: 0.0,
            lens: Lens::default(),
        }
    }

    #[test]
    fn goes_through_its_keys() {
        let path = path(&[0.0, 2.0, 3.0, 7.0]);
        for (frame, x) in [(0, 0.0), (2, 2.0), (4, 3.0), (6, 7.0)] {
            assert!((path.camera(frame, 7, 1.0).position.x - x).abs() < 1e-5);
        }
        assert_eq!(
            path.camera(0, 1, 1.0).position.x,
            0.0,
            "one frame: the start"
        );
        let between = path.camera(1, 7, 1.0).position.x;
        assert!(between > 0.0 && between < 2.0);
    }

    #[test]
    fn turning_is_per_frame() {
        let mut path = path(&[0.0]);
        path.turn = 1.0;
        let forward = path.camera(90, 10, 1.0).forward();
        assert!((forward - Vec3::NEG_X).length() < 1e-5, "{forward}");
        assert_eq!(path.camera(5, 10, 2.0).lens.aspect, 2.0);
    }
}
