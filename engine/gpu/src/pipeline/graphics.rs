//! Graphics pipelines: vertex + fragment, or (task +) mesh + fragment. There is no vertex input; vertices are pulled.
//!
//! A Vulkan pipeline is made for each combination of attachment formats that the pipeline is used with, at first use.

use super::compute::{Module, c_name, entry_point, local_size};
use super::constants::{self, Specialization};
use super::layout::{Layouts, merge_stages};
use super::rebuild::Recipe;
use super::slot::tracked_stage;
use super::{Pipeline, PipelineKind, needs};
use crate::device::{Gpu, Inner};
use crate::memory::{Garbage, features_of};
use crate::shader::Shader;
use crate::{Error, Result};
use ash::vk;
use impel_spirv::{SpecValue, Stage, match_stages};
use std::sync::Mutex;

/// How depth is tested. The default is reversed-Z: greater is nearer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthState {
    /// Whether fragments are tested.
    pub test: bool,
    /// Whether fragments that pass write their depth.
    pub write: bool,
    /// What passes.
    pub compare: vk::CompareOp,
}

impl Default for DepthState {
    fn default() -> Self {
        DepthState {
            test: true,
            write: true,
            compare: vk::CompareOp::GREATER_OR_EQUAL,
        }
    }
}

/// Fixed-function state. The default draws opaque triangles, back faces culled, counter-clockwise in front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphicsState {
    /// Faces to drop.
    pub cull: vk::CullModeFlags,
    /// Winding of front faces as seen on the screen.
    pub front_face: vk::FrontFace,
    /// Filled triangles or lines.
    pub polygon_mode: vk::PolygonMode,
    /// Kind of primitive for the vertex path.
    pub topology: vk::PrimitiveTopology,
    /// Depth test; takes effect where a pass has a depth attachment.
    pub depth: DepthState,
    /// Blending of all colour attachments; `None` overwrites.
    pub blend: Option<Blend>,
}

/// How colours are blended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blend {
    /// Source over destination, alpha not premultiplied.
    Alpha,
    /// Source over destination, alpha premultiplied.
    Premultiplied,
    /// Source plus destination.
    Add,
}

impl Default for GraphicsState {
    fn default() -> Self {
        GraphicsState {
            cull: vk::CullModeFlags::BACK,
            front_face: vk::FrontFace::COUNTER_CLOCKWISE,
            polygon_mode: vk::PolygonMode::FILL,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            depth: DepthState::default(),
            blend: None,
        }
    }
}

/// How to make a graphics pipeline.
#[derive(Clone, Copy)]
pub struct GraphicsPipelineDesc<'a> {
    /// Name, shown in errors, debuggers and captures.
    pub name: &'a str,
    /// The stages in pipeline order. A fragment shader may be left out for depth only.
    pub shaders: &'a [&'a Shader],
    /// Specialisation constants by name, for all stages; the others keep their defaults.
    pub constants: &'a [(&'a str, SpecValue)],
    /// Fixed-function state.
    pub state: GraphicsState,
}

/// Formats of the attachments of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct AttachmentFormats {
    pub(crate) colors: [vk::Format; 8],
    pub(crate) color_count: usize,
    pub(crate) depth: vk::Format,
}

/// What is needed to make a Vulkan pipeline, and those made so far.
pub(crate) struct GraphicsVariants {
    name: String,
    shaders: Vec<(Shader, vk::ShaderStageFlags, Specialization)>,
    state: GraphicsState,
    made: Mutex<Vec<(AttachmentFormats, vk::Pipeline)>>,
}

