//! Processed meshes kept on disk, found by the hash of what they were made from.

mod format;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::Xxh3;

use crate::{Error, Mesh, Settings};

/// What a cached mesh was made from: a 128-bit hash (XXH3) of the source's bytes, the settings and the format's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey(u128);

impl CacheKey {
    /// The key of a source with these bytes; `kind` tells apart sources of the same bytes that are read differently, and
    /// `name` is part of it because the mesh carries it.
    #[must_use]
    pub fn new(kind: &str, name: &str, bytes: &[u8], settings: &Settings) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(&format::VERSION.to_le_bytes());
        // Each part with its length, so that parts can't run into one another.
        for part in [
            kind.as_bytes(),
            name.as_bytes(),
            &settings.key_bytes(),
            bytes,
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.digest128())
    }
}

/// A folder of processed meshes, one file each. Several processes may share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache in this folder, which is made when the first mesh is written.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The cache in `impel` in the user's cache folder (`XDG_CACHE_HOME` or `~/.cache`; on macOS `~/Library/Caches`; on
    /// Windows `LOCALAPPDATA`); nothing where there is no such folder.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let variable = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let folder = if cfg!(windows) {
            variable("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            variable("HOME").map(|home| home.join("Library/Caches"))
        } else {
            variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
        };
        folder.map(|folder| Self::new(folder.join("impel")))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// The file of a key, whether it exists or not.
    #[must_use]
    pub fn path(&self, key: CacheKey) -> PathBuf {
        self.folder.join(format!("{:032x}.mesh", key.0))
    }

    /// Reads a mesh: straight to its arrays, with a checksum and [`Mesh::validate`]. `None` when it isn't there.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::DamagedCache`] when anything about the file isn't just as it was written.
    pub fn read(&self, key: CacheKey) -> Result<Option<Mesh>, Error> {
        let path = self.path(key);
        let failed = |source| Error::Read {
            path: path.clone(),
            source,
        };
        // Before it is opened: opening a pipe waits for its other end.
        match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(failed(std::io::Error::other("not a plain file"))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let mut file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let length = file.metadata().map_err(failed)?.len();
        // The header first: a wrong file of any size is found out before memory is taken for it.
        let mut header = Vec::with_capacity(format::HEADER_SIZE);
        let limit = format::HEADER_SIZE as u64;
        file.by_ref()
            .take(limit)
            .read_to_end(&mut header)
            .map_err(failed)?;
        let layout = format::check_header(&path, &header, length, key.0)?;
        format::read(&path, &layout, &mut file).map(Some)
    }

    /// Writes a mesh beside its place and moves it there, so that a reader sees all of it or nothing.
    ///
    /// # Errors
    /// [`Error::WriteCache`].
    pub fn write(&self, key: CacheKey, mesh: &Mesh) -> Result<(), Error> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let path = self.path(key);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::WriteCache { path, source }
        };
        std::fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        // Unique among processes and threads.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!(
            "{:032x}.{}.{number}.tmp",
            key.0,
            std::process::id()
        ));
        let write = || {
            let mut file = std::fs::File::create_new(&temporary)?;
            format::write(key.0, mesh, &mut file)?;
            drop(file);
            std::fs::rename(&temporary, &path)
        };
        let result = write().map_err(failed(&path));
        if result.is_err() {
            // Nothing more can be done when this fails too; the error told is the first one.
            let _ = std::fs::remove_file(&temporary);
        }
        result
    }
}
