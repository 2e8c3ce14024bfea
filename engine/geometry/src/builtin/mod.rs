//! Built-in meshes: made by formula, the same on every machine, in any size.

mod building;
mod column;
mod gear;
mod icosphere;
mod refine;
mod surface;
mod torus_knot;

use std::fmt;
use std::str::FromStr;

use crate::source::normalise;
use crate::{Error, SourceMesh, normals};
use surface::Surface;

/// Changes whenever any built-in's geometry does, so that cached results of the old one aren't used.
pub(crate) const GENERATOR_VERSION: u32 = 1;

/// Most triangles of a built-in mesh: 2^24.
pub const MAX_TRIANGLES: u32 = 1 << 24;

/// What a built-in mesh looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A trefoil knot of a twisted, fluted tube.
    TorusKnot,
    /// A sphere with craters and ridges.
    Asteroid,
    /// A toothed wheel with bevelled rim, recessed web and bore.
    Gear,
    /// A fluted column on a plinth, with a capital.
    Column,
    /// A block with rows of recessed windows and a parapet.
    Building,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 5] = [
        Self::TorusKnot,
        Self::Asteroid,
        Self::Gear,
        Self::Column,
        Self::Building,
    ];

    /// Its name on command lines and in scene files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TorusKnot => "torus-knot",
            Self::Asteroid => "asteroid",
            Self::Gear => "gear",
            Self::Column => "column",
            Self::Building => "building",
        }
    }

    /// The fewest triangles that still show the shape.
    #[must_use]
    pub const fn min_triangles(self) -> u32 {
        match self {
            Self::TorusKnot => 192,
            Self::Asteroid => 80,
            Self::Gear => 2200,
            Self::Column => 1000,
            Self::Building => 200,
        }
    }
}

/// A built-in mesh; written `shape:triangles`, as in `torus-knot:28944`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BuiltIn {
    /// What it looks like.
    pub shape: Shape,
    /// Exactly how many triangles it has, from [`Shape::min_triangles`] to [`MAX_TRIANGLES`].
    pub triangles: u32,
}

/// The three meshes of the `cloud` workload, in its order.
pub const CLOUD: [BuiltIn; 3] = [
    BuiltIn {
        shape: Shape::Gear,
        triangles: 4952,
    },
    BuiltIn {
        shape: Shape::Asteroid,
        triangles: 146_325,
    },
    BuiltIn {
        shape: Shape::Column,
        triangles: 24_126,
    },
];

/// The mesh of the `field` workload.
pub const FIELD: BuiltIn = BuiltIn {
    shape: Shape::TorusKnot,
    triangles: 28_944,
};

impl BuiltIn {
    /// Generates the mesh: bounding radius 1 about its mean vertex, which is the origin; +Y is up; no texture coordinates.
    ///
    /// The surface is closed: each edge belongs to two triangles. As that takes an even number of triangles, a mesh
    /// with an odd number has one more, small, hidden just under the surface.
    ///
    /// # Errors
    /// [`Error::BuiltIn`] when `triangles` is out of range.
    pub fn generate(&self) -> Result<SourceMesh, Error> {
        let least = self.shape.min_triangles();
        if !(least..=MAX_TRIANGLES).contains(&self.triangles) {
            return Err(Error::BuiltIn {
                name: self.to_string(),
                expected: format!("{least} to {MAX_TRIANGLES} triangles"),
                found: self.triangles.to_string(),
            });
        }
        let target = self.triangles as usize;
        let mut surface: Surface = match self.shape {
            Shape::TorusKnot => torus_knot::generate(target),
            Shape::Asteroid => icosphere::generate(target),
            Shape::Gear => gear::generate(target),
            Shape::Column => column::generate(target),
            Shape::Building => building::generate(target),
        };
        refine::split_edges(&mut surface, target);
        refine::fill(&mut surface, target);
        let mut mesh = surface.into_mesh(self.to_string());
        match self.shape {
            Shape::TorusKnot | Shape::Asteroid => mesh.fill_missing_normals()?,
            // Edges of more than 35 degrees are sharp.
            Shape::Gear | Shape::Column | Shape::Building => {
                normals::crease(&mut mesh, libm::cos(35_f64.to_radians()));
            }
        }
        normalise(&mut mesh, 1.0)?;
        Ok(mesh)
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.shape.name(), self.triangles)
    }
}

impl FromStr for BuiltIn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let error = |expected: String, found: &str| Error::BuiltIn {
            name: text.to_owned(),
            expected,
            found: found.to_owned(),
        };
        let (name, count) = text
            .split_once(':')
            .ok_or_else(|| error("shape:triangles".to_owned(), text))?;
        let names = || Shape::ALL.map(Shape::name).join(", ");
        let shape = Shape::ALL.into_iter().find(|shape| shape.name() == name);
        let shape = shape.ok_or_else(|| error(format!("one of {}", names()), name))?;
        let triangles = count
            .parse()
            .map_err(|_| error("a number of triangles".to_owned(), count))?;
        Ok(Self { shape, triangles })
    }
}
