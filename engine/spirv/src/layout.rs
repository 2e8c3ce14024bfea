//! Sizes of types, with the defaults of spec constants or with given values.
//!
//! Sizes come from `Offset`, `ArrayStride` and `MatrixStride`. Types without them (task payloads, inputs, outputs) are laid
//! out as scalar block layout would: every member at the next multiple of its largest scalar.

use smallvec::SmallVec;

use crate::interface::{
    ByteRange, Dim, FlatMember, Member, SpecValues, StructType, Type, TypeId, TypeTable,
};
use crate::reflect::TypePlaces;

/// Deepest nesting of types; SPIR-V permits 255. Deeper ones have no size.
pub(crate) const MAX_DEPTH: usize = 256;

/// How a matrix lies in memory: `MatrixStride` and majorness of the member around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MatrixLayout {
    pub(crate) stride: Option<u32>,
    pub(crate) row_major: bool,
}

impl From<&Member> for MatrixLayout {
    fn from(member: &Member) -> Self {
        Self {
            stride: member.matrix_stride,
            row_major: member.row_major == Some(true),
        }
    }
}

/// Size and scalar alignment of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    size: u64,
    align: u64,
}

/// Computes sizes, remembering those of structs.
pub(crate) struct Sizes<'a> {
    table: &'a TypeTable,
    values: SpecValues<'a>,
    places: Option<TypePlaces<'a>>,
    /// By place in the table; empty until the first struct.
    structs: SmallVec<[Option<Extent>; 16]>,
}

impl<'a> Sizes<'a> {
    pub(crate) fn new(table: &'a TypeTable, values: SpecValues<'a>) -> Self {
        Self {
            table,
            values,
            places: None,
            structs: SmallVec::new(),
        }
    }

    /// With the defaults of spec constants.
    pub(crate) fn with_places(table: &'a TypeTable, places: TypePlaces<'a>) -> Self {
        Self {
            places: Some(places),
            ..Self::new(table, &[])
        }
    }

    pub(crate) fn of(&mut self, ty: TypeId, matrix: MatrixLayout) -> u64 {
        self.extent(ty, matrix, 0).size
    }

    fn length(&self, dim: Dim) -> u64 {
        match dim {
            Dim::Fixed(n) => u64::from(n),
            Dim::Runtime => 0,
            Dim::Spec { default, .. } if self.values.is_empty() => u64::from(default),
            Dim::Spec {
                expression,
                default,
            } => self
                .table
                .evaluate_length(expression, self.values)
                .unwrap_or(u64::from(default)),
        }
    }

    fn extent(&mut self, ty: TypeId, matrix: MatrixLayout, depth: usize) -> Extent {
        let scalar = |bits: u32| Extent {
            size: u64::from(bits / 8),
            align: u64::from(bits / 8).max(1),
        };
        if depth > MAX_DEPTH {
            return Extent::default();
        }
        let position = match self.places {
            Some(places) => places.of(ty),
            None => self.table.position(ty),
        };
        match position
            .and_then(|position| self.table.types.get(position))
            .map(|(_, ty)| ty)
        {
            None | Some(Type::Opaque(_)) => Extent { size: 0, align: 1 },
            Some(Type::Bool) => scalar(32),
            Some(Type::Int { width, .. } | Type::Float { width }) => scalar(*width),
            Some(Type::Pointer { .. }) => scalar(64),
            Some(Type::Vector { component, length }) => {
                let one = self.extent(*component, matrix, depth + 1);
                Extent {
                    size: one.size.saturating_mul(u64::from(*length)),
                    align: one.align,
                }
            }
            Some(Type::Matrix {
                component,
                columns,
                rows,
            }) => {
                let one = self.extent(*component, matrix, depth + 1);
                let (columns, rows) = (u64::from(*columns), u64::from(*rows));
                let size = match matrix.stride {
                    Some(stride) => u64::from(stride).saturating_mul(if matrix.row_major {
                        rows
                    } else {
                        columns
                    }),
                    None => one.size.saturating_mul(columns).saturating_mul(rows),
                };
                Extent {
                    size,
                    align: one.align,
                }
            }
            Some(Type::Array {
                element,
                dims,
                strides,
            }) => {
                let one = self.extent(*element, matrix, depth + 1);
                // From the innermost dimension outwards: a stride replaces the size of what lies inside.
                let size =
                    dims.iter()
                        .zip(strides)
                        .rev()
                        .fold(one.size, |inside, (dim, stride)| {
                            let stride = stride.map_or(aligned(inside, one.align), u64::from);
                            stride.saturating_mul(self.length(*dim))
                        });
                Extent {
                    size,
                    align: one.align,
                }
            }
            Some(Type::Struct(found)) => {
                let position = position.unwrap_or(usize::MAX);
                if let Some(Some(known)) = self.structs.get(position) {
                    return *known;
                }
                let extent = self.struct_extent(found, depth);
                if self.structs.is_empty() {
                    self.structs.resize(self.table.types.len(), None);
                }
                if let Some(known) = self.structs.get_mut(position) {
                    *known = Some(extent);
                }
                extent
            }
        }
    }

