//! The Wavefront OBJ reader.
//!
//! It is our own because every complaint has to name its line, files that mix faces with and without normals have to
//! come out right, and no input may panic; `tobj` serves as the oracle in the tests.

use std::borrow::Cow;

use glam::{DVec3, Vec3};

use super::polygon;
use crate::Error;
use crate::source::{MAX_COORDINATE, MAX_ELEMENTS, SourceMesh, SourceVertex};

/// In a corner: no texture coordinate, or no normal.
const MISSING: u32 = u32::MAX;

/// Keywords that describe something other than triangles.
const PASSED_OVER: &[&[u8]] = &[
    b"o",
    b"g",
    b"s",
    b"mg",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"l",
    b"p",
    b"vp",
    b"cstype",
    b"deg",
    b"bmat",
    b"step",
    b"curv",
    b"curv2",
    b"surf",
    b"parm",
    b"trim",
    b"hole",
    b"scrv",
    b"sp",
    b"end",
    b"con",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"shadow_obj",
    b"trace_obj",
    b"ctech",
    b"stech",
    b"call",
    b"csh",
];

#[derive(Default)]
struct Reader {
    positions: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    normals: Vec<[f32; 3]>,
    /// Position, texture coordinate and normal of each corner of each face.
    corners: Vec<[u32; 3]>,
    faces: Vec<Face>,
}

struct Face {
    first_corner: usize,
    line: u32,
}

pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<SourceMesh, Error> {
    let mut reader = Reader::default();
    let mut unknown: Option<(u32, String)> = None;
    for (line, text) in Lines::new(bytes) {
        let text = text.split(|&byte| byte == b'#').next().unwrap_or_default();
        let known = check_text(text).and_then(|()| reader.element(text, line));
        match known {
            Ok(None) => {}
            Ok(Some(keyword)) => {
                unknown.get_or_insert((line, keyword));
            }
            Err(message) => {
                return Err(Error::Obj {
                    file: file.to_owned(),
                    line,
                    message,
                });
            }
        }
    }
    if let Some((line, keyword)) = unknown {
        log::warn!(
            "{file}:{line}: unknown keyword {keyword:?} passed over (only the first is reported)"
        );
    }
    reader.finish(file)
}

impl Reader {
    /// Takes one line; returns its keyword when that is unknown.
    fn element(&mut self, text: &[u8], line: u32) -> Result<Option<String>, String> {
        let mut words = text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let Some(keyword) = words.next() else {
            return Ok(None);
        };
        match keyword {
            b"v" => {
                let position = numbers("position", &mut words, 3)?;
                if let Some(value) = position.iter().find(|value| value.abs() > MAX_COORDINATE) {
                    return Err(format!(
                        "position: expected coordinates of magnitude 2^60 or less, found {value}"
                    ));
                }
                push("positions", &mut self.positions, position)?;
            }
            b"vn" => push(
                "normals",
                &mut self.normals,
                numbers("normal", &mut words, 3)?,
            )?,
            b"vt" => {
                let [u, v, _] = numbers("texture coordinate", &mut words, 1)?;
                push("texture coordinates", &mut self.uvs, [u, 1.0 - v])?;
            }
            b"f" => self.face(&mut words, line)?,
            _ if PASSED_OVER.contains(&keyword) => {}
            _ => return Ok(Some(shown(keyword))),
        }
        Ok(None)
    }

