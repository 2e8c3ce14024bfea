//! What several tests share.
#![allow(dead_code, reason = "no test uses all of it")]

use std::path::{Path, PathBuf};

use impel_spirv::{ByteRange, Interface};

/// Folder of the modules of our own.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules")
}

/// The module made of a source.
pub(crate) fn bytes(source: &str) -> Vec<u8> {
    let path = folder().join(format!("{source}.spv"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Its interface.
pub(crate) fn reflect(source: &str) -> Interface {
    impel_spirv::reflect(&bytes(source)).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// Offset and size of each range.
pub(crate) fn ranges(ranges: &[ByteRange]) -> Vec<(u64, u64)> {
    ranges
        .iter()
        .map(|range| (range.offset, range.size))
        .collect()
}

/// All modules at hand: our own and both corpora.
pub(crate) fn all_modules() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut work = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    while let Some(folder) = work.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|extension| extension == "spv") {
                found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(found.len() > 140, "only {} modules", found.len());
    found
}
