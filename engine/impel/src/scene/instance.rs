//! One placement of a mesh.

use crate::math::Affine;
use bytemuck::{Pod, Zeroable};

/// An instance: 64 bytes, in GLSL `Instance` of `scene.glsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Instance {
    /// Object space to world space; mirrors, non-uniform scale and shear are fine.
    pub transform: Affine,
    /// Index of its mesh.
    pub mesh: u32,
    /// Bits, see the constants.
    pub flags: u32,
    /// The transform's largest stretch: bounding radii and LOD errors grow by it.
    pub scale: f32,
    /// Base colour, sRGB: red in the lowest byte, alpha in the highest (see [`super::pack_colour`]).
    pub colour: u32,
}

impl Instance {
    /// The transform mirrors: triangles are drawn with their winding turned.
    pub const MIRRORED: u32 = 1;

    /// An instance; flags and scale are derived from the transform.
    #[must_use]
    pub fn new(transform: Affine, mesh: u32, colour: u32) -> Self {
        let flags = if transform.is_mirrored() {
            Self::MIRRORED
        } else {
            0
        };
        Self {
            transform,
            mesh,
            flags,
            scale: transform.largest_stretch(),
            colour,
        }
    }
}

const _: () = assert!(size_of::<Instance>() == 64);
