//! Enumerations and small newtypes of the interface, with their Vulkan values where they have one.

use std::fmt;

/// Version of SPIR-V.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpirvVersion {
    /// Major version, 1 so far.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
}

impl fmt::Display for SpirvVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Tool that wrote a module: the generator word of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generator {
    /// Number in Khronos' registry (`spir-v.xml`).
    pub tool: u16,
    /// Version that the tool gives itself.
    pub version: u16,
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.tool {
            0 => "Khronos",
            1 => "LunarG",
            2 => "Valve",
            3 => "Codeplay",
            4 => "NVIDIA",
            5 => "ARM",
            6 => "Khronos LLVM/SPIR-V Translator",
            7 => "Khronos SPIR-V Tools Assembler",
            8 => "Khronos Glslang Reference Front End",
            9 => "Qualcomm",
            10 => "AMD",
            11 => "Intel",
            12 => "Imagination",
            13 => "Google Shaderc over Glslang",
            14 => "Google spiregg",
            15 => "Google rspirv",
            16 => "X-LEGEND Mesa-IR/SPIR-V Translator",
            17 => "Khronos SPIR-V Tools Linker",
            18 => "Wine VKD3D Shader Compiler",
            19 => "Tellusim Clay Shader Compiler",
            20 => "W3C WebGPU Group WHLSL Shader Translator",
            21 => "Google Clspv",
            22 => "LLVM MLIR SPIR-V Serializer",
            23 => "Google Tint Compiler",
            24 => "Google ANGLE Shader Compiler",
            25 => "Netease Games Messiah Shader Compiler",
            26 => "Xenia Emulator Microcode Translator",
            27 => "Rust GPU Compiler Backend",
            28 => "gfx-rs community Naga",
            40 => "NVIDIA Slang Compiler",
            tool => return write!(f, "unknown ({tool})"),
        };
        f.write_str(name)
    }
}

/// Language of a module's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceLanguage {
    /// SPIR-V's number of the language, 0 if unknown.
    pub language: u32,
    /// Version that `OpSource` gives, 450 for GLSL 4.50.
    pub version: u32,
}

/// Defines a newtype over a SPIR-V enumerant that keeps values this build does not know and prints them as numbers.
macro_rules! enumerant {
    ($(#[$doc:meta])* $name:ident, $spirv:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(
            /// SPIR-V's number.
            pub u32,
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match <$spirv>::from_u32(self.0) {
                    Some(known) => write!(f, "{known:?}"),
                    None => write!(f, "{}", self.0),
                }
            }
        }
    };
}

enumerant!(
    /// A SPIR-V capability; `Display` gives its name in the SPIR-V specification, or its number.
    Capability,
    spirv::Capability
);
enumerant!(
    /// A SPIR-V addressing model.
    AddressingModel,
    spirv::AddressingModel
);
enumerant!(
    /// A SPIR-V memory model.
    MemoryModel,
    spirv::MemoryModel
);
enumerant!(
    /// A SPIR-V built-in.
    BuiltIn,
    spirv::BuiltIn
);
enumerant!(
    /// Texel format of a storage image, in SPIR-V's numbers and names (`Rgba8`).
    ImageFormat,
    spirv::ImageFormat
);

impl fmt::Display for SourceLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match spirv::SourceLanguage::from_u32(self.language) {
            Some(known) => write!(f, "{known:?}"),
            None => write!(f, "{}", self.language),
        }
    }
}

/// An execution mode with its literal or id operands, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionMode {
    /// SPIR-V's number.
    pub mode: u32,
    /// Operands; ids if the module used `OpExecutionModeId`.
    pub operands: super::Numbers,
}

impl fmt::Display for ExecutionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match spirv::ExecutionMode::from_u32(self.mode) {
            Some(known) => write!(f, "{known:?}"),
            None => write!(f, "{}", self.mode),
        }
    }
}

