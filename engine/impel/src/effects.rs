//! Pipelines from recipes: effects composed from shader classes, kept, and composed anew when a class changes.

use crate::Error;
use impel_gpu::{ComputePipelineDesc, Gpu, GraphicsPipelineDesc, GraphicsState, Pipeline, Shader};
use impel_spirv::SpecValue;
use impel_spirv::compose::{ComposeOptions, Composer, Filling, Library, Mix, Recipe, Recipes};
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
    /// The recipe that was asked for.
    asked: Recipe,
    /// What has become of it since in its file.
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
            made.asked == *desc.recipe
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
            asked: desc.recipe.clone(),
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
        let mut fresh = Vec::new();
        for (index, made) in self
            .made
            .iter()
            .enumerate()
            .filter(|(_, made)| affected.contains(&&made.recipe))
        {
            fresh.push((index, made.again(&self.gpu, &composer, &made.recipe)?));
        }
        self.composer = composer;
        Ok(self.replace(fresh))
    }

    /// Takes a class that was not there before. `file` is what messages call it. Nothing is composed anew: a recipe or another
    /// class may use it from now on.
    ///
    /// # Errors
    /// [`Error::Gpu`] for a mistake in its header, or a name that another class has; then nothing has changed.
    pub fn add_class(&mut self, file: &str, text: &str) -> Result<(), Error> {
        let added = self.composer.with_added(file, text);
        self.composer = added.map_err(impel_gpu::Error::from)?;
        Ok(())
    }

    /// Takes the recipes of a file as it is now, and composes those effects anew that came from it and whose recipe is another
    /// one; gives their names. The stages stay those that the effect was made with. Whoever asks with the old recipe gets the
    /// pipeline of the new one.
    ///
    /// # Errors
    /// As [`Self::pipeline`]; then nothing has changed.
    pub fn reload_recipes(&mut self, recipes: &Recipes) -> Result<Vec<String>, Error> {
        let mut fresh = Vec::new();
        for (index, made) in self.made.iter().enumerate() {
            let Some(found) = recipes
                .effects
                .iter()
                .find(|recipe| recipe.name == made.recipe.name && recipe.file == made.recipe.file)
            else {
                continue;
            };
            let mut recipe = found.clone();
            recipe.stages.clone_from(&made.recipe.stages);
            if placeless(&recipe.mix) != placeless(&made.recipe.mix) {
                fresh.push((index, made.again(&self.gpu, &self.composer, &recipe)?));
            }
        }
        Ok(self.replace(fresh))
    }

    fn replace(&mut self, fresh: Vec<(usize, Made)>) -> Vec<String> {
        let mut names = Vec::new();
        for (index, new) in fresh {
            names.push(new.recipe.name.clone());
            if let Some(made) = self.made.get_mut(index) {
                *made = new;
            }
        }
        names
    }
}

/// A mix wherever in its file it stands.
fn placeless(mix: &Mix) -> Mix {
    let filling = |filling: &Filling| match filling {
        Filling::One(mix) => Filling::One(placeless(mix)),
        Filling::Many(mixes) => Filling::Many(mixes.iter().map(placeless).collect()),
    };
    let slots = mix.slots.iter();
    Mix {
        slots: slots
            .map(|(name, filled)| (name.clone(), filling(filled)))
            .collect(),
        line: 0,
        ..mix.clone()
    }
}

impl Made {
    /// The same of another recipe, or by a composer with other classes.
    fn again(&self, gpu: &Gpu, composer: &Composer, recipe: &Recipe) -> Result<Self, Error> {
        let constants: Vec<_> = self
            .constants
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let state = self.state;
        let desc = EffectDesc {
            recipe,
            state,
            constants: &constants,
        };
        Ok(Self {
            asked: self.asked.clone(),
            recipe: recipe.clone(),
            state,
            pipeline: Arc::new(make(gpu, composer, &desc)?),
            constants: self.constants.clone(),
        })
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