impl Gpu {
    /// Makes a graphics pipeline.
    ///
    /// # Errors
    /// [`Error::Shader`] for stages that do not fit together or an interface that cannot be pushed,
    /// [`Error::Invalid`] for a wrong order of stages or an unknown constant, [`Error::Vulkan`].
    pub fn graphics_pipeline(&self, desc: &GraphicsPipelineDesc<'_>) -> Result<Pipeline> {
        let gpu = &self.inner;
        let stages = check_stages(desc)?;
        check_state(gpu, desc)?;
        for shader in desc.shaders {
            needs::check(gpu, shader)?;
        }
        let values = constants::resolve(desc.name, desc.shaders, desc.constants)?;
        let merged = merge_stages(gpu, desc.shaders, &values)?;
        match_neighbours(desc)?;
        let layouts = Layouts::new(gpu, desc.name, merged, vk::PipelineBindPoint::GRAPHICS)?;
        let tracked = stages
            .iter()
            .filter_map(|&stage| tracked_stage(stage))
            .fold(0, |mask, stage| mask | 1 << stage as u16);
        let opaque_accesses = desc
            .shaders
            .iter()
            .any(|shader| entry_point(shader).is_ok_and(|entry| entry.uses_physical_pointers));
        let shaders = desc
            .shaders
            .iter()
            .zip(&stages)
            .zip(&values)
            .map(|((&shader, stage), values)| {
                let specialization = Specialization::of(values);
                (
                    shader.clone(),
                    vk::ShaderStageFlags::from_raw(stage.bit()),
                    specialization,
                )
            })
            .collect();
        Ok(Pipeline {
            name: desc.name.to_owned(),
            kind: PipelineKind::Graphics(Box::new(GraphicsVariants {
                name: desc.name.to_owned(),
                shaders,
                state: desc.state,
                made: Mutex::default(),
            })),
            layout: layouts.layout,
            set_layouts: layouts.set_layouts,
            template: layouts.template,
            slots: layouts.slots,
            push: layouts.push,
            local_size: desc
                .shaders
                .iter()
                .zip(&values)
                .next()
                .map_or([1; 3], |(shader, values)| local_size(shader, values)),
            merged: layouts.merged,
            stages: tracked,
            opaque_accesses,
            known_names: Default::default(),
            recipe: Recipe::new(desc.shaders, desc.constants, Some(desc.state)),
            gpu: gpu.clone(),
        })
    }
}

/// The stages, if their order makes a pipeline.
fn check_stages(desc: &GraphicsPipelineDesc<'_>) -> Result<Vec<Stage>> {
    let stages = desc
        .shaders
        .iter()
        .map(|shader| entry_point(shader).map(|entry| entry.stage))
        .collect::<Result<Vec<_>>>()?;
    match stages.as_slice() {
        [Stage::Vertex | Stage::Mesh]
        | [Stage::Vertex | Stage::Mesh, Stage::Fragment]
        | [Stage::Task, Stage::Mesh]
        | [Stage::Task, Stage::Mesh, Stage::Fragment] => {}
        _ => {
            let given: Vec<_> = desc
                .shaders
                .iter()
                .zip(&stages)
                .map(|(shader, stage)| format!("{} ({})", shader.name, stage.name()))
                .collect();
            return Err(Error::invalid(
                format!("pipeline {:?}", desc.name),
                format!(
                    "expected vertex + fragment or (task +) mesh + fragment; given {}",
                    given.join(" + ")
                ),
            ));
        }
    }
    // A mesh shader that reads a payload is not valid without the task shader that writes it, nor the other way round.
    for (index, shader) in desc.shaders.iter().enumerate() {
        let entry = entry_point(shader)?;
        let has_task = stages.first() == Some(&Stage::Task);
        if entry.stage == Stage::Mesh && entry.payload.is_some() != has_task {
            let problem = if has_task {
                "reads no task payload, but stands after a task shader"
            } else {
                "reads a task payload, but there is no task shader"
            };
            return Err(Error::invalid(
                format!("pipeline {:?}", desc.name),
                format!("{} {problem}", desc.shaders[index].name),
            ));
        }
    }
    Ok(stages)
}

/// Refuses state that needs features which are not switched on, or stages that the engine does not have.
fn check_state(gpu: &Inner, desc: &GraphicsPipelineDesc<'_>) -> Result<()> {
    let thing = || format!("pipeline {:?}", desc.name);
    let state = &desc.state;
    let filled = state.polygon_mode == vk::PolygonMode::FILL;
    if !filled && !gpu.info.features.fill_mode_non_solid {
        return Err(Error::invalid(
            thing(),
            format!(
                "{:?} polygons need feature fillModeNonSolid",
                state.polygon_mode
            ),
        ));
    }
    let lists_and_strips =
        vk::PrimitiveTopology::POINT_LIST.as_raw()..=vk::PrimitiveTopology::TRIANGLE_FAN.as_raw();
    if !lists_and_strips.contains(&state.topology.as_raw())
        || state.polygon_mode.as_raw() > vk::PolygonMode::POINT.as_raw()
    {
        return Err(Error::invalid(
            thing(),
            format!(
                "{:?} as {:?} is not supported",
                state.topology, state.polygon_mode
            ),
        ));
    }
    Ok(())
}

fn match_neighbours(desc: &GraphicsPipelineDesc<'_>) -> Result<()> {
    for pair in desc.shaders.windows(2) {
        let [from, to] = pair else { continue };
        match_stages(&from.stage_input(&[]), &to.stage_input(&[]))?;
    }
    Ok(())
}

