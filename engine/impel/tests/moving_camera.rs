//! A camera that flies, turns on the spot and dollies: whatever is switched on or off, each frame is the same.

mod common;

use common::{Rig, Shot, assert_cross_raster, assert_exact, camera, covered, crowd, settings};
use glam::Vec3;
use impel::math::{Camera, LodMode};
use impel::renderer::{Culling, RasterPath, Settings};
use impel::scene::Scene;

const SIZE: [u32; 2] = [97, 61];

fn scene() -> Scene {
    let mut scene = crowd(260, 9.0, 91);
    scene.moving = 30;
    scene.sort_spatially();
    scene
}

/// Sixty frames through the crowd, with a snap turn by 90 degrees at frame 30.
fn flight() -> Vec<Camera> {
    let frame = |frame: i32| {
        let t = frame as f32 / 59.0;
        let position = Vec3::new(t * 8.0 - 4.0, (t * 6.0).sin(), 4.0 - t * 7.0);
        let yaw = t * 70.0 + if frame >= 30 { 90.0 } else { 0.0 };
        camera(position, yaw, (t * 9.0).sin() * 12.0, SIZE)
    };
    (0..60).map(frame).collect()
}

/// Every stage on and off beside every other, in eight rows: a, b, c, whether a is b, whether a is c.
fn pairs() -> [Culling; 8] {
    [24, 1, 18, 11, 12, 21, 6, 31].map(|bits: u32| {
        let mut culling = Culling::NONE;
        for (index, (_, on)) in culling.stages().into_iter().enumerate() {
            *on = bits >> index & 1 != 0;
        }
        culling
    })
}

#[test]
fn rows_cover_all_pairs() {
    let rows = pairs().map(|mut culling| culling.stages().map(|(_, on)| *on));
    for a in 0..5 {
        for b in a + 1..5 {
            for wanted in [(false, false), (false, true), (true, false), (true, true)] {
                let covered = rows.iter().any(|row| (row[a], row[b]) == wanted);
                assert!(covered, "stages {a} and {b}: {wanted:?}");
            }
        }
    }
}

/// Renders a flight, from a first frame on.
fn fly(rig: &mut Rig, cameras: &[Camera], settings: Settings) -> Vec<Shot> {
    rig.renderer.forget();
    rig.renderer.settings = settings;
    let mut shots = Vec::new();
    for (frame, camera) in cameras.iter().enumerate() {
        rig.renderer.settings.spin = frame as f32 * 0.1;
        shots.push(rig.shoot(camera));
    }
    shots
}

#[test]
fn sixty_frames_over_all_pairs_of_switches() {
    let cameras = flight();
    let mut rig = Rig::new(scene(), SIZE, settings(Culling::NONE, RasterPath::Vertex));
    let plain = fly(
        &mut rig,
        &cameras,
        settings(Culling::NONE, RasterPath::Hybrid),
    );
    assert!(plain.iter().all(|shot| covered(shot) > 300));
    for (row, culling) in pairs().into_iter().enumerate() {
        let settings = Settings {
            // Switches that must not matter go along.
            deterministic: row % 2 == 1,
            single_dispatch_hzb: row % 3 != 0,
            mesh_shaders: row % 4 == 0,
            ..settings(culling, RasterPath::Hybrid)
        };
        let shots = fly(&mut rig, &cameras, settings);
        for (frame, (a, b)) in plain.iter().zip(&shots).enumerate() {
            let what = format!("{culling:?}, frame {frame}");
            match settings.mesh_shaders {
                false => assert_cross_raster(a, b, &what),
                true => assert_exact(a, b, &what),
            }
        }
    }
    // The other paths, everything on.
    for path in [RasterPath::Mesh, RasterPath::Task, RasterPath::Vertex] {
        let shots = fly(&mut rig, &cameras, settings(Culling::ALL, path));
        for (frame, (a, b)) in plain.iter().zip(&shots).enumerate() {
            assert_cross_raster(a, b, &format!("{path:?}, frame {frame}"));
        }
    }
}

/// From close by to far away, through all levels of detail, and back: nothing blinks.
#[test]
fn dolly_through_all_levels() {
    let size = [161, 121];
    let scene = crowd(60, 2.5, 92);
    let lod = LodMode::Distance {
        base: 4.0,
        step: 1.6,
    };
    let with = |culling| Settings {
        lod,
        ..settings(culling, RasterPath::Hybrid)
    };
    let mut plain = Rig::new(scene.clone(), size, with(Culling::NONE));
    let mut culled = Rig::new(scene, size, with(Culling::ALL));
    let mut levels = [0; 8];
    for frame in 0..40 {
        let t = 1.0 - (frame as f32 / 19.5 - 1.0).abs();
        let camera = camera(Vec3::new(0.3, 0.2, 3.0 + t * 110.0), 0.0, 0.0, size);
        let (a, b) = (plain.shoot(&camera), culled.shoot(&camera));
        assert_exact(&a, &b, &format!("frame {frame}"));
        for (level, drawn) in levels.iter_mut().zip(a.statistics.lod_histogram) {
            *level += drawn;
        }
    }
    // Small meshes have few levels; all there are must come up.
    assert!(
        levels.iter().filter(|&&drawn| drawn > 0).count() >= 4,
        "{levels:?}"
    );
}
