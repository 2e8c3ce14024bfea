//! Early and late phase over several frames, and the hierarchical depth buffer between them.

mod common;

use common::{Rig, camera, crowd, eclipse, settings};
use glam::Vec3;
use impel::math::Hzb;
use impel::renderer::{Culling, RasterPath, Settings};

const SIZE: [u32; 2] = [321, 203];

#[test]
fn first_frame_is_late_and_a_still_camera_leaves_nothing_to_it() {
    let mut rig = Rig::new(
        eclipse(500),
        SIZE,
        settings(Culling::ALL, RasterPath::Vertex),
    );
    let camera = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    let first = rig.shoot(&camera).statistics.instances;
    assert_eq!(
        (first.early, first.occlusion_culled),
        (0, 0),
        "nothing was visible, nothing hides"
    );
    assert!(first.late > 100);
    let second = rig.shoot(&camera).statistics.instances;
    assert_eq!(
        (second.early, second.late),
        (first.late, 0),
        "early draws what frame 1 found"
    );
    let third = rig.shoot(&camera).statistics.instances;
    assert_eq!(third.late, 0);
    assert!(
        third.early < second.early && third.occlusion_culled > 0,
        "now there is depth to hide behind"
    );
    let fourth = rig.shoot(&camera).statistics;
    assert_eq!(fourth.instances, third, "and so it stays");
    assert!(fourth.meshlets.occlusion_culled > 0, "{fourth:?}");
    rig.renderer.forget();
    assert_eq!(
        rig.shoot(&camera).statistics.instances,
        first,
        "after forgetting it is a first frame again"
    );
}

#[test]
fn pyramid_is_the_minimum_of_all_it_covers() {
    // In one dispatch: less than a tile of 64x64, many tiles, and more than one tile of level 6.
    let small = [[1, 1], [3, 7], [321, 203], [256, 64], [129, 255]];
    let single = |size| (size, RasterPath::Hybrid, true);
    let mut cases: Vec<_> = small.map(single).to_vec();
    cases.extend(small.map(|size| (size, RasterPath::Hybrid, false)));
    cases.extend([[321, 203], [64, 1]].map(|size| (size, RasterPath::Vertex, true)));
    cases.extend([[321, 203], [64, 1]].map(|size| (size, RasterPath::Vertex, false)));
    cases.extend([[1300, 700], [8195, 70], [70, 8195]].map(single));
    for (size, path, single_dispatch_hzb) in cases {
        let settings = Settings {
            single_dispatch_hzb,
            ..settings(Culling::ALL, path)
        };
        let mut rig = Rig::new(crowd(400, 12.0, 9), size, settings);
        let camera = camera(Vec3::new(0.0, 0.0, 14.0), 0.0, 0.0, size);
        for _ in 0..2 {
            rig.shoot(&camera);
        }
        let shot = rig.shoot(&camera);
        assert_eq!(
            shot.statistics.instances.late, 0,
            "so the early depth is the final one"
        );
        let (levels, oracle) = (rig.hzb(), Hzb::build(&shot.depth, size));
        assert_eq!(levels.len(), oracle.levels.len());
        for (level, (found, (_, expected))) in levels.iter().zip(&oracle.levels).enumerate() {
            let what = format!("{size:?}, {path:?}, single {single_dispatch_hzb}, level {level}");
            assert!(found == expected, "{what}");
        }
        if size == [321, 203] {
            assert!(levels[0].iter().any(|depth| *depth > 0.0) && levels[0].contains(&0.0));
        }
    }
}

#[test]
fn frozen_culling_stays_while_the_camera_moves() {
    let mut rig = Rig::new(
        eclipse(300),
        SIZE,
        settings(Culling::ALL, RasterPath::Vertex),
    );
    let front = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    for _ in 0..3 {
        rig.shoot(&front);
    }
    rig.renderer.settings.freeze_camera = true;
    let frozen = rig.shoot(&front);
    let hzb = rig.hzb();
    for step in 1..4 {
        let moved = camera(Vec3::new(step as f32 * 8.0, 2.0, -30.0), 90.0, 0.0, SIZE);
        let shot = rig.shoot(&moved);
        assert_eq!(shot.statistics, frozen.statistics, "step {step}");
        assert_eq!(shot.visibility, frozen.visibility, "step {step}");
        assert_eq!(rig.hzb(), hzb, "the frozen camera's depth stays");
    }
    assert_ne!(
        rig.shoot(&camera(Vec3::new(20.0, 0.0, -30.0), 90.0, 0.0, SIZE))
            .ids,
        frozen.ids,
        "what is drawn is seen anew"
    );
}

/// Freezing before there is any depth, and switching occlusion on while frozen: nothing may be called hidden by the
/// depth of another camera.
#[test]
fn frozen_without_depth_hides_nothing() {
    let off = Culling {
        occlusion: false,
        meshlet_occlusion: false,
        ..Culling::ALL
    };
    let mut rig = Rig::new(eclipse(300), SIZE, settings(off, RasterPath::Vertex));
    rig.renderer.settings.freeze_camera = true;
    rig.shoot(&camera(Vec3::ZERO, 0.0, 0.0, SIZE));
    rig.renderer.settings.culling = Culling::ALL;
    for _ in 0..3 {
        let shot = rig.shoot(&camera(Vec3::new(0.0, 0.0, -70.0), 180.0, 0.0, SIZE));
        assert_eq!(shot.statistics.instances.occlusion_culled, 0);
        assert_eq!(shot.statistics.meshlets.occlusion_culled, 0);
    }
}

#[test]
fn senseless_settings_are_refused_when_recording() {
    use impel::math::LodMode;
    let mut rig = Rig::new(
        crowd(10, 5.0, 1),
        [16, 16],
        Settings {
            path: RasterPath::Vertex,
            ..Settings::default()
        },
    );
    rig.shoot(&camera(Vec3::ZERO, 0.0, 0.0, [16, 16]));
    rig.renderer.settings.lod = LodMode::Error { pixels: -1.0 };
    let gpu = impel::gpu::testing::gpu();
    let mut frame = gpu.begin_frame().unwrap();
    let error = rig
        .renderer
        .record(&mut frame, &camera(Vec3::ZERO, 0.0, 0.0, [16, 16]))
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "LOD error in pixels: expected a finite number greater than 0, got -1"
    );
}
