//! The data model of reflection: what a SPIR-V module asks of whoever runs it.
//!
//! An [`Interface`] is plain data. [`reflect`](crate::reflect) makes one from a module, [`merge`](crate::merge) joins
//! several into the layout of a pipeline, [`bake`](crate::bake) stores one beside its module.
//!
//! Lists that mostly are very short lie where they are named, without an allocation of their own: most of the time that a
//! description takes to make, to load and to drop would go into those.

mod enums;
mod io;
mod name;
mod spec;
mod types;

use smallvec::SmallVec;

pub(crate) use spec::half_to_f32;

pub use enums::{
    Access, AddressingModel, BuiltIn, Capability, Count, DescriptorType, ExecutionMode, Format,
    Generator, ImageDim, ImageFormat, Interpolation, MemoryModel, SourceLanguage, SpirvVersion,
    Stage, StageFlags, Topology,
};
pub use io::InterfaceVariable;
pub use name::Name;
pub use spec::{
    Expression, ExpressionArena, ExpressionNode, ScalarType, SpecConstant, SpecDependent,
    SpecValue, SpecValues,
};
pub use types::{ByteRange, Dim, FlatMember, Member, StructType, Type, TypeId, TypeTable};

/// A short list of numbers: SPIR-V ids, SpecIds, operands.
pub type Numbers = SmallVec<[u32; 4]>;

/// Runs of bytes, sorted, with gaps between them.
pub type ByteRanges = SmallVec<[ByteRange; 1]>;

/// Everything a module says about itself: its entry points, the resources they use, and the types of those resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Version of SPIR-V in the header.
    pub spirv_version: SpirvVersion,
    /// Tool that wrote the module, as registered with Khronos.
    pub generator: Generator,
    /// Language of the source, from `OpSource` (the first one that names a known language).
    pub source_language: SourceLanguage,
    /// Addressing model, from `OpMemoryModel`.
    pub addressing_model: AddressingModel,
    /// Memory model, from `OpMemoryModel`.
    pub memory_model: MemoryModel,
    /// Declared capabilities, in order of declaration, each once.
    pub capabilities: SmallVec<[Capability; 4]>,
    /// Declared extensions, in order of declaration, each once.
    pub extensions: SmallVec<[Name; 1]>,
    /// Entry points, in order of declaration.
    pub entry_points: Vec<EntryPoint>,
    /// All descriptor variables, used or not, aliases included; sorted by set, then binding, then SPIR-V id
    /// (variables without a set or binding come last).
    pub bindings: Vec<Binding>,
    /// Push-constant blocks, one per variable, with the use that all entry points together make of them.
    pub push_constants: Vec<PushConstants>,
    /// Specialisation constants, one per SpecId, sorted by SpecId.
    pub spec_constants: Vec<SpecConstant>,
    /// Types of blocks, inputs, outputs and payloads, by SPIR-V id, and the expressions that array sizes are made of.
    pub types: TypeTable,
}

impl Interface {
    /// The entry point with this name and, where several stages share the name, this stage.
    #[must_use]
    pub fn entry_point(&self, name: &str, stage: Option<Stage>) -> Option<&EntryPoint> {
        self.entry_points
            .iter()
            .find(|entry| entry.name == name && stage.is_none_or(|stage| entry.stage == stage))
    }

    /// The variables on one set and binding; more than one if they alias each other.
    pub fn bindings_at(&self, set: u32, binding: u32) -> impl Iterator<Item = &Binding> {
        self.bindings
            .iter()
            .filter(move |b| b.set == Some(set) && b.binding == Some(binding))
    }

    /// The binding whose variable has this SPIR-V id.
    #[must_use]
    pub fn binding_by_id(&self, spirv_id: u32) -> Option<&Binding> {
        self.bindings
            .iter()
            .find(|binding| binding.spirv_id == spirv_id)
    }
}

/// One entry point, with the resources that it statically uses (through calls, too).
#[derive(Clone, Debug, PartialEq)]
pub struct EntryPoint {
    /// Name, as `VkPipelineShaderStageCreateInfo::pName` wants it.
    pub name: Name,
    /// Pipeline stage. The NV forms of task and mesh are the same stages as the EXT forms.
    pub stage: Stage,
    /// SPIR-V id of its function.
    pub spirv_id: u32,
    /// Invocations per workgroup in x, y, z; `None` for stages without workgroups.
    pub local_size: Option<[LocalSize; 3]>,
    /// Limits of a mesh stage.
    pub mesh: Option<MeshLimits>,
    /// Bytes of the task payload that the stage declares (task and mesh stages).
    pub payload_size: Option<u64>,
    /// Type of the task payload.
    pub payload: Option<TypeId>,
    /// Invocations of a geometry stage.
    pub invocations: Option<u32>,
    /// Execution modes other than those above, as written.
    pub execution_modes: SmallVec<[ExecutionMode; 1]>,
    /// Statically used bindings, sorted by set, then binding, then id.
    pub bindings: SmallVec<[BindingUse; 2]>,
    /// The push-constant block that it statically uses.
    pub push_constants: Option<PushConstants>,
    /// Inputs, members of blocks and structs one by one, sorted by location; built-ins come last.
    pub inputs: Vec<InterfaceVariable>,
    /// Outputs, in the same form.
    pub outputs: Vec<InterfaceVariable>,
    /// Built-in inputs and outputs that the code touches, sorted.
    pub built_ins: SmallVec<[BuiltIn; 4]>,
    /// SpecIds that code, sizes or execution modes of this entry point depend on, sorted.
    pub spec_ids: Numbers,
    /// Whether it loads, stores or makes pointers into physical storage (buffer device addresses).
    pub uses_physical_pointers: bool,
    /// What it does through physical pointers.
    pub physical_access: Access,
}

