//! The hybrid path: the compute rasteriser and the hardware give one picture.

mod common;

use common::{Rig, Shot, assert_cross_raster, assert_exact, camera, covered, crowd, settings};
use glam::Vec3;
use impel::math::{Camera, LodMode, compute_raster_takes};
use impel::renderer::{Culling, RasterPath, Settings};

fn hybrid(culling: Culling) -> Settings {
    settings(culling, RasterPath::Hybrid)
}

/// A camera that moves a little, then jumps.
fn cameras(size: [u32; 2]) -> Vec<Camera> {
    [
        (0.0, 0.0),
        (3.0, 1.0),
        (6.0, 2.0),
        (175.0, -8.0),
        (175.0, -8.0),
    ]
    .iter()
    .enumerate()
    .map(|(step, (yaw, pitch))| camera(Vec3::new(step as f32 * 0.2, 0.0, 0.0), *yaw, *pitch, size))
    .collect()
}

fn shots(settings: Settings, size: [u32; 2], count: u32, seed: u64) -> Vec<Shot> {
    let mut rig = Rig::new(crowd(count, 9.0, seed), size, settings);
    cameras(size)
        .iter()
        .map(|camera| rig.shoot(camera))
        .collect()
}

#[test]
fn culling_does_not_change_the_picture() {
    for (size, count) in [
        ([320, 180], 500),
        ([641, 479], 200),
        ([3, 7], 100),
        ([1, 1], 50),
    ] {
        let plain = shots(hybrid(Culling::NONE), size, count, 51);
        let culled = shots(hybrid(Culling::ALL), size, count, 51);
        for (frame, (a, b)) in plain.iter().zip(&culled).enumerate() {
            assert_exact(a, b, &format!("{size:?}, frame {frame}"));
        }
        let last = &culled[4].statistics;
        assert!(last.triangles_by_compute > 0 || size[0] < 10, "{last:?}");
    }
}

#[test]
fn agrees_with_the_vertex_path() {
    let size = [640, 360];
    let vertex = shots(settings(Culling::ALL, RasterPath::Vertex), size, 300, 52);
    for mesh_shaders in [false, true] {
        let settings = Settings {
            mesh_shaders,
            ..hybrid(Culling::ALL)
        };
        let found = shots(settings, size, 300, 52);
        for (frame, (a, b)) in vertex.iter().zip(&found).enumerate() {
            assert_cross_raster(a, b, &format!("mesh shaders {mesh_shaders}, frame {frame}"));
            assert_eq!(a.statistics.triangles_drawn, b.statistics.triangles_drawn);
            let by_compute = b.statistics.triangles_by_compute;
            let all = b.statistics.triangles_drawn;
            assert!(
                by_compute > all / 10 && by_compute < all,
                "{by_compute} of {all}"
            );
            assert!(covered(b) > 30_000);
        }
    }
}

/// Wherever the threshold lies and however clusters are dealt out, closed meshes stay closed.
#[test]
fn no_cracks_between_the_rasterisers() {
    let size = [500, 400];
    let with = |raster_threshold, raster_shuffle| {
        let settings = Settings {
            raster_threshold,
            raster_shuffle,
            ..hybrid(Culling::ALL)
        };
        shots(settings, size, 150, 53)
    };
    let hardware = with(0.0, false);
    for (threshold, shuffle) in [(64.0, true), (64.0, false), (8.0, false), (24.0, true)] {
        let found = with(threshold, shuffle);
        for (frame, (a, b)) in hardware.iter().zip(&found).enumerate() {
            let what = format!("threshold {threshold}, shuffled {shuffle}, frame {frame}");
            assert_eq!(a.statistics.triangles_by_compute, 0);
            assert!(b.statistics.triangles_by_compute > 0);
            assert_cross_raster(a, b, &what);
            let [width, height] = size.map(|side| side as usize);
            for y in 1..height - 1 {
                for x in 1..width - 1 {
                    let inside = (y - 1..=y + 1)
                        .all(|y| (x - 1..=x + 1).all(|x| a.depth[y * width + x] > 0.0));
                    let hole = inside && b.depth[y * width + x] == 0.0;
                    assert!(!hole, "{what}: background shows through at {x},{y}");
                }
            }
        }
    }
}