/// A pipeline stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Stage {
    Vertex,
    TessellationControl,
    TessellationEvaluation,
    Geometry,
    Fragment,
    Compute,
    Task,
    Mesh,
    RayGeneration,
    Intersection,
    AnyHit,
    ClosestHit,
    Miss,
    Callable,
    /// An execution model that is no Vulkan stage, such as `Kernel`, by SPIR-V's number.
    Unknown(u32),
}

impl Stage {
    /// The stage of a SPIR-V execution model.
    #[must_use]
    pub fn from_execution_model(model: u32) -> Self {
        match model {
            0 => Self::Vertex,
            1 => Self::TessellationControl,
            2 => Self::TessellationEvaluation,
            3 => Self::Geometry,
            4 => Self::Fragment,
            5 => Self::Compute,
            5267 | 5364 => Self::Task,
            5268 | 5365 => Self::Mesh,
            5313 => Self::RayGeneration,
            5314 => Self::Intersection,
            5315 => Self::AnyHit,
            5316 => Self::ClosestHit,
            5317 => Self::Miss,
            5318 => Self::Callable,
            other => Self::Unknown(other),
        }
    }

    /// SPIR-V's execution model; the EXT form where there are two.
    #[must_use]
    pub fn execution_model(self) -> u32 {
        match self {
            Self::Vertex => 0,
            Self::TessellationControl => 1,
            Self::TessellationEvaluation => 2,
            Self::Geometry => 3,
            Self::Fragment => 4,
            Self::Compute => 5,
            Self::Task => 5364,
            Self::Mesh => 5365,
            Self::RayGeneration => 5313,
            Self::Intersection => 5314,
            Self::AnyHit => 5315,
            Self::ClosestHit => 5316,
            Self::Miss => 5317,
            Self::Callable => 5318,
            Self::Unknown(other) => other,
        }
    }

    /// Vulkan's `VkShaderStageFlagBits` value; 0 for [`Stage::Unknown`].
    #[must_use]
    pub fn bit(self) -> u32 {
        match self {
            Self::Vertex => 0x1,
            Self::TessellationControl => 0x2,
            Self::TessellationEvaluation => 0x4,
            Self::Geometry => 0x8,
            Self::Fragment => 0x10,
            Self::Compute => 0x20,
            Self::Task => 0x40,
            Self::Mesh => 0x80,
            Self::RayGeneration => 0x100,
            Self::AnyHit => 0x200,
            Self::ClosestHit => 0x400,
            Self::Miss => 0x800,
            Self::Intersection => 0x1000,
            Self::Callable => 0x2000,
            Self::Unknown(_) => 0,
        }
    }

    /// Name in lower snake case, as the JSON output has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::TessellationControl => "tess_control",
            Self::TessellationEvaluation => "tess_eval",
            Self::Geometry => "geometry",
            Self::Fragment => "fragment",
            Self::Compute => "compute",
            Self::Task => "task",
            Self::Mesh => "mesh",
            Self::RayGeneration => "raygen",
            Self::Intersection => "intersection",
            Self::AnyHit => "any_hit",
            Self::ClosestHit => "closest_hit",
            Self::Miss => "miss",
            Self::Callable => "callable",
            Self::Unknown(_) => "unknown",
        }
    }

    /// All Vulkan stages, in the order of their bits but for the ray-tracing ones.
    pub const ALL: [Self; 14] = [
        Self::Vertex,
        Self::TessellationControl,
        Self::TessellationEvaluation,
        Self::Geometry,
        Self::Fragment,
        Self::Compute,
        Self::Task,
        Self::Mesh,
        Self::RayGeneration,
        Self::Intersection,
        Self::AnyHit,
        Self::ClosestHit,
        Self::Miss,
        Self::Callable,
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of stages: Vulkan's `VkShaderStageFlags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageFlags(
    /// Vulkan's bits.
    pub u32,
);

