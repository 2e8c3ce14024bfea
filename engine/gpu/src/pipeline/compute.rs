//! Compute pipelines.

use super::layout::{Layouts, merge_stages};
use super::rebuild::Recipe;
use super::{Pipeline, PipelineKind, constants, needs};
use crate::device::{Gpu, Inner};
use crate::pass::Stage;
use crate::shader::Shader;
use crate::{Error, Result};
use ash::vk;
use impel_spirv::SpecValue;

/// How to make a compute pipeline.
#[derive(Clone, Copy)]
pub struct ComputePipelineDesc<'a> {
    /// Name, shown in errors, debuggers and captures.
    pub name: &'a str,
    /// The shader.
    pub shader: &'a Shader,
    /// Specialisation constants by name; the others keep their defaults.
    pub constants: &'a [(&'a str, SpecValue)],
}

impl Gpu {
    /// Makes a compute pipeline.
    ///
    /// # Errors
    /// [`Error::Shader`] for an interface that cannot be pushed, [`Error::Invalid`] for a shader of
    /// another stage or an unknown constant, [`Error::Vulkan`].
    pub fn compute_pipeline(&self, desc: &ComputePipelineDesc<'_>) -> Result<Pipeline> {
        let gpu = &self.inner;
        let shader = desc.shader;
        let shaders = [shader];
        let values = constants::resolve(desc.name, &shaders, desc.constants)?;
        let entry = entry_point(shader)?;
        if entry.stage != impel_spirv::Stage::Compute {
            return Err(Error::invalid(
                format!("pipeline {:?}", desc.name),
                format!(
                    "{} is a {} shader; expected a compute shader",
                    shader.name,
                    entry.stage.name()
                ),
            ));
        }
        needs::check(gpu, shader)?;
        let merged = merge_stages(gpu, &shaders, &values)?;
        let values = values.into_iter().next().unwrap_or_default();
        let local_size = local_size(shader, &values);
        let limits = &gpu.info.limits;
        let threads: u64 = local_size.iter().map(|&size| u64::from(size)).product();
        if local_size
            .iter()
            .zip(limits.max_workgroup_size)
            .any(|(&size, most)| size > most)
            || threads > u64::from(limits.max_workgroup_threads)
        {
            return Err(Error::invalid(
                format!("pipeline {:?}", desc.name),
                format!(
                    "the workgroup of {} takes {local_size:?} threads; the device takes {:?} and {} in all",
                    shader.name, limits.max_workgroup_size, limits.max_workgroup_threads
                ),
            ));
        }
        let opaque_accesses = entry.uses_physical_pointers;
        let layouts = Layouts::new(gpu, desc.name, merged, vk::PipelineBindPoint::COMPUTE)?;
        // Owned by the pipeline from here on, so that an error frees the layouts.
        let mut pipeline = Pipeline {
            name: desc.name.to_owned(),
            kind: PipelineKind::Compute(vk::Pipeline::null()),
            layout: layouts.layout,
            set_layouts: layouts.set_layouts,
            template: layouts.template,
            slots: layouts.slots,
            push: layouts.push,
            local_size,
            merged: layouts.merged,
            stages: 1 << Stage::Compute as u16,
            opaque_accesses,
            known_names: Default::default(),
            recipe: Recipe::new(&shaders, desc.constants, None),
            gpu: gpu.clone(),
        };
        let module = Module::new(gpu, shader)?;
        let specialization = constants::Specialization::of(&values);
        let specialization = specialization.info();
        let name = c_name(&shader.entry_point);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.handle)
            .name(&name)
            .specialization_info(&specialization);
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(pipeline.layout);
        // SAFETY: the module was reflected, its interface matches the layout made from it.
        let made = unsafe {
            gpu.device
                .create_compute_pipelines(gpu.pipeline_cache.handle, &[info], None)
        };
        let handles = made.map_err(|(_, result)| Error::Vulkan {
            call: "vkCreateComputePipelines",
            what: format!("pipeline {:?}", desc.name),
            result,
        })?;
        let handle = handles.first().copied().unwrap_or_default();
        gpu.name(handle, desc.name);
        pipeline.kind = PipelineKind::Compute(handle);
        Ok(pipeline)
    }
}

pub(crate) fn entry_point(shader: &Shader) -> Result<&impel_spirv::EntryPoint> {
    shader.interface.entry_points.first().ok_or_else(|| {
        Error::invalid(
            format!("shader {}", shader.name),
            "the module has no entry point",
        )
    })
}

/// The local size with the given constants in place of their defaults.
pub(crate) fn local_size(shader: &Shader, values: &[(u32, SpecValue)]) -> [u32; 3] {
    let Some(axes) = shader
        .interface
        .entry_points
        .first()
        .and_then(|entry| entry.local_size)
    else {
        return [1; 3];
    };
    axes.map(|axis| {
        let evaluated = axis
            .expression
            .filter(|_| !values.is_empty())
            .and_then(|size| shader.interface.types.evaluate_length(size, values));
        evaluated
            .and_then(|size| u32::try_from(size).ok())
            .unwrap_or(axis.value)
            .max(1)
    })
}

pub(crate) fn c_name(name: &str) -> std::ffi::CString {
    std::ffi::CString::new(name.replace('\0', "")).unwrap_or_default()
}

/// A shader module that lives while pipelines are made from it.
pub(crate) struct Module<'a> {
    gpu: &'a Inner,
    pub(crate) handle: vk::ShaderModule,
}

impl<'a> Module<'a> {
    pub(crate) fn new(gpu: &'a Inner, shader: &Shader) -> Result<Module<'a>> {
        let info = vk::ShaderModuleCreateInfo::default().code(&shader.words);
        // SAFETY: the words were read as a SPIR-V module by the reflection.
        let handle = unsafe { gpu.device.create_shader_module(&info, None) }.map_err(
            Error::vulkan("vkCreateShaderModule", format!("shader {}", shader.name)),
        )?;
        gpu.name(handle, &shader.name);
        Ok(Module { gpu, handle })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need the module once they are made.
        unsafe { self.gpu.device.destroy_shader_module(self.handle, None) };
    }
}
