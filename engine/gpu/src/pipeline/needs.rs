//! Compares what shaders need with what the device offers, before a module is created.

use super::compute::entry_point;
use crate::Result;
use crate::device::Inner;
use crate::shader::Shader;

/// Refuses a shader that needs a feature which is not switched on: from its capabilities, and from what its code does.
pub(crate) fn check(gpu: &Inner, shader: &Shader) -> Result<()> {
    let enabled = &gpu.info.enabled;
    impel_spirv::check_features(
        &shader.name,
        &shader.interface,
        entry_point(shader)?,
        |feature| enabled.iter().any(|name| name == feature),
    )?;
    Ok(())
}
