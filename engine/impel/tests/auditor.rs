//! The culling auditor, and the views of what the renderer did.

mod common;

use common::{Rig, camera, crowd, eclipse, settings};
use glam::Vec3;
use impel::renderer::{Capacities, Culling, DebugView, RasterPath, Settings};

const SIZE: [u32; 2] = [240, 150];

#[test]
fn right_culling_passes() {
    let mut scene = crowd(1500, 14.0, 71);
    scene.moving = 200;
    scene.sort_spatially();
    for scene in [scene, eclipse(300)] {
        let mut rig = Rig::new(scene, SIZE, settings(Culling::ALL, RasterPath::Hybrid));
        for (frame, yaw) in [0.0, 0.0, 6.0, 96.0, 100.0].into_iter().enumerate() {
            rig.renderer.settings.spin = frame as f32 * 0.3;
            let camera = camera(Vec3::new(0.0, 0.0, 0.2 * yaw / 6.0), yaw, 0.0, SIZE);
            let report = rig.audit(&camera);
            assert_eq!(report.pixels, 0, "frame {frame}: {:?}", report.examples);
            assert_eq!(report.overflow, Default::default());
        }
    }
}

/// Clusters that are lost for want of room are missed like those that are culled wrongly.
#[test]
fn what_is_missing_is_found() {
    let room = Capacities {
        clusters: Some(40),
        ..Capacities::default()
    };
    let settings = settings(Culling::ALL, RasterPath::Hybrid);
    let mut rig = Rig::with_room(crowd(300, 8.0, 72), SIZE, settings, room);
    let camera = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    let report = rig.audit(&camera);
    assert!(report.pixels > 1000, "{report:?}");
    assert_eq!(report.examples.len(), 16);
    for example in &report.examples {
        assert!(example.pixel[0] < SIZE[0] && example.pixel[1] < SIZE[1]);
        assert!(example.instance < 300);
    }
}

#[test]
fn views_of_what_the_renderer_did() {
    let with = |view| Settings {
        view,
        ..settings(Culling::ALL, RasterPath::Hybrid)
    };
    let camera = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    let colours = |view| {
        let mut rig = Rig::new(eclipse(300), SIZE, with(view));
        rig.shoot(&camera);
        rig.shoot(&camera);
        let shot = rig.shoot(&camera);
        let mut colours = shot.ids.clone();
        colours.sort_unstable();
        colours.dedup();
        (colours.len(), shot.statistics)
    };
    let (shades, _) = colours(DebugView::Overdraw);
    assert!(
        (3..40).contains(&shades),
        "one shade for each number of samples: {shades}"
    );
    let (shades, _) = colours(DebugView::Hzb);
    assert!(shades > 30, "{shades}");
    let (shades, statistics) = colours(DebugView::CulledBy);
    assert!(shades > 30, "{shades}");
    let instances = statistics.instances;
    assert_eq!(instances.drawn, instances.total, "everything is drawn");
    let (_, statistics) = colours(DebugView::Shaded);
    assert!(statistics.instances.drawn < statistics.instances.total);
}

#[test]
fn other_paths_refuse_what_needs_the_visibility_buffer() {
    for view in [DebugView::Overdraw, DebugView::CulledBy, DebugView::Hzb] {
        let wrong = Settings {
            view,
            ..settings(Culling::ALL, RasterPath::Vertex)
        };
        let error = wrong.check().unwrap_err().to_string();
        let expected = format!("view {}: expected path hybrid, got vertex", view.name());
        assert_eq!(error, expected);
    }
}
