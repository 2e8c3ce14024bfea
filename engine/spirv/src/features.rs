//! Which device features a module needs, by the names of Vulkan's feature structs.

use std::collections::BTreeSet;

use spirv::Capability as C;

use crate::error::Error;
use crate::interface::{DescriptorType, EntryPoint, Interface, Stage};

/// A feature that a shader needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequiredFeature {
    /// Name of the member in Vulkan's feature struct (`shaderInt64`), of the device extension (`VK_GOOGLE_user_type`), or of
    /// the capability where this build knows no feature for it.
    pub name: String,
    /// What asks for it.
    pub reason: String,
}

/// Features that the entry point needs: those of the module's capabilities and extensions, and those that no capability stands for
/// (`vertexPipelineStoresAndAtomics` and `fragmentStoresAndAtomics`, from what the code writes). Sorted by name.
///
/// Capabilities that every Vulkan 1.3 device has ask for nothing.
#[must_use]
pub fn required_features(interface: &Interface, entry: &EntryPoint) -> Vec<RequiredFeature> {
    let mut features = BTreeSet::new();
    for capability in &interface.capabilities {
        let known = C::from_u32(capability.0);
        match known.map_or(Requirement::Unknown, requirement) {
            Requirement::Nothing => {}
            Requirement::Feature(name) => {
                features.insert(RequiredFeature {
                    name: name.to_owned(),
                    reason: format!("capability {capability}"),
                });
            }
            Requirement::Unknown => {
                features.insert(RequiredFeature {
                    name: capability.to_string(),
                    reason: format!("capability {capability}"),
                });
            }
        }
    }
    for extension in &interface.extensions {
        if let Some(name) = device_extension(extension) {
            features.insert(RequiredFeature {
                name: name.to_owned(),
                reason: format!("extension {extension}"),
            });
        }
    }
    if let Some((name, resource)) = stores(interface, entry) {
        features.insert(RequiredFeature {
            name: name.to_owned(),
            reason: format!("{} writes to {resource}", entry.stage),
        });
    }
    features.into_iter().collect()
}

/// Compares what an entry point needs with what a device has enabled.
///
/// # Errors
///
/// [`Error::MissingFeature`] for the first feature, by name, of which `is_enabled` says no.
pub fn check_features(
    file: &str,
    interface: &Interface,
    entry: &EntryPoint,
    is_enabled: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    match required_features(interface, entry)
        .into_iter()
        .find(|feature| !is_enabled(&feature.name))
    {
        Some(missing) => Err(Error::MissingFeature {
            file: file.to_owned(),
            feature: format!("{} ({})", missing.name, missing.reason),
        }),
        None => Ok(()),
    }
}

/// Feature for stores and atomics outside compute, and what is stored to.
fn stores(interface: &Interface, entry: &EntryPoint) -> Option<(&'static str, String)> {
    let feature = match entry.stage {
        Stage::Vertex
        | Stage::TessellationControl
        | Stage::TessellationEvaluation
        | Stage::Geometry => "vertexPipelineStoresAndAtomics",
        Stage::Fragment => "fragmentStoresAndAtomics",
        // Compute, task, mesh and ray-tracing stages may always store.
        _ => return None,
    };
    let stored = entry
        .bindings
        .iter()
        .find(|used| used.access.writes())
        .and_then(|used| interface.bindings.get(used.index));
    if let Some(binding) = stored {
        let kind = if binding.descriptor_type == DescriptorType::StorageBuffer {
            "buffer"
        } else {
            "image"
        };
        return Some((feature, format!("{kind} \"{}\"", binding.name)));
    }
    entry
        .physical_access
        .writes()
        .then(|| (feature, "a buffer through its address".to_owned()))
}

/// The device extension behind a SPIR-V extension, where no capability stands for it; from the table of extensions in the
/// Vulkan specification ("SPIR-V Environment"). The others are part of Vulkan 1.3 or come with a capability.
fn device_extension(spirv: &str) -> Option<&'static str> {
    Some(match spirv {
        "SPV_GOOGLE_decorate_string" => "VK_GOOGLE_decorate_string",
        "SPV_GOOGLE_hlsl_functionality1" => "VK_GOOGLE_hlsl_functionality1",
        "SPV_GOOGLE_user_type" => "VK_GOOGLE_user_type",
        "SPV_KHR_maximal_reconvergence" => "VK_KHR_shader_maximal_reconvergence",
        "SPV_KHR_relaxed_extended_instruction" => "VK_KHR_shader_relaxed_extended_instruction",
        "SPV_AMD_gcn_shader" => "VK_AMD_gcn_shader",
        "SPV_AMD_gpu_shader_half_float" => "VK_AMD_gpu_shader_half_float",
        "SPV_AMD_gpu_shader_int16" => "VK_AMD_gpu_shader_int16",
        "SPV_AMD_shader_ballot" => "VK_AMD_shader_ballot",
        "SPV_AMD_shader_explicit_vertex_parameter" => "VK_AMD_shader_explicit_vertex_parameter",
        "SPV_AMD_shader_trinary_minmax" => "VK_AMD_shader_trinary_minmax",
        // Its feature is called like that of VK_EXT_mesh_shader.
        "SPV_NV_mesh_shader" => "VK_NV_mesh_shader",
        _ => return None,
    })
}

