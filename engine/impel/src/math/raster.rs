//! Which clusters the compute rasteriser takes.

use super::Lens;
use crate::config::RASTER_REACH;
use glam::{Vec2, Vec3};

/// Whether every triangle of a cluster lies in front of the near plane, within [`RASTER_REACH`] pixels of the picture's
/// middle, and is at most `threshold` pixels wide and high, as far as its bounds tell. Twin: `all_small` in `clusters.comp`.
///
/// The bounds: a sphere (view space), and the longest edge of its triangles (world units). For two points at depths `z1`
/// and `z2`, at most `L` apart, the slopes `x/z` differ by `(x1 - x2) / z1 + (x2 / z2) (z2 - z1) / z1`: at most
/// `L sqrt(1 + slope^2) / nearest`.
#[must_use]
pub fn compute_raster_takes(
    centre: Vec3,
    radius: f32,
    edge: f32,
    lens: &Lens,
    size: [u32; 2],
    threshold: f32,
) -> bool {
    let nearest = -centre.z - radius;
    // False for what is not a number, too.
    let in_front = nearest > lens.near * 1.001;
    if threshold <= 0.0 || !in_front {
        return false;
    }
    let pixels =
        Vec2::new(lens.p00(), lens.p11()) * 0.5 * Vec2::new(size[0] as f32, size[1] as f32);
    let slope = (centre.truncate().abs() + radius) / nearest;
    let stretch = Vec2::ONE + slope * slope;
    let extent = edge / nearest * Vec2::new(stretch.x.sqrt(), stretch.y.sqrt()) * pixels;
    let reach = slope * pixels;
    extent.max_element() <= threshold && reach.max_element() <= RASTER_REACH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pcg32;

    /// Triangles within the bounds of clusters that are taken: in front, within reach, and no larger than the threshold.
    #[test]
    fn what_is_taken_is_small_and_in_front() {
        let mut random = Pcg32::new(91);
        let (mut taken, mut largest, rounds) = (0, 0.0_f32, 1_000_000);
        for _ in 0..rounds {
            let lens = Lens {
                fov_y: random.range(0.3, 2.4),
                aspect: random.range(0.4, 2.5),
                near: 0.05,
                ..Lens::default()
            };
            let size = [1 + random.next_u32() % 4096, 1 + random.next_u32() % 4096];
            let threshold = random.range(0.5, 64.0);
            let centre = Vec3::new(
                random.range(-30.0, 30.0),
                random.range(-30.0, 30.0),
                random.range(-60.0, 2.0),
            );
            let radius = random.next_f32().powi(2) * 6.0 + 1e-3;
            let mut point = || centre + random.unit_vector() * (radius * random.next_f32());
            let corners = [point(), point(), point()];
            let edge = corners[0]
                .distance(corners[1])
                .max(corners[1].distance(corners[2]))
                .max(corners[2].distance(corners[0]));
            if !compute_raster_takes(centre, radius, edge, &lens, size, threshold) {
                continue;
            }
            taken += 1;
            let pixels = corners.map(|p| {
                let clip = lens.clip(p);
                assert!(clip.w > lens.near && clip.z <= clip.w);
                Vec2::new(clip.x, clip.y) / clip.w * 0.5 * Vec2::new(size[0] as f32, size[1] as f32)
            });
            let low = pixels[0].min(pixels[1]).min(pixels[2]);
            let high = pixels[0].max(pixels[1]).max(pixels[2]);
            let extent = (high - low).max_element();
            assert!(extent <= threshold * 1.001 + 0.01, "{extent} {threshold}");
            let farthest = high.abs().max(low.abs()).max_element();
            assert!(farthest <= RASTER_REACH * 1.001, "{farthest}");
            largest = largest.max(extent / threshold);
        }
        assert!(taken > rounds / 20, "{taken}");
        assert!(largest > 0.9, "the bound is not far off: {largest}");
    }

    #[test]
    fn what_cannot_be_rasterised_is_refused() {
        let lens = Lens::default();
        let takes = |centre: [f32; 3], radius, edge| {
            compute_raster_takes(centre.into(), radius, edge, &lens, [1280, 720], 64.0)
        };
        assert!(takes([0.0, 0.0, -10.0], 0.5, 0.1));
        assert!(!takes([0.0, 0.0, -10.0], 0.5, 1.0), "92 pixels");
        assert!(!takes([0.0, 0.0, -0.4], 0.5, 1e-6), "the camera is inside");
        assert!(!takes([0.0, 0.0, 10.0], 0.5, 1e-6), "behind");
        assert!(!takes([500.0, 0.0, -10.0], 0.5, 1e-6), "far aside");
        assert!(!takes([0.0, 0.0, f32::NAN], 0.5, 1e-6));
        assert!(!takes([0.0, 0.0, -10.0], f32::INFINITY, 1e-6));
        assert!(!compute_raster_takes(
            Vec3::NEG_Z * 10.0,
            0.5,
            0.0,
            &lens,
            [8, 8],
            0.0
        ));
    }
}
