//! The disk cache: what goes in comes out, and nothing damaged ever does.

mod common;

use std::sync::Mutex;

use common::{Random, TemporaryFolder, data, processed};
use impel_geometry::{
    BuiltIn, Cache, CacheKey, Error, Mesh, MeshSource, Settings, Shape, load, load_all,
};

/// Keeps the log's warnings, for all tests of this file.
struct Warnings(Mutex<Vec<String>>);

static WARNINGS: Warnings = Warnings(Mutex::new(Vec::new()));

impl log::Log for Warnings {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push(record.args().to_string());
    }

    fn flush(&self) {}
}

fn warnings_about(text: &str) -> usize {
    WARNINGS
        .0
        .lock()
        .unwrap()
        .iter()
        .filter(|warning| warning.contains(text))
        .count()
}

fn catch_warnings() {
    // Fails for all tests but the first, which is all right.
    if log::set_logger(&WARNINGS).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}

fn small_mesh() -> Mesh {
    processed(
        &BuiltIn {
            shape: Shape::Asteroid,
            triangles: 80,
        }
        .generate()
        .unwrap(),
    )
}

fn key(bytes: &[u8]) -> CacheKey {
    CacheKey::new("test", "small", bytes, &Settings::default())
}

#[test]
fn round_trip() {
    let folder = TemporaryFolder::new("round-trip");
    let cache = Cache::new(folder.0.join("made/when/needed"));
    let key = key(b"a");
    assert!(cache.read(key).unwrap().is_none());
    for mesh in [small_mesh(), processed(&common::model("spot.obj"))] {
        cache.write(key, &mesh).unwrap();
        let bytes = std::fs::read(cache.path(key)).unwrap();
        let read = cache.read(key).unwrap().unwrap();
        assert_eq!(read, mesh);
        assert_eq!(
            bytemuck::cast_slice::<_, u8>(&read.meshlets),
            bytemuck::cast_slice::<_, u8>(&mesh.meshlets)
        );
        cache.write(key, &read).unwrap();
        assert_eq!(std::fs::read(cache.path(key)).unwrap(), bytes);
    }
    let files = std::fs::read_dir(cache.path(key).parent().unwrap())
        .unwrap()
        .count();
    assert_eq!(files, 1, "temporary files are left");
}

#[test]
fn keys_tell_everything_apart() {
    let settings = Settings::default();
    let mut keys = vec![
        CacheKey::new("obj", "a", b"x", &settings),
        CacheKey::new("obj", "a", b"y", &settings),
        CacheKey::new("obj", "b", b"x", &settings),
        CacheKey::new("gltf", "a", b"x", &settings),
        CacheKey::new("obja", "", b"x", &settings),
        CacheKey::new("obj", "ax", b"", &settings),
    ];
    for changed in [
        Settings {
            normalise_radius: Some(1.0),
            ..settings
        },
        Settings {
            max_lods: 7,
            ..settings
        },
        Settings {
            lod_ratio: 0.5,
            ..settings
        },
        Settings {
            lod_stop_ratio: 0.9,
            ..settings
        },
        Settings {
            lod_max_error: 0.2,
            ..settings
        },
        Settings {
            normal_weight: 0.5,
            ..settings
        },
        Settings {
            cone_weight: 0.5,
            ..settings
        },
    ] {
        keys.push(CacheKey::new("obj", "a", b"x", &changed));
    }
    let distinct: std::collections::HashSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
}

fn refused(cache: &Cache, key: CacheKey, bytes: &[u8]) {
    std::fs::write(cache.path(key), bytes).unwrap();
    let error = cache.read(key).expect_err("damage went unnoticed");
    let message = error.to_string();
    assert!(
        matches!(error, Error::DamagedCache { .. }) && message.contains("damaged mesh cache"),
        "{message}"
    );
}

