//! A mesh as imported or generated, before processing.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use crate::{Error, normals};

/// Largest magnitude of a coordinate: 2^60. Squares of distances then stay far inside the range of 32-bit floats.
pub const MAX_COORDINATE: f32 = (1_u64 << 60) as f32;

/// Most vertices or triangles of one mesh: indices stay within 32 bits, also when multiplied by 3.
pub const MAX_ELEMENTS: usize = u32::MAX as usize / 3;

/// One vertex in full precision.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SourceVertex {
    /// Position, object space.
    pub position: [f32; 3],
    /// Unit normal, object space; zero when there is none.
    pub normal: [f32; 3],
    /// Texture coordinate, origin at the image's top left.
    pub uv: [f32; 2],
}

/// An indexed triangle list in full precision, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceMesh {
    /// Name for people and messages.
    pub name: String,
    /// Vertices; two with equal positions and different normals or texture coordinates make a seam.
    pub vertices: Vec<SourceVertex>,
    /// Three indices into `vertices` per triangle.
    pub indices: Vec<u32>,
}

impl SourceMesh {
    /// Number of triangles.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.indices.len() / 3
    }

    /// Checks everything that the rest of this crate (and the C++ behind it) relies on.
    ///
    /// # Errors
    /// [`Error::NoTriangles`], [`Error::TooMany`], or [`Error::OutOfRange`] for indices beyond the vertices, numbers
    /// that aren't finite, and coordinates beyond [`MAX_COORDINATE`].
    pub fn check(&self) -> Result<(), Error> {
        if self.indices.len() < 3 {
            return Err(Error::NoTriangles {
                mesh: self.name.clone(),
                reason: "it has no faces",
            });
        }
        let out_of_range = |element, index, expected: &str, found: String| Error::OutOfRange {
            mesh: self.name.clone(),
            element,
            index,
            expected: expected.to_owned(),
            found,
        };
        for (element, found) in [
            ("vertices", self.vertices.len()),
            ("triangles", self.indices.len() / 3),
        ] {
            if found > MAX_ELEMENTS {
                return Err(Error::TooMany {
                    mesh: self.name.clone(),
                    element,
                    limit: MAX_ELEMENTS,
                    found,
                });
            }
        }
        if !self.indices.len().is_multiple_of(3) {
            let found = self.indices.len().to_string();
            return Err(out_of_range(
                "index list",
                0,
                "a length that is a multiple of 3",
                found,
            ));
        }
        for (index, vertex) in self.vertices.iter().enumerate() {
            if let Some(value) = vertex
                .position
                .iter()
                .find(|value| value.is_nan() || value.abs() > MAX_COORDINATE)
            {
                let expected = "a finite number of magnitude 2^60 or less";
                return Err(out_of_range(
                    "position of vertex",
                    index,
                    expected,
                    value.to_string(),
                ));
            }
            if let Some(value) = vertex
                .normal
                .iter()
                .chain(&vertex.uv)
                .find(|value| !value.is_finite())
            {
                let expected = "finite numbers";
                return Err(out_of_range(
                    "normal or texture coordinate of vertex",
                    index,
                    expected,
                    value.to_string(),
                ));
            }
        }
        let count = self.vertices.len();
        match self
            .indices
            .iter()
            .position(|&vertex| vertex as usize >= count)
        {
            Some(index) => {
                let found = self
                    .indices
                    .get(index)
                    .copied()
                    .unwrap_or_default()
                    .to_string();
                Err(out_of_range(
                    "vertex index of triangle",
                    index / 3,
                    &format!("less than {count}"),
                    found,
                ))
            }
            None => Ok(()),
        }
    }

    /// Merges vertices that are equal in every bit, and drops those that no triangle uses.
    ///
    /// # Errors
    /// As [`SourceMesh::check`].
    pub fn deduplicate(&mut self) -> Result<(), Error> {
        self.check()?;
        let (count, remap) = meshopt::generate_vertex_remap(&self.vertices, Some(&self.indices));
        self.vertices = meshopt::remap_vertex_buffer(&self.vertices, count, &remap);
        self.indices =
            meshopt::remap_index_buffer(Some(&self.indices), self.vertices.len(), &remap);
        Ok(())
    }

    /// Drops triangles of zero area (two corners at one position, or all three on a line); returns how many.
    ///
    /// # Errors
    /// As [`SourceMesh::check`], also when no triangle is left.
    pub fn drop_degenerate(&mut self) -> Result<usize, Error> {
        self.check()?;
        let before = self.triangle_count();
        let (vertices, mut kept) = (&self.vertices, Vec::with_capacity(self.indices.len()));
        for triangle in self.indices.chunks_exact(3) {
            let corner = |k: usize| Vec3::from(vertices[triangle[k] as usize].position).as_dvec3();
            let (a, b, c) = (corner(0), corner(1), corner(2));
            if a != b && b != c && c != a && (b - a).cross(c - a) != DVec3::ZERO {
                kept.extend_from_slice(triangle);
            }
        }
        self.indices = kept;
        if self.indices.is_empty() {
            return Err(Error::NoTriangles {
                mesh: self.name.clone(),
                reason: "every face has zero area",
            });
        }
        Ok(before - self.triangle_count())
    }

    /// Computes the normals of vertices that have none (see [`SourceVertex::normal`]), smooth across shared positions.
    ///
    /// # Errors
    /// As [`SourceMesh::check`].
    pub fn fill_missing_normals(&mut self) -> Result<(), Error> {
        self.check()?;
        normals::fill_missing(self);
        Ok(())
    }

    /// The mean of all vertices, object space; the centre of niagara's and our bounding spheres.
    #[must_use]
    pub fn mean_vertex(&self) -> [f64; 3] {
        let sum: DVec3 = self
            .vertices
            .iter()
            .map(|vertex| Vec3::from(vertex.position).as_dvec3())
            .sum();
        (sum / self.vertices.len().max(1) as f64).into()
    }

    /// Largest distance of a vertex from `centre`.
    #[must_use]
    pub fn radius_about(&self, centre: [f64; 3]) -> f64 {
        let centre = DVec3::from(centre);
        let squares = self.vertices.iter().map(|vertex| {
            Vec3::from(vertex.position)
                .as_dvec3()
                .distance_squared(centre)
        });
        squares.fold(0.0, f64::max).sqrt()
    }
}

/// Moves the mean vertex to the origin and scales the mesh to the given bounding radius about it.
///
/// # Errors
/// As [`SourceMesh::check`]; [`Error::Settings`] when `radius` is not a positive number up to 2^60;
/// [`Error::NoTriangles`] when all vertices are at one place.
pub fn normalise(mesh: &mut SourceMesh, radius: f32) -> Result<(), Error> {
    if !(radius > 0.0 && radius <= MAX_COORDINATE) {
        let (field, expected) = ("normalise_radius", "a positive number up to 2^60");
        return Err(Error::Settings {
            field,
            expected,
            found: radius.to_string(),
        });
    }
    mesh.check()?;
    let centre = mesh.mean_vertex();
    let scale = f64::from(radius) / mesh.radius_about(centre);
    if !scale.is_finite() {
        return Err(Error::NoTriangles {
            mesh: mesh.name.clone(),
            reason: "all vertices are at one place",
        });
    }
    for vertex in &mut mesh.vertices {
        let position = Vec3::from(vertex.position).as_dvec3() - DVec3::from(centre);
        vertex.position = (position * scale).as_vec3().into();
    }
    Ok(())
}
