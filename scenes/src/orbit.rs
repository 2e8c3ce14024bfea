//! Where a camera must stand to see the whole of a thing.

use impel::app::OrbitView;
use impel::math::Camera;
use impel::scene::{CameraKey, CameraPath, Scene};

/// Degrees from which a thing is seen first.
const YAW: f32 = 35.0;
const PITCH: f32 = -20.0;

/// A sphere around all instances; `None` for a scene without any.
pub(crate) fn bounds(scene: &Scene) -> Option<OrbitView> {
    let spheres: Vec<_> = scene
        .instances
        .iter()
        .filter_map(|instance| {
            let mesh = scene.meshes.get(instance.mesh as usize)?;
            let centre = instance
                .transform
                .transform_point(mesh.bounds.centre.into());
            Some((centre, mesh.bounds.radius * instance.scale))
        })
        .collect();
    let count = spheres.len().max(1) as f32;
    let centre = spheres
        .iter()
        .map(|(centre, _)| *centre)
        .sum::<impel::glam::Vec3>()
        / count;
    let radius = spheres
        .iter()
        .map(|(at, radius)| (*at - centre).length() + radius)
        .fold(0.0_f32, f32::max);
    (radius > 0.0).then_some(OrbitView { centre, radius })
}

/// The camera from which all of it is seen, with some room around, in a picture that is wider than high.
pub(crate) fn framed(view: &OrbitView, path: &CameraPath) -> CameraKey {
    let distance = view.radius * 1.1 / (path.lens.fov_y * 0.5).sin();
    let looking = Camera::by_angles(view.centre, YAW, PITCH, path.lens);
    CameraKey {
        position: view.centre - looking.forward() * distance,
        yaw: YAW,
        pitch: PITCH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use impel::glam::Vec3;
    use impel::math::Lens;

    #[test]
    fn everything_is_in_view() {
        let view = OrbitView {
            centre: Vec3::new(3.0, -2.0, 5.0),
            radius: 7.0,
        };
        let path = CameraPath {
            keys: Vec::new(),
            turn: 0.0,
            lens: Lens::default(),
        };
        let key = framed(&view, &path);
        let camera = Camera::by_angles(key.position, key.yaw, key.pitch, path.lens);
        let centre = camera.view().transform_point(view.centre);
        assert!(centre.x.abs() < 1e-4 && centre.y.abs() < 1e-4, "{centre}");
        // The sphere's rim under the upper edge of the picture.
        let half = (view.radius / -centre.z).asin();
        assert!(half < path.lens.fov_y * 0.5 && half > path.lens.fov_y * 0.4);
    }
}
