//! What the GPU tests share: scenes that are hard on culling, and a rig that renders and reads everything back.
#![allow(dead_code, reason = "each test file uses its part")]

use impel::geometry::{BuiltIn, Mesh, Settings as MeshSettings, process};
use impel::gpu::testing::{TestGpu, gpu_with};
use impel::gpu::{GpuDesc, ReadBack, Texture};
use impel::math::{Affine, Camera, Lens, Pcg32};
use impel::renderer::{
    AuditReport, AuditTicket, Capacities, Culling, DebugView, RasterPath, Renderer, Settings,
    Statistics, StatisticsTicket,
};
use impel::scene::{Instance, Scene, instance_colour};
use std::sync::{Arc, OnceLock};

use glam::{Mat3, Quat, Vec3};

/// Small meshes of three kinds: many-holed, round, and with sharp edges.
pub(crate) fn meshes() -> Vec<Arc<Mesh>> {
    static MESHES: OnceLock<Vec<Arc<Mesh>>> = OnceLock::new();
    let build = |name: &str| {
        let source = name.parse::<BuiltIn>().unwrap().generate().unwrap();
        Arc::new(process(&source, &MeshSettings::default(), &|_| {}).unwrap())
    };
    MESHES
        .get_or_init(|| {
            ["torus-knot:3000", "asteroid:1500", "gear:2400"]
                .map(build)
                .to_vec()
        })
        .clone()
}

/// A random linear map: rotation with scale, often mirrored, sometimes sheared.
fn random_linear(random: &mut Pcg32) -> Mat3 {
    let rotation = Quat::from_axis_angle(random.unit_vector(), random.range(0.0, 6.0));
    let mut side = || random.range(0.4, 1.6) * if random.next_f32() < 0.4 { -1.0 } else { 1.0 };
    let scale = Mat3::from_diagonal(Vec3::new(side(), side(), side()));
    let mut linear = Mat3::from_quat(rotation) * scale;
    if random.next_f32() < 0.3 {
        linear.y_axis += linear.x_axis * random.range(-0.8, 0.8);
    }
    linear
}

/// `count` instances of random affine transforms in a cube of edge `2 * extent` round the origin.
pub(crate) fn crowd(count: u32, extent: f32, seed: u64) -> Scene {
    let mut random = Pcg32::new(seed);
    let meshes = meshes();
    let instances = (0..count)
        .map(|index| {
            let mesh = random.next_u32() % meshes.len() as u32;
            let mut coordinate = || random.range(-extent, extent);
            let position = Vec3::new(coordinate(), coordinate(), coordinate());
            let transform = Affine::from_mat3_translation(random_linear(&mut random), position);
            Instance::new(transform, mesh, instance_colour(index, mesh))
        })
        .collect();
    Scene {
        meshes,
        instances,
        moving: 0,
    }
}

/// A large asteroid in front of a camera at the origin that looks along -Z, and `count` things, most of them behind it.
pub(crate) fn eclipse(count: u32) -> Scene {
    let mut random = Pcg32::new(77);
    let mut scene = Scene {
        meshes: meshes(),
        ..Scene::default()
    };
    let place = |linear: Mat3, position: Vec3, mesh: u32| {
        Instance::new(Affine::from_mat3_translation(linear, position), mesh, !0)
    };
    scene.instances.push(place(
        Mat3::from_diagonal(Vec3::splat(6.0)),
        Vec3::new(0.0, 0.0, -15.0),
        1,
    ));
    for index in 0..count {
        let depth = random.range(25.0, 60.0);
        let mut across = || random.range(-0.35, 0.35) * depth;
        let position = Vec3::new(across(), across(), -depth);
        scene
            .instances
            .push(place(random_linear(&mut random), position, index % 3));
    }
    scene
}

/// A camera with 60 degrees of view for pictures of `size`.
pub(crate) fn camera(position: Vec3, yaw: f32, pitch: f32, size: [u32; 2]) -> Camera {
    let lens = Lens {
        fov_y: 60_f32.to_radians(),
        aspect: size[0] as f32 / size[1] as f32,
        near: 0.05,
        ..Lens::default()
    };
    Camera::by_angles(position, yaw, pitch, lens)
}

