//! Pipelines made anew with other code: what hot reload does between frames.

use super::{GraphicsPipelineDesc, GraphicsState, Pipeline, PipelineKind};
use crate::device::Gpu;
use crate::shader::Shader;
use crate::{ComputePipelineDesc, Error, Result};
use impel_spirv::SpecValue;

/// What a pipeline was made from.
pub(crate) struct Recipe {
    shaders: Vec<Shader>,
    constants: Vec<(String, SpecValue)>,
    /// Of graphics pipelines.
    state: Option<GraphicsState>,
}

impl Recipe {
    pub(crate) fn new(
        shaders: &[&Shader],
        constants: &[(&str, SpecValue)],
        state: Option<GraphicsState>,
    ) -> Recipe {
        Recipe {
            shaders: shaders.iter().copied().cloned().collect(),
            constants: constants
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            state,
        }
    }
}

impl Pipeline {
    /// The shaders that it was made from, in pipeline order.
    pub fn shaders(&self) -> &[Shader] {
        &self.recipe.shaders
    }

    /// Makes the pipeline anew, with each of `replacements` in place of the shader of its name. The old one goes when the
    /// device is done with it. Says whether any of them was in it; if not, nothing happens.
    ///
    /// # Errors
    /// As [`Gpu::compute_pipeline`] and [`Gpu::graphics_pipeline`], and [`Error::Invalid`] when bindings or push constants
    /// are others than before, since the program was built for those. The old pipeline stays.
    pub fn rebuild(&mut self, replacements: &[Shader]) -> Result<bool> {
        let replacement =
            |shader: &Shader| replacements.iter().find(|new| new.name() == shader.name());
        if !self
            .recipe
            .shaders
            .iter()
            .any(|shader| replacement(shader).is_some())
        {
            return Ok(false);
        }
        let shaders: Vec<&Shader> = self
            .recipe
            .shaders
            .iter()
            .map(|shader| replacement(shader).unwrap_or(shader))
            .collect();
        let constants: Vec<_> = self
            .recipe
            .constants
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let gpu = Gpu {
            inner: self.gpu.clone(),
        };
        let made = match (self.recipe.state, shaders.as_slice()) {
            (Some(state), shaders) => gpu.graphics_pipeline(&GraphicsPipelineDesc {
                name: &self.name,
                shaders,
                constants: &constants,
                state,
            })?,
            (None, [shader]) => gpu.compute_pipeline(&ComputePipelineDesc {
                name: &self.name,
                shader,
                constants: &constants,
            })?,
            (None, _) => return Ok(false),
        };
        self.check_interface(&made)?;
        // What can fail at first use fails here, while the old one is still there.
        if let (PipelineKind::Graphics(old), PipelineKind::Graphics(new)) = (&self.kind, &made.kind)
        {
            for formats in old.formats() {
                new.get(&self.gpu, made.layout, &formats)?;
            }
        }
        *self = made;
        Ok(true)
    }

    fn check_interface(&self, made: &Pipeline) -> Result<()> {
        let slots = |pipeline: &Pipeline| -> Vec<_> {
            pipeline
                .slots
                .iter()
                .map(|slot| (slot.set, slot.binding, slot.element, slot.type_bit))
                .collect()
        };
        let push = |pipeline: &Pipeline| pipeline.push.map(|push| (push.offset, push.size));
        if slots(self) == slots(made) && push(self) == push(made) {
            return Ok(());
        }
        Err(Error::invalid(
            format!("pipeline {:?}", self.name),
            "bindings or push constants are others than those the program was built for; bake the shaders and build anew",
        ))
    }
}