impl StageFlags {
    /// No stage.
    pub const EMPTY: Self = Self(0);

    /// Whether `stage` is in the set.
    #[must_use]
    pub fn contains(self, stage: Stage) -> bool {
        self.0 & stage.bit() != 0
    }

    /// The stages of the set.
    pub fn iter(self) -> impl Iterator<Item = Stage> {
        Stage::ALL
            .into_iter()
            .filter(move |stage| self.contains(*stage))
    }
}

impl From<Stage> for StageFlags {
    fn from(stage: Stage) -> Self {
        Self(stage.bit())
    }
}

impl std::ops::BitOr for StageFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for StageFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for StageFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, stage) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("|")?;
            }
            f.write_str(stage.name())?;
        }
        if self.0 == 0 {
            f.write_str("none")
        } else {
            Ok(())
        }
    }
}

/// Kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum DescriptorType {
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
    /// `VK_DESCRIPTOR_TYPE_TENSOR_ARM`.
    Tensor,
}

impl DescriptorType {
    /// Vulkan's `VkDescriptorType` value.
    #[must_use]
    pub fn vulkan(self) -> i32 {
        match self {
            Self::Sampler => 0,
            Self::CombinedImageSampler => 1,
            Self::SampledImage => 2,
            Self::StorageImage => 3,
            Self::UniformTexelBuffer => 4,
            Self::StorageTexelBuffer => 5,
            Self::UniformBuffer => 6,
            Self::StorageBuffer => 7,
            Self::InputAttachment => 10,
            Self::AccelerationStructure => 1_000_150_000,
            Self::Tensor => 1_000_460_000,
        }
    }

    /// Name in lower snake case, as the JSON output has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sampler => "sampler",
            Self::CombinedImageSampler => "combined_image_sampler",
            Self::SampledImage => "sampled_image",
            Self::StorageImage => "storage_image",
            Self::UniformTexelBuffer => "uniform_texel_buffer",
            Self::StorageTexelBuffer => "storage_texel_buffer",
            Self::UniformBuffer => "uniform_buffer",
            Self::StorageBuffer => "storage_buffer",
            Self::InputAttachment => "input_attachment",
            Self::AccelerationStructure => "acceleration_structure",
            Self::Tensor => "tensor",
        }
    }

    /// Whether it is a uniform or a storage buffer.
    #[must_use]
    pub fn is_buffer(self) -> bool {
        matches!(self, Self::UniformBuffer | Self::StorageBuffer)
    }
}

impl fmt::Display for DescriptorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of descriptors of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One descriptor, not an array.
    One,
    /// An array; all dimensions multiplied.
    Fixed(u32),
    /// An array without a size (bindless). GLSL front ends write an unsized array that is only indexed by constants
    /// as an array of fixed size.
    Runtime,
    /// An array whose size depends on spec constants.
    Spec {
        /// Number of descriptors, all dimensions multiplied; evaluate it with
        /// [`TypeTable::evaluate`](super::TypeTable::evaluate).
        expression: super::Expression,
        /// Its value with the defaults.
        default: u32,
    },
}

impl Count {
    /// Number of descriptors with the defaults; `None` for a runtime array.
    #[must_use]
    pub fn default_count(self) -> Option<u32> {
        match self {
            Self::One => Some(1),
            Self::Fixed(n) | Self::Spec { default: n, .. } => Some(n),
            Self::Runtime => None,
        }
    }
}

/// What code does with a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Neither reads nor writes (sizes may be asked for).
    #[default]
    None,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes.
    ReadWrite,
}

impl Access {
    /// The access with these two halves.
    #[must_use]
    pub fn new(reads: bool, writes: bool) -> Self {
        match (reads, writes) {
            (false, false) => Self::None,
            (true, false) => Self::Read,
            (false, true) => Self::Write,
            (true, true) => Self::ReadWrite,
        }
    }

