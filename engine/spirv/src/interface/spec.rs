//! Specialisation constants, their values, and expressions over them.

use std::fmt;

use super::Name;

use super::TypeId;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it: kind and bits")]
pub enum ScalarType {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl ScalarType {
    /// The integer type of this width, if it is 8, 16, 32 or 64.
    #[must_use]
    pub fn int(width: u32, signed: bool) -> Option<Self> {
        Some(match (width, signed) {
            (8, true) => Self::I8,
            (8, false) => Self::U8,
            (16, true) => Self::I16,
            (16, false) => Self::U16,
            (32, true) => Self::I32,
            (32, false) => Self::U32,
            (64, true) => Self::I64,
            (64, false) => Self::U64,
            _ => return None,
        })
    }

    /// The float type of this width, if it is 16, 32 or 64.
    #[must_use]
    pub fn float(width: u32) -> Option<Self> {
        Some(match width {
            16 => Self::F16,
            32 => Self::F32,
            64 => Self::F64,
            _ => return None,
        })
    }

    /// Bits; a bool counts as 32, as `VkBool32`.
    #[must_use]
    pub fn width(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 | Self::F16 => 16,
            Self::Bool | Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 => 64,
        }
    }

    /// Rust-like name: `bool`, `i8` to `u64`, `f16` to `f64`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    pub(crate) fn format_suffix(self) -> &'static str {
        match self {
            Self::F16 | Self::F32 | Self::F64 => "SFLOAT",
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => "SINT",
            _ => "UINT",
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Value of a specialisation constant.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum SpecValue {
    Bool(bool),
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    /// Bits of an IEEE 754 half.
    F16(u16),
    F32(f32),
    F64(f64),
}

/// Values for some SpecIds; the others keep their defaults.
pub type SpecValues<'a> = &'a [(u32, SpecValue)];

impl SpecValue {
    /// The value of this type whose bits are these (the low ones, the rest is ignored).
    #[must_use]
    pub fn from_bits(ty: ScalarType, bits: u64) -> Self {
        match ty {
            ScalarType::Bool => Self::Bool(bits != 0),
            ScalarType::I8 => Self::I8(bits as i8),
            ScalarType::U8 => Self::U8(bits as u8),
            ScalarType::I16 => Self::I16(bits as i16),
            ScalarType::U16 => Self::U16(bits as u16),
            ScalarType::I32 => Self::I32(bits as i32),
            ScalarType::U32 => Self::U32(bits as u32),
            ScalarType::I64 => Self::I64(bits as i64),
            ScalarType::U64 => Self::U64(bits),
            ScalarType::F16 => Self::F16(bits as u16),
            ScalarType::F32 => Self::F32(f32::from_bits(bits as u32)),
            ScalarType::F64 => Self::F64(f64::from_bits(bits)),
        }
    }

    /// Its bits, zero-extended.
    #[must_use]
    pub fn bits(self) -> u64 {
        match self {
            Self::Bool(v) => u64::from(v),
            Self::I8(v) => u64::from(v as u8),
            Self::U8(v) => u64::from(v),
            Self::I16(v) => u64::from(v as u16),
            Self::U16(v) | Self::F16(v) => u64::from(v),
            Self::I32(v) => u64::from(v as u32),
            Self::U32(v) => u64::from(v),
            Self::I64(v) => v as u64,
            Self::U64(v) => v,
            Self::F32(v) => u64::from(v.to_bits()),
            Self::F64(v) => v.to_bits(),
        }
    }

    /// Its type.
    #[must_use]
    pub fn scalar_type(self) -> ScalarType {
        match self {
            Self::Bool(_) => ScalarType::Bool,
            Self::I8(_) => ScalarType::I8,
            Self::U8(_) => ScalarType::U8,
            Self::I16(_) => ScalarType::I16,
            Self::U16(_) => ScalarType::U16,
            Self::I32(_) => ScalarType::I32,
            Self::U32(_) => ScalarType::U32,
            Self::I64(_) => ScalarType::I64,
            Self::U64(_) => ScalarType::U64,
            Self::F16(_) => ScalarType::F16,
            Self::F32(_) => ScalarType::F32,
            Self::F64(_) => ScalarType::F64,
        }
    }

    /// The bytes that `VkSpecializationInfo` wants: as many as the type has, 4 for a bool, in the machine's order.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let bits = self.bits();
        match self.scalar_type().width() {
            8 => vec![bits as u8],
            16 => (bits as u16).to_ne_bytes().to_vec(),
            32 => (bits as u32).to_ne_bytes().to_vec(),
            _ => bits.to_ne_bytes().to_vec(),
        }
    }
}

impl fmt::Display for SpecValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::I8(v) => write!(f, "{v}"),
            Self::U8(v) => write!(f, "{v}"),
            Self::I16(v) => write!(f, "{v}"),
            Self::U16(v) => write!(f, "{v}"),
            Self::I32(v) => write!(f, "{v}"),
            Self::U32(v) => write!(f, "{v}"),
            Self::I64(v) => write!(f, "{v}"),
            Self::U64(v) => write!(f, "{v}"),
            Self::F16(v) => write!(f, "{:?}", half_to_f32(*v)),
            Self::F32(v) => write!(f, "{v:?}"),
            Self::F64(v) => write!(f, "{v:?}"),
        }
    }
}

