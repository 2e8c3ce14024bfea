//! Stage inputs and outputs.

use super::Name;

use super::{BuiltIn, Format, Interpolation, TypeId};

/// One input or output of an entry point: a variable, or one member of a block or struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceVariable {
    /// Name; members are `variable.member`, elements of arrays of structs `variable[1].member`. Parts may be empty.
    pub name: Name,
    /// SPIR-V id of the variable.
    pub spirv_id: u32,
    /// Location; `None` for built-ins and for variables without one.
    pub location: Option<u32>,
    /// First component within the location, if decorated.
    pub component: Option<u32>,
    /// Index of a dual-source blend output, if decorated.
    pub index: Option<u32>,
    /// Number of consecutive locations that it takes; 0 for built-ins.
    pub locations: u32,
    /// Type, per-vertex arrays of geometry, tessellation and mesh stages included.
    pub ty: TypeId,
    /// Type without the per-vertex or per-primitive array around it: what two stages must agree on.
    pub element_type: TypeId,
    /// Vulkan format of one location (a matrix gives that of a column, an array that of an element).
    pub format: Option<Format>,
    /// Which built-in it is.
    pub built_in: Option<BuiltIn>,
    /// Whether it is decorated `PerPrimitiveEXT`.
    pub per_primitive: bool,
    /// Whether it is decorated `PerVertexKHR` (fragment inputs).
    pub per_vertex: bool,
    /// Whether it is decorated `Patch`.
    pub patch: bool,
    /// Interpolation other than the default, smooth.
    pub interpolation: Option<Interpolation>,
    /// HLSL semantic.
    pub semantic: Option<Box<str>>,
    /// Whether the code of the entry point touches it.
    pub used: bool,
}
