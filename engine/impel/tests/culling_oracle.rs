//! Instance culling on the GPU against the rules in plain Rust, instance by instance.

mod common;

use common::{Rig, camera, crowd, eclipse, settings};
use glam::Vec3;
use impel::math::{Camera, LodMode, LodSelector};
use impel::renderer::{Culling, RasterPath, Settings};
use impel::scene::Scene;

const SIZE: [u32; 2] = [320, 200];

/// Frustum result and level of every instance, as `cull.comp` must find them.
fn expected(scene: &Scene, camera: &Camera, lod: LodMode) -> Vec<Option<u32>> {
    let (view, frustum) = (camera.view(), camera.frustum());
    let selector = LodSelector::new(lod, &camera.lens, SIZE[1]);
    let of = |instance: &impel::scene::Instance| {
        let mesh = &scene.meshes[instance.mesh as usize];
        let radius = mesh.bounds.radius * instance.scale;
        let centre = instance
            .transform
            .transform_point(mesh.bounds.centre.into());
        let offset = centre - camera.position;
        let distance_squared = (offset.x * offset.x + offset.y * offset.y) + offset.z * offset.z;
        let errors: Vec<f32> = mesh.lods.iter().map(|lod| lod.error).collect();
        let lod = selector.select(distance_squared, radius, instance.scale, &errors);
        frustum
            .sees_sphere(view.transform_point(centre), radius)
            .then_some(lod)
    };
    scene.instances.iter().map(of).collect()
}

fn compare(mode: LodMode) -> Vec<u64> {
    let scene = crowd(6000, 60.0, 5);
    let settings = Settings {
        lod: mode,
        ..settings(
            Culling {
                occlusion: false,
                ..Culling::ALL
            },
            RasterPath::Vertex,
        )
    };
    let mut rig = Rig::new(scene, SIZE, settings);
    let mut levels = vec![0; 8];
    for (yaw, pitch, draw_distance) in [(0.0, 0.0, f32::INFINITY), (130.0, 35.0, 40.0)] {
        let mut camera = camera(Vec3::new(1.0, -2.0, 3.0), yaw, pitch, SIZE);
        camera.lens.draw_distance = draw_distance;
        let shot = rig.shoot(&camera);
        let mut inside = 0;
        for (index, (state, expected)) in shot
            .visibility
            .iter()
            .zip(expected(&rig.scene, &camera, mode))
            .enumerate()
        {
            assert_eq!(
                state & 2 != 0,
                expected.is_some(),
                "instance {index}: in the frustum"
            );
            if let Some(lod) = expected {
                assert_eq!(state >> 8, lod, "instance {index}: level of detail");
                levels[lod as usize] += 1;
                inside += 1;
            }
        }
        assert_eq!(shot.statistics.instances.frustum_culled, 6000 - inside);
        assert_eq!(
            shot.statistics.instances.drawn, inside,
            "without occlusion culling"
        );
        assert!(inside > 100 && inside < 5900);
    }
    levels
}

#[test]
fn frustum_and_lod_by_error_are_exact() {
    let levels = compare(LodMode::Error { pixels: 1.0 });
    assert!(
        levels.iter().filter(|&&count| count > 0).count() >= 3,
        "{levels:?}"
    );
}

#[test]
fn frustum_and_lod_by_distance_are_exact() {
    let levels = compare(LodMode::Distance {
        base: 8.0,
        step: 1.5,
    });
    assert!(
        levels.iter().filter(|&&count| count > 0).count() >= 3,
        "{levels:?}"
    );
}

#[test]
fn forced_lods_are_exact() {
    let levels = compare(LodMode::Forced { lod: 2 });
    assert!(
        levels[2] > 0 && levels[0] == 0 && levels[3] == 0,
        "{levels:?}"
    );
}

/// Whatever shows a pixel without culling must be called visible; and much of what is hidden must be found.
#[test]
fn occlusion_never_hides_what_is_seen() {
    let all = settings(Culling::ALL, RasterPath::Vertex);
    let mut rig = Rig::new(eclipse(600), SIZE, all);
    let mut plain = Rig::new(
        eclipse(600),
        SIZE,
        settings(Culling::NONE, RasterPath::Vertex),
    );
    let mut hidden = 0;
    for step in 0..4 {
        let camera = camera(
            Vec3::new(step as f32 * 0.5, 0.0, 0.0),
            step as f32,
            0.0,
            SIZE,
        );
        let (shot, reference) = (rig.shoot(&camera), plain.shoot(&camera));
        let mut seen = std::collections::BTreeSet::new();
        for (id, depth) in reference.ids.iter().zip(&reference.depth) {
            if *depth > 0.0 {
                seen.insert(id & 0xff_ffff);
            }
        }
        for (index, state) in shot.visibility.iter().enumerate() {
            // The colour of `distinct_colour` in `draw.frag`.
            let colour = (index as u32 + 1).wrapping_mul(0x9e37_79b1) & 0xff_ffff;
            let drawn = state & 5 != 0;
            assert!(
                drawn || !seen.contains(&colour),
                "step {step}: instance {index} is seen but was culled"
            );
        }
        hidden = shot.statistics.instances.occlusion_culled;
    }
    assert!(hidden > 200, "the eclipse hides most: {hidden}");
}

/// The occlusion test itself: GPU and plain Rust agree on every instance, but where a change of the radius by one part in
/// ten thousand turns the answer.
#[test]
fn occlusion_is_that_of_the_rules() {
    use impel::math::{Hzb, project_sphere};
    let mut rig = Rig::new(
        crowd(5000, 30.0, 6),
        SIZE,
        settings(Culling::ALL, RasterPath::Vertex),
    );
    let camera = camera(Vec3::new(0.0, 0.0, 34.0), 0.0, 0.0, SIZE);
    for _ in 0..2 {
        rig.shoot(&camera);
    }
    let shot = rig.shoot(&camera);
    assert_eq!(
        shot.statistics.instances.late, 0,
        "so the depth read back is the one that was asked"
    );
    let hzb = Hzb::build(&shot.depth, SIZE);
    let view = camera.view();
    let (mut hidden, mut undecided) = (0, 0);
    for (index, (instance, state)) in rig.scene.instances.iter().zip(&shot.visibility).enumerate() {
        if state & 2 == 0 {
            continue;
        }
        let mesh = &rig.scene.meshes[instance.mesh as usize];
        let centre = view.transform_point(
            instance
                .transform
                .transform_point(mesh.bounds.centre.into()),
        );
        let answer = |factor: f32| {
            let found = project_sphere(
                centre,
                mesh.bounds.radius * instance.scale * factor,
                &camera.lens,
            );
            found.is_some_and(|found| hzb.occludes(&found))
        };
        let answers = [0.9999, 1.0, 1.0001].map(answer);
        if answers != [answers[1]; 3] {
            undecided += 1;
            continue;
        }
        hidden += u32::from(answers[1]);
        assert_eq!(state & 1 == 0, answers[1], "instance {index}");
    }
    assert!(
        hidden > 150 && undecided < 50,
        "{hidden} hidden, {undecided} undecided"
    );
}
