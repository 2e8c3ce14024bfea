//! Pipelines, built from what their shaders say: set layouts, push-constant range and update template come from the
//! merged reflection of the stages.

mod cache;
mod compute;
mod constants;
mod graphics;
mod layout;
mod needs;
mod rebuild;
mod slot;

pub(crate) use cache::PipelineCache;
pub use compute::ComputePipelineDesc;
pub(crate) use graphics::AttachmentFormats;
pub use graphics::{Blend, DepthState, GraphicsPipelineDesc, GraphicsState};
pub use layout::{SetLayoutsDesc, create_set_layouts};
pub(crate) use slot::SlotInfo;

use crate::device::Inner;
use crate::memory::Garbage;
use crate::pass::Stage;
use ash::vk;
use graphics::GraphicsVariants;
use impel_spirv::ProgramLayout;
use rebuild::Recipe;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

/// A pipeline with its layout. It frees itself when dropped, once the device is done with it.
pub struct Pipeline {
    pub(crate) name: String,
    pub(crate) kind: PipelineKind,
    pub(crate) layout: vk::PipelineLayout,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    /// Null for a pipeline without bindings: an empty template is not valid.
    pub(crate) template: vk::DescriptorUpdateTemplate,
    /// One entry per descriptor: arrays element by element.
    pub(crate) slots: Vec<SlotInfo>,
    pub(crate) push: Option<PushRange>,
    pub(crate) local_size: [u32; 3],
    pub(crate) merged: ProgramLayout,
    /// Shader stages, as bits by [`Stage`].
    pub(crate) stages: u16,
    /// Whether a stage reads or writes through device addresses or the heap, which only a declaration can tell.
    pub(crate) opaque_accesses: bool,
    /// The names of the generated bindings that were last found to fit, by their address.
    pub(crate) known_names: AtomicPtr<(u32, u32, &'static str)>,
    recipe: Recipe,
    gpu: Arc<Inner>,
}

pub(crate) enum PipelineKind {
    Compute(vk::Pipeline),
    Graphics(Box<GraphicsVariants>),
}

/// The push-constant range of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushRange {
    pub(crate) offset: u32,
    pub(crate) size: u32,
    pub(crate) stages: vk::ShaderStageFlags,
}

impl Pipeline {
    /// Name given at creation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Invocations per workgroup, reflected; of the task stage if there is one, else of the mesh stage. `[1, 1, 1]` for
    /// pipelines without workgroups.
    pub fn local_size(&self) -> [u32; 3] {
        self.local_size
    }

    /// The merged interface of the stages.
    pub fn layout(&self) -> &ProgramLayout {
        &self.merged
    }

    /// The Vulkan pipeline layout.
    pub fn raw_layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// The update template of set 0; null if the pipeline has no binding.
    pub fn raw_template(&self) -> vk::DescriptorUpdateTemplate {
        self.template
    }

    /// The Vulkan pipeline of a compute pipeline; graphics pipelines have one per combination of attachment formats.
    pub fn raw_compute(&self) -> Option<vk::Pipeline> {
        match self.kind {
            PipelineKind::Compute(pipeline) => Some(pipeline),
            PipelineKind::Graphics(_) => None,
        }
    }

    pub(crate) fn is_of(&self, gpu: &Inner) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.gpu), gpu)
    }

    pub(crate) fn is_graphics(&self) -> bool {
        matches!(self.kind, PipelineKind::Graphics(_))
    }

    /// Bytes of the push constants; 0 for a pipeline without.
    pub(crate) fn push_size(&self) -> usize {
        self.push.map_or(0, |range| range.size as usize)
    }

    pub(crate) fn has_stage(&self, stage: Stage) -> bool {
        self.stages & 1 << stage as u16 != 0
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let give = |garbage| self.gpu.deletions.push(&self.gpu, garbage);
        match &mut self.kind {
            PipelineKind::Compute(pipeline) => give(Garbage::Pipeline(*pipeline)),
            PipelineKind::Graphics(variants) => variants.drain().for_each(give),
        }
        self.gpu.deletions.push(
            &self.gpu,
            Garbage::PipelineLayout {
                layout: self.layout,
                set_layouts: std::mem::take(&mut self.set_layouts),
                template: self.template,
            },
        );
    }
}
