//! With `deterministic`, lists are in order, and pictures repeat byte by byte.

mod common;

use common::{Rig, assert_exact, camera, crowd, settings};
use glam::Vec3;
use impel::math::Camera;
use impel::renderer::{Culling, RasterPath, Settings};
use impel::scene::Scene;

const SIZE: [u32; 2] = [320, 200];

fn scene() -> Scene {
    let mut scene = crowd(5000, 40.0, 61);
    scene.sort_spatially();
    scene
}

fn cameras() -> Vec<Camera> {
    [0.0, 0.0, 5.0, 10.0, 100.0, 100.0]
        .map(|yaw| camera(Vec3::ZERO, yaw, 0.0, SIZE))
        .to_vec()
}

fn with(path: RasterPath, deterministic: bool) -> Settings {
    Settings {
        deterministic,
        ..settings(Culling::ALL, path)
    }
}

#[test]
fn runs_repeat_byte_by_byte() {
    for path in [RasterPath::Hybrid, RasterPath::Mesh, RasterPath::Vertex] {
        let mut rigs = [(); 2].map(|()| Rig::new(scene(), SIZE, with(path, true)));
        for (frame, camera) in cameras().iter().enumerate() {
            let [a, b] = rigs.each_mut().map(|rig| rig.shoot(camera));
            assert!(a.ids == b.ids, "{path:?}, frame {frame}: colours");
            let bits = |depth: &[f32]| depth.iter().map(|d| d.to_bits()).collect::<Vec<_>>();
            assert!(
                bits(&a.depth) == bits(&b.depth),
                "{path:?}, frame {frame}: depths"
            );
            assert_eq!(a.statistics, b.statistics);
            let [a, b] = rigs.each_mut().map(Rig::clusters);
            assert!(a == b, "{path:?}, frame {frame}: lists of clusters");
        }
    }
}

#[test]
fn lists_are_in_order() {
    let mut rig = Rig::new(scene(), SIZE, with(RasterPath::Hybrid, true));
    // In a first frame the late phase draws everything.
    let shot = rig.shoot(&cameras()[0]);
    let clusters = rig.clusters();
    let drawn = shot.statistics.meshlets.drawn as usize;
    let by_compute = clusters[..drawn]
        .windows(2)
        .take_while(|pair| pair[0] < pair[1])
        .count()
        + 1;
    let by_hardware = clusters
        .windows(2)
        .rev()
        .take_while(|pair| pair[1] < pair[0])
        .count()
        + 1;
    assert!(by_compute > 1000, "{by_compute} of {drawn}");
    assert!(
        by_compute + by_hardware >= drawn,
        "{by_compute} + {by_hardware} of {drawn}"
    );
}

#[test]
fn the_order_does_not_change_the_picture() {
    let mut any = Rig::new(scene(), SIZE, with(RasterPath::Hybrid, false));
    let mut fixed = Rig::new(scene(), SIZE, with(RasterPath::Hybrid, true));
    for (frame, camera) in cameras().iter().enumerate() {
        let (a, b) = (any.shoot(camera), fixed.shoot(camera));
        assert_exact(&a, &b, &format!("frame {frame}"));
        assert_eq!(a.statistics, b.statistics);
    }
}
