//! The two standard workloads, made by fixed recipes.

use super::{Instance, instance_colour};
use crate::math::{Affine, Pcg32};
use glam::{Mat3, Quat, Vec3};

/// `cloud`: meshes strewn evenly in a cube, each turned about +Y.
///
/// Instance `i` uses mesh `i mod n`. From one [`Pcg32`] per instance, in this order: yaw (0 to 360 degrees), x, y, z
/// (each within half the edge of 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cloud {
    /// Number of instances.
    pub instances: u32,
    /// Edge of the cube round the origin, world units.
    pub edge: f32,
    /// State that the random numbers start from.
    pub seed: u64,
}

impl Default for Cloud {
    fn default() -> Self {
        Self {
            instances: 100_000,
            edge: 100.0,
            seed: Self::SEED,
        }
    }
}

impl Cloud {
    /// The seed unless another is asked for.
    pub const SEED: u64 = 0x1234_5678;

    /// The instances, for `meshes` meshes. None when there are no meshes.
    #[must_use]
    pub fn generate(&self, meshes: u32) -> Vec<Instance> {
        if meshes == 0 {
            return Vec::new();
        }
        let mut random = Pcg32::new(self.seed);
        let half = self.edge * 0.5;
        (0..self.instances)
            .map(|index| {
                let mesh = index % meshes;
                let rotation = Mat3::from_rotation_y(random.range(0.0, std::f32::consts::TAU));
                let position = Vec3::new(
                    random.range(-half, half),
                    random.range(-half, half),
                    random.range(-half, half),
                );
                let transform = Affine::from_mat3_translation(rotation, position);
                Instance::new(transform, mesh, instance_colour(index, mesh))
            })
            .collect()
    }
}

/// `field`: a very large number of turned and scaled meshes in a cube.
///
/// From one [`Pcg32`] per instance, in this order: mesh (32 bits modulo the number of meshes), x, y, z (each uniform in
/// `-extent..extent`), scale (2 to 4), the axis (three values in -1..1, drawn **z, y, x**, then normalised), the angle
/// (0 to 90 degrees).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Number of instances.
    pub instances: u32,
    /// Half the cube's edge, world units.
    pub extent: f32,
    /// State that the random numbers start from.
    pub seed: u64,
}

impl Default for Field {
    fn default() -> Self {
        Self {
            instances: 1_000_000,
            extent: 300.0,
            seed: Self::SEED,
        }
    }
}

impl Field {
    /// The seed unless another is asked for.
    pub const SEED: u64 = 0x42;
    /// Bounding radius that meshes are brought to (`impel_geometry::Settings::normalise_radius`) for the standard workload.
    pub const MESH_RADIUS: f32 = 0.597_893;

    /// The instances, for `meshes` meshes. None when there are no meshes.
    #[must_use]
    pub fn generate(&self, meshes: u32) -> Vec<Instance> {
        if meshes == 0 {
            return Vec::new();
        }
        let mut random = Pcg32::new(self.seed);
        (0..self.instances)
            .map(|index| {
                let placement = self.place(&mut random, meshes);
                Instance::new(
                    placement.transform(),
                    placement.mesh,
                    instance_colour(index, placement.mesh),
                )
            })
            .collect()
    }

    fn place(&self, random: &mut Pcg32, meshes: u32) -> Placement {
        let mesh = random.next_u32() % meshes;
        let mut coordinate = || random.next_f32() * self.extent * 2.0 - self.extent;
        let position = Vec3::new(coordinate(), coordinate(), coordinate());
        let scale = (random.next_f32() + 1.0) * 2.0;
        let mut component = || random.next_f32() * 2.0 - 1.0;
        let (z, y, x) = (component(), component(), component());
        let axis = Vec3::new(x, y, z).try_normalize().unwrap_or(Vec3::Y);
        let half_angle = (random.next_f32() * 90.0).to_radians() * 0.5;
        let rotation = Quat::from_vec4((axis * half_angle.sin()).extend(half_angle.cos()));
        Placement {
            mesh,
            position,
            scale,
            rotation,
        }
    }
}

/// What the recipe of [`Field`] gives for one instance.
struct Placement {
    mesh: u32,
    position: Vec3,
    scale: f32,
    rotation: Quat,
}

impl Placement {
    fn transform(&self) -> Affine {
        Affine::from_scale_rotation_translation(
            Vec3::splat(self.scale),
            self.rotation,
            self.position,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(
        clippy::excessive_precision,
        reason = "the figures as they were published"
    )]
    fn field_follows_the_recipe() {
        let mut random = Pcg32::new(Field::SEED);
        let expected = [
            (
                [-199.855_133, 264.004_272, 221.047_485],
                2.125_675,
                [0.483_877, 0.282_080, -0.253_034, 0.788_839],
            ),
            (
                [256.280_457, -60.903_549, 282.520_142],
                3.019_223,
                [-0.023_734, -0.072_244, 0.058_485, 0.995_388],
            ),
        ];
        for (position, scale, rotation) in expected {
            let placement = Field::default().place(&mut random, 1);
            let close = |a: f32, b: f32| (a - b).abs() <= 1e-5;
            let (p, q) = (placement.position.to_array(), placement.rotation.to_array());
            assert!(p.iter().zip(position).all(|(&a, b)| a == b), "{p:?}");
            assert!(close(placement.scale, scale), "{}", placement.scale);
            assert!(q.iter().zip(rotation).all(|(&a, b)| close(a, b)), "{q:?}");
        }
    }

    #[test]
    fn cloud_fills_its_cube() {
        let cloud = Cloud {
            instances: 3000,
            ..Cloud::default()
        };
        let instances = cloud.generate(3);
        assert_eq!(instances.len(), 3000);
        let mut sum = Vec3::ZERO;
        for (index, instance) in instances.iter().enumerate() {
            assert_eq!(instance.mesh as usize, index % 3);
            let position = instance.transform.translation();
            assert!(position.abs().max_element() <= 50.0);
            assert!((instance.scale - 1.0).abs() < 1e-6 && instance.flags == 0);
            sum += position;
        }
        assert!((sum / 3000.0).length() < 3.0);
        assert_eq!(instances, cloud.generate(3), "the same every time");
        assert_ne!(instances, Cloud { seed: 1, ..cloud }.generate(3));
    }
}