#[test]
fn flipped_bits_are_noticed() {
    let folder = TemporaryFolder::new("bits");
    let (cache, key) = (Cache::new(&folder.0), key(b"bits"));
    cache.write(key, &small_mesh()).unwrap();
    let mut bytes = std::fs::read(cache.path(key)).unwrap();
    let mut random = Random(6);
    // Every bit of the header, one of every byte behind it.
    let header = 0..128 * 8;
    let behind = (128..bytes.len()).map(|byte| byte * 8 + random.below(8));
    for bit in header.chain(behind) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        refused(&cache, key, &bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_truncation_is_noticed() {
    let folder = TemporaryFolder::new("lengths");
    let (cache, key) = (Cache::new(&folder.0), key(b"lengths"));
    cache.write(key, &small_mesh()).unwrap();
    let bytes = std::fs::read(cache.path(key)).unwrap();
    for length in 0..bytes.len() {
        refused(&cache, key, &bytes[..length]);
    }
    let mut longer = bytes.clone();
    longer.push(0);
    refused(&cache, key, &longer);
    refused(&cache, key, &[bytes.clone(), bytes].concat());
}

#[test]
fn other_files_are_noticed() {
    let folder = TemporaryFolder::new("others");
    let (cache, key, other) = (Cache::new(&folder.0), key(b"others"), key(b"other"));
    let mut random = Random(5);
    for length in [1, 64, 127, 128, 129, 1000, 100_000] {
        refused(
            &cache,
            key,
            &(0..length).map(|_| random.bits() as u8).collect::<Vec<_>>(),
        );
        refused(&cache, key, &vec![0; length]);
    }
    // The sound file of another key, under this one's name.
    cache.write(other, &small_mesh()).unwrap();
    refused(&cache, key, &std::fs::read(cache.path(other)).unwrap());
}

/// Opening a pipe waits for its other end, which may never come.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_not_opened() {
    let folder = TemporaryFolder::new("pipe");
    let cache = Cache::new(&folder.0);
    let key = key(b"pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(cache.path(key))
        .status()
        .unwrap();
    assert!(made.success());
    let error = cache.read(key).unwrap_err();
    assert!(error.to_string().contains("not a plain file"), "{error}");
}

/// Writes a mesh with a correct checksum but contents that would lead a shader astray.
#[test]
fn unsound_contents_are_noticed() {
    let folder = TemporaryFolder::new("unsound");
    let (cache, key) = (Cache::new(&folder.0), key(b"unsound"));
    let sound = small_mesh();
    type Change = (&'static str, fn(&mut Mesh));
    let changes: [Change; 26] = [
        ("vertex index", |mesh| {
            mesh.meshlet_vertices[5] = mesh.vertices.len() as u32;
        }),
        ("fewer vertices", |mesh| {
            mesh.vertices.truncate(mesh.vertices.len() - 1);
        }),
        ("local index", |mesh| mesh.meshlet_triangles[3] |= 0xff),
        ("top byte", |mesh| mesh.meshlet_triangles[3] |= 1 << 24),
        ("fewer triangles", |mesh| {
            mesh.meshlet_triangles
                .truncate(mesh.meshlet_triangles.len() - 1);
        }),
        ("fewer meshlet vertices", |mesh| {
            mesh.meshlet_vertices
                .truncate(mesh.meshlet_vertices.len() - 1);
        }),
        ("vertex offset", |mesh| {
            mesh.meshlets[0].vertex_offset = u32::MAX;
        }),
        ("triangle offset", |mesh| {
            mesh.meshlets[0].triangle_offset = u32::MAX;
        }),
        ("no vertices", |mesh| mesh.meshlets[0].counts &= !0xff),
        ("too many vertices", |mesh| mesh.meshlets[0].counts |= 0xff),
        ("no triangles", |mesh| mesh.meshlets[0].counts &= !0xff00),
        ("too many triangles", |mesh| {
            mesh.meshlets[0].counts |= 0xff00;
        }),
        ("wrong LOD", |mesh| mesh.meshlets[0].counts += 1 << 16),
        ("no edge", |mesh| mesh.meshlets[0].counts &= 0x00ff_ffff),
        ("sphere", |mesh| mesh.meshlets[0].centre[1] = f32::NAN),
        ("radius", |mesh| mesh.meshlets[0].radius = 0.0),
        ("cone", |mesh| mesh.meshlets[0].cone[3] = -1),
        ("bounds", |mesh| mesh.bounds.radius = f32::INFINITY),
        ("grid", |mesh| mesh.grid.scale *= 1.5),
        ("no LODs", |mesh| mesh.lods.clear()),
        ("LOD without meshlets", |mesh| {
            mesh.lods[0].meshlet_count = 0;
        }),
        ("LOD with too many", |mesh| mesh.lods[0].meshlet_count += 1),
        ("LOD order", |mesh| mesh.lods[0].first_meshlet = 1),
        ("LOD error", |mesh| mesh.lods[0].error = 1.0),
        ("LOD triangles", |mesh| mesh.lods[0].triangle_count += 1),
        ("triangle count", |mesh| mesh.triangle_count += 1),
    ];
    for (what, change) in changes {
        let mut mesh = sound.clone();
        change(&mut mesh);
        assert!(mesh.validate().is_err(), "{what}");
        cache.write(key, &mesh).unwrap();
        assert!(
            matches!(cache.read(key), Err(Error::DamagedCache { .. })),
            "{what}"
        );
    }
}

#[test]
fn loading_uses_the_cache_and_survives_its_damage() {
    catch_warnings();
    let folder = TemporaryFolder::new("loading");
    let model = folder.0.join("spot-cached.obj");
    std::fs::copy(data("spot.obj"), &model).unwrap();
    let (cache, settings) = (Cache::new(folder.0.join("cache")), Settings::default());
    let source = MeshSource::File(model.clone());
    let work = Mutex::new(0);
    let load_counting = || {
        load(&source, &settings, Some(&cache), &|progress| {
            *work.lock().unwrap() += u32::from(progress.stage == impel_geometry::Stage::Simplify);
        })
        .unwrap()
    };
    let files = || -> Vec<_> {
        let mut files: Vec<_> = std::fs::read_dir(folder.0.join("cache"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    };
    let first = load_counting();
    let simplifications = *work.lock().unwrap();
    assert!(simplifications > 0);
    let cached = files();
    assert_eq!(cached.len(), 1);

    assert_eq!(load_counting(), first);
    assert_eq!(
        *work.lock().unwrap(),
        simplifications,
        "the second time nothing is processed"
    );

    // Damaged: a warning, the same mesh, and a repaired file.
    let whole = std::fs::read(&cached[0]).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 4;
    std::fs::write(&cached[0], &damaged).unwrap();
    assert_eq!(warnings_about("spot-cached is built anew"), 0);
    assert_eq!(load_counting(), first);
    assert_eq!(warnings_about("spot-cached is built anew"), 1);
    assert_eq!(std::fs::read(&cached[0]).unwrap(), whole);

    // Another content, another file.
    let mut text = std::fs::read(&model).unwrap();
    text.extend(b"\n# changed\n");
    std::fs::write(&model, text).unwrap();
    assert_eq!(load_counting(), first);
    assert_eq!(files().len(), 2);
}

#[test]
fn a_cache_that_cannot_be_written_costs_only_a_warning() {
    catch_warnings();
    let folder = TemporaryFolder::new("unwritable");
    let file = folder.0.join("file");
    std::fs::write(&file, "in the way").unwrap();
    let source = MeshSource::BuiltIn(BuiltIn {
        shape: Shape::Asteroid,
        triangles: 82,
    });
    let mesh = load(
        &source,
        &Settings::default(),
        Some(&Cache::new(&file)),
        &|_| {},
    )
    .unwrap();
    assert_eq!(mesh.triangle_count, 82);
    assert_eq!(
        warnings_about("asteroid:82 will be built anew next time"),
        1
    );
}

#[test]
fn several_at_once() {
    let folder = TemporaryFolder::new("several");
    let cache = Cache::new(&folder.0);
    let built_in = |triangles| {
        MeshSource::BuiltIn(BuiltIn {
            shape: Shape::Asteroid,
            triangles,
        })
    };
    let sources: Vec<_> = [500, 80, 300, 80].map(built_in).to_vec();
    for _ in 0..2 {
        let meshes = load_all(&sources, &Settings::default(), Some(&cache), &|_| {}).unwrap();
        assert_eq!(
            meshes
                .iter()
                .map(|mesh| mesh.triangle_count)
                .collect::<Vec<_>>(),
            [500, 80, 300, 80]
        );
    }
    let sources = [
        built_in(500),
        MeshSource::File("first-missing.obj".into()),
        MeshSource::File("missing.obj".into()),
    ];
    let error = load_all(&sources, &Settings::default(), Some(&cache), &|_| {}).unwrap_err();
    assert!(
        error.to_string().starts_with("first-missing.obj"),
        "{error}"
    );
}
