//! Interfaces stored beside their modules: `shader.comp.refl` for `shader.comp.spv`.
//!
//! Layout, all numbers little-endian: magic (8 bytes), schema version (4), length (1) and text of the tool's version, hash of
//! the SPIR-V (16), hash of the payload (8), payload: the head of the interface, what follows it, all text, zeros (20), length of the text
//! (4). [`form`] says how values lie in there.

mod fields;
mod form;

use std::path::{Path, PathBuf};

use form::Rest;

use crate::error::Error;
use crate::interface::Interface;
use crate::reflect::reflect;

const MAGIC: &[u8; 8] = b"IMPLREFL";

/// Version of the baked form; raised whenever [`Interface`] changes.
pub const BAKED_SCHEMA: u32 = 4;

/// Zeros behind the text. With the number behind them, reading a name's 24 bytes at once never ends beyond the payload.
const ZEROS: [u8; 20] = [0; 20];

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
/// [`Error::Baked`] if the interface is too large to be written, which no interface made by [`reflect`] is.
pub fn bake(interface: &Interface, spirv_hash: u128) -> Result<Vec<u8>, Error> {
    let (mut payload, mut text) = (Vec::new(), String::new());
    form::write_whole(std::slice::from_ref(interface), &mut payload, &mut text);
    let Ok(length) = u32::try_from(text.len()) else {
        return Err(Error::Baked {
            file: "interface".to_owned(),
            reason: format!("cannot be written: it has {} bytes of text", text.len()),
        });
    };
    payload.extend(text.as_bytes());
    payload.extend(ZEROS);
    payload.extend(length.to_le_bytes());
    let mut bytes = Vec::with_capacity(payload.len() + 64);
    bytes.extend(MAGIC);
    bytes.extend(BAKED_SCHEMA.to_le_bytes());
    bytes.push(TOOL_VERSION.len() as u8);
    bytes.extend(TOOL_VERSION.as_bytes());
    bytes.extend(spirv_hash.to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_64(&payload).to_le_bytes());
    bytes.extend(payload);
    Ok(bytes)
}

/// Reads a baked interface. With `expected_hash`, it must belong to that module. `file` is what messages name.
///
/// # Errors
///
/// [`Error::Baked`]: not a baked interface, another schema or tool version, another module, damaged.
pub fn unbake(bytes: &[u8], expected_hash: Option<u128>, file: &str) -> Result<Interface, Error> {
    let failed = |reason| Error::Baked {
        file: file.to_owned(),
        reason,
    };
    let payload = payload(bytes, expected_hash).map_err(failed)?;
    match read_payload(payload) {
        Some(interface) => Ok(interface),
        None => Err(failed(
            "is damaged (its numbers describe no interface)".to_owned(),
        )),
    }
}

/// What follows the header, once that is checked; the error is the reason alone.
fn payload(bytes: &[u8], expected_hash: Option<u128>) -> Result<&[u8], String> {
    let short = || format!("ends after {} bytes, within its header", bytes.len());
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("is no baked interface (wrong magic bytes)".to_owned());
    };
    let (schema, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let schema = u32::from_le_bytes(*schema);
    if schema != BAKED_SCHEMA {
        return Err(format!(
            "is of schema {schema}, expected {BAKED_SCHEMA}; bake it again"
        ));
    }
    let (length, rest) = rest.split_first().ok_or_else(short)?;
    let (version, rest) = rest
        .split_at_checked(usize::from(*length))
        .ok_or_else(short)?;
    if version != TOOL_VERSION.as_bytes() {
        return Err(format!(
            "was baked by version {}, expected {TOOL_VERSION}; bake it again",
            String::from_utf8_lossy(version)
        ));
    }
    let (hash, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let hash = u128::from_le_bytes(*hash);
    if let Some(expected) = expected_hash.filter(|expected| *expected != hash) {
        return Err(format!(
            "is stale: baked for the module with hash {hash:032x}, but the module's is {expected:032x}"
        ));
    }
    let (expected, payload) = rest.split_first_chunk().ok_or_else(short)?;
    if xxhash_rust::xxh3::xxh3_64(payload) != u64::from_le_bytes(*expected) {
        return Err("is damaged (checksum)".to_owned());
    }
    Ok(payload)
}

/// `None` for what [`bake`] would not write.
fn read_payload(payload: &[u8]) -> Option<Interface> {
    let (before, length) = payload.split_last_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let before = before.strip_suffix(&ZEROS)?;
    let start = before.len().checked_sub(length)?;
    let (bytes, text) = before.split_at_checked(start)?;
    let text = std::str::from_utf8(text).ok()?;
    let mut rest = Rest::new(bytes, text, payload.get(start..)?);
    let interface = form::read_whole(rest.whole::<Interface>(), &mut rest);
    if rest.is_damaged || !rest.bytes.is_empty() || !rest.text.is_empty() {
        return None;
    }
    Some(interface)
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
    let module = crate::read_file(spirv).map_err(|error| Error::File {
        file: name.clone(),
        reason: error.to_string(),
    });
    let baked = match crate::read_file(&baked_path) {
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