impl GraphicsVariants {
    /// The pipeline for these attachments; made now if this is their first use.
    pub(crate) fn get(
        &self,
        gpu: &Inner,
        layout: vk::PipelineLayout,
        formats: &AttachmentFormats,
    ) -> Result<vk::Pipeline> {
        let mut made = crate::lock(&self.made);
        if let Some((_, pipeline)) = made.iter().find(|(key, _)| key == formats) {
            return Ok(*pipeline);
        }
        let pipeline = self.make(gpu, layout, formats)?;
        gpu.name(pipeline, &self.name);
        made.push((*formats, pipeline));
        Ok(pipeline)
    }

    /// The combinations of formats made so far.
    pub(crate) fn formats(&self) -> Vec<AttachmentFormats> {
        let made = crate::lock(&self.made);
        made.iter().map(|(formats, _)| *formats).collect()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Garbage> {
        std::mem::take(&mut *crate::lock(&self.made))
            .into_iter()
            .map(|(_, pipeline)| Garbage::Pipeline(pipeline))
    }

    fn make(
        &self,
        gpu: &Inner,
        layout: vk::PipelineLayout,
        formats: &AttachmentFormats,
    ) -> Result<vk::Pipeline> {
        let blends = vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND;
        let unblendable = formats.colors[..formats.color_count]
            .iter()
            .find(|&&format| !features_of(gpu, format).contains(blends));
        if let (Some(_), Some(format)) = (self.state.blend, unblendable) {
            return Err(Error::invalid(
                format!("pipeline {:?}", self.name),
                format!("the device cannot blend into {format:?}"),
            ));
        }
        let modules = self
            .shaders
            .iter()
            .map(|(shader, ..)| Module::new(gpu, shader))
            .collect::<Result<Vec<_>>>()?;
        let names: Vec<_> = self
            .shaders
            .iter()
            .map(|(shader, ..)| c_name(&shader.entry_point))
            .collect();
        let specializations: Vec<_> = self
            .shaders
            .iter()
            .map(|(_, _, specialization)| specialization.info())
            .collect();
        let stages: Vec<_> = self
            .shaders
            .iter()
            .enumerate()
            .map(|(i, (_, stage, _))| {
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(*stage)
                    .module(modules[i].handle)
                    .name(&names[i])
                    .specialization_info(&specializations[i])
            })
            .collect();
        let state = &self.state;
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(state.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .polygon_mode(state.polygon_mode)
            .cull_mode(state.cull)
            .front_face(state.front_face)
            .line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth_used = formats.depth != vk::Format::UNDEFINED;
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(depth_used && state.depth.test)
            .depth_write_enable(depth_used && state.depth.write)
            .depth_compare_op(state.depth.compare);
        let blends = [blend_state(state.blend); 8];
        let blend = vk::PipelineColorBlendStateCreateInfo::default()
            .attachments(&blends[..formats.color_count]);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default()
            .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats.colors[..formats.color_count])
            .depth_attachment_format(formats.depth);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering);
        if self
            .shaders
            .iter()
            .any(|(_, stage, _)| *stage == vk::ShaderStageFlags::VERTEX)
        {
            info = info
                .vertex_input_state(&vertex_input)
                .input_assembly_state(&assembly);
        }
        // SAFETY: the stages fit together and match the layout, which was made from them.
        let made = unsafe {
            gpu.device
                .create_graphics_pipelines(gpu.pipeline_cache.handle, &[info], None)
        };
        let handles = made.map_err(|(_, result)| Error::Vulkan {
            call: "vkCreateGraphicsPipelines",
            what: format!("pipeline {:?}", self.name),
            result,
        })?;
        Ok(handles.first().copied().unwrap_or_default())
    }
}

fn blend_state(blend: Option<Blend>) -> vk::PipelineColorBlendAttachmentState {
    let state = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let Some(blend) = blend else { return state };
    let (source, target) = match blend {
        Blend::Alpha => (
            vk::BlendFactor::SRC_ALPHA,
            vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        ),
        Blend::Premultiplied => (vk::BlendFactor::ONE, vk::BlendFactor::ONE_MINUS_SRC_ALPHA),
        Blend::Add => (vk::BlendFactor::ONE, vk::BlendFactor::ONE),
    };
    let alpha = if blend == Blend::Alpha {
        vk::BlendFactor::ONE
    } else {
        source
    };
    state
        .blend_enable(true)
        .src_color_blend_factor(source)
        .dst_color_blend_factor(target)
        .color_blend_op(vk::BlendOp::ADD)
        .src_alpha_blend_factor(alpha)
        .dst_alpha_blend_factor(target)
        .alpha_blend_op(vk::BlendOp::ADD)
}
