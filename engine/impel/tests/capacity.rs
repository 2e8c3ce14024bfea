//! Lists that are too small: nothing is written past their end, and what is lost is counted.

mod common;

use common::{Rig, assert_exact, camera, crowd, settings};
use glam::Vec3;
use impel::config::MESH_GROUPS_PER_DRAW;
use impel::gpu::GpuDesc;
use impel::gpu::testing::gpu_with;
use impel::math::LodMode;
use impel::renderer::{Capacities, Culling, RasterPath, Renderer, Settings};
use impel::shaders::draw_mesh;

const SIZE: [u32; 2] = [160, 120];

fn rig(room: Capacities) -> Rig {
    Rig::with_room(
        crowd(200, 8.0, 31),
        SIZE,
        settings(Culling::ALL, RasterPath::Vertex),
        room,
    )
}

#[test]
fn full_list_of_chunks_counts_instances() {
    let camera = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    let whole = rig(Capacities::default()).shoot(&camera).statistics;
    let needed = whole.instances.drawn;
    assert_eq!(whole.overflow, Default::default());
    for chunks in [1, 7, needed as u32 - 1] {
        let mut rig = rig(Capacities {
            chunks: Some(chunks),
            ..Capacities::default()
        });
        for frame in 0..4 {
            let statistics = rig.shoot(&camera).statistics;
            if frame == 0 {
                assert!(
                    statistics.overflow.draws > 0
                        && statistics.instances.drawn <= u64::from(chunks),
                    "{statistics:?}"
                );
            }
            // Each phase has the list to itself: what early had no room for, late may draw.
            assert!(
                statistics.instances.early <= u64::from(chunks)
                    && statistics.instances.late <= u64::from(chunks)
            );
        }
    }
}

#[test]
fn full_list_of_clusters_counts_meshlets() {
    let camera = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    for clusters in [1, 100] {
        let mut rig = rig(Capacities {
            clusters: Some(clusters),
            ..Capacities::default()
        });
        for _ in 0..3 {
            let statistics = rig.shoot(&camera).statistics;
            assert_eq!(
                statistics.meshlets.drawn,
                u64::from(clusters),
                "the list is filled to the last place"
            );
            assert!(statistics.overflow.clusters > 0);
        }
    }
}

/// Clusters that cannot be put off are drawn at once: the picture is the same.
#[test]
fn full_list_of_rejects_changes_nothing() {
    let mut small = rig(Capacities {
        rejects: Some(1),
        ..Capacities::default()
    });
    let mut large = rig(Capacities::default());
    for step in 0..5 {
        let camera = camera(
            Vec3::new(step as f32 * 0.4, 0.0, 0.0),
            step as f32 * 2.0,
            0.0,
            SIZE,
        );
        assert_exact(
            &small.shoot(&camera),
            &large.shoot(&camera),
            &format!("frame {step}"),
        );
    }
}

/// Mesh groups that ran are those that were asked for, over several draws: lavapipe draws nothing, without a word, when a draw
/// has too many.
#[test]
fn every_mesh_group_runs() {
    let gpu = gpu_with(&GpuDesc {
        statistics: true,
        ..GpuDesc::default()
    });
    let features = gpu.info().features;
    assert!(features.mesh_shaders && features.mesh_shader_queries && features.pipeline_statistics);
    let settings = Settings {
        lod: LodMode::Forced { lod: 0 },
        ..settings(Culling::NONE, RasterPath::Mesh)
    };
    let (scene, room) = (crowd(4000, 60.0, 32), Capacities::default());
    let mut renderer = Renderer::new(&gpu, &scene, SIZE, settings, room).unwrap();
    let mut frame = gpu.begin_frame().unwrap();
    let eye = camera(Vec3::ZERO, 0.0, 0.0, SIZE);
    let statistics = renderer.record(&mut frame, &eye).unwrap();
    frame.submit().unwrap();
    let drawn = statistics.wait().unwrap().meshlets.drawn;
    assert!(drawn > 2 * u64::from(MESH_GROUPS_PER_DRAW), "{drawn}");
    gpu.wait_idle().unwrap();
    let results = gpu.frame_results();
    let passes = results.iter().flat_map(|frame| &frame.passes);
    let invocations: u64 = passes
        .filter_map(|pass| pass.statistics)
        .map(|counted| counted.mesh_invocations)
        .sum();
    assert_eq!(invocations, drawn * u64::from(draw_mesh::LOCAL_SIZE[0]));
}

#[test]
fn impossible_requests_are_refused() {
    let gpu = impel::gpu::testing::gpu();
    let scene = crowd(10, 5.0, 1);
    let make = |size, settings, room| {
        Renderer::new(&gpu, &scene, size, settings, room)
            .err()
            .map(|error| error.to_string())
    };
    let settings = Settings::default();
    for size in [[0, 10], [10, 100_000]] {
        let error = make(size, settings, Capacities::default()).unwrap();
        assert!(error.starts_with("picture size: expected 1 to "), "{error}");
    }
    let error = make(
        [8, 8],
        settings,
        Capacities {
            clusters: Some(u32::MAX),
            ..Capacities::default()
        },
    )
    .unwrap();
    assert!(
        error.starts_with("room for clusters: expected 1 to "),
        "{error}"
    );
    let error = Renderer::new(
        &gpu,
        &Default::default(),
        [8, 8],
        settings,
        Capacities::default(),
    )
    .err()
    .unwrap();
    assert_eq!(
        error.to_string(),
        "scene: expected at least one instance, got 0"
    );
}
