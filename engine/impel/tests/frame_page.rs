//! `FRAME.md`, the page that lists the buffers, images and passes of a frame, against frames recorded on the no-op device.
//!
//! `IMPEL_BLESS=1` writes the page anew, except on CI.

use impel::config::{CHUNK_MESHLETS, CLUSTER_GROUP_SIZE, MAX_GROUPS_PER_DIMENSION};
use impel::geometry::{self, BuiltIn, Mesh};
use impel::gpu::noop::{Command, DescriptorValue, NoopDesc, NoopDriver};
use impel::gpu::{Gpu, GpuDesc, ShaderCode};
use impel::math::{Camera, Lens};
use impel::renderer::{Capacities, RasterPath, Renderer, Settings};
use impel::scene::{Cloud, Scene};
use impel::spirv::{self, Access};
use impel_shaders as shaders;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

const SIZE: [u32; 2] = [640, 360];
const INSTANCES: u64 = 1000;
const MOVING: u64 = 100;

/// The shaders of a pass.
fn program(pass: &str, path: RasterPath) -> &'static [ShaderCode] {
    let step = pass
        .trim_start_matches("early ")
        .trim_start_matches("late ");
    match (step.trim_end_matches(" count"), path) {
        ("spin", _) => shaders::spin::SHADERS,
        ("cull groups", _) => shaders::cull_groups::SHADERS,
        ("cull", _) => shaders::cull::SHADERS,
        ("clusters", _) => shaders::clusters::SHADERS,
        ("groups" | "chunks" | "arguments", _) => shaders::submit::SHADERS,
        ("group offsets" | "chunk offsets" | "cluster offsets", _) => shaders::scan::SHADERS,
        ("raster", _) => shaders::raster::SHADERS,
        ("draw", RasterPath::Hybrid) => shaders::visibility_mesh::SHADERS,
        ("draw", RasterPath::Mesh) => shaders::draw_mesh::SHADERS,
        ("draw", RasterPath::Task) => shaders::draw_task::SHADERS,
        ("draw", RasterPath::Vertex) => shaders::draw_vertex::SHADERS,
        ("hzb", RasterPath::Hybrid) => shaders::hzb_visibility::SHADERS,
        ("hzb", _) => shaders::hzb::SHADERS,
        ("resolve", _) => shaders::resolve::SHADERS,
        ("background", _) => shaders::background::SHADERS,
        other => panic!("the page does not know pass {other:?}"),
    }
}

/// What a pass does with a binding, over its stages.
fn access(code: &[ShaderCode], binding: u32) -> Access {
    let of_stage = |code: &ShaderCode| {
        let interface = spirv::unbake(code.refl, None, code.name).unwrap();
        let used = interface.entry_points[0].bindings.iter();
        used.filter(|used| used.binding == Some(binding))
            .fold(Access::None, |all, used| all.join(used.access))
    };
    code.iter().map(of_stage).fold(Access::None, Access::join)
}

#[derive(Default)]
struct Uses {
    bytes: u64,
    written: BTreeSet<String>,
    read: BTreeSet<String>,
}

struct Recorded {
    passes: Vec<String>,
    uses: BTreeMap<String, Uses>,
}

impl Recorded {
    fn uses(&mut self, resource: String, pass: &str, access: Access) -> &mut Uses {
        let uses = self.uses.entry(resource).or_default();
        if matches!(access, Access::Read | Access::ReadWrite) {
            uses.read.insert(pass.to_owned());
        }
        if matches!(access, Access::Write | Access::ReadWrite) {
            uses.written.insert(pass.to_owned());
        }
        uses
    }
}

struct Example {
    recorded: Recorded,
    mesh: Arc<Mesh>,
}

