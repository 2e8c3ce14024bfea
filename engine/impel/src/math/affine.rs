//! Affine transforms as three rows of four: what instances and views are on the GPU.

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Quat, Vec3};

/// An affine transform, row-major 3x4: `p' = rows[i].xyz . p + rows[i].w`. 48 bytes, as the GPU reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Affine {
    /// The rows; the fourth column is the translation.
    pub rows: [[f32; 4]; 3],
}

impl Default for Affine {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Affine {
    /// Leaves points where they are.
    pub const IDENTITY: Self = Self {
        rows: [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };

    /// From a linear part and a translation.
    #[must_use]
    pub fn from_mat3_translation(linear: Mat3, translation: Vec3) -> Self {
        let row = |i: usize| {
            let r = linear.row(i);
            [r.x, r.y, r.z, translation[i]]
        };
        Self {
            rows: [row(0), row(1), row(2)],
        }
    }

    /// Scale along the axes (negative values mirror), then rotation, then translation.
    #[must_use]
    pub fn from_scale_rotation_translation(scale: Vec3, rotation: Quat, translation: Vec3) -> Self {
        Self::from_mat3_translation(
            Mat3::from_quat(rotation) * Mat3::from_diagonal(scale),
            translation,
        )
    }

    /// The linear part.
    #[must_use]
    pub fn linear(&self) -> Mat3 {
        let [a, b, c] = self.rows;
        Mat3::from_cols(
            Vec3::new(a[0], b[0], c[0]),
            Vec3::new(a[1], b[1], c[1]),
            Vec3::new(a[2], b[2], c[2]),
        )
    }

    /// The translation.
    #[must_use]
    pub fn translation(&self) -> Vec3 {
        Vec3::new(self.rows[0][3], self.rows[1][3], self.rows[2][3])
    }

    /// `self` after `first`.
    #[must_use]
    pub fn after(&self, first: &Self) -> Self {
        Self::from_mat3_translation(
            self.linear() * first.linear(),
            self.transform_point(first.translation()),
        )
    }

    /// Transforms a point. The order of operations is that of `transform_point` in the shaders.
    #[must_use]
    pub fn transform_point(&self, p: Vec3) -> Vec3 {
        let row = |r: [f32; 4]| ((r[0] * p.x + r[1] * p.y) + r[2] * p.z) + r[3];
        Vec3::new(row(self.rows[0]), row(self.rows[1]), row(self.rows[2]))
    }

    /// The inverse, or `None` where there is none that 32-bit floats can hold.
    #[must_use]
    pub fn inverse(&self) -> Option<Self> {
        let inverse = self.linear().inverse();
        let translation = -(inverse * self.translation());
        (inverse.is_finite() && translation.is_finite())
            .then(|| Self::from_mat3_translation(inverse, translation))
    }

    /// Whether it turns a left hand into a right one, and so the winding of triangles.
    #[must_use]
    pub fn is_mirrored(&self) -> bool {
        self.linear().determinant() < 0.0
    }

    /// A factor by which no length grows more: what bounding radii and LOD errors are multiplied by.
    ///
    /// For rotations with any scale along the object's axes it is the longest column. Under shear the longest column
    /// would be too short; the bound here (Gershgorin's on `Mᵀ M`, whose largest eigenvalue is the square of the largest
    /// stretch) is right for every matrix.
    #[must_use]
    pub fn largest_stretch(&self) -> f32 {
        let m = self.linear();
        let gram = m.transpose() * m;
        let row_sum = |i: usize| {
            let r = gram.row(i);
            r.x.abs() + r.y.abs() + r.z.abs()
        };
        row_sum(0).max(row_sum(1)).max(row_sum(2)).sqrt()
    }

    /// Whether all twelve numbers are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.rows.iter().flatten().all(|value| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pcg32;

    fn random_matrix(random: &mut Pcg32) -> Mat3 {
        Mat3::from_cols_array(&std::array::from_fn(|_| random.range(-2.0, 2.0)))
    }

    #[test]
    fn largest_stretch_bounds_every_direction() {
        let mut random = Pcg32::new(7);
        let mut loosest = 1.0_f32;
        for _ in 0..1000 {
            let affine = Affine::from_mat3_translation(random_matrix(&mut random), Vec3::ZERO);
            let bound = affine.largest_stretch();
            let mut longest = 0.0_f32;
            for _ in 0..200 {
                longest = longest.max((affine.linear() * random.unit_vector()).length());
            }
            assert!(longest <= bound * 1.000_001, "{longest} > {bound}");
            loosest = loosest.max(bound / longest);
        }
        assert!(loosest < 2.0, "{loosest}");
    }

    #[test]
    fn largest_stretch_is_the_longest_column_without_shear() {
        let rotation = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 1.1, -0.7);
        let affine =
            Affine::from_scale_rotation_translation(Vec3::new(0.5, -3.0, 2.0), rotation, Vec3::ONE);
        assert!((affine.largest_stretch() - 3.0).abs() < 1e-5);
        assert!(affine.is_mirrored());
        let shear = Affine {
            rows: [
                [1.0, 1.0, 0.0, 0.0],
                [0.0, 0.01, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0],
            ],
        };
        assert!(
            shear.largest_stretch() >= 2.0_f32.sqrt(),
            "the longest column has length 1 only"
        );
    }

    #[test]
    fn inverse_and_composition() {
        let mut random = Pcg32::new(8);
        for _ in 0..200 {
            let a = Affine::from_mat3_translation(
                random_matrix(&mut random),
                random.unit_vector() * 5.0,
            );
            let b = Affine::from_mat3_translation(
                random_matrix(&mut random),
                random.unit_vector() * 5.0,
            );
            let p = random.unit_vector();
            let (left, right) = (
                a.after(&b).transform_point(p),
                a.transform_point(b.transform_point(p)),
            );
            assert!((left - right).length() < 1e-4);
            if a.linear().determinant().abs() > 0.1 {
                let back = a.inverse().unwrap().transform_point(a.transform_point(p));
                assert!((back - p).length() < 1e-3);
            }
        }
        assert!(
            Affine {
                rows: [[0.0; 4]; 3]
            }
            .inverse()
            .is_none()
        );
    }
}