    /// Whether it reads.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether it writes.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    /// What either does.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self::new(
            self.reads() || other.reads(),
            self.writes() || other.writes(),
        )
    }

    /// Name in lower snake case, as the JSON output has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read_write",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Dimensionality of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are SPIR-V's")]
pub enum ImageDim {
    Dim1D,
    Dim2D,
    Dim3D,
    Cube,
    Rect,
    Buffer,
    Subpass,
    /// One that this build does not know, by SPIR-V's number.
    Unknown(u32),
}

impl ImageDim {
    /// Name as the JSON output has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dim1D => "1d",
            Self::Dim2D => "2d",
            Self::Dim3D => "3d",
            Self::Cube => "cube",
            Self::Rect => "rect",
            Self::Buffer => "buffer",
            Self::Subpass => "subpass",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Kind of primitive that a mesh stage makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Topology {
    Points,
    Lines,
    Triangles,
}

impl Topology {
    /// Name as the JSON output has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Lines => "lines",
            Self::Triangles => "triangles",
        }
    }
}

/// Interpolation of a fragment input other than perspective-correct at the pixel's centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interpolation {
    /// Not interpolated: the provoking vertex's value.
    pub flat: bool,
    /// Linear in screen space.
    pub no_perspective: bool,
    /// At the centroid of the covered samples.
    pub centroid: bool,
    /// At each sample.
    pub sample: bool,
}

impl fmt::Display for Interpolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.flat, "flat"),
            (self.no_perspective, "noperspective"),
            (self.centroid, "centroid"),
            (self.sample, "sample"),
        ];
        let names: Vec<&str> = parts
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, name)| *name)
            .collect();
        f.write_str(if names.is_empty() { "smooth" } else { "" })?;
        f.write_str(&names.join(" "))
    }
}

/// A Vulkan format of 1 to 4 components of 8 to 64 bits, by its `VkFormat` value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format(
    /// Vulkan's `VkFormat` value.
    pub i32,
);

impl Format {
    /// The format of `components` (1 to 4) numbers of this type; `None` if Vulkan has none (booleans).
    #[must_use]
    pub fn of(scalar: super::ScalarType, components: u32) -> Option<Self> {
        use super::ScalarType as S;
        if !(1..=4).contains(&components) {
            return None;
        }
        // First format of the one-component block, and the distance to the one with a component more.
        let (first, step) = match scalar {
            S::U8 => (13, 0),
            S::I8 => (14, 0),
            S::U16 => (74, 7),
            S::I16 => (75, 7),
            S::F16 => (76, 7),
            S::U32 => (98, 3),
            S::I32 => (99, 3),
            S::F32 => (100, 3),
            S::U64 => (110, 3),
            S::I64 => (111, 3),
            S::F64 => (112, 3),
            S::Bool => return None,
        };
        // The 8-bit formats are R8 (9..), R8G8 (16..), R8G8B8 (23..), R8G8B8A8 (37..): BGR lies between the last two.
        let offset = if step == 0 {
            [0, 7, 14, 28][components as usize - 1]
        } else {
            step * (components as i32 - 1)
        };
        Some(Self(first + offset))
    }

    /// Vulkan's name without `VK_FORMAT_`: `R32G32B32_SFLOAT`.
    #[must_use]
    pub fn name(self) -> String {
        use super::ScalarType as S;
        for scalar in [
            S::U8,
            S::I8,
            S::U16,
            S::I16,
            S::F16,
            S::U32,
            S::I32,
            S::F32,
            S::U64,
            S::I64,
            S::F64,
        ] {
            for components in 1..=4 {
                if Self::of(scalar, components) == Some(self) {
                    let channels: String = ["R", "G", "B", "A"][..components as usize]
                        .iter()
                        .map(|c| format!("{c}{}", scalar.width()))
                        .collect();
                    return format!("{channels}_{}", scalar.format_suffix());
                }
            }
        }
        format!("{}", self.0)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
