//! Culling never changes the picture, and neither does the way clusters are drawn.

mod common;

use common::{
    Rig, Shot, assert_cross_raster, assert_exact, camera, covered, crowd, eclipse, settings,
};
use glam::Vec3;
use impel::math::{Affine, Camera, LodMode};
use impel::renderer::{Culling, RasterPath, Settings};
use impel::scene::{Instance, Scene};

/// Renders the same cameras with `culling` and with none, several frames each, and compares every frame.
fn compare(
    scene: &Scene,
    size: [u32; 2],
    path: RasterPath,
    culling: Culling,
    cameras: &[Camera],
    what: &str,
) -> Vec<Shot> {
    let mut plain = Rig::new(scene.clone(), size, settings(Culling::NONE, path));
    let mut culled = Rig::new(scene.clone(), size, settings(culling, path));
    let mut shots = Vec::new();
    for (frame, camera) in cameras.iter().enumerate() {
        let (a, b) = (plain.shoot(camera), culled.shoot(camera));
        assert_exact(&a, &b, &format!("{what}, frame {frame}"));
        shots.push(b);
    }
    shots
}

/// A camera that turns, jumps, and comes back: each a case that last frame's depth is wrong for.
fn unsteady(position: Vec3, size: [u32; 2]) -> Vec<Camera> {
    [
        (0.0, 0.0),
        (4.0, 0.0),
        (8.0, 2.0),
        (170.0, -10.0),
        (172.0, -10.0),
        (0.0, 0.0),
        (0.0, 0.0),
    ]
    .iter()
    .enumerate()
    .map(|(step, (yaw, pitch))| {
        camera(
            position + Vec3::new(step as f32 * 0.3, 0.0, 0.0),
            *yaw,
            *pitch,
            size,
        )
    })
    .collect()
}

#[test]
fn every_stage_alone_and_all_together() {
    let size = [320, 180];
    let scene = crowd(700, 10.0, 21);
    let mut stages = vec![("all", Culling::ALL)];
    for index in 0..5 {
        let mut culling = Culling::NONE;
        let (name, on) = culling.stages().into_iter().nth(index).unwrap();
        *on = true;
        stages.push((name, culling));
    }
    for (name, culling) in stages {
        let shots = compare(
            &scene,
            size,
            RasterPath::Vertex,
            culling,
            &unsteady(Vec3::ZERO, size),
            name,
        );
        let last = shots.last().unwrap().statistics;
        let culled = last.instances.frustum_culled
            + last.instances.occlusion_culled
            + last.meshlets.cone_culled
            + last.meshlets.frustum_culled
            + last.meshlets.occlusion_culled;
        assert!(
            culled > 0,
            "{name} must cull something for the test to mean anything"
        );
        assert!(covered(shots.last().unwrap()) > 10_000);
    }
}

#[test]
fn mesh_path_is_invariant_too() {
    let size = [256, 160];
    compare(
        &crowd(300, 8.0, 22),
        size,
        RasterPath::Mesh,
        Culling::ALL,
        &unsteady(Vec3::ZERO, size),
        "mesh path",
    );
}

#[test]
fn task_path_is_invariant_and_agrees_with_the_mesh_path() {
    let size = [256, 160];
    let scene = crowd(300, 8.0, 29);
    let cameras = unsteady(Vec3::ZERO, size);
    let shots = compare(
        &scene,
        size,
        RasterPath::Task,
        Culling::ALL,
        &cameras,
        "task path",
    );
    let mut mesh = Rig::new(scene, size, settings(Culling::ALL, RasterPath::Mesh));
    for (camera, shot) in cameras.iter().zip(&shots) {
        let other = mesh.shoot(camera);
        assert_cross_raster(&other, shot, "task against mesh");
        assert_eq!(other.statistics, shot.statistics);
    }
}

#[test]
fn odd_sizes() {
    let scene = crowd(250, 8.0, 23);
    for size in [[1, 1], [3, 7], [641, 479], [1023, 1025]] {
        let cameras = [0.0, 0.0, 3.0].map(|yaw| camera(Vec3::new(0.0, 0.0, 2.0), yaw, 0.0, size));
        compare(
            &scene,
            size,
            RasterPath::Vertex,
            Culling::ALL,
            &cameras,
            &format!("{size:?}"),
        );
    }
}

#[test]
fn camera_inside_bounds_and_against_surfaces() {
    let size = [200, 150];
    // Large things round the origin: the camera is inside of several bounding spheres, some cross the near plane.
    let mut scene = crowd(60, 3.0, 24);
    for instance in &mut scene.instances {
        *instance = Instance::new(
            instance
                .transform
                .after(&Affine::from_scale_rotation_translation(
                    Vec3::splat(2.5),
                    glam::Quat::IDENTITY,
                    Vec3::ZERO,
                )),
            instance.mesh,
            instance.colour,
        );
    }
    let shots = compare(
        &scene,
        size,
        RasterPath::Vertex,
        Culling::ALL,
        &unsteady(Vec3::ZERO, size),
        "inside",
    );
    assert!(covered(&shots[0]) > 10_000);
}

#[test]
fn every_lod_mode() {
    let size = [256, 160];
    let scene = eclipse(300);
    for lod in [
        LodMode::Forced { lod: 0 },
        LodMode::Forced { lod: 3 },
        LodMode::Distance {
            base: 4.0,
            step: 1.25,
        },
    ] {
        let mut plain = Rig::new(
            scene.clone(),
            size,
            Settings {
                lod,
                ..settings(Culling::NONE, RasterPath::Vertex)
            },
        );
        let mut culled = Rig::new(
            scene.clone(),
            size,
            Settings {
                lod,
                ..settings(Culling::ALL, RasterPath::Vertex)
            },
        );
        for camera in unsteady(Vec3::ZERO, size) {
            assert_exact(
                &plain.shoot(&camera),
                &culled.shoot(&camera),
                &format!("{lod:?}"),
            );
        }
    }
}

