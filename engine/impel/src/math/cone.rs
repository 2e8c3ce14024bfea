//! Back-face culling of whole meshlets by their normal cone.

use glam::Vec3;

/// Whether every triangle of a meshlet faces away from the camera. All arguments in **object space**.
///
/// `dot(c - camera, axis) >= cutoff * |c - camera| + r`: the form with the sphere's centre and radius, which needs no
/// apex. In object space, with the camera brought there by the inverse of the instance's transform, it holds for every
/// invertible affine transform: which side of a plane a point lies on does not change under such a map. Mirrored
/// instances need no special case, because the renderer flips their winding so that the outside stays the outside.
#[must_use]
pub fn cone_culled(centre: Vec3, radius: f32, axis: Vec3, cutoff: f32, camera: Vec3) -> bool {
    let to_centre = centre - camera;
    to_centre.dot(axis) >= cutoff * to_centre.length() + radius
}

/// Axis and cutoff of a packed cone: four signed bytes, each times 127.
#[must_use]
pub fn unpack_cone(cone: [i8; 4]) -> (Vec3, f32) {
    let [x, y, z, cutoff] = cone.map(|value| f32::from(value) / 127.0);
    (Vec3::new(x, y, z), cutoff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Affine, Pcg32};
    use glam::{Mat3, Quat};

    #[test]
    fn rule_counts_the_radius() {
        let cull = |z: f32| cone_culled(Vec3::ZERO, 1.0, Vec3::Z, 0.5, Vec3::new(0.0, 0.0, z));
        assert!(!cull(-0.9), "inside the sphere: never culled");
        assert!(cull(-3.0), "3 >= 0.5 * 3 + 1");
        assert!(!cull(-1.9), "1.9 < 0.5 * 1.9 + 1");
        assert!(!cull(3.0), "in front of it");
    }

    #[test]
    fn no_cone_is_never_culled() {
        let (axis, cutoff) = unpack_cone([0, 0, 0, 127]);
        assert_eq!((axis, cutoff), (Vec3::ZERO, 1.0));
        let mut random = Pcg32::new(3);
        for _ in 0..1000 {
            let camera = random.unit_vector() * random.range(0.0, 100.0);
            assert!(!cone_culled(Vec3::ZERO, 0.5, axis, cutoff, camera));
        }
    }

    /// Random triangles with a brute-force cone, under random affine transforms with shear and mirrors: a culled cluster
    /// has no triangle whose (winding-corrected) front faces the camera in world space.
    #[test]
    fn culled_clusters_have_no_front_face_under_any_affine_transform() {
        let mut random = Pcg32::new(4);
        let mut culled = 0;
        for round in 0..4000 {
            let facing = random.unit_vector();
            let triangles: Vec<[Vec3; 3]> = (0..8)
                .map(|_| {
                    let normal = (facing + random.unit_vector() * 0.4).normalize();
                    let turn = Quat::from_rotation_arc(Vec3::Z, normal);
                    let middle = random.unit_vector() * 0.5;
                    [
                        Vec3::new(0.2, 0.0, 0.0),
                        Vec3::new(-0.1, 0.2, 0.0),
                        Vec3::new(-0.1, -0.2, 0.0),
                    ]
                    .map(|corner| middle + turn * corner)
                })
                .collect();
            let normals: Vec<Vec3> = triangles
                .iter()
                .map(|t| (t[1] - t[0]).cross(t[2] - t[0]).normalize())
                .collect();
            let axis = normals.iter().sum::<Vec3>().normalize();
            let least = normals.iter().map(|n| n.dot(axis)).fold(1.0, f32::min);
            let cutoff = (1.0 - least * least).sqrt();
            let radius = triangles
                .iter()
                .flatten()
                .map(|p| p.length())
                .fold(0.0, f32::max);

            let linear = Mat3::from_cols_array(&std::array::from_fn(|_| random.range(-1.5, 1.5)));
            if linear.determinant().abs() < 0.05 {
                continue;
            }
            let affine = Affine::from_mat3_translation(linear, random.unit_vector() * 3.0);
            let camera = random.unit_vector() * random.range(0.5, 12.0);
            let object_camera = affine.inverse().unwrap().transform_point(camera);
            if least > 0.0 && cone_culled(Vec3::ZERO, radius, axis, cutoff, object_camera) {
                culled += 1;
                for t in &triangles {
                    let mut p = t.map(|corner| affine.transform_point(corner));
                    if affine.is_mirrored() {
                        p.swap(1, 2);
                    }
                    let normal = (p[1] - p[0]).cross(p[2] - p[0]);
                    assert!(
                        normal.dot(camera - p[0]) <= 1e-4,
                        "round {round}: a front face was culled"
                    );
                }
            }
        }
        assert!(culled > 300, "{culled}: the test must see culled clusters");
    }
}
