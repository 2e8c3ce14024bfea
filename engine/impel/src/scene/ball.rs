//! Meshes packed in a ball: a measure of raster alone.

use super::{Instance, instance_colour};
use crate::math::{Affine, Pcg32};
use glam::{Quat, Vec3};

/// `ball`: meshes of one scale, turned at random, evenly strewn in a ball.
///
/// Instance `i` uses mesh `i mod n`. From one [`Pcg32`] per instance, in this order: x, y, z in -1..1 until they lie in
/// the unit ball, the axis (a unit vector), the angle (0 to 360 degrees).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Number of instances.
    pub instances: u32,
    /// Centre, world space.
    pub centre: Vec3,
    /// Radius that instances' origins lie in, world units.
    pub radius: f32,
    /// Scale of all of them.
    pub scale: f32,
    /// State that the random numbers start from.
    pub seed: u64,
}

impl Ball {
    /// The instances, for `meshes` meshes. None when there are no meshes.
    #[must_use]
    pub fn generate(&self, meshes: u32) -> Vec<Instance> {
        if meshes == 0 {
            return Vec::new();
        }
        let mut random = Pcg32::new(self.seed);
        (0..self.instances)
            .map(|index| {
                let mesh = index % meshes;
                let place = loop {
                    let mut coordinate = || random.range(-1.0, 1.0);
                    let place = Vec3::new(coordinate(), coordinate(), coordinate());
                    if place.length_squared() <= 1.0 {
                        break place;
                    }
                };
                let axis = random.unit_vector();
                let rotation =
                    Quat::from_axis_angle(axis, random.range(0.0, std::f32::consts::TAU));
                let transform = Affine::from_scale_rotation_translation(
                    Vec3::splat(self.scale),
                    rotation,
                    self.centre + place * self.radius,
                );
                Instance::new(transform, mesh, instance_colour(index, mesh))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ball_is_filled_and_not_left() {
        let centre = Vec3::new(0.0, 0.0, -150.0);
        let ball = Ball {
            instances: 2000,
            centre,
            radius: 30.0,
            scale: 5.5,
            seed: 1,
        };
        let instances = ball.generate(1);
        let distances = instances
            .iter()
            .map(|instance| instance.transform.translation().distance(centre));
        let farthest = distances.fold(0.0, f32::max);
        assert!(farthest <= 30.001 && farthest > 28.0, "{farthest}");
        assert!(instances.iter().all(|i| (i.scale - 5.5).abs() < 1e-4));
        assert_eq!(instances, ball.generate(1), "the same every time");
        assert!(ball.generate(0).is_empty());
    }
}