/// Settings that show instances, so that pictures can be compared by identity.
pub(crate) fn settings(culling: Culling, path: RasterPath) -> Settings {
    Settings {
        culling,
        path,
        view: DebugView::Instances,
        ..Settings::default()
    }
}

/// Bits of visibility and of group states.
pub(crate) const IN_FRUSTUM: u32 = 2;
const GROUP_CULLED_EARLY_OR_LATE: u32 = 12;

/// A frame, read back.
pub(crate) struct Shot {
    pub(crate) size: [u32; 2],
    pub(crate) ids: Vec<u32>,
    pub(crate) depth: Vec<f32>,
    /// As the renderer has it; for groups that were culled as a whole 0 outside of the frustum, [`IN_FRUSTUM`] inside.
    pub(crate) visibility: Vec<u32>,
    pub(crate) statistics: Statistics,
}

/// A renderer on a validated device.
pub(crate) struct Rig {
    pub(crate) renderer: Renderer,
    pub(crate) scene: Scene,
    /// Kept to the end: validation layers of 2023 do not see that the CPU waited for a frame, so memory that is used again
    /// for the next read-back looks to them like a hazard.
    kept: (Vec<StatisticsTicket>, Vec<ReadBack>, Vec<AuditTicket>),
    gpu: TestGpu,
}

impl Rig {
    pub(crate) fn new(scene: Scene, size: [u32; 2], settings: Settings) -> Self {
        Self::with_room(scene, size, settings, Capacities::default())
    }

    pub(crate) fn with_room(
        scene: Scene,
        size: [u32; 2],
        settings: Settings,
        room: Capacities,
    ) -> Self {
        let gpu = gpu_with(&GpuDesc::default());
        let renderer = Renderer::new(&gpu, &scene, size, settings, room).unwrap();
        Self {
            renderer,
            scene,
            kept: Default::default(),
            gpu,
        }
    }

    /// Renders a frame.
    pub(crate) fn shoot(&mut self, camera: &Camera) -> Shot {
        let mut frame = self.gpu.begin_frame().unwrap();
        let statistics = self.renderer.record(&mut frame, camera).unwrap();
        let colour = frame.read_back_texture(self.renderer.colour(), 0).unwrap();
        let depth = frame.read_back_texture(self.renderer.depth(), 0).unwrap();
        let visibility = self.renderer.visibility();
        let visibility = frame.read_back(visibility, 0, visibility.size()).unwrap();
        let groups = self.renderer.group_states();
        let groups = frame.read_back(groups, 0, groups.size()).unwrap();
        frame.submit().unwrap();
        let states = words(&groups.wait().unwrap());
        let mut states_of_instances = words(&visibility.wait().unwrap());
        for (instances, group) in states_of_instances.chunks_mut(64).zip(states) {
            if group & GROUP_CULLED_EARLY_OR_LATE == 0 {
                instances.fill(group & IN_FRUSTUM);
            }
        }
        let shot = Shot {
            size: self.renderer.size(),
            ids: words(&colour.wait().unwrap()),
            depth: words(&depth.wait().unwrap())
                .into_iter()
                .map(f32::from_bits)
                .collect(),
            visibility: states_of_instances,
            statistics: statistics.wait().unwrap(),
        };
        check_identities(&shot.statistics, self.scene.instances.len() as u64);
        self.kept.0.push(statistics);
        self.kept.1.extend([colour, depth, visibility, groups]);
        shot
    }

    /// Renders a frame and audits its culling.
    pub(crate) fn audit(&mut self, camera: &Camera) -> AuditReport {
        let mut frame = self.gpu.begin_frame().unwrap();
        let statistics = self.renderer.record(&mut frame, camera).unwrap();
        let audit = self.renderer.audit(&mut frame).unwrap();
        frame.submit().unwrap();
        let report = audit.wait().unwrap();
        self.kept.0.push(statistics);
        self.kept.2.push(audit);
        report
    }

