//! Projection of bounding spheres to the screen.

use super::Lens;
use glam::{Vec2, Vec3};

/// Where a sphere lies on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenBox {
    /// Upper left corner: (0, 0) is the screen's upper left, (1, 1) its lower right; may lie outside.
    pub min: Vec2,
    /// Lower right corner.
    pub max: Vec2,
    /// Depth of the sphere's nearest point (reversed: the largest depth that anything in it can have).
    pub depth: f32,
}

/// The tight box of a sphere's outline on the screen, or `None` when it reaches the near plane (then treat it as visible).
///
/// `centre` in view space (camera at the origin, looking along -Z). Method: Mara and McGuire, "2D Polyhedral Bounds of a
/// Clipped, Perspective-Projected 3D Sphere" (JCGT 2013). Twin: `project_sphere` in `culling.glsl`.
///
/// Rounding is no danger to conservativeness: something is visible only if it covers a pixel's centre, half a pixel
/// from the pixel's edge, while the box is off by less than a hundredth of a pixel even at 16384 pixels across.
#[must_use]
pub fn project_sphere(centre: Vec3, radius: f32, lens: &Lens) -> Option<ScreenBox> {
    let depth = -centre.z;
    if depth < radius + lens.near {
        return None;
    }
    // The tangents from the camera to the circle (a, depth), radius: slopes of the two touching rays.
    let slopes = |a: f32| {
        let tangent = (a * a + (depth * depth - radius * radius)).sqrt();
        let low = (tangent * a - depth * radius) / (tangent * depth + a * radius);
        let high = (tangent * a + depth * radius) / (tangent * depth - a * radius);
        (low, high)
    };
    let (x_low, x_high) = slopes(centre.x);
    let (y_low, y_high) = slopes(centre.y);
    let (p00, p11) = (lens.p00(), lens.p11());
    Some(ScreenBox {
        min: Vec2::new(x_low * p00 * 0.5 + 0.5, 0.5 - y_high * p11 * 0.5),
        max: Vec2::new(x_high * p00 * 0.5 + 0.5, 0.5 - y_low * p11 * 0.5),
        depth: lens.near / (depth - radius),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pcg32;

    #[test]
    fn known_box() {
        let lens = Lens::default();
        let found = project_sphere(Vec3::new(0.0, 0.0, -10.0), 1.0, &lens).unwrap();
        let expected = [0.43176, 0.37868, 0.56824, 0.62132];
        for (a, b) in [found.min.x, found.min.y, found.max.x, found.max.y]
            .into_iter()
            .zip(expected)
        {
            assert!((a - b).abs() < 5e-6, "{a} {b}");
        }
        assert!((found.depth - 0.01 / 9.0).abs() < 1e-9);
        assert_eq!(project_sphere(Vec3::new(0.0, 0.0, -1.0), 1.0, &lens), None);
    }

    /// Points of the ball project into the box, the box is tight, and their depth is never nearer than the box's.
    #[test]
    fn contains_every_point_and_is_tight() {
        let mut random = Pcg32::new(21);
        let mut tested = 0;
        for _ in 0..3000 {
            let lens = Lens {
                fov_y: random.range(0.3, 2.2),
                aspect: random.range(0.3, 3.0),
                near: 0.05,
                ..Lens::default()
            };
            let centre = Vec3::new(
                random.range(-20.0, 20.0),
                random.range(-20.0, 20.0),
                random.range(-40.0, 1.0),
            );
            let radius = random.range(0.01, 4.0);
            let Some(found) = project_sphere(centre, radius, &lens) else {
                assert!(-centre.z < radius + lens.near);
                continue;
            };
            tested += 1;
            let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
            for _ in 0..400 {
                let p = centre + random.unit_vector() * radius;
                let clip = lens.clip(p);
                let uv = Vec2::new(clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5);
                low = low.min(uv);
                high = high.max(uv);
                assert!(clip.z / clip.w <= found.depth * 1.000_01);
            }
            let slack = 1e-5 * (1.0 + found.max.abs().max(found.min.abs()).max_element());
            assert!(
                low.cmpge(found.min - slack).all() && high.cmple(found.max + slack).all(),
                "{found:?} {low} {high}"
            );
            let size = found.max - found.min;
            assert!(
                (low - found.min).cmple(size * 0.5).all()
                    && (found.max - high).cmple(size * 0.5).all()
            );
        }
        assert!(tested > 1500);
    }
}
