//! Interfaces stored beside their modules: `shader.comp.refl` for `shader.comp.spv`.
//!
//! Layout, all numbers little-endian: magic (8 bytes), schema version (4), length (1) and text of the tool's version, hash of
//! the SPIR-V (16), hash of the payload (16), payload in postcard's compact form.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::interface::Interface;
use crate::reflect::reflect;

const MAGIC: &[u8; 8] = b"IMPLREFL";

/// Version of the baked form; raised whenever [`Interface`] changes.
pub const BAKED_SCHEMA: u32 = 1;

const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Hash of a module (128-bit xxh3 of its bytes): what ties a baked interface to it.
#[must_use]
pub fn spirv_hash(spirv: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(spirv)
}

/// Bakes an interface. `spirv_hash` is [`spirv_hash`] of its module.
///
/// # Errors
///
/// [`Error::Baked`] if the interface cannot be written, which no interface made by [`reflect`] does.
pub fn bake(interface: &Interface, spirv_hash: u128) -> Result<Vec<u8>, Error> {
    let payload = postcard::to_allocvec(interface).map_err(|error| Error::Baked {
        file: "interface".to_owned(),
        reason: format!("cannot be written: {error}"),
    })?;
    let mut bytes = Vec::with_capacity(payload.len() + 64);
    bytes.extend(MAGIC);
    bytes.extend(BAKED_SCHEMA.to_le_bytes());
    bytes.push(TOOL_VERSION.len() as u8);
    bytes.extend(TOOL_VERSION.as_bytes());
    bytes.extend(spirv_hash.to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_128(&payload).to_le_bytes());
    bytes.extend(payload);
    Ok(bytes)
}

/// Reads a baked interface. With `expected_hash`, it must belong to that module. `file` is what messages name.
///
/// # Errors
///
/// [`Error::Baked`]: not a baked interface, another schema or tool version, another module, damaged.
pub fn unbake(bytes: &[u8], expected_hash: Option<u128>, file: &str) -> Result<Interface, Error> {
    let fail = |reason: String| Error::Baked {
        file: file.to_owned(),
        reason,
    };
    let mut rest = bytes;
    let mut take = |count: usize| {
        let (head, tail) = rest.split_at_checked(count).ok_or_else(|| {
            fail(format!(
                "ends after {} bytes, within its header",
                bytes.len()
            ))
        })?;
        rest = tail;
        Ok::<&[u8], Error>(head)
    };
    if take(MAGIC.len()).ok() != Some(MAGIC) {
        return Err(fail("is no baked interface (wrong magic bytes)".to_owned()));
    }
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0u128, |number, byte| number << 8 | u128::from(*byte))
    };
    let schema = number(take(4)?);
    if schema != u128::from(BAKED_SCHEMA) {
        return Err(fail(format!(
            "is of schema {schema}, expected {BAKED_SCHEMA}; bake it again"
        )));
    }
    let length = number(take(1)?) as usize;
    let version = take(length)?;
    if version != TOOL_VERSION.as_bytes() {
        return Err(fail(format!(
            "was baked by version {}, expected {TOOL_VERSION}; bake it again",
            String::from_utf8_lossy(version)
        )));
    }
    let hash = number(take(16)?);
    if let Some(expected) = expected_hash.filter(|expected| *expected != hash) {
        return Err(fail(format!(
            "is stale: baked for the module with hash {hash:032x}, but the module's is {expected:032x}"
        )));
    }
    let checksum = number(take(16)?);
    if xxhash_rust::xxh3::xxh3_128(rest) != checksum {
        return Err(fail("is damaged (checksum)".to_owned()));
    }
    match postcard::take_from_bytes(rest) {
        Ok((interface, [])) => Ok(interface),
        Ok((_, left)) => Err(fail(format!("is damaged ({} bytes left over)", left.len()))),
        Err(error) => Err(fail(format!("is damaged ({error})"))),
    }
}

/// Where [`load`] found an interface.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadedFrom {
    /// In the `.refl` file.
    Baked,
    /// In the module itself, because the `.refl` file is missing (`None`) or for this reason cannot be used.
    Module(Option<Error>),
}

/// Name of the baked interface of a module: `.refl` in place of `.spv`.
#[must_use]
pub fn baked_path(spirv: &Path) -> PathBuf {
    spirv.with_extension("refl")
}

/// The interface of a module on disk: from the `.refl` beside it if that is there, fresh and whole, else from the module. A
/// `.refl` file without its module is taken as it is.
///
/// # Errors
///
/// [`Error::File`] if neither can be read; otherwise what is wrong with the module, or, without one, with the `.refl` file.
pub fn load(spirv: &Path) -> Result<(Interface, LoadedFrom), Error> {
    let name = spirv.display().to_string();
    let baked_path = baked_path(spirv);
    let baked_name = baked_path.display().to_string();
    let module = std::fs::read(spirv).map_err(|error| Error::File {
        file: name.clone(),
        reason: error.to_string(),
    });
    let baked = match std::fs::read(&baked_path) {
        Ok(bytes) => Some(unbake(
            &bytes,
            module.as_ref().ok().map(|module| spirv_hash(module)),
            &baked_name,
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(Error::File {
            file: baked_name,
            reason: error.to_string(),
        })),
    };
    match (baked, module) {
        (Some(Ok(interface)), _) => Ok((interface, LoadedFrom::Baked)),
        (Some(Err(error)), Err(_)) => Err(error),
        (None, Err(error)) => Err(error),
        (problem, Ok(module)) => {
            let interface = reflect(&module).map_err(|error| error.in_file(&name))?;
            Ok((interface, LoadedFrom::Module(problem.and_then(Result::err))))
        }
    }
}