#[test]
fn mesh_and_vertex_path_agree() {
    let size = [640, 360];
    let scene = crowd(300, 8.0, 25);
    let mut mesh = Rig::new(
        scene.clone(),
        size,
        settings(Culling::ALL, RasterPath::Mesh),
    );
    let mut vertex = Rig::new(scene, size, settings(Culling::ALL, RasterPath::Vertex));
    for camera in &unsteady(Vec3::ZERO, size)[..3] {
        let (a, b) = (mesh.shoot(camera), vertex.shoot(camera));
        assert_cross_raster(&a, &b, "mesh against vertex");
        assert_eq!(a.statistics, b.statistics);
        assert!(covered(&a) > 50_000);
    }
}

/// A mirrored instance looks as its mirror image does: winding, normals and cones turn with it.
#[test]
fn mirrored_instances_are_mirror_images() {
    let size = [200, 200];
    let mirror = Affine {
        rows: [
            [-1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };
    let placed = |mirrored: bool| {
        let mut scene = crowd(12, 2.5, 26);
        for instance in &mut scene.instances {
            let transform = if mirrored {
                mirror.after(&instance.transform)
            } else {
                instance.transform
            };
            *instance = Instance::new(transform, instance.mesh, instance.colour);
        }
        scene
    };
    let camera = camera(Vec3::new(0.0, 0.0, 7.0), 0.0, 0.0, size);
    let shoot = |mirrored| {
        let mut rig = Rig::new(
            placed(mirrored),
            size,
            settings(Culling::ALL, RasterPath::Vertex),
        );
        rig.shoot(&camera);
        rig.shoot(&camera)
    };
    let (straight, mut turned) = (shoot(false), shoot(true));
    for row in turned.depth.chunks_exact_mut(size[0] as usize) {
        row.reverse();
    }
    for row in turned.ids.chunks_exact_mut(size[0] as usize) {
        row.reverse();
    }
    let different = straight
        .ids
        .iter()
        .zip(&turned.ids)
        .filter(|(a, b)| a != b)
        .count();
    // The two are rasterised independently, with the fill rule the other way round: silhouettes may differ a little.
    assert!(
        different < straight.ids.len() / 500,
        "{different} pixels differ"
    );
    assert!(covered(&straight) > 5000);
}

/// Hundreds of groups of instances, most of them culled as a whole, and a moving part of the scene.
#[test]
fn groups_and_moving_instances() {
    let size = [256, 160];
    let mut scene = crowd(6000, 60.0, 27);
    scene.moving = 1000;
    scene.sort_spatially();
    let mut plain = Rig::new(
        scene.clone(),
        size,
        settings(Culling::NONE, RasterPath::Hybrid),
    );
    let mut culled = Rig::new(scene, size, settings(Culling::ALL, RasterPath::Hybrid));
    for (frame, camera) in unsteady(Vec3::ZERO, size).iter().enumerate() {
        let spin = frame as f32 * 0.4;
        (plain.renderer.settings.spin, culled.renderer.settings.spin) = (spin, spin);
        let (a, b) = (plain.shoot(camera), culled.shoot(camera));
        assert_exact(&a, &b, &format!("frame {frame}"));
        assert!(covered(&a) > 5000);
        let state = |bits: u32| {
            b.visibility
                .iter()
                .filter(|&&state| state & 2 == bits)
                .count()
        };
        assert!(
            state(0) > 3000 && state(2) > 300,
            "most is outside: {}",
            state(0)
        );
    }
}

/// Moving instances look as they do when they are placed there.
#[test]
fn spin_turns_about_the_own_y_axis() {
    let size = [200, 150];
    let angle = 0.7_f32;
    let mut scene = crowd(40, 4.0, 28);
    scene.moving = 40;
    let mut placed = scene.clone();
    for instance in &mut placed.instances {
        let turn = Affine::from_scale_rotation_translation(
            Vec3::ONE,
            glam::Quat::from_rotation_y(angle),
            Vec3::ZERO,
        );
        *instance = Instance::new(
            instance.transform.after(&turn),
            instance.mesh,
            instance.colour,
        );
    }
    let camera = camera(Vec3::new(0.0, 0.0, 9.0), 0.0, 0.0, size);
    let all = settings(Culling::ALL, RasterPath::Vertex);
    let (mut turned, mut still) = (Rig::new(scene, size, all), Rig::new(placed, size, all));
    turned.renderer.settings.spin = angle;
    let (a, b) = (turned.shoot(&camera), still.shoot(&camera));
    let different = a.ids.iter().zip(&b.ids).filter(|(a, b)| a != b).count();
    assert!(different < a.ids.len() / 500, "{different} pixels differ");
    assert!(covered(&a) > 5000);
    turned.renderer.settings.spin = 0.0;
    let rest = turned.shoot(&camera);
    let moved = a.ids.iter().zip(&rest.ids).filter(|(a, b)| a != b).count();
    assert!(moved > 500, "it does turn: {moved}");
}

/// The draw distance takes whole instances, whatever culling is on.
#[test]
fn draw_distance_is_no_culling() {
    let size = [256, 160];
    let scene = crowd(700, 10.0, 30);
    let cameras = unsteady(Vec3::ZERO, size).into_iter().map(|mut camera| {
        camera.lens.draw_distance = 6.0;
        camera
    });
    let cameras: Vec<_> = cameras.collect();
    let shots = compare(
        &scene,
        size,
        RasterPath::Hybrid,
        Culling::ALL,
        &cameras,
        "distance",
    );
    assert!(covered(&shots[0]) > 1000);
}
