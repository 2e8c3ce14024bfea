//! What of an [`Interface`] is baked: everything, in this order. Whoever changes anything here raises
//! [`BAKED_SCHEMA`](super::BAKED_SCHEMA).

use super::form::{
    Baked, Bits, Body, Rest, field_bits, field_is_fixed, field_size, numbered, record, variants,
    wrapped,
};
use crate::interface::{
    Access, AddressingModel, Binding, BindingUse, BuiltIn, ByteRange, Capability, Count,
    DescriptorType, Dim, EntryPoint, ExecutionMode, Expression, ExpressionArena, ExpressionNode,
    Format, Generator, ImageDim, ImageFormat, ImageTraits, Interface, InterfaceVariable,
    Interpolation, LocalSize, Member, MemoryModel, MeshLimits, PushConstants, ScalarType,
    SourceLanguage, SpecConstant, SpecDependent, SpecValue, SpirvVersion, Stage, StructType,
    Topology, Type, TypeId, TypeTable,
};

record!(Interface {
    spirv_version,
    generator,
    source_language,
    addressing_model,
    memory_model,
    capabilities,
    extensions,
    entry_points,
    bindings,
    push_constants,
    spec_constants,
    types,
});
record!(SpirvVersion { major, minor });
record!(Generator { tool, version });
record!(SourceLanguage { language, version });
wrapped!(AddressingModel, MemoryModel, Capability, BuiltIn);

record!(EntryPoint {
    name,
    stage,
    spirv_id,
    local_size,
    mesh,
    payload_size,
    payload,
    invocations,
    execution_modes,
    bindings,
    push_constants,
    inputs,
    outputs,
    built_ins,
    spec_ids,
    uses_physical_pointers,
    physical_access,
});
record!(LocalSize {
    value,
    spec_id,
    expression,
});
record!(MeshLimits {
    max_vertices,
    max_primitives,
    topology,
});
numbered!(Topology {
    Points,
    Lines,
    Triangles
});
record!(ExecutionMode { mode, operands });
record!(BindingUse {
    index,
    spirv_id,
    set,
    binding,
    access,
    active,
});
numbered!(Access {
    None,
    Read,
    Write,
    ReadWrite
});

/// By SPIR-V's number.
impl Baked for Stage {
    const BITS: u32 = 0;
    const SIZE: usize = 4;
    const IS_FIXED: bool = true;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.execution_model().write(bits, head, body);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        Self::from_execution_model(u32::read(bits, head, rest))
    }
}

record!(InterfaceVariable {
    name,
    spirv_id,
    location,
    component,
    index,
    locations,
    ty,
    element_type,
    format,
    built_in,
    per_primitive,
    per_vertex,
    patch,
    interpolation,
    semantic,
    used,
});
wrapped!(Format);
record!(Interpolation {
    flat,
    no_perspective,
    centroid,
    sample,
});

record!(Binding {
    set,
    binding,
    name,
    spirv_id,
    descriptor_type,
    count,
    dims,
    access,
    access_by_stage,
    non_writable,
    non_readable,
    used,
    active,
    image,
    block,
    block_size,
    padded_size,
    input_attachment_index,
    counter,
    semantic,
    user_type,
    aliases,
    sampled_with,
});
numbered!(DescriptorType {
    Sampler,
    CombinedImageSampler,
    SampledImage,
    StorageImage,
    UniformTexelBuffer,
    StorageTexelBuffer,
    UniformBuffer,
    StorageBuffer,
    InputAttachment,
    AccelerationStructure,
    Tensor,
});
variants!(Count, Count::One, 8, {
    0: One {},
    1: Fixed { 0: count },
    2: Runtime {},
    3: Spec { expression: expression, default: default },
});
record!(ImageTraits {
    dim,
    depth,
    arrayed,
    multisampled,
    format,
    sampled_type,
});
variants!(ImageDim, ImageDim::Dim1D, 4, {
    0: Dim1D {},
    1: Dim2D {},
    2: Dim3D {},
    3: Cube {},
    4: Rect {},
    5: Buffer {},
    6: Subpass {},
    7: Unknown { 0: number },
});
wrapped!(ImageFormat);
record!(PushConstants {
    name,
    spirv_id,
    offset,
    size,
    active,
    block,
});
record!(ByteRange { offset, size });

record!(SpecConstant {
    id,
    spirv_ids,
    name,
    ty,
    default,
    sizes,
});
numbered!(ScalarType {
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
    F64
});

/// Type and bits.
impl Baked for SpecValue {
    const BITS: u32 = 0;
    const SIZE: usize = ScalarType::SIZE + u64::SIZE;
    const IS_FIXED: bool = true;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.scalar_type().write(bits, head, body);
        self.bits().write(bits, head, body);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        let ty = ScalarType::read(bits, head, rest);
        Self::from_bits(ty, u64::read(bits, head, rest))
    }
}

variants!(SpecDependent, SpecDependent::Descriptors(0), 5, {
    0: Array { 0: ty },
    1: Descriptors { 0: id },
    2: LocalSize { entry_point: name, axis: axis },
});

record!(TypeTable { types, expressions });
wrapped!(TypeId, Expression);
variants!(Type, Type::Bool, 16, {
    0: Bool {},
    1: Int { width: width, signed: signed },
    2: Float { width: width },
    3: Vector { component: component, length: length },
    4: Matrix { component: component, columns: columns, rows: rows },
    5: Array { element: element, dims: dims, strides: strides },
    6: Struct { 0: found },
    7: Pointer { pointee: pointee, alignment: alignment },
    8: Opaque { 0: opcode },
});
record!(StructType {
    name,
    size,
    has_runtime_array,
    block,
    buffer_block,
    members,
});
record!(Member {
    name,
    ty,
    offset,
    absolute_offset,
    size,
    padded_size,
    array_stride,
    matrix_stride,
    row_major,
    used,
    non_writable,
    non_readable,
    semantic,
});
variants!(Dim, Dim::Runtime, 8, {
    0: Fixed { 0: length },
    1: Runtime {},
    2: Spec { expression: expression, default: default },
});
record!(ExpressionArena { nodes });
variants!(ExpressionNode, ExpressionNode::Unknown, 17, {
    0: Literal { 0: value },
    1: Spec { id: id, default: default },
    2: Composite { 0: list },
    3: Operation {
        opcode: opcode,
        ty: ty,
        components: components,
        operands: operands,
        literals: literals
    },
    4: Product { 0: list },
    5: Unknown {},
});