/// The value of an IEEE 754 half.
#[must_use]
pub(crate) fn half_to_f32(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((half >> 10) & 0x1f);
    let mantissa = f32::from(half & 0x3ff);
    sign * match exponent {
        0 => mantissa * 2f32.powi(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + mantissa / 1024.0) * 2f32.powi(exponent - 15),
    }
}

/// One specialisation constant.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecConstant {
    /// SpecId: the `constantID` of a `VkSpecializationMapEntry`.
    pub id: u32,
    /// SPIR-V ids of all constants with this SpecId, sorted.
    pub spirv_ids: super::Numbers,
    /// Name of the first of them that has one.
    pub name: Name,
    /// Type.
    pub ty: ScalarType,
    /// Value if nobody sets one.
    pub default: SpecValue,
    /// Sizes that depend on it, through expressions, too.
    pub sizes: Vec<SpecDependent>,
}

/// A size that depends on a specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpecDependent {
    /// Length of an array type.
    Array(TypeId),
    /// Number of descriptors of the binding whose variable has this SPIR-V id.
    Descriptors(u32),
    /// One axis (0 to 2) of an entry point's local size.
    LocalSize {
        /// Name of the entry point.
        entry_point: Name,
        /// Axis.
        axis: u8,
    },
}

impl fmt::Display for SpecDependent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(ty) => write!(f, "array type {ty}"),
            Self::Descriptors(id) => write!(f, "descriptors of variable {id}"),
            Self::LocalSize { entry_point, axis } => write!(
                f,
                "local size {} of {entry_point}",
                ["x", "y", "z"].get(usize::from(*axis)).unwrap_or(&"?")
            ),
        }
    }
}

/// An expression over specialisation constants: an index into an [`ExpressionArena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expression(pub u32);

/// One node of an expression. Operands are nodes before it, so evaluation is one walk forwards.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionNode {
    /// A literal.
    Literal(SpecValue),
    /// A specialisation constant, with its default.
    Spec {
        /// SpecId.
        id: u32,
        /// Default.
        default: SpecValue,
    },
    /// A vector, matrix or struct of other nodes.
    Composite(Vec<Expression>),
    /// An operation of `OpSpecConstantOp`.
    Operation {
        /// SPIR-V's opcode.
        opcode: u32,
        /// Type of the result, or of its components.
        ty: ScalarType,
        /// Number of components of the result; 1 for a scalar.
        components: u32,
        /// Operands that are ids.
        operands: Vec<Expression>,
        /// Operands that are literals (indices of extract, insert and shuffle).
        literals: Vec<u32>,
    },
    /// Product of sizes: the number of descriptors of an array with several dimensions.
    Product(Vec<Expression>),
    /// Something that cannot be known without the driver or is no value at all; evaluates to nothing.
    Unknown,
}

/// Nodes of all expressions of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpressionArena {
    /// Nodes; operands stand before what uses them.
    pub nodes: Vec<ExpressionNode>,
}