    fn face<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a [u8]>,
        line: u32,
    ) -> Result<(), String> {
        let first_corner = self.corners.len();
        for word in words {
            let corner = self.corner(word)?;
            push("face corners", &mut self.corners, corner)?;
        }
        let count = self.corners.len() - first_corner;
        if count < 3 {
            return Err(format!("face: expected at least 3 corners, found {count}"));
        }
        self.faces.push(Face { first_corner, line });
        Ok(())
    }

    /// Reads `position`, `position/uv`, `position//normal` or `position/uv/normal`; negative numbers count from the last.
    fn corner(&self, word: &[u8]) -> Result<[u32; 3], String> {
        let counts = [self.positions.len(), self.uvs.len(), self.normals.len()];
        let mut corner = [MISSING; 3];
        let mut parts = word.split(|&byte| byte == b'/');
        for (slot, count) in corner.iter_mut().zip(counts) {
            let Some(part) = parts.next() else { break };
            if part.is_empty() {
                continue;
            }
            let number = std::str::from_utf8(part)
                .ok()
                .and_then(|text| text.parse::<i64>().ok());
            let number = number
                .ok_or_else(|| format!("face corner {}: expected whole numbers", shown(word)))?;
            let index = if number > 0 {
                number - 1
            } else {
                number.saturating_add(count as i64)
            };
            if number == 0 || index < 0 || index >= i64::from(MISSING) {
                return Err(format!(
                    "face corner {}: index {number} is out of range",
                    shown(word)
                ));
            }
            *slot = index as u32;
        }
        if corner[0] == MISSING || parts.next().is_some() {
            return Err(format!(
                "face corner {}: expected position/uv/normal",
                shown(word)
            ));
        }
        Ok(corner)
    }

    fn finish(self, file: &str) -> Result<SourceMesh, Error> {
        let mut vertices = Vec::with_capacity(self.corners.len());
        let (mut corners, mut positions): (Vec<SourceVertex>, Vec<DVec3>) =
            (Vec::new(), Vec::new());
        let ends = self
            .faces
            .iter()
            .skip(1)
            .map(|face| face.first_corner)
            .chain([self.corners.len()]);
        for (face, end) in self.faces.iter().zip(ends) {
            corners.clear();
            positions.clear();
            for corner in &self.corners[face.first_corner..end] {
                let vertex = self.vertex(*corner);
                let vertex = vertex.map_err(|message| Error::Obj {
                    file: file.to_owned(),
                    line: face.line,
                    message,
                })?;
                corners.push(vertex);
                positions.push(Vec3::from(vertex.position).as_dvec3());
            }
            polygon::triangulate(&positions, |triangle| {
                vertices.extend(triangle.map(|corner| corners[corner]));
            });
        }
        if vertices.len() / 3 > MAX_ELEMENTS {
            let found = vertices.len() / 3;
            return Err(Error::TooMany {
                mesh: file.to_owned(),
                element: "triangles",
                limit: MAX_ELEMENTS,
                found,
            });
        }
        let indices = (0..vertices.len() as u32).collect();
        let mut mesh = SourceMesh {
            name: file.to_owned(),
            vertices,
            indices,
        };
        mesh.deduplicate()?;
        let dropped = mesh.drop_degenerate()?;
        if dropped > 0 {
            log::warn!("{file}: dropped {dropped} triangles of zero area");
        }
        Ok(mesh)
    }

    /// Looks up a corner; faces may come before the vertices that they name, so indices are checked only here.
    fn vertex(&self, [position, uv, normal]: [u32; 3]) -> Result<SourceVertex, String> {
        fn get<T: Copy + Default>(what: &str, values: &[T], index: u32) -> Result<T, String> {
            if index == MISSING {
                return Ok(T::default());
            }
            let missing = || {
                format!(
                    "face: {what} {} is out of range: the file has {}",
                    u64::from(index) + 1,
                    values.len()
                )
            };
            values.get(index as usize).copied().ok_or_else(missing)
        }
        Ok(SourceVertex {
            position: get("position", &self.positions, position)?,
            uv: get("texture coordinate", &self.uvs, uv)?,
            normal: get("normal", &self.normals, normal)?,
        })
    }
}

/// Reads up to three numbers, of which the first `needed` must be there; what follows (weights, colours) is passed over.
fn numbers<'a>(
    what: &str,
    words: &mut impl Iterator<Item = &'a [u8]>,
    needed: usize,
) -> Result<[f32; 3], String> {
    let mut values = [0.0; 3];
    for (k, value) in values.iter_mut().enumerate() {
        let Some(word) = words.next() else {
            if k < needed {
                return Err(format!("{what}: expected {needed} numbers, found {k}"));
            }
            break;
        };
        let number = std::str::from_utf8(word)
            .ok()
            .and_then(|text| text.parse::<f32>().ok());
        let number =
            number.ok_or_else(|| format!("{what}: expected a number, found {}", shown(word)))?;
        if !number.is_finite() {
            return Err(format!(
                "{what}: expected a finite number, found {}",
                shown(word)
            ));
        }
        // Minus zero becomes zero, so that equal positions have equal bits.
        *value = number + 0.0;
    }
    Ok(values)
}

fn push<T>(what: &str, list: &mut Vec<T>, value: T) -> Result<(), String> {
    if list.len() >= MAX_ELEMENTS {
        return Err(format!("too many {what}: at most {MAX_ELEMENTS}"));
    }
    list.push(value);
    Ok(())
}

fn check_text(text: &[u8]) -> Result<(), String> {
    match text
        .iter()
        .find(|&&byte| byte < b' ' && !byte.is_ascii_whitespace())
    {
        Some(byte) => Err(format!(
            "expected text, found byte 0x{byte:02x}: not a Wavefront OBJ file"
        )),
        None => Ok(()),
    }
}

/// A word for a message: quoted, cut short, safe to print.
fn shown(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(40).collect();
    format!("{text:?}")
}

/// Lines with their numbers; one that ends in a backslash goes on in the next.
struct Lines<'a> {
    rest: Option<&'a [u8]>,
    line: u32,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: Some(bytes),
            line: 0,
        }
    }

    fn physical(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        self.line = self.line.saturating_add(1);
        let (line, rest) = match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&rest[..end], rest.get(end + 1..)),
            None => (rest, None),
        };
        self.rest = rest;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.physical()?;
        let line = self.line;
        if !first.ends_with(b"\\") {
            return Some((line, Cow::Borrowed(first)));
        }
        let mut joined = first.to_vec();
        while joined.pop_if(|last| *last == b'\\').is_some() {
            joined.push(b' ');
            let Some(next) = self.physical() else { break };
            joined.extend_from_slice(next);
        }
        Some((line, Cow::Owned(joined)))
    }
}
