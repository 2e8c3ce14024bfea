//! What it costs to load a processed mesh from its cache, beside reading the same bytes, and beside making the mesh.
//!
//! The file is in the system's memory, so what is timed is everything but the disk: where loading takes less time for a byte than
//! the disk does, the disk decides. `fs::read` takes fresh memory for the bytes, as loading does; `read` into memory that
//! is there does not, and is what a copy costs.
//!
//! `cargo bench -p benches --bench meshes [-- TRIANGLES]`

use benches::{Variant, compare, print};
use impel_geometry::{BuiltIn, Cache, CacheKey, Settings, Shape, process};
use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

type Error = Box<dyn std::error::Error>;

const ROUNDS: usize = 15;
const TRIANGLES: [u32; 3] = [28_944, 1_000_000, 6_000_000];

fn main() -> Result<(), Error> {
    let asked = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let number = |word: String| -> Result<u32, Error> {
        let number = word.parse();
        number.map_err(|_| format!("expected a number of triangles, got `{word}`").into())
    };
    let asked = asked.map(number).collect::<Result<Vec<_>, _>>()?;
    for triangles in if asked.is_empty() {
        TRIANGLES.to_vec()
    } else {
        asked
    } {
        measure(triangles)?;
    }
    Ok(())
}

fn timed<T>(job: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = black_box(job());
    (made, start.elapsed())
}

fn measure(triangles: u32) -> Result<(), Error> {
    let built_in = BuiltIn {
        shape: Shape::Asteroid,
        triangles,
    };
    let settings = Settings::default();
    let source = built_in.generate()?;
    let (mesh, making) = timed(|| process(&source, &settings, &|_| ()));
    let mesh = mesh?;
    let cache = Cache::new(env!("CARGO_TARGET_TMPDIR"));
    let key = CacheKey::new("bench", &mesh.name, &[], &settings);
    cache.write(key, &mesh)?;
    let path = cache.path(key);
    let bytes = std::fs::metadata(&path)?.len();
    let mut warm = vec![0; usize::try_from(bytes)?];
    let expected = mesh.gpu_bytes();
    drop((source, mesh));

    let read_into = |memory: &mut [u8]| std::fs::File::open(&path)?.read_exact(memory);
    let mut variants: Vec<Variant<'_>> = vec![
        ("fs::read", Box::new(|| timed(|| std::fs::read(&path)).1)),
        (
            "read into memory that is there",
            Box::new(|| timed(|| read_into(&mut warm)).1),
        ),
        (
            "Cache::read: read, hash, validate",
            Box::new(|| {
                let (mesh, time) = timed(|| cache.read(key));
                let found = mesh.ok().flatten().map(|mesh| mesh.gpu_bytes());
                assert_eq!(found, Some(expected), "the cache gives the mesh back");
                time
            }),
        ),
    ];
    let times = compare(&mut variants, ROUNDS, 1);
    drop(variants);
    std::fs::remove_file(&path)?;
    let megabytes = bytes as f64 / 1e6;
    print(
        &format!("{triangles} triangles, {megabytes:.1} MB in the cache"),
        &times,
        0,
    );
    let load = times.last().map_or(0.0, |times| times.median()) / 1e9;
    println!(
        "  loading: {:.2} GB/s; making the mesh took {:.2} s, {:.0} times as long",
        megabytes / 1e3 / load,
        making.as_secs_f64(),
        making.as_secs_f64() / load
    );
    Ok(())
}
