//! Compiled modules on disk, by the hash of everything they depend on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{COMPILER, CompileError, CompileOptions, Optimization, Source};

/// Bytes of the checksum in front of the module.
const CHECKSUM: usize = 16;

/// Where one compilation's result is kept.
pub(super) struct Entry {
    file: PathBuf,
}

impl Entry {
    /// The key covers the compiler's version, the stage, the options, the definitions in order, and names and texts of the
    /// source and all that it may include.
    pub(super) fn new(
        folder: &Path,
        source: &Source,
        options: &CompileOptions,
        includes: &BTreeMap<String, String>,
    ) -> Self {
        let mut key = Key(Vec::new());
        key.part(COMPILER);
        key.part(source.stage.name());
        key.part(match options.optimization {
            Optimization::None => "none",
            Optimization::Performance => "performance",
        });
        key.part(if options.debug_info { "debug" } else { "plain" });
        key.part(&format!(
            "{} {}",
            options.automatic_bindings, options.spirv_1_3
        ));
        for define in &options.defines {
            key.part(&define.name);
            key.part(define.value.as_deref().unwrap_or(" undefined"));
        }
        key.part("sources");
        key.part(&source.name);
        key.part(&source.text);
        for directory in &options.include_directories {
            key.part(&directory.to_string_lossy());
        }
        key.part("includes");
        for (name, text) in includes {
            key.part(name);
            key.part(text);
        }
        let hash = xxhash_rust::xxh3::xxh3_128(&key.0);
        Self {
            file: folder.join(format!("{hash:032x}.spv")),
        }
    }

    /// The module, if it is there and undamaged.
    pub(super) fn load(&self) -> Option<Vec<u8>> {
        let bytes = crate::read_file(&self.file).ok()?;
        let (checksum, spirv) = bytes.split_at_checked(CHECKSUM)?;
        (checksum == xxhash_rust::xxh3::xxh3_128(spirv).to_le_bytes()).then(|| spirv.to_vec())
    }

    /// Keeps a module. Readers never see half a file: it is written aside and then renamed.
    pub(super) fn store(&self, spirv: &[u8]) -> Result<(), CompileError> {
        let fail = |source| CompileError::Write {
            file: self.file.clone(),
            source,
        };
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).map_err(fail)?;
        }
        let mut bytes = xxhash_rust::xxh3::xxh3_128(spirv).to_le_bytes().to_vec();
        bytes.extend_from_slice(spirv);
        let aside = self.file.with_extension(format!(
            "{}-{:?}.part",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::write(&aside, bytes).map_err(fail)?;
        std::fs::rename(&aside, &self.file).map_err(fail)
    }
}

/// Parts with their lengths, so that two different lists never run together.
struct Key(Vec<u8>);

impl Key {
    fn part(&mut self, text: &str) {
        self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
    }
}