/// Records a second frame, so that nothing is left of the beginning.
fn record(path: RasterPath, deterministic: bool) -> Example {
    let driver = NoopDriver::new(NoopDesc::default());
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    let source = "gear:2400".parse::<BuiltIn>().unwrap().generate().unwrap();
    let mesh = geometry::process(&source, &geometry::Settings::default(), &|_| {}).unwrap();
    let mesh = Arc::new(mesh);
    let cloud = Cloud {
        instances: INSTANCES as u32,
        ..Cloud::default()
    };
    let scene = Scene {
        meshes: vec![mesh.clone()],
        instances: cloud.generate(1),
        moving: MOVING as u32,
    };
    let settings = Settings {
        path,
        deterministic,
        ..Settings::default()
    };
    let mut renderer = Renderer::new(&gpu, &scene, SIZE, settings, Capacities::default()).unwrap();
    let camera = Camera::by_angles(glam::Vec3::ZERO, 0.0, 0.0, Lens::default());
    let mut submissions = Vec::new();
    for _ in 0..2 {
        let mut frame = gpu.begin_frame().unwrap();
        renderer.record(&mut frame, &camera).unwrap();
        frame.submit().unwrap();
        submissions = driver.take_submissions();
    }
    let mut recorded = Recorded {
        passes: Vec::new(),
        uses: BTreeMap::new(),
    };
    let mut pass = String::new();
    for command in submissions
        .iter()
        .flat_map(|submission| submission.commands())
    {
        match command {
            Command::BeginLabel { name, .. } => {
                pass.clone_from(name);
                recorded.passes.push(name.clone());
            }
            Command::PushDescriptorSetWithTemplate { writes, .. } => {
                for write in writes {
                    let access = access(program(&pass, path), write.binding);
                    match &write.value {
                        DescriptorValue::Buffer(buffer) => {
                            let name = driver.name(buffer.buffer);
                            recorded.uses(name, &pass, access).bytes = buffer.range;
                        }
                        DescriptorValue::Image(image) => {
                            recorded.uses(driver.name(image.image_view), &pass, access);
                        }
                        other => panic!("{pass}: {other:?}"),
                    }
                }
            }
            Command::DispatchIndirect { buffer, .. }
            | Command::DrawIndirect { buffer, .. }
            | Command::DrawMeshTasksIndirect { buffer, .. }
            | Command::DrawMeshTasksIndirectCount { buffer, .. } => {
                recorded.uses(driver.name(*buffer), &pass, Access::Read);
            }
            Command::FillBuffer { buffer, .. } => {
                recorded.uses(driver.name(*buffer), &pass, Access::Write);
            }
            Command::CopyBuffer { src, dst, .. } => {
                for (buffer, access) in [(src, Access::Read), (dst, Access::Write)] {
                    let name = driver.name(*buffer);
                    if !name.contains("ring") && !name.contains("read-back") {
                        recorded.uses(name, &pass, access);
                    }
                }
            }
            Command::BeginRendering { colors, depth, .. } => {
                for attachment in colors.iter().chain(depth) {
                    let access = match attachment.load_op {
                        impel::gpu::vk::AttachmentLoadOp::LOAD => Access::ReadWrite,
                        _ => Access::Write,
                    };
                    recorded.uses(driver.name(attachment.view), &pass, access);
                }
            }
            _ => {}
        }
    }
    Example { recorded, mesh }
}

/// What a resource is, its size in words, and its size in bytes for the example.
fn about(name: &str, mesh: &Mesh) -> (&'static str, &'static str, Option<u64>) {
    let pixels = u64::from(SIZE[0]) * u64::from(SIZE[1]);
    let groups = INSTANCES.div_ceil(64);
    let meshlets = INSTANCES * u64::from(mesh.lods[0].meshlet_count);
    let most_chunks = mesh
        .lods
        .iter()
        .map(|lod| lod.meshlet_count.div_ceil(CHUNK_MESHLETS));
    let chunks = INSTANCES * u64::from(most_chunks.max().unwrap());
    let workgroups = chunks.div_ceil(u64::from(CLUSTER_GROUP_SIZE / CHUNK_MESHLETS))
        + meshlets.div_ceil(u64::from(CLUSTER_GROUP_SIZE));
    let offsets = (workgroups.max(groups) + u64::from(MAX_GROUPS_PER_DIMENSION)) * 12;
    let of = |length: usize, size: u64| Some(length as u64 * size);
    match name {
        "frame data" => (
            "`FrameData`: cameras, switches, limits of lists",
            "400",
            Some(400),
        ),
        "counters" => ("`Counters`: lengths of lists, statistics", "256", Some(256)),
        "arguments" => (
            "indirect dispatches and draws",
            "112 + 2 x 512 x 12",
            Some(12_400),
        ),
        "instances" => (
            "`Instance`: transform, mesh, flags, scale, colour",
            "64 an instance",
            Some(INSTANCES * 64),
        ),
        "resting transforms" => (
            "transforms of moving instances as loaded",
            "48 a moving instance",
            Some(MOVING * 48),
        ),
        "previous transforms" => (
            "the same, as they were last frame",
            "48 a moving instance",
            Some(MOVING * 48),
        ),
        "group bounds" => (
            "spheres of groups of 64 instances",
            "16 a group",
            Some(groups * 16),
        ),
        "group states" => (
            "bits of groups, see `groups.glsl`",
            "4 a group",
            Some(groups * 4),
        ),
        "groups" => (
            "groups that are culled: early list, then late list",
            "8 a group",
            Some(groups * 8),
        ),
        "visibility" => (
            "bits and LOD of instances, see `cull.comp`",
            "4 an instance",
            Some(INSTANCES * 4),
        ),
        "meshes" => ("`Mesh`: bounds, grid, LODs", "176 a mesh", Some(176)),
        "meshlets" => (
            "`Meshlet`: sphere, cone, offsets, counts",
            "32 a meshlet",
            of(mesh.meshlets.len(), 32),
        ),
        "meshlet vertices" => (
            "vertices of meshlets",
            "4 an index",
            of(mesh.meshlet_vertices.len(), 4),
        ),
        "meshlet triangles" => (
            "three 8-bit corners each",
            "4 a triangle",
            of(mesh.meshlet_triangles.len(), 4),
        ),
        "vertices" => (
            "quantised position, normal, texture coordinate",
            "16 a vertex",
            of(mesh.vertices.len(), 16),
        ),
        "chunks" => (
            "`Chunk`: up to 16 meshlets of an instance",
            "12 a chunk, at most 48 MiB",
            Some(chunks * 12),
        ),
        "rejects" => (
            "`Cluster`: put off by the early phase",
            "8 a cluster, at most 16 MiB",
            Some(meshlets * 8),
        ),
        "clusters" => (
            "`Cluster`: instance and meshlet; for compute from the front, for the hardware from the back",
            "8 a cluster, at most 64 MiB",
            Some(meshlets * 8),
        ),
        "offsets" => (
            "counts, then places, of workgroups in lists",
            "12 a workgroup and 65,535 more",
            Some(offsets),
        ),
        "visibility buffer" => (
            "depth << 32, cluster << 7, triangle",
            "8 a pixel",
            Some(pixels * 8),
        ),
        "overdraw" => (
            "samples of each pixel, for one view",
            "4 a pixel",
            Some(pixels * 4),
        ),
        "colour" => ("the picture, sRGB values", "`R8G8B8A8_UNORM`", None),
        "depth" => ("depth attachment, reversed", "`D32_SFLOAT`", None),
        "hierarchical depth" => (
            "minima of depth, power of two below the picture, all levels",
            "`R32_SFLOAT`",
            None,
        ),
        "resolved depth" => ("depth of the visibility buffer", "`R32_SFLOAT`", None),
        "normals" => ("octahedral, world space", "`R32_UINT`", None),
        other => panic!("the page does not know {other:?}"),
    }
}