    /// The list of clusters as the last frame left it: instance and meshlet.
    pub(crate) fn clusters(&mut self) -> Vec<[u32; 2]> {
        let buffer = self.renderer.clusters();
        let mut frame = self.gpu.begin_frame().unwrap();
        let bytes = frame.read_back(buffer, 0, buffer.size()).unwrap();
        frame.submit().unwrap();
        let words = words(&bytes.wait().unwrap());
        self.kept.1.push(bytes);
        words
            .chunks_exact(2)
            .map(|pair| [pair[0], pair[1]])
            .collect()
    }

    /// All levels of the hierarchical depth buffer.
    pub(crate) fn hzb(&mut self) -> Vec<Vec<f32>> {
        let texture: &Texture = self.renderer.hzb();
        let mut frame = self.gpu.begin_frame().unwrap();
        let levels: Vec<_> = (0..texture.mips())
            .map(|mip| frame.read_back_texture(texture, mip).unwrap())
            .collect();
        frame.submit().unwrap();
        let texels = levels
            .iter()
            .map(|level| {
                words(&level.wait().unwrap())
                    .into_iter()
                    .map(f32::from_bits)
                    .collect()
            })
            .collect();
        self.kept.1.extend(levels);
        texels
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// What must hold for the counts of every frame.
pub(crate) fn check_identities(statistics: &Statistics, instances: u64) {
    let i = statistics.instances;
    let m = statistics.meshlets;
    let lost = statistics.overflow;
    assert_eq!(i.total, instances);
    assert_eq!(
        i.total,
        i.frustum_culled + i.occlusion_culled + i.drawn + lost.draws,
        "{statistics:?}"
    );
    assert_eq!(i.drawn, i.early + i.late);
    assert_eq!(
        statistics.lod_histogram.iter().sum::<u64>(),
        i.drawn,
        "{statistics:?}"
    );
    assert_eq!(
        m.tested,
        m.cone_culled + m.frustum_culled + m.occlusion_culled + m.drawn + lost.clusters,
        "{statistics:?}"
    );
    assert!(statistics.triangles_drawn >= m.drawn && statistics.triangles_drawn <= m.drawn * 124);
}

/// Exactly the same picture: depth bit-equal everywhere, identity equal but where two surfaces share a depth.
pub(crate) fn assert_exact(a: &Shot, b: &Shot, what: &str) {
    assert_eq!(a.size, b.size);
    let different = a
        .depth
        .iter()
        .zip(&b.depth)
        .filter(|(a, b)| a.to_bits() != b.to_bits())
        .count();
    assert_eq!(different, 0, "{what}: {different} depths differ");
    let ties = a.ids.iter().zip(&b.ids).filter(|(a, b)| a != b).count();
    let allowed = (a.ids.len() * 4).div_ceil(1 << 20);
    assert!(
        ties <= allowed,
        "{what}: {ties} identities differ at equal depth, {allowed} may"
    );
}

/// The same picture from another rasteriser: the few pixels that differ do so by rounding or lie on an edge.
pub(crate) fn assert_cross_raster(a: &Shot, b: &Shot, what: &str) {
    assert_eq!(a.size, b.size);
    let [width, height] = a.size;
    let close = |a: f32, b: f32| (a - b).abs() <= a.abs().max(b.abs()) / 262_144.0;
    let mut different = 0;
    for y in 0..height as i32 {
        for x in 0..width as i32 {
            let at = |x: i32, y: i32| {
                (y.clamp(0, height as i32 - 1) * width as i32 + x.clamp(0, width as i32 - 1))
                    as usize
            };
            let here = at(x, y);
            if a.ids[here] == b.ids[here] && close(a.depth[here], b.depth[here]) {
                continue;
            }
            different += 1;
            let edge = (-1..=1).any(|dy| {
                (-1..=1).any(|dx| {
                    let near = at(x + dx, y + dy);
                    a.ids[near] != a.ids[here] || !close(a.depth[near], a.depth[here])
                })
            });
            assert!(edge, "{what}: pixel {x},{y} differs and is no edge");
        }
    }
    let allowed = (a.ids.len() as f64 * 0.0002).ceil() as usize;
    assert!(
        different <= allowed,
        "{what}: {different} pixels differ, {allowed} may"
    );
}

/// How many pixels show anything.
pub(crate) fn covered(shot: &Shot) -> usize {
    shot.depth.iter().filter(|depth| **depth > 0.0).count()
}
