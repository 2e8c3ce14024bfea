//! The cache file: a header, then the arrays of the mesh one behind the other, all little endian.
//!
//! | byte | size | what |
//! |---|---|---|
//! | 0 | 8 | `IMPLMESH` |
//! | 8 | 4 | [`VERSION`] |
//! | 12 | 4 | triangles of LOD 0 |
//! | 16 | 16 | key |
//! | 32 | 16 | checksum (XXH3, 128 bits) of bytes 0 to 32 and everything from byte 48 on |
//! | 48 | 32 | bounds and grid, 4 floats each |
//! | 80 | 48 | lengths of the six arrays in elements, 8 bytes each: name, LODs, meshlets, vertices, meshlet vertices, meshlet triangles |
//! | 128 | | the arrays |

use std::path::Path;

use bytemuck::{AnyBitPattern, NoUninit};
use xxhash_rust::xxh3::Xxh3;

use crate::mesh::{Lod, Meshlet, Vertex};
use crate::{Error, Mesh};

#[cfg(target_endian = "big")]
compile_error!("cached and GPU records are little endian");

/// Changes whenever this layout or the processing does.
pub(super) const VERSION: u32 = 1;
pub(super) const HEADER_SIZE: usize = 128;

const MAGIC: [u8; 8] = *b"IMPLMESH";
const CHECKSUM: std::ops::Range<usize> = 32..48;
/// Bytes of one element of each array, in the order of the file.
const ELEMENT_SIZES: [usize; 6] = [
    1,
    size_of::<Lod>(),
    size_of::<Meshlet>(),
    size_of::<Vertex>(),
    4,
    4,
];

/// What the header says of the rest.
pub(super) struct Layout {
    header: [u8; HEADER_SIZE],
    lengths: [usize; 6],
    pub(super) payload_length: usize,
}