fn page() -> String {
    let mut page = String::from(
        "# The frame\n\nWhat the renderer\u{2019}s passes hand to each other. This page is made and checked by `tests/frame_page.rs`, which records\n\
         frames and looks. Sizes are in bytes; the example has 1,000 gears of 2,400 triangles, 100 of them moving, and a picture\n\
         of 640x360. Each buffer and image is named so in debuggers, too.\n",
    );
    let paths = [
        (RasterPath::Hybrid, "Hybrid path"),
        (RasterPath::Mesh, "Mesh path"),
        (RasterPath::Task, "Task path"),
        (RasterPath::Vertex, "Vertex path"),
    ];
    for (path, title) in paths {
        let Example { recorded, mesh } = record(path, false);
        let _ = write!(
            page,
            "\n## {title}\n\nPasses, in order: {}.\n\n",
            recorded.passes.join(", ")
        );
        page.push_str("| Resource | What | Bytes, or format | Example | Written by | Read by |\n|---|---|---|---:|---|---|\n");
        for (name, uses) in &recorded.uses {
            let (what, size, bytes) = about(name, &mesh);
            if let Some(bytes) = bytes {
                assert!(
                    uses.bytes == bytes.max(64) || uses.bytes == 0,
                    "{name}: {} is not {bytes}",
                    uses.bytes
                );
            }
            let example = bytes.map_or(String::new(), |bytes| bytes.max(64).to_string());
            let list =
                |passes: &BTreeSet<String>| passes.iter().cloned().collect::<Vec<_>>().join(", ");
            let (written, read) = (list(&uses.written), list(&uses.read));
            let _ = writeln!(
                page,
                "| {name} | {what} | {size} | {example} | {written} | {read} |"
            );
        }
    }
    let Example { recorded, .. } = record(RasterPath::Hybrid, true);
    let _ = write!(
        page,
        "\nWith `deterministic`, each pass that fills a list runs twice, and a pass between them turns counts into places: {}.\n",
        recorded.passes.join(", ")
    );
    page
}

#[test]
fn the_page_tells_what_is_recorded() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("FRAME.md");
    let page = page();
    if std::env::var_os("IMPEL_BLESS").is_some() {
        assert!(
            std::env::var_os("CI").is_none(),
            "the page is not made on CI"
        );
        std::fs::write(&file, &page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap();
    for (line, (found, expected)) in written.lines().zip(page.lines()).enumerate() {
        assert_eq!(found, expected, "FRAME.md, line {}", line + 1);
    }
    assert_eq!(
        written.lines().count(),
        page.lines().count(),
        "FRAME.md, number of lines"
    );
}