enum Requirement {
    Nothing,
    Feature(&'static str),
    Unknown,
}

/// The feature behind a capability, after the table of capabilities in the Vulkan specification ("SPIR-V Environment").
fn requirement(capability: C) -> Requirement {
    Requirement::Feature(match capability {
        C::Matrix
        | C::Shader
        | C::InputAttachment
        | C::Sampled1D
        | C::Image1D
        | C::SampledBuffer
        | C::ImageBuffer
        | C::ImageQuery
        | C::DerivativeControl
        | C::DeviceGroup
        | C::GroupNonUniform
        | C::GroupNonUniformVote
        | C::GroupNonUniformArithmetic
        | C::GroupNonUniformBallot
        | C::GroupNonUniformShuffle
        | C::GroupNonUniformShuffleRelative
        | C::GroupNonUniformClustered
        | C::GroupNonUniformQuad
        | C::SubgroupBallotKHR
        | C::SubgroupVoteKHR
        | C::StorageImageExtendedFormats
        // Since format feature flags 2, part of Vulkan 1.3, these are properties of formats.
        | C::StorageImageReadWithoutFormat
        | C::StorageImageWriteWithoutFormat => return Requirement::Nothing,
        C::Geometry | C::GeometryPointSize => "geometryShader",
        C::Tessellation | C::TessellationPointSize => "tessellationShader",
        C::Float64 => "shaderFloat64",
        C::Int64 => "shaderInt64",
        C::Int16 => "shaderInt16",
        C::Int8 => "shaderInt8",
        C::Float16 => "shaderFloat16",
        C::StorageBuffer16BitAccess => "storageBuffer16BitAccess",
        C::UniformAndStorageBuffer16BitAccess => "uniformAndStorageBuffer16BitAccess",
        C::StoragePushConstant16 => "storagePushConstant16",
        C::StorageInputOutput16 => "storageInputOutput16",
        C::StorageBuffer8BitAccess => "storageBuffer8BitAccess",
        C::UniformAndStorageBuffer8BitAccess => "uniformAndStorageBuffer8BitAccess",
        C::StoragePushConstant8 => "storagePushConstant8",
        C::Int64Atomics => "shaderBufferInt64Atomics",
        C::Int64ImageEXT => "shaderImageInt64Atomics",
        C::AtomicFloat32AddEXT => "shaderBufferFloat32AtomicAdd",
        C::AtomicFloat64AddEXT => "shaderBufferFloat64AtomicAdd",
        C::AtomicFloat32MinMaxEXT => "shaderBufferFloat32AtomicMinMax",
        C::AtomicFloat64MinMaxEXT => "shaderBufferFloat64AtomicMinMax",
        C::ClipDistance => "shaderClipDistance",
        C::CullDistance => "shaderCullDistance",
        C::ImageCubeArray | C::SampledCubeArray => "imageCubeArray",
        C::SampleRateShading | C::InterpolationFunction => "sampleRateShading",
        C::ImageGatherExtended => "shaderImageGatherExtended",
        C::StorageImageMultisample | C::ImageMSArray => "shaderStorageImageMultisample",
        C::SparseResidency => "shaderResourceResidency",
        C::MinLod => "shaderResourceMinLod",
        C::MultiViewport => "multiViewport",
        C::MultiView => "multiview",
        C::DrawParameters => "shaderDrawParameters",
        C::TransformFeedback => "transformFeedback",
        C::GeometryStreams => "geometryStreams",
        C::VariablePointers => "variablePointers",
        C::VariablePointersStorageBuffer => "variablePointersStorageBuffer",
        C::ShaderViewportIndex => "shaderOutputViewportIndex",
        C::ShaderLayer => "shaderOutputLayer",
        C::ShaderViewportIndexLayerEXT => "shaderOutputViewportIndex",
        C::UniformBufferArrayDynamicIndexing => "shaderUniformBufferArrayDynamicIndexing",
        C::SampledImageArrayDynamicIndexing => "shaderSampledImageArrayDynamicIndexing",
        C::StorageBufferArrayDynamicIndexing => "shaderStorageBufferArrayDynamicIndexing",
        C::StorageImageArrayDynamicIndexing => "shaderStorageImageArrayDynamicIndexing",
        C::InputAttachmentArrayDynamicIndexing => "shaderInputAttachmentArrayDynamicIndexing",
        C::UniformTexelBufferArrayDynamicIndexing => "shaderUniformTexelBufferArrayDynamicIndexing",
        C::StorageTexelBufferArrayDynamicIndexing => "shaderStorageTexelBufferArrayDynamicIndexing",
        C::UniformBufferArrayNonUniformIndexing => "shaderUniformBufferArrayNonUniformIndexing",
        C::SampledImageArrayNonUniformIndexing => "shaderSampledImageArrayNonUniformIndexing",
        C::StorageBufferArrayNonUniformIndexing => "shaderStorageBufferArrayNonUniformIndexing",
        C::StorageImageArrayNonUniformIndexing => "shaderStorageImageArrayNonUniformIndexing",
        C::InputAttachmentArrayNonUniformIndexing => "shaderInputAttachmentArrayNonUniformIndexing",
        C::UniformTexelBufferArrayNonUniformIndexing => "shaderUniformTexelBufferArrayNonUniformIndexing",
        C::StorageTexelBufferArrayNonUniformIndexing => "shaderStorageTexelBufferArrayNonUniformIndexing",
        C::ShaderNonUniform => "descriptorIndexing",
        C::RuntimeDescriptorArray => "runtimeDescriptorArray",
        C::PhysicalStorageBufferAddresses => "bufferDeviceAddress",
        C::VulkanMemoryModel => "vulkanMemoryModel",
        C::VulkanMemoryModelDeviceScope => "vulkanMemoryModelDeviceScope",
        C::DemoteToHelperInvocation => "shaderDemoteToHelperInvocation",
        C::DotProduct | C::DotProductInputAll | C::DotProductInput4x8Bit | C::DotProductInput4x8BitPacked => "shaderIntegerDotProduct",
        C::DenormPreserve | C::DenormFlushToZero | C::SignedZeroInfNanPreserve | C::RoundingModeRTE | C::RoundingModeRTZ => return Requirement::Nothing,
        C::MeshShadingEXT | C::MeshShadingNV => "meshShader",
        C::RayTracingKHR => "rayTracingPipeline",
        C::RayQueryKHR => "rayQuery",
        C::RayTraversalPrimitiveCullingKHR => "rayTraversalPrimitiveCulling",
        C::RayCullMaskKHR => "rayTracingMaintenance1",
        C::RayTracingPositionFetchKHR => "rayTracingPositionFetch",
        C::FragmentShadingRateKHR => "primitiveFragmentShadingRate",
        C::FragmentBarycentricKHR => "fragmentShaderBarycentric",
        C::FragmentShaderSampleInterlockEXT => "fragmentShaderSampleInterlock",
        C::FragmentShaderPixelInterlockEXT => "fragmentShaderPixelInterlock",
        C::FragmentShaderShadingRateInterlockEXT => "fragmentShaderShadingRateInterlock",
        C::FragmentDensityEXT => "fragmentDensityMap",
        C::ShaderClockKHR => "shaderDeviceClock",
        C::ComputeDerivativeGroupQuadsKHR => "computeDerivativeGroupQuads",
        C::ComputeDerivativeGroupLinearKHR => "computeDerivativeGroupLinear",
        C::CooperativeMatrixKHR => "cooperativeMatrix",
        C::WorkgroupMemoryExplicitLayoutKHR => "workgroupMemoryExplicitLayout",
        C::WorkgroupMemoryExplicitLayout8BitAccessKHR => "workgroupMemoryExplicitLayout8BitAccess",
        C::WorkgroupMemoryExplicitLayout16BitAccessKHR => "workgroupMemoryExplicitLayout16BitAccess",
        C::ExpectAssumeKHR => "shaderExpectAssume",
        C::FloatControls2 => "shaderFloatControls2",
        C::GroupNonUniformRotateKHR => "shaderSubgroupRotate",
        C::QuadControlKHR => "shaderQuadControl",
        C::TileImageColorReadAccessEXT => "shaderTileImageColorReadAccess",
        C::TileImageDepthReadAccessEXT => "shaderTileImageDepthReadAccess",
        C::TileImageStencilReadAccessEXT => "shaderTileImageStencilReadAccess",
        _ => return Requirement::Unknown,
    })
}