    fn struct_extent(&mut self, found: &StructType, depth: usize) -> Extent {
        let mut extent = Extent { size: 0, align: 1 };
        for member in &found.members {
            let one = self.extent(member.ty, MatrixLayout::from(member), depth + 1);
            let offset = member
                .offset
                .map_or_else(|| aligned(extent.size, one.align), u64::from);
            extent.size = extent.size.max(offset.saturating_add(one.size));
            extent.align = extent.align.max(one.align);
        }
        extent
    }
}

/// The next multiple of `align`; what is too large for one stays the largest.
pub(crate) fn aligned(size: u64, align: u64) -> u64 {
    size.checked_next_multiple_of(align.max(1))
        .unwrap_or(u64::MAX)
}

impl TypeTable {
    /// Size of a type in bytes with the defaults of spec constants; a trailing runtime array adds nothing.
    #[must_use]
    pub fn fixed_size(&self, ty: TypeId) -> u64 {
        Sizes::new(self, &[]).of(ty, MatrixLayout::default())
    }

    /// The same, with these values of spec constants.
    #[must_use]
    pub fn size_for_spec(&self, ty: TypeId, values: SpecValues<'_>) -> u64 {
        Sizes::new(self, values).of(ty, MatrixLayout::default())
    }

    /// Bytes of a struct whose trailing runtime array has `count` elements; `None` if it has no such array.
    #[must_use]
    pub fn size_for_count(&self, ty: TypeId, count: u64) -> Option<u64> {
        let (offset, stride) = self.runtime_array(ty)?;
        Some(
            self.fixed_size(ty)
                .max(offset.saturating_add(stride.saturating_mul(count))),
        )
    }

    /// Offset and stride of the runtime array at the end of a struct.
    #[must_use]
    pub fn runtime_array(&self, ty: TypeId) -> Option<(u64, u64)> {
        let (mut ty, mut base) = (ty, 0u64);
        for _ in 0..MAX_DEPTH {
            let last = self
                .get_struct(ty)?
                .members
                .iter()
                .max_by_key(|member| member.offset)?;
            base = base.saturating_add(u64::from(last.offset.unwrap_or(0)));
            match self.get(last.ty)? {
                Type::Struct(_) => ty = last.ty,
                Type::Array { dims, strides, .. } if dims.first() == Some(&Dim::Runtime) => {
                    return Some((base, u64::from(strides.first().copied().flatten()?)));
                }
                _ => return None,
            }
        }
        None
    }

    /// The leaves of a block: everything in it that is no struct, arrays of structs by their element 0, sorted by offset.
    /// At most `limit` of them.
    #[must_use]
    pub fn flatten(&self, block: TypeId, limit: usize) -> Vec<FlatMember> {
        let mut sizes = Sizes::new(self, &[]);
        let mut leaves = Vec::new();
        let mut stack = vec![(block, String::new(), 0u64, 0usize)];
        while let Some((ty, path, base, depth)) = stack.pop() {
            let Some(found) = self.get_struct(ty) else {
                continue;
            };
            for member in &found.members {
                if leaves.len() + stack.len() >= limit || depth > MAX_DEPTH {
                    break;
                }
                let path = if path.is_empty() {
                    member.name.to_string()
                } else {
                    format!("{path}.{}", member.name)
                };
                let offset = base.saturating_add(u64::from(member.offset.unwrap_or(0)));
                let inner = match self.get(member.ty) {
                    Some(Type::Array { element, .. }) => *element,
                    _ => member.ty,
                };
                if self.get_struct(inner).is_some() {
                    stack.push((inner, path, offset, depth + 1));
                } else {
                    leaves.push(FlatMember {
                        path,
                        ty: member.ty,
                        offset,
                        size: sizes.of(member.ty, MatrixLayout::from(member)),
                    });
                }
            }
        }
        leaves.sort_by_key(|leaf| leaf.offset);
        leaves
    }
}

/// Sorts ranges and joins those that touch or overlap. Gives the number of those that are left, at the front.
pub(crate) fn join_ranges(ranges: &mut [ByteRange]) -> usize {
    if let [range] = ranges {
        return usize::from(range.size > 0);
    }
    ranges.sort_unstable();
    let mut last = ByteRange::default();
    let mut count = 0;
    for index in 0..ranges.len() {
        let range = ranges.get(index).copied().unwrap_or_default();
        if range.size == 0 {
            continue;
        }
        if count > 0 && range.offset <= last.end() {
            last.size = last.size.max(range.end() - last.offset);
        } else {
            last = range;
            count += 1;
        }
        if let Some(place) = ranges.get_mut(count - 1) {
            *place = last;
        }
    }
    count
}
