//! Pipelines from recipes: effects composed from shader classes, kept, and composed anew when a class changes.

use crate::Error;
use impel_gpu::{ComputePipelineDesc, Gpu, GraphicsPipelineDesc, GraphicsState, Pipeline, Shader};
use impel_spirv::SpecValue;
use impel_spirv::compose::{ComposeOptions, Composer, Library, Recipe};
use std::sync::Arc;

/// How to make a pipeline of an effect.
#[derive(Clone, Copy)]
pub struct EffectDesc<'a> {
    /// The effect. Stages are taken in its order, which must be that of the pipeline.
    pub recipe: &'a Recipe,
    /// Fixed-function state; compute effects have none.
    pub state: GraphicsState,
    /// Specialisation constants by name: late parameters, for example.
    pub constants: &'a [(&'a str, SpecValue)],
}

/// A pipeline that was made, with all that is needed to make it again.
struct Made {
    recipe: Recipe,
    state: GraphicsState,
    constants: Vec<(String, SpecValue)>,
    pipeline: Arc<Pipeline>,
}

/// Composes effects and makes their pipelines, each once.
pub struct Effects {
    gpu: Gpu,
    composer: Composer,
    made: Vec<Made>,
}

impl Effects {
    /// For these classes, within the limits of the device.
    #[must_use]
    pub fn new(gpu: &Gpu, library: Library) -> Self {
        let options = ComposeOptions {
            max_push_constants: gpu.info().limits.max_push_constants,
            ..ComposeOptions::default()
        };
        Self {
            gpu: gpu.clone(),
            composer: Composer::new(library, options),
            made: Vec::new(),
        }
    }

    /// The composer.
    #[must_use]
    pub fn composer(&self) -> &Composer {
        &self.composer
    }

    /// The pipeline of an effect: a compute pipeline for the compute stage alone, a graphics pipeline for all else.
    ///
    /// # Errors
    /// What composing finds wrong, or the Vulkan layer.
    pub fn pipeline(&mut self, desc: &EffectDesc<'_>) -> Result<Arc<Pipeline>, Error> {
        let known = self.made.iter().find(|made| {
            made.recipe == *desc.recipe
                && made.state == desc.state
                && made
                    .constants
                    .iter()
                    .map(|(name, value)| (name.as_str(), *value))
                    .eq(desc.constants.iter().copied())
        });
        if let Some(made) = known {
            return Ok(made.pipeline.clone());
        }
        let pipeline = Arc::new(make(&self.gpu, &self.composer, desc)?);
        self.made.push(Made {
            recipe: desc.recipe.clone(),
            state: desc.state,
            constants: desc
                .constants
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            pipeline: pipeline.clone(),
        });
        Ok(pipeline)
    }

    /// Names of the effects that a class takes part in.
    #[must_use]
    pub fn affected(&self, class: &str) -> Vec<String> {
        let recipes: Vec<Recipe> = self.made.iter().map(|made| made.recipe.clone()).collect();
        self.composer
            .affected(&recipes, class)
            .into_iter()
            .map(|recipe| recipe.name.clone())
            .collect()
    }

    /// Takes a class's new text, and composes those effects anew that it takes part in; gives their names. Pipelines that
    /// were handed out stay as they are; ask again for the new ones.
    ///
    /// # Errors
    /// As [`Self::pipeline`]; then nothing has changed.
    pub fn reload(&mut self, class: &str, text: &str) -> Result<Vec<String>, Error> {
        let composer = self
            .composer
            .with_changed(class, text)
            .map_err(impel_gpu::Error::from)?;
        let recipes: Vec<Recipe> = self.made.iter().map(|made| made.recipe.clone()).collect();
        let affected: Vec<&Recipe> = composer.affected(&recipes, class);
        let mut pipelines = Vec::new();
        for (index, made) in self
            .made
            .iter()
            .enumerate()
            .filter(|(_, made)| affected.contains(&&made.recipe))
        {
            let constants: Vec<_> = made
                .constants
                .iter()
                .map(|(name, value)| (name.as_str(), *value))
                .collect();
            let desc = EffectDesc {
                recipe: &made.recipe,
                state: made.state,
                constants: &constants,
            };
            pipelines.push((index, Arc::new(make(&self.gpu, &composer, &desc)?)));
        }
        self.composer = composer;
        let mut names = Vec::new();
        for (index, pipeline) in pipelines {
            if let Some(made) = self.made.get_mut(index) {
                names.push(made.recipe.name.clone());
                made.pipeline = pipeline;
            }
        }
        Ok(names)
    }
}

fn make(gpu: &Gpu, composer: &Composer, desc: &EffectDesc<'_>) -> Result<Pipeline, Error> {
    let effect = composer
        .compose(desc.recipe)
        .map_err(impel_gpu::Error::from)?;
    let shaders = effect
        .stages
        .iter()
        .map(|stage| Shader::composed(&effect.name, stage))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(match shaders.as_slice() {
        [shader]
            if effect
                .stages
                .iter()
                .all(|stage| stage.stage == impel_spirv::Stage::Compute) =>
        {
            gpu.compute_pipeline(&ComputePipelineDesc {
                name: &effect.name,
                shader,
                constants: desc.constants,
            })?
        }
        shaders => gpu.graphics_pipeline(&GraphicsPipelineDesc {
            name: &effect.name,
            shaders: &shaders.iter().collect::<Vec<_>>(),
            constants: desc.constants,
            state: desc.state,
        })?,
    })
}