impl EntryPoint {
    /// Local size with the defaults of its spec constants.
    #[must_use]
    pub fn default_local_size(&self) -> Option<[u32; 3]> {
        self.local_size.map(|axes| axes.map(|axis| axis.value))
    }
}

/// One axis of a local size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSize {
    /// Number of invocations; the default if it depends on spec constants.
    pub value: u32,
    /// The SpecId that sets it, if a spec constant alone does.
    pub spec_id: Option<u32>,
    /// The expression behind it, if spec constants decide it.
    pub expression: Option<Expression>,
}

/// Limits of a mesh stage's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshLimits {
    /// Most vertices of one workgroup.
    pub max_vertices: u32,
    /// Most primitives of one workgroup.
    pub max_primitives: u32,
    /// Kind of primitive.
    pub topology: Topology,
}

/// How one entry point uses one binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingUse {
    /// Position in [`Interface::bindings`].
    pub index: usize,
    /// SPIR-V id of the variable.
    pub spirv_id: u32,
    /// Descriptor set, if decorated.
    pub set: Option<u32>,
    /// Binding number, if decorated.
    pub binding: Option<u32>,
    /// What this entry point does with it.
    pub access: Access,
    /// Bytes of the block that it reads or writes; empty for what is not a buffer.
    pub active: ByteRanges,
}

/// One descriptor variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Descriptor set; `None` if the variable has no such decoration.
    pub set: Option<u32>,
    /// Binding number; `None` if the variable has no such decoration.
    pub binding: Option<u32>,
    /// `OpName` of the variable; empty if it has none.
    pub name: Name,
    /// SPIR-V id of the variable.
    pub spirv_id: u32,
    /// Kind of descriptor.
    pub descriptor_type: DescriptorType,
    /// Number of descriptors.
    pub count: Count,
    /// Array dimensions, outermost first; empty if it is no array.
    pub dims: SmallVec<[Dim; 1]>,
    /// What all entry points together do with it, within what its decorations permit.
    pub access: Access,
    /// The same per stage, for the stages that use it, sorted by stage.
    pub access_by_stage: SmallVec<[(Stage, Access); 1]>,
    /// Whether the variable or all its members are decorated `NonWritable`.
    pub non_writable: bool,
    /// Whether the variable or all its members are decorated `NonReadable`.
    pub non_readable: bool,
    /// Whether any entry point statically uses it.
    pub used: bool,
    /// Bytes of the block that entry points read or write, from its start; `None` for what is not a buffer.
    pub active: Option<ByteRanges>,
    /// Traits of an image.
    pub image: Option<ImageTraits>,
    /// Struct type of a buffer's block.
    pub block: Option<TypeId>,
    /// Declared size of the block in bytes, without a trailing runtime array, not rounded.
    pub block_size: Option<u64>,
    /// `block_size`, for uniform buffers rounded up to 16.
    pub padded_size: Option<u64>,
    /// Input attachment index.
    pub input_attachment_index: Option<u32>,
    /// Set and binding of the counter buffer (HLSL append, consume and counter buffers).
    pub counter: Option<(u32, u32)>,
    /// HLSL semantic.
    pub semantic: Option<Box<str>>,
    /// User type, as DXC and Slang write it (`structuredbuffer:<float4>`).
    pub user_type: Option<Box<str>>,
    /// SPIR-V ids of the other variables on the same set and binding, sorted.
    pub aliases: Numbers,
    /// For images: ids of the sampler variables that they are combined with. For samplers: ids of the images. Sorted.
    pub sampled_with: Numbers,
}

/// Traits of an image descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageTraits {
    /// Dimensionality.
    pub dim: ImageDim,
    /// Whether it is declared a depth image.
    pub depth: bool,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether it has several samples per texel.
    pub multisampled: bool,
    /// Texel format of a storage image; `None` if the module leaves it unknown.
    pub format: Option<ImageFormat>,
    /// Type of a sampled component; `None` for untyped images (`OpTypeVoid`).
    pub sampled_type: Option<ScalarType>,
}

/// One push-constant block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushConstants {
    /// `OpName` of the variable; empty if it has none.
    pub name: Name,
    /// SPIR-V id of the variable.
    pub spirv_id: u32,
    /// Byte offset of the first member.
    pub offset: u32,
    /// Bytes from the first member's start to the last member's end; `offset` and `size` are what a
    /// `VkPushConstantRange` wants.
    pub size: u32,
    /// Bytes that are read, counted from offset 0 of the block.
    pub active: ByteRanges,
    /// Struct type of the block.
    pub block: TypeId,
}
