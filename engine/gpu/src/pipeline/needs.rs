//! Compares what shaders need with what the device offers, before a module is created.

use crate::device::Inner;
use crate::shader::Shader;
use crate::{Error, Result};

/// Refuses a shader that declares a capability which the device has not switched on. Capabilities that Vulkan 1.3 or
/// the engine's required features guarantee pass; unknown ones are left to the driver.
pub(crate) fn check(gpu: &Inner, shader: &Shader) -> Result<()> {
    let features = &gpu.info.features;
    for capability in &shader.interface.capabilities {
        let offered = match capability.to_string().as_str() {
            "MeshShadingEXT" | "MeshShadingNV" => features.mesh_shaders,
            "Int64Atomics" => features.buffer_int64_atomics,
            "Geometry"
            | "Tessellation"
            | "Float64"
            | "RayQueryKHR"
            | "RayTracingKHR"
            | "Int64ImageEXT"
            | "FragmentShadingRateKHR"
            | "MultiView"
            | "TransformFeedback" => false,
            _ => true,
        };
        if !offered {
            return Err(Error::ShaderNeeds {
                shader: shader.name.clone(),
                needs: format!("capability {capability}"),
                device: gpu.info.name.clone(),
            });
        }
    }
    Ok(())
}
