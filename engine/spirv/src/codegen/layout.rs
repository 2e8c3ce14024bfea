//! How a type of a block lies in memory, as a Rust type with exactly that layout.

use std::fmt::Write as _;

use crate::{Dim, Member, Type, TypeId, TypeTable};

/// A Rust type that has the bytes of a block's type where the block has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RustType {
    /// The type as written.
    pub(super) text: String,
    /// `size_of` it.
    pub(super) size: u64,
    /// `align_of` it.
    pub(super) align: u64,
    /// What the type alone does not say: padding lanes, addresses, halves, spec-sized lengths.
    pub(super) notes: Vec<String>,
}

impl RustType {
    fn scalar(text: &str, size: u64) -> Self {
        Self {
            text: text.to_owned(),
            size,
            align: size,
            notes: Vec::new(),
        }
    }

    fn array(&self, length: u64) -> Self {
        Self {
            text: format!("[{}; {length}]", self.text),
            size: self.size.saturating_mul(length),
            ..self.clone()
        }
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Bytes that no Rust type describes better.
    pub(super) fn bytes(size: u64) -> Self {
        Self::scalar("u8", 1).array(size)
    }
}

/// What the layout of a type asks its surroundings for.
pub(super) trait Structs {
    /// The Rust struct for a struct type: name, size and alignment. `None` if it has none.
    fn rust_struct(&mut self, id: TypeId) -> Option<RustType>;
    /// Tells that a pointer leads to this type. Gives the name to call it by.
    fn pointee(&mut self, id: TypeId) -> Option<String>;
}

/// The Rust type of a member. `available` is the room up to the next member.
///
/// Never fails: what Rust has no type for (a vector stored across, an element stride that is no multiple of the element,
/// a last matrix column that shares its padding with the next member) becomes an array of bytes that says so.
pub(super) fn member(
    types: &TypeTable,
    member: &Member,
    available: u64,
    structs: &mut impl Structs,
) -> RustType {
    let offset = u64::from(member.offset.unwrap_or(0));
    match rust_type(types, member.ty, Some(member), structs) {
        Some(found) if found.size <= available && offset.is_multiple_of(found.align.max(1)) => {
            found
        }
        // An under-aligned 64-bit number keeps its halves; the rest is bytes.
        Some(found) if found.size <= available && found.align == 8 && offset.is_multiple_of(4) => {
            RustType::scalar("u32", 4)
                .array(found.size / 4)
                .note("stored as 32-bit halves because its offset is not a multiple of 8")
        }
        _ => RustType::bytes(member.size.min(available))
            .note("raw bytes: no Rust type has this layout"),
    }
}

/// The Rust type of the elements of a runtime array, and its stride.
pub(super) fn element(
    types: &TypeTable,
    member: &Member,
    structs: &mut impl Structs,
) -> Option<(RustType, u64)> {
    let Type::Array {
        element,
        dims,
        strides,
    } = types.get(member.ty)?
    else {
        return None;
    };
    let stride = u64::from(strides.first().copied().flatten()?);
    let inner = array_type(
        types,
        *element,
        dims.get(1..)?,
        strides.get(1..)?,
        Some(member),
        structs,
    );
    let ty = inner
        .and_then(|inner| fit(types, *element, inner, stride))
        .unwrap_or_else(|| RustType::bytes(stride));
    Some((ty, stride))
}

fn rust_type(
    types: &TypeTable,
    id: TypeId,
    member: Option<&Member>,
    structs: &mut impl Structs,
) -> Option<RustType> {
    Some(match types.get(id)? {
        Type::Int { width, signed } => match (width, signed) {
            (8, false) => RustType::scalar("u8", 1),
            (8, true) => RustType::scalar("i8", 1),
            (16, false) => RustType::scalar("u16", 2),
            (16, true) => RustType::scalar("i16", 2),
            (32, false) => RustType::scalar("u32", 4),
            (32, true) => RustType::scalar("i32", 4),
            (64, false) => RustType::scalar("u64", 8),
            (64, true) => RustType::scalar("i64", 8),
            _ => return None,
        },
        Type::Float { width: 16 } => RustType::scalar("u16", 2).note("bits of a half"),
        Type::Float { width: 32 } => RustType::scalar("f32", 4),
        Type::Float { width: 64 } => RustType::scalar("f64", 8),
        Type::Vector { component, length } => {
            rust_type(types, *component, None, structs)?.array(u64::from(*length))
        }
        Type::Matrix {
            component,
            columns,
            rows,
        } => {
            let scalar = rust_type(types, *component, None, structs)?;
            let row_major = member.and_then(|member| member.row_major).unwrap_or(false);
            let (vectors, lanes) = if row_major {
                (*rows, *columns)
            } else {
                (*columns, *rows)
            };
            let tight = scalar.size.saturating_mul(u64::from(lanes));
            let stride = member
                .and_then(|member| member.matrix_stride)
                .map_or(tight, u64::from);
            if stride < tight || !stride.is_multiple_of(scalar.size) {
                return None;
            }
            let matrix = scalar.array(stride / scalar.size).array(u64::from(vectors));
            let order = if row_major { "rows" } else { "columns" };
            match stride == tight {
                true if row_major => matrix.note("row-major"),
                true => matrix,
                false => matrix.note(format!("{order} of {lanes} lanes, the rest is padding")),
            }
        }
        Type::Array {
            element,
            dims,
            strides,
        } => array_type(types, *element, dims, strides, member, structs)?,
        Type::Struct(_) => structs.rust_struct(id)?,
        Type::Pointer { pointee, .. } => {
            let address = RustType::scalar("u64", 8);
            match structs.pointee(*pointee) {
                Some(name) => address.note(format!("device address of {name}")),
                None => address.note("device address"),
            }
        }
        _ => return None,
    })
}

/// An array with these dimensions, outermost first; the bare element if there are none.
fn array_type(
    types: &TypeTable,
    element: TypeId,
    dims: &[Dim],
    strides: &[Option<u32>],
    member: Option<&Member>,
    structs: &mut impl Structs,
) -> Option<RustType> {
    let mut ty = rust_type(types, element, member, structs)?;
    for (dim, stride) in dims.iter().zip(strides).rev() {
        let stride = stride.map_or(ty.size, u64::from);
        ty = fit(types, element, ty, stride)?;
        ty = match dim {
            Dim::Fixed(length) => ty.array(u64::from(*length)),
            Dim::Spec { default, .. } => ty
                .array(u64::from(*default))
                .note("its length is the default of a specialisation constant"),
            Dim::Runtime => return None,
        };
    }
    Some(ty)
}

/// `ty` as an array element that is `stride` bytes long.
fn fit(types: &TypeTable, element: TypeId, ty: RustType, stride: u64) -> Option<RustType> {
    if ty.size == stride {
        return Some(ty);
    }
    // Wider than the element: scalars and vectors (not arrays of them) get lanes that stay unused.
    let (scalar, lanes) = match types.get(element)? {
        Type::Vector { component, length } => (*component, *length),
        Type::Int { .. } | Type::Float { .. } => (element, 1),
        _ => return None,
    };
    let scalar = match types.get(scalar)? {
        Type::Int { .. } | Type::Float { .. } => rust_type(types, scalar, None, &mut NoStructs)?,
        _ => return None,
    };
    let plain = ty.size == scalar.size.saturating_mul(u64::from(lanes));
    if !plain || stride < ty.size || !stride.is_multiple_of(scalar.size) {
        return None;
    }
    let mut note = String::new();
    let _ = write!(
        note,
        "elements of {lanes} {}, the rest is padding",
        if lanes == 1 { "lane" } else { "lanes" }
    );
    Some(scalar.array(stride / scalar.size).note(note))
}

struct NoStructs;

impl Structs for NoStructs {
    fn rust_struct(&mut self, _: TypeId) -> Option<RustType> {
        None
    }

    fn pointee(&mut self, _: TypeId) -> Option<String> {
        None
    }
}
