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

use std::io::{Read, Write};
use std::path::Path;

use bytemuck::Pod;
use xxhash_rust::xxh3::Xxh3;

use crate::mesh::{Lod, Meshlet, Vertex};
use crate::{Error, Mesh};

#[cfg(target_endian = "big")]
compile_error!("cached and GPU records are little endian");

/// Changes whenever this layout or the processing does.
pub(super) const VERSION: u32 = 2;
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
}

/// The arrays as bytes, in the order of the file.
fn arrays(mesh: &Mesh) -> [&[u8]; 6] {
    [
        mesh.name.as_bytes(),
        bytemuck::cast_slice(&mesh.lods),
        bytemuck::cast_slice(&mesh.meshlets),
        bytemuck::cast_slice(&mesh.vertices),
        bytemuck::cast_slice(&mesh.meshlet_vertices),
        bytemuck::cast_slice(&mesh.meshlet_triangles),
    ]
}

pub(super) fn write(key: u128, mesh: &Mesh, file: &mut impl Write) -> std::io::Result<()> {
    let arrays = arrays(mesh);
    let lengths = arrays.iter().zip(ELEMENT_SIZES);
    let lengths = lengths.map(|(array, size)| (array.len() / size) as u64);
    let mut header = Vec::with_capacity(HEADER_SIZE);
    header.extend(MAGIC);
    header.extend(VERSION.to_le_bytes());
    header.extend(mesh.triangle_count.to_le_bytes());
    header.extend(key.to_le_bytes());
    header.extend([0; CHECKSUM.end - CHECKSUM.start]);
    header.extend(bytemuck::bytes_of(&mesh.bounds));
    header.extend(bytemuck::bytes_of(&mesh.grid));
    header.extend(lengths.flat_map(u64::to_le_bytes));
    let mut hasher = header_hasher(&header);
    arrays.iter().for_each(|array| hasher.update(array));
    header[CHECKSUM].copy_from_slice(&hasher.digest128().to_le_bytes());

    file.write_all(&header)?;
    arrays.iter().try_for_each(|array| file.write_all(array))
}

/// The checksum so far: of all of the header but the checksum itself.
fn header_hasher(header: &[u8]) -> Xxh3 {
    let mut hasher = Xxh3::new();
    hasher.update(&header[..CHECKSUM.start]);
    hasher.update(&header[CHECKSUM.end..]);
    hasher
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
    })
}

/// A little-endian number of up to 16 bytes.
fn number(header: &[u8; HEADER_SIZE], offset: usize, size: usize) -> u128 {
    let bytes = header[offset..offset + size].iter();
    bytes
        .rev()
        .fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}

/// Reads the arrays straight to their places, checks the checksum, and then the contents ([`Mesh::validate`]).
pub(super) fn read(path: &Path, layout: &Layout, file: &mut impl Read) -> Result<Mesh, Error> {
    let header = &layout.header;
    let [
        name,
        lods,
        meshlets,
        vertices,
        meshlet_vertices,
        meshlet_triangles,
    ] = layout.lengths;
    let mut hasher = header_hasher(header);
    let mut read = || -> std::io::Result<Mesh> {
        let name: Vec<u8> = array(name, file, &mut hasher)?;
        Ok(Mesh {
            name: String::from_utf8_lossy(&name).into_owned(),
            triangle_count: number(header, 12, 4) as u32,
            bounds: bytemuck::pod_read_unaligned(&header[48..64]),
            grid: bytemuck::pod_read_unaligned(&header[64..80]),
            lods: array(lods, file, &mut hasher)?,
            meshlets: array(meshlets, file, &mut hasher)?,
            vertices: array(vertices, file, &mut hasher)?,
            meshlet_vertices: array(meshlet_vertices, file, &mut hasher)?,
            meshlet_triangles: array(meshlet_triangles, file, &mut hasher)?,
        })
    };
    let mesh = read().map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let (expected, found) = (number(header, CHECKSUM.start, 16), hasher.digest128());
    if expected != found {
        let (expected, found) = (format!("{expected:x}"), format!("{found:x}"));
        return Err(damaged(path, "checksum", expected, found));
    }
    mesh.validate().map_err(|misfit| {
        let what = format!("{} {}", misfit.array, misfit.index);
        let found = "something else".to_owned();
        damaged(path, &what, misfit.expected.to_owned(), found)
    })?;
    Ok(mesh)
}

fn array<T: Pod>(
    length: usize,
    file: &mut impl Read,
    hasher: &mut Xxh3,
) -> std::io::Result<Vec<T>> {
    let mut array = bytemuck::allocation::zeroed_vec(length);
    file.read_exact(bytemuck::cast_slice_mut(&mut array))?;
    hasher.update(bytemuck::cast_slice(&array));
    Ok(array)
}
