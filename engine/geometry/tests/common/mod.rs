//! What several tests need.
#![allow(dead_code, reason = "each test uses its own part")]

use std::path::PathBuf;

use impel_geometry::{Mesh, Settings, SourceMesh, import_file, process};

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// An imported model of `tests/data`.
pub(crate) fn model(name: &str) -> SourceMesh {
    import_file(&data(name)).unwrap()
}

/// Processes with the default settings.
pub(crate) fn processed(source: &SourceMesh) -> Mesh {
    process(source, &Settings::default(), &|_| {}).unwrap()
}

/// Random numbers, the same in every run (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit.max(1) as u64) as usize
    }

    /// From -1 to 1.
    pub(crate) fn signed(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// A folder of its own under the system's temporary folder, removed at the end.
pub(crate) struct TemporaryFolder(pub(crate) PathBuf);

impl TemporaryFolder {
    /// Makes it; `name` is unique among the tests.
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("impel-geometry-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