/// The file as parts to write one after the other.
pub(super) fn encode(key: u128, mesh: &Mesh) -> [Vec<u8>; 2] {
    let arrays: [&[u8]; 6] = [
        mesh.name.as_bytes(),
        bytemuck::cast_slice(&mesh.lods),
        bytemuck::cast_slice(&mesh.meshlets),
        bytemuck::cast_slice(&mesh.vertices),
        bytemuck::cast_slice(&mesh.meshlet_vertices),
        bytemuck::cast_slice(&mesh.meshlet_triangles),
    ];
    let lengths = arrays
        .iter()
        .zip(ELEMENT_SIZES)
        .map(|(array, size)| (array.len() / size) as u64);
    let mut header = Vec::with_capacity(HEADER_SIZE);
    header.extend(MAGIC);
    header.extend(VERSION.to_le_bytes());
    header.extend(mesh.triangle_count.to_le_bytes());
    header.extend(key.to_le_bytes());
    let before_checksum = header.clone();
    header.extend([0; 16]);
    header.extend(bytemuck::bytes_of(&mesh.bounds));
    header.extend(bytemuck::bytes_of(&mesh.grid));
    header.extend(lengths.flat_map(u64::to_le_bytes));
    let payload = arrays.concat();
    let checksum = checksum(&before_checksum, &header[CHECKSUM.end..], &payload);
    header[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    [header, payload]
}

fn checksum(before: &[u8], after: &[u8], payload: &[u8]) -> u128 {
    let mut hasher = Xxh3::new();
    [before, after, payload]
        .iter()
        .for_each(|part| hasher.update(part));
    hasher.digest128()
}

fn damaged(path: &Path, what: &str, expected: String, found: String) -> Error {
    let (path, what) = (path.to_owned(), what.to_owned());
    Error::DamagedCache {
        path,
        what,
        expected,
        found,
    }
}

/// Checks what can be checked before the arrays are read: kind, version, key, and that the lengths add up to the file's.
pub(super) fn check_header(
    path: &Path,
    bytes: &[u8],
    file_length: u64,
    key: u128,
) -> Result<Layout, Error> {
    let check = |ok, what, expected: String, found: String| match ok {
        true => Ok(()),
        false => Err(damaged(path, what, expected, found)),
    };
    let Ok(header) = <[u8; HEADER_SIZE]>::try_from(bytes) else {
        let (expected, found) = (format!("{HEADER_SIZE} bytes"), bytes.len().to_string());
        return Err(damaged(path, "header", expected, found));
    };
    let magic = number(&header, 0, 8);
    let expected = u128::from(u64::from_le_bytes(MAGIC));
    let hex = |number: u128| format!("{number:x}");
    check(
        magic == expected,
        "file type at byte 0",
        hex(expected),
        hex(magic),
    )?;
    let (version, expected) = (number(&header, 8, 4), u128::from(VERSION));
    check(
        version == expected,
        "version at byte 8",
        hex(expected),
        hex(version),
    )?;
    let found = number(&header, 16, 16);
    check(found == key, "key at byte 16", hex(key), hex(found))?;

    let lengths: [u64; 6] = std::array::from_fn(|k| number(&header, 80 + 8 * k, 8) as u64);
    let sizes = lengths.iter().zip(ELEMENT_SIZES);
    let sizes = sizes.map(|(&length, size)| u128::from(length) * size as u128);
    let expected = sizes.sum::<u128>() + HEADER_SIZE as u128;
    let fits = expected == u128::from(file_length) && usize::try_from(file_length).is_ok();
    check(
        fits,
        "file length",
        expected.to_string(),
        file_length.to_string(),
    )?;
    // No array is longer than the file, whose length the operating system vouches for.
    Ok(Layout {
        header,
        lengths: lengths.map(|length| length as usize),
        payload_length: file_length as usize - HEADER_SIZE,
    })
}

/// A little-endian number of up to 16 bytes.
fn number(header: &[u8; HEADER_SIZE], offset: usize, size: usize) -> u128 {
    let bytes = header[offset..offset + size].iter();
    bytes
        .rev()
        .fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}

/// Checks the checksum and unpacks the arrays; everything in them is checked again by [`Mesh::validate`].
pub(super) fn decode(path: &Path, layout: &Layout, payload: &[u8]) -> Result<Mesh, Error> {
    if payload.len() != layout.payload_length {
        let (expected, found) = (layout.payload_length, payload.len());
        return Err(damaged(
            path,
            "length of the arrays",
            expected.to_string(),
            found.to_string(),
        ));
    }
    let header = &layout.header;
    let expected = number(header, CHECKSUM.start, 16);
    let found = checksum(&header[..CHECKSUM.start], &header[CHECKSUM.end..], payload);
    if expected != found {
        return Err(damaged(
            path,
            "checksum",
            format!("{expected:x}"),
            format!("{found:x}"),
        ));
    }
    // The lengths add up to the payload's, so that the splits below can't fail; if they did, Mesh::validate would tell.
    let mut rest = payload;
    let [
        name,
        lods,
        meshlets,
        vertices,
        meshlet_vertices,
        meshlet_triangles,
    ] = std::array::from_fn(|k| {
        let size = layout.lengths[k] * ELEMENT_SIZES[k];
        let (array, remainder) = rest.split_at_checked(size).unwrap_or_default();
        rest = remainder;
        array
    });
    let mesh = Mesh {
        name: String::from_utf8_lossy(name).into_owned(),
        triangle_count: number(header, 12, 4) as u32,
        bounds: bytemuck::pod_read_unaligned(&header[48..64]),
        grid: bytemuck::pod_read_unaligned(&header[64..80]),
        lods: unpack(lods),
        meshlets: unpack(meshlets),
        vertices: unpack(vertices),
        meshlet_vertices: unpack(meshlet_vertices),
        meshlet_triangles: unpack(meshlet_triangles),
    };
    mesh.validate().map_err(|misfit| {
        let what = format!("{} {}", misfit.array, misfit.index);
        damaged(
            path,
            &what,
            misfit.expected.to_owned(),
            "something else".to_owned(),
        )
    })?;
    Ok(mesh)
}

fn unpack<T: NoUninit + AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytemuck::allocation::pod_collect_to_vec(bytes)
}
