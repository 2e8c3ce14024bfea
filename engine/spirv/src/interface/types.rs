//! Types of blocks, inputs and outputs: a graph by SPIR-V id, in which physical pointers may form cycles.

use std::fmt;

use super::Name;
use smallvec::SmallVec;

use super::{Expression, ExpressionArena};

/// SPIR-V id of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A run of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub size: u64,
}

impl ByteRange {
    /// First byte after it.
    #[must_use]
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A literal length.
    Fixed(u32),
    /// No length: as many as the buffer or the descriptor set holds.
    Runtime,
    /// A length that depends on spec constants.
    Spec {
        /// Length; evaluate it with [`TypeTable::evaluate`].
        expression: Expression,
        /// Its value with the defaults.
        default: u32,
    },
}

impl Dim {
    /// Length with the defaults; 0 for a runtime array.
    #[must_use]
    pub fn default_length(self) -> u32 {
        match self {
            Self::Fixed(n) | Self::Spec { default: n, .. } => n,
            Self::Runtime => 0,
        }
    }
}

/// One type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Type {
    /// `bool`; has no size in memory.
    Bool,
    /// An integer.
    Int {
        /// Bits.
        width: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A floating-point number.
    Float {
        /// Bits.
        width: u32,
    },
    /// A vector.
    Vector {
        /// Type of a component.
        component: TypeId,
        /// Number of components.
        length: u32,
    },
    /// A matrix. How it lies in memory is a matter of the [`Member`] that holds it.
    Matrix {
        /// Type of a component (a scalar).
        component: TypeId,
        /// Number of columns.
        columns: u32,
        /// Number of rows.
        rows: u32,
    },
    /// An array, with arrays directly inside it folded into its dimensions.
    Array {
        /// Type of an element; no array.
        element: TypeId,
        /// Dimensions, outermost first.
        dims: SmallVec<[Dim; 1]>,
        /// `ArrayStride` of each dimension, outermost first; `None` where it has none.
        strides: SmallVec<[Option<u32>; 2]>,
    },
    /// A struct.
    Struct(StructType),
    /// A pointer into physical storage: 8 bytes.
    Pointer {
        /// What it points at; may lead back to the type that holds the pointer.
        pointee: TypeId,
        /// Bytes that the address is a multiple of, if the module says so.
        alignment: Option<u32>,
    },
    /// A type without a layout (images, samplers, void, functions), by SPIR-V's opcode.
    Opaque(u32),
}

/// A struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StructType {
    /// `OpName`; empty if it has none.
    pub name: Name,
    /// Declared size with the defaults of spec constants: the end of its last member by offset, without a trailing
    /// runtime array, not rounded.
    pub size: u64,
    /// Whether it ends in a runtime array, itself or in its last member.
    pub has_runtime_array: bool,
    /// Whether it is decorated `Block`.
    pub block: bool,
    /// Whether it is decorated `BufferBlock`.
    pub buffer_block: bool,
    /// Members in order of declaration.
    pub members: Vec<Member>,
}

/// A member of a struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// `OpMemberName`; empty if it has none.
    pub name: Name,
    /// Type.
    pub ty: TypeId,
    /// Byte offset in the struct; `None` if the struct has no layout.
    pub offset: Option<u32>,
    /// Byte offset in the outermost block that holds the struct; in element 0 of arrays on the way; `None` where there is
    /// no block, or several that disagree.
    pub absolute_offset: Option<u64>,
    /// Bytes, with the defaults of spec constants; 0 for a runtime array.
    pub size: u64,
    /// In structs that lie in uniform buffers, bytes to the start of the next member by offset, and for the last one to
    /// the struct's end rounded up to 16; elsewhere the same as `size`.
    pub padded_size: u64,
    /// `ArrayStride` of an array's outermost dimension.
    pub array_stride: Option<u32>,
    /// `MatrixStride` of a matrix, or of an array of matrices.
    pub matrix_stride: Option<u32>,
    /// Whether a matrix lies in memory row by row; `None` for what is no matrix.
    pub row_major: Option<bool>,
    /// Whether any entry point touches a byte of it, anywhere the struct is used.
    pub used: bool,
    /// Whether it is decorated `NonWritable`.
    pub non_writable: bool,
    /// Whether it is decorated `NonReadable`.
    pub non_readable: bool,
    /// HLSL semantic.
    pub semantic: Option<Box<str>>,
}

/// A scalar, vector, matrix, array or pointer found inside a block, with where it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatMember {
    /// Path from the block: `lights.position`.
    pub path: String,
    /// Type.
    pub ty: TypeId,
    /// Byte offset in the block (in element 0 of arrays on the way).
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// The types that an interface speaks of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeTable {
    /// Types, sorted by SPIR-V id.
    pub(crate) types: Vec<(TypeId, Type)>,
    /// Expressions of array lengths, descriptor counts and local sizes.
    pub expressions: ExpressionArena,
}

impl TypeTable {
    /// The type with this id.
    #[must_use]
    pub fn get(&self, id: TypeId) -> Option<&Type> {
        self.types.get(self.position(id)?).map(|(_, ty)| ty)
    }

    /// All types, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.types.iter().map(|(id, ty)| (*id, ty))
    }

    /// Place of a type in the list.
    pub(crate) fn position(&self, id: TypeId) -> Option<usize> {
        // Most tables are so short that halving them takes longer.
        if self.types.len() <= 12 {
            self.types.iter().position(|(known, _)| *known == id)
        } else {
            self.types.binary_search_by_key(&id, |(id, _)| *id).ok()
        }
    }

    /// The struct with this id.
    #[must_use]
    pub fn get_struct(&self, id: TypeId) -> Option<&StructType> {
        match self.get(id) {
            Some(Type::Struct(found)) => Some(found),
            _ => None,
        }
    }
}
