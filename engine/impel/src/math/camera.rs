//! The camera: where it is, where it looks, and its lens.

use super::{Affine, Frustum};
use glam::{Mat3, Vec3, Vec4};

/// A perspective lens with an infinite far plane and reversed depth.
///
/// Clip coordinates of a view-space point (camera at the origin, looking along -Z) are
/// `(p00 x, p11 y, near, -z)`: depth is `near / -z`, 1 on the near plane and 0 at infinity. With 32-bit floats that
/// spreads precision evenly over distance. Vulkan's downward Y is the shaders' business: [`Lens::p11`] is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Vertical field of view, radians.
    pub fov_y: f32,
    /// Width over height.
    pub aspect: f32,
    /// Distance of the near plane, world units.
    pub near: f32,
    /// Instances and meshlets whose sphere begins beyond this view depth are culled with the frustum, world units;
    /// infinite for none. It does not clip.
    pub draw_distance: f32,
}

impl Default for Lens {
    fn default() -> Self {
        Self {
            fov_y: 45_f32.to_radians(),
            aspect: 16.0 / 9.0,
            near: 0.01,
            draw_distance: f32::INFINITY,
        }
    }
}

impl Lens {
    /// Horizontal scale: `1 / (aspect tan(fov_y / 2))`.
    #[must_use]
    pub fn p00(&self) -> f32 {
        self.p11() / self.aspect
    }

    /// Vertical scale: `1 / tan(fov_y / 2)`.
    #[must_use]
    pub fn p11(&self) -> f32 {
        1.0 / (self.fov_y * 0.5).tan()
    }

    /// Clip coordinates of a view-space point, Y up.
    #[must_use]
    pub fn clip(&self, view: Vec3) -> Vec4 {
        Vec4::new(self.p00() * view.x, self.p11() * view.y, self.near, -view.z)
    }

    /// Depth of a point `distance` in front of the camera (along its axis, not along the ray).
    #[must_use]
    pub fn depth(&self, distance: f32) -> f32 {
        self.near / distance
    }
}

/// A camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position, world space.
    pub position: Vec3,
    /// Columns are the camera's right, up and backward axes in world space; orthonormal.
    pub orientation: Mat3,
    /// The lens.
    pub lens: Lens,
}

impl Camera {
    /// A camera at `position` that looks along `forward` with +Y up (or +Z where it looks straight up or down).
    #[must_use]
    pub fn looking(position: Vec3, forward: Vec3, lens: Lens) -> Self {
        let backward = -forward.try_normalize().unwrap_or(Vec3::NEG_Z);
        let up = if backward.y.abs() > 0.999_9 {
            Vec3::Z
        } else {
            Vec3::Y
        };
        let right = up.cross(backward).normalize();
        Self {
            position,
            orientation: Mat3::from_cols(right, backward.cross(right), backward),
            lens,
        }
    }

    /// A camera by angles: yaw 0 looks along -Z, positive yaw turns left (towards -X), positive pitch looks up. Degrees.
    #[must_use]
    pub fn by_angles(position: Vec3, yaw: f32, pitch: f32, lens: Lens) -> Self {
        let (yaw, pitch) = (yaw.to_radians(), pitch.to_radians());
        Self {
            position,
            orientation: Mat3::from_rotation_y(yaw) * Mat3::from_rotation_x(pitch),
            lens,
        }
    }

    /// Where it looks, world space, unit length.
    #[must_use]
    pub fn forward(&self) -> Vec3 {
        -self.orientation.z_axis
    }

    /// World space to view space.
    #[must_use]
    pub fn view(&self) -> Affine {
        let rotation = self.orientation.transpose();
        Affine::from_mat3_translation(rotation, -(rotation * self.position))
    }

    /// What it sees, for tests of spheres in view space.
    #[must_use]
    pub fn frustum(&self) -> Frustum {
        Frustum::new(&self.lens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reversed_infinite_depth() {
        let lens = Lens::default();
        for (distance, depth) in [(0.01, 1.0), (1.0, 0.01), (10.0, 0.001)] {
            assert!((lens.depth(distance) - depth).abs() < 1e-9);
            let clip = lens.clip(Vec3::new(0.0, 0.0, -distance));
            assert!((clip.z / clip.w - depth).abs() < 1e-9);
        }
    }

    #[test]
    fn scales_at_45_degrees_and_16_to_9() {
        let lens = Lens::default();
        assert!((lens.p00() - 1.357_995_1).abs() < 1e-6, "{}", lens.p00());
        assert!((lens.p11() - 2.414_213_6).abs() < 1e-6, "{}", lens.p11());
    }

    #[test]
    fn angles_and_directions_agree() {
        let lens = Lens::default();
        let position = Vec3::new(1.0, 2.0, 3.0);
        for (yaw, pitch, forward) in [
            (0.0, 0.0, Vec3::NEG_Z),
            (-90.0, 0.0, Vec3::X),
            (90.0, 0.0, Vec3::NEG_X),
            (0.0, 45.0, Vec3::new(0.0, 1.0, -1.0).normalize()),
        ] {
            let camera = Camera::by_angles(position, yaw, pitch, lens);
            assert!((camera.forward() - forward).length() < 1e-6);
            let looking = Camera::looking(position, forward, lens);
            assert!((looking.orientation.x_axis - camera.orientation.x_axis).length() < 1e-6);
            let ahead = camera.view().transform_point(position + forward * 5.0);
            assert!((ahead - Vec3::new(0.0, 0.0, -5.0)).length() < 1e-5);
        }
        let down = Camera::looking(position, Vec3::NEG_Y, lens);
        assert!(
            (down.orientation.determinant() - 1.0).abs() < 1e-6 && down.orientation.is_finite()
        );
    }
}