/// The shader's choice of a rasteriser against the rule in plain Rust, which is proved to take nothing large or near.
#[test]
fn the_rule_decides_what_compute_takes() {
    let size = [320, 240];
    let scene = crowd(400, 12.0, 54);
    let lod = LodMode::Forced { lod: 1 };
    let mut shares = Vec::new();
    for threshold in [0.0, 2.0, 8.0, 64.0] {
        let settings = Settings {
            raster_threshold: threshold,
            lod,
            ..hybrid(Culling::NONE)
        };
        let mut rig = Rig::new(scene.clone(), size, settings);
        let camera = camera(Vec3::ZERO, 20.0, 5.0, size);
        let statistics = rig.shoot(&camera).statistics;
        let view = camera.view();
        let (mut all, mut by_compute) = (0_u64, 0_u64);
        for instance in &scene.instances {
            let mesh = &scene.meshes[instance.mesh as usize];
            let lod = &mesh.lods[1];
            let meshlets = lod.first_meshlet..lod.first_meshlet + lod.meshlet_count;
            for meshlet in meshlets.map(|index| &mesh.meshlets[index as usize]) {
                let centre = instance.transform.transform_point(meshlet.centre.into());
                let triangles = u64::from(meshlet.triangle_count());
                all += triangles;
                if compute_raster_takes(
                    view.transform_point(centre),
                    meshlet.radius * instance.scale,
                    meshlet.longest_edge() * instance.scale,
                    &camera.lens,
                    size,
                    threshold,
                ) {
                    by_compute += triangles;
                }
            }
        }
        assert_eq!(statistics.triangles_drawn, all);
        // Square roots and divisions may be off by a bit: one meshlet on the edge of the rule may fall either way.
        let found = statistics.triangles_by_compute;
        assert!(
            found.abs_diff(by_compute) <= 2 * 124,
            "{threshold}: {found} {by_compute}"
        );
        shares.push(by_compute as f64 / all as f64);
    }
    assert!(
        shares[0] == 0.0 && shares[1] < shares[2] && shares[2] < shares[3],
        "{shares:?}"
    );
    assert!(shares[3] < 1.0, "{shares:?}");
}

/// Where there are no 64-bit atomics, the hybrid path says so and the others work.
#[test]
fn devices_without_64_bit_atomics_use_other_paths() {
    use impel::gpu::noop::{NoopDesc, NoopDriver};
    use impel::gpu::{Gpu, GpuDesc};
    use impel::renderer::{Capacities, Renderer};
    let lacking = NoopDesc::with(|device| device.lacks("shaderBufferInt64Atomics"));
    let driver = NoopDriver::new(lacking);
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    let fallbacks = gpu.info().features.fallbacks();
    assert!(
        fallbacks.iter().any(|line| line.contains("64-bit")),
        "{fallbacks:?}"
    );
    let size = [64, 48];
    let new = |path| {
        let settings = settings(Culling::ALL, path);
        Renderer::new(
            &gpu,
            &crowd(10, 3.0, 55),
            size,
            settings,
            Capacities::default(),
        )
        .unwrap()
    };
    let eye = camera(Vec3::ZERO, 0.0, 0.0, size);
    let mut frame = gpu.begin_frame().unwrap();
    let error = match new(RasterPath::Hybrid).record(&mut frame, &eye) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("the hybrid path was recorded without atomics"),
    };
    assert!(
        error.starts_with("path: expected mesh or vertex"),
        "{error}"
    );
    drop(frame);
    for path in [RasterPath::Mesh, RasterPath::Vertex] {
        let mut renderer = new(path);
        let mut frame = gpu.begin_frame().unwrap();
        renderer.record(&mut frame, &eye).unwrap();
        frame.submit().unwrap();
    }
}
