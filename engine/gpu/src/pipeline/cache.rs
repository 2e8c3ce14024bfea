//! The pipeline cache on disk.
//!
//! A file holds: magic, version, device and driver UUID, length and checksum, then the driver's data. Drivers are known
//! to crash on foreign or damaged data, so nothing reaches them that does not match to the byte.

use crate::device::DeviceInfo;
use crate::{Error, Result};
use ash::vk;
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"IMPELPC1";
const HEADER: usize = 8 + 32 + 8 + 8;

/// Vulkan's pipeline cache, with the file that it comes from and goes to.
pub(crate) struct PipelineCache {
    pub(crate) handle: vk::PipelineCache,
    path: Option<PathBuf>,
    key: [u8; 32],
}

impl PipelineCache {
    pub(crate) fn open(
        device: &ash::Device,
        path: Option<PathBuf>,
        info: &DeviceInfo,
    ) -> Result<PipelineCache> {
        let key = info.cache_key;
        let data = path
            .as_deref()
            .and_then(|path| read(path, &key))
            .unwrap_or_default();
        let create = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the data is what this very device and driver gave, to the byte.
        let handle = unsafe { device.create_pipeline_cache(&create, None) }
            .map_err(Error::vulkan("vkCreatePipelineCache", "the device"))?;
        Ok(PipelineCache { handle, path, key })
    }

    /// Writes the file, if there is one, and lets go of the cache. A file that cannot be written costs only time.
    pub(crate) fn save_and_destroy(&self, device: &ash::Device) {
        if let Some(path) = &self.path {
            // SAFETY: the cache is alive.
            let data = unsafe { device.get_pipeline_cache_data(self.handle) };
            let saved = data
                .map_err(|error| error.to_string())
                .and_then(|data| write(path, &self.key, &data).map_err(|error| error.to_string()));
            if let Err(error) = saved {
                log::warn!("pipeline cache {}: not written: {error}", path.display());
            }
        }
        // SAFETY: only called when the device is about to go; nothing creates pipelines any more.
        unsafe { device.destroy_pipeline_cache(self.handle, None) };
    }
}

fn read(path: &Path, key: &[u8; 32]) -> Option<Vec<u8>> {
    // Not a pipe or device, which might never end.
    let is_file = std::fs::metadata(path).map(|metadata| metadata.is_file());
    let plain = is_file.and_then(|is_file| {
        let not_plain = || std::io::Error::other("it is not a plain file");
        is_file.then_some(()).ok_or_else(not_plain)
    });
    let bytes = match plain.and_then(|()| std::fs::read(path)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            log::warn!("pipeline cache {}: not read: {error}", path.display());
            return None;
        }
    };
    let data = parse(&bytes, key);
    if let Err(reason) = &data {
        log::warn!("pipeline cache {}: ignored: {reason}", path.display());
    }
    data.ok().map(<[u8]>::to_vec)
}

fn parse<'a>(bytes: &'a [u8], key: &[u8; 32]) -> Result<&'a [u8], &'static str> {
    let (header, data) = bytes
        .split_at_checked(HEADER)
        .ok_or("it is shorter than its header")?;
    if header[..8] != MAGIC {
        return Err("it is no pipeline cache of this version");
    }
    if header[8..40] != *key {
        return Err("it is of another device or driver");
    }
    if header[40..48] != (data.len() as u64).to_le_bytes()
        || header[48..] != checksum(data).to_le_bytes()
    {
        return Err("it is damaged");
    }
    Ok(data)
}

fn write(path: &Path, key: &[u8; 32], data: &[u8]) -> std::io::Result<()> {
    let mut bytes = Vec::with_capacity(HEADER + data.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(data).to_le_bytes());
    bytes.extend_from_slice(data);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // A reader sees the old file or the new one, never a part.
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&temporary, &bytes)?;
    std::fs::rename(&temporary, path)
}

/// FNV-1a, 64 bits: finds damage, is no defence against malice.
fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_or_foreign_file_is_refused() {
        let folder =
            std::env::temp_dir().join(format!("impel-pipeline-cache-{}", std::process::id()));
        let path = folder.join("cache");
        let key = [7; 32];
        write(&path, &key, b"driver data").unwrap();
        let good = std::fs::read(&path).unwrap();
        assert_eq!(parse(&good, &key), Ok(b"driver data".as_slice()));
        assert!(parse(&good, &[8; 32]).is_err());
        for cut in 0..good.len() {
            assert!(parse(&good[..cut], &key).is_err(), "cut at {cut}");
        }
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&bad, &key).is_err(), "bit {bit}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
