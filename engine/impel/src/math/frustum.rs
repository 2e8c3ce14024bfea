//! The frustum test of bounding spheres.

use super::Lens;
use glam::Vec3;

/// A symmetric view frustum, for spheres in view space (camera at the origin, looking along -Z).
///
/// By symmetry the four side planes are two tests on `|x|` and `|y|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    /// Inward normal of the right-hand plane as (weight of `|x|`, weight of depth), unit length.
    pub x: [f32; 2],
    /// Inward normal of the upper plane as (weight of `|y|`, weight of depth), unit length.
    pub y: [f32; 2],
    /// Near plane, world units.
    pub near: f32,
    /// Draw distance, world units; infinite for none.
    pub draw_distance: f32,
}

impl Frustum {
    /// The frustum of a lens.
    #[must_use]
    pub fn new(lens: &Lens) -> Self {
        let plane = |scale: f32| {
            let length = (scale * scale + 1.0).sqrt();
            [scale / length, 1.0 / length]
        };
        Self {
            x: plane(lens.p00()),
            y: plane(lens.p11()),
            near: lens.near,
            draw_distance: lens.draw_distance,
        }
    }

    /// Whether a sphere may be seen. `centre` in view space. Twins: `frustum_visible` and `near_enough` in `culling.glsl`.
    ///
    /// The draw distance is no side of the frustum: it decides what is there to be drawn, so it goes for whole instances
    /// and whatever culling is switched off.
    ///
    /// Rounding moves the outcome only for spheres within some 1e-6 of their distance from a plane, far less than the half
    /// pixel between a plane and the nearest pixel's centre: what is culled covers no pixel.
    #[must_use]
    pub fn sees_sphere(&self, centre: Vec3, radius: f32) -> bool {
        let depth = -centre.z;
        depth * self.x[1] - centre.x.abs() * self.x[0] > -radius
            && depth * self.y[1] - centre.y.abs() * self.y[0] > -radius
            && depth + radius > self.near
            && depth - radius < self.draw_distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pcg32;

    /// Brute force: when any sampled point of the ball is inside the frustum, the ball must be seen; when the ball is
    /// culled, no sampled point may be inside.
    #[test]
    fn agrees_with_point_sampling() {
        let mut random = Pcg32::new(11);
        let (mut seen, mut culled, mut needless) = (0, 0, 0);
        for _ in 0..4000 {
            let lens = Lens {
                fov_y: random.range(0.3, 2.0),
                aspect: random.range(0.3, 3.0),
                near: random.range(0.01, 1.0),
                draw_distance: if random.next_f32() < 0.5 {
                    f32::INFINITY
                } else {
                    random.range(5.0, 30.0)
                },
            };
            let frustum = Frustum::new(&lens);
            let centre = random.unit_vector() * random.range(0.0, 20.0);
            let radius = random.range(0.01, 3.0);
            let inside = |p: Vec3| {
                let clip = lens.clip(p);
                clip.w >= lens.near
                    && clip.x.abs() <= clip.w
                    && clip.y.abs() <= clip.w
                    && -p.z <= lens.draw_distance
            };
            let hit = (0..300)
                .any(|_| inside(centre + random.unit_vector() * radius * random.next_f32().cbrt()));
            if frustum.sees_sphere(centre, radius) {
                seen += 1;
                needless += u32::from(!hit);
            } else {
                culled += 1;
                assert!(!hit, "a visible ball was culled");
            }
        }
        assert!(seen > 500 && culled > 500, "{seen} seen, {culled} culled");
        assert!(
            needless < seen / 4,
            "{needless} of {seen} were kept without need"
        );
    }
}
