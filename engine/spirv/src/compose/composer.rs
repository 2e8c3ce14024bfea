//! Composes effects, and keeps what it has made.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::class_module::ClassModule;
use super::error::{Code, Place};
use super::graph::{Graph, build};
use super::library::Library;
use super::link::{Linked, Stub, link, stubs};
use super::merge::{Merge, Merged, Shared};
use super::output::Output;
use super::prepare::prepare;
use super::recipe::Recipe;
use super::resolve::Resolver;
use crate::{Error, Interface, Stage, StageInput};

/// Version of what composing makes; raise it when equal recipes give other results.
const TOOL: u64 = 1;

/// Most effects that are kept.
const MAX_KEPT: usize = 512;

/// How to compose.
#[derive(Clone, Debug)]
pub struct ComposeOptions {
    /// Most bytes of push constants. Vulkan 1.3 guarantees 128; a device may have more.
    pub max_push_constants: u32,
    /// Highest SPIR-V version that is allowed; `None` for any that is known. Classes are compiled for it if it is 1.3.
    pub spirv_version: Option<(u8, u8)>,
    /// Whether to keep the lines of the classes' sources in the result.
    pub debug_info: bool,
    /// Folder of the compilation cache; `None` keeps compiled classes in memory only.
    pub cache: Option<PathBuf>,
}

impl Default for ComposeOptions {
    fn default() -> Self {
        Self {
            max_push_constants: 128,
            spirv_version: None,
            debug_info: false,
            cache: None,
        }
    }
}

/// One stage of an effect.
#[derive(Clone, Debug)]
pub struct ComposedStage {
    /// The stage.
    pub stage: Stage,
    /// The module, in the machine's byte order.
    pub words: Vec<u32>,
    /// What it asks for.
    pub interface: Interface,
}

impl ComposedStage {
    /// The module as bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect()
    }
}

/// A composed effect.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Name of the recipe.
    pub name: String,
    /// Its stages, in the recipe's order.
    pub stages: Vec<ComposedStage>,
    /// Classes that it is made of, by name, each once.
    pub classes: Vec<String>,
}

impl Effect {
    /// A stage's module.
    #[must_use]
    pub fn stage(&self, stage: Stage) -> Option<&ComposedStage> {
        self.stages.iter().find(|composed| composed.stage == stage)
    }
}

/// Composes effects from the classes of a library. Serves any number of threads.
pub struct Composer {
    pub(crate) library: Library,
    pub(crate) options: ComposeOptions,
    hash: u64,
    links: Mutex<HashMap<usize, Arc<Linked>>>,
    modules: Mutex<HashMap<(usize, Stage), Arc<ClassModule>>>,
    effects: Mutex<Kept>,
    #[cfg(feature = "compile")]
    compiler: std::sync::OnceLock<crate::compile::Compiler>,
}

#[derive(Default)]
struct Kept {
    effects: HashMap<u64, Arc<Effect>>,
    order: VecDeque<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What is kept is only ever added whole, so a panic elsewhere leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A recipe with the modules of a stage.
pub(crate) struct Prepared {
    pub(crate) graph: Graph,
    /// Per stage, per element.
    pub(crate) modules: Vec<Vec<Option<Arc<ClassModule>>>>,
    pub(crate) shared: Shared,
    pub(crate) place: Place,
}

impl Composer {
    /// A composer for these classes.
    #[must_use]
    pub fn new(library: Library, options: ComposeOptions) -> Self {
        let hash = library_hash(&library, &options);
        Self {
            library,
            options,
            hash,
            links: Mutex::default(),
            modules: Mutex::default(),
            effects: Mutex::default(),
            #[cfg(feature = "compile")]
            compiler: std::sync::OnceLock::new(),
        }
    }

    /// The classes.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Composes an effect, or gives the one that was made of an equal recipe. Nothing is validated (see
    /// [`super::validate_effect`]), but all that this can find out is reported.
    ///
    /// # Errors
    /// [`Error::Mixin`] with the code of what is wrong.
    pub fn compose(&self, recipe: &Recipe) -> Result<Arc<Effect>, Error> {
        let key = self.key(recipe);
        if let Some(effect) = lock(&self.effects).effects.get(&key) {
            return Ok(effect.clone());
        }
        let effect = Arc::new(self.compose_new(recipe)?);
        let mut kept = lock(&self.effects);
        if kept.effects.insert(key, effect.clone()).is_none() {
            kept.order.push_back(key);
        }
        while kept.order.len() > MAX_KEPT {
            if let Some(oldest) = kept.order.pop_front() {
                kept.effects.remove(&oldest);
            }
        }
        Ok(effect)
    }

    /// Composes an effect although it may be there, and reflects it.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn compose_new(&self, recipe: &Recipe) -> Result<Effect, Error> {
        let mut stages = Vec::with_capacity(recipe.stages.len());
        let prepared = self.prepare(recipe)?;
        for (index, stage) in recipe.stages.iter().enumerate() {
            let merged = self.merge(&prepared, index, *stage)?;
            let bytes: Vec<u8> = merged
                .words
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .collect();
            let interface = crate::reflect(&bytes)?;
            stages.push(ComposedStage {
                stage: *stage,
                words: merged.words,
                interface,
            });
        }
        self.match_stages(recipe, &stages, &prepared.place)?;
        let mut classes: Vec<String> = Vec::new();
        for element in &prepared.graph.elements {
            if let Some(class) = self.library.classes.get(element.class)
                && !classes.iter().any(|name| name == class.header.name())
            {
                classes.push(class.header.name().to_owned());
            }
        }
        Ok(Effect {
            name: recipe.name.clone(),
            stages,
            classes,
        })
    }

    /// Composes the modules of an effect's stages and nothing more: no reflection, nothing kept.
    ///
    /// # Errors
    /// As [`Self::compose`], without what only concerns several stages at once.
    pub fn compose_modules(&self, recipe: &Recipe) -> Result<Vec<Vec<u32>>, Error> {
        let prepared = self.prepare(recipe)?;
        recipe
            .stages
            .iter()
            .enumerate()
            .map(|(index, stage)| {
                self.merge(&prepared, index, *stage)
                    .map(|merged| merged.words)
            })
            .collect()
    }

    /// This composer with a class's text replaced. Compiled classes that do not see it stay compiled; those that do are
    /// compiled anew, also where they came with SPIR-V, as long as their text is whole.
    ///
    /// # Errors
    /// As [`Library::add_source`].
    pub fn with_changed(&self, class: &str, text: &str) -> Result<Self, Error> {
        let mut library = self.library.clone();
        library.replace(class, text)?;
        let changed = library.find(class);
        let sees = |of: &Self, number: usize| match (changed, of.linked(number)) {
            (Some(changed), Ok(linked)) => number == changed || linked.visible.contains(&changed),
            _ => true,
        };
        // Who sees it now, or saw it before: what is stored of them was made for the old text.
        let now = Self::new(library.clone(), self.options.clone());
        let stale: Vec<bool> = (0..library.classes.len())
            .map(|number| sees(&now, number) || sees(self, number))
            .collect();
        let numbers = stale.iter().enumerate().filter(|(_, stale)| **stale);
        numbers.for_each(|(number, _)| library.prefer_source(number));
        let new = Self::new(library, self.options.clone());
        let modules = lock(&self.modules);
        let mut kept = lock(&new.modules);
        for ((number, stage), module) in modules.iter() {
            // Numbers of members' names stay as they are as long as the class itself does.
            if stale.get(*number) == Some(&false) {
                kept.insert((*number, *stage), module.clone());
            }
        }
        drop(kept);
        drop(modules);
        Ok(new)
    }

    /// This composer with one class more, for recipes and classes to come. Compiled classes stay compiled.
    ///
    /// # Errors
    /// As [`Library::add_source`].
    pub fn with_added(&self, file: &str, text: &str) -> Result<Self, Error> {
        let mut library = self.library.clone();
        library.add_source(file, text)?;
        let new = Self::new(library, self.options.clone());
        // Nothing that was there can have seen it, and its numbers come after theirs.
        lock(&new.modules).clone_from(&lock(&self.modules));
        Ok(new)
    }

    /// The same classes, composed otherwise. Compiled classes stay compiled.
    #[must_use]
    pub fn with_options(&self, options: ComposeOptions) -> Self {
        let same_version = options.spirv_version == self.options.spirv_version;
        let new = Self::new(self.library.clone(), options);
        if same_version {
            lock(&new.modules).clone_from(&lock(&self.modules));
        }
        new
    }

    /// The SPIR-V of a class for a stage without paths and lines, as [`Library::add_modules`] takes it.
    ///
    /// # Errors
    /// [`Error::Mixin`] for an unknown class, or one that does not compile.
    pub fn class_spirv(&self, class: &str, stage: Stage) -> Result<Vec<u8>, Error> {
        let number = self.library.require(class, &Place::default())?;
        let linked = self.linked(number)?;
        let stubs = stubs(&self.library, number, &linked, stage);
        let bytes = self.module_bytes(number, stage, &linked, &stubs)?;
        #[cfg(feature = "compile")]
        let bytes = crate::compile::without_source(&bytes);
        Ok(bytes)
    }

    fn key(&self, recipe: &Recipe) -> u64 {
        let text = format!("{:?}{:?}{}", recipe.mix, recipe.stages, recipe.name);
        xxhash_rust::xxh3::xxh3_64_with_seed(text.as_bytes(), self.hash)
    }

    pub(crate) fn linked(&self, class: usize) -> Result<Arc<Linked>, Error> {
        if let Some(found) = lock(&self.links).get(&class) {
            return Ok(found.clone());
        }
        let made = Arc::new(link(&self.library, class)?);
        lock(&self.links).insert(class, made.clone());
        Ok(made)
    }

    fn module(&self, class: usize, stage: Stage) -> Result<Arc<ClassModule>, Error> {
        if let Some(found) = lock(&self.modules).get(&(class, stage)) {
            return Ok(found.clone());
        }
        let linked = self.linked(class)?;
        let stubs = stubs(&self.library, class, &linked, stage);
        let bytes = self.module_bytes(class, stage, &linked, &stubs)?;
        let made = Arc::new(prepare(
            &self.library,
            class,
            &linked,
            &stubs,
            stage,
            &bytes,
        )?);
        lock(&self.modules).insert((class, stage), made.clone());
        Ok(made)
    }

    fn module_bytes(
        &self,
        number: usize,
        stage: Stage,
        linked: &Linked,
        stubs: &[Stub],
    ) -> Result<Vec<u8>, Error> {
        let Some(class) = self.library.classes.get(number) else {
            return Ok(Vec::new());
        };
        if let Some((_, bytes)) = class.modules.iter().find(|(of, _)| *of == stage) {
            return Ok(bytes.clone());
        }
        if !class.source {
            return Err(class.header.place.error(
                Code::M27,
                format!("{} module", stage.name()),
                "the class has no SPIR-V for this stage, and no source",
            ));
        }
        #[cfg(feature = "compile")]
        {
            super::compile_class::compile(self, number, stage, linked, stubs)
        }
        #[cfg(not(feature = "compile"))]
        {
            let _ = (linked, stubs);
            Err(class.header.place.error(
                Code::M27,
                format!("{} module", stage.name()),
                "this program was built without a GLSL compiler (feature compile); classes must come with SPIR-V",
            ))
        }
    }

    #[cfg(feature = "compile")]
    pub(crate) fn compiler(
        &self,
    ) -> Result<&crate::compile::Compiler, crate::compile::CompileError> {
        if let Some(compiler) = self.compiler.get() {
            return Ok(compiler);
        }
        let made = crate::compile::Compiler::new()?;
        Ok(self.compiler.get_or_init(|| made))
    }

    /// Lays a recipe out and gets the class modules of all its stages.
    pub(crate) fn prepare(&self, recipe: &Recipe) -> Result<Prepared, Error> {
        let place = Place {
            file: recipe.file.clone(),
            line: recipe.mix.line,
            class: String::new(),
        };
        if recipe.stages.is_empty() {
            return Err(place.error(
                Code::M28,
                recipe.name.as_str(),
                "the effect lists no stages",
            ));
        }
        let graph = build(&self.library, recipe)?;
        let mut modules = Vec::with_capacity(recipe.stages.len());
        for &stage in &recipe.stages {
            let mut of_stage = Vec::with_capacity(graph.elements.len());
            let mut serves = false;
            for element in &graph.elements {
                let class = self.library.classes.get(element.class);
                let takes_part = class.is_some_and(|class| class.header.takes_part(stage));
                // A class that came as SPIR-V and serves any stage need not have all of them.
                let absent = class.is_some_and(|class| {
                    !class.source
                        && class.header.stage.is_none()
                        && !class.modules.iter().any(|(of, _)| *of == stage)
                });
                serves |= takes_part && !absent;
                of_stage.push(if takes_part && !absent {
                    Some(self.module(element.class, stage)?)
                } else {
                    None
                });
            }
            if !serves {
                return Err(place.error(
                    Code::M17,
                    recipe.name.as_str(),
                    format!("no class of the effect serves the {} stage", stage.name()),
                ));
            }
            modules.push(of_stage);
        }
        let shared = self.shared(&graph, &modules, &place)?;
        Ok(Prepared {
            graph,
            modules,
            shared,
            place,
        })
    }

    /// What must be the same in all stages: bindings and specialisation constants that are numbered here.
    fn shared(
        &self,
        graph: &Graph,
        modules: &[Vec<Option<Arc<ClassModule>>>],
        place: &Place,
    ) -> Result<Shared, Error> {
        let mut shared = Shared {
            max_push_constants: self.options.max_push_constants,
            version: self
                .options
                .spirv_version
                .map(|(major, minor)| u32::from(major) << 16 | u32::from(minor) << 8),
            lines: self.options.debug_info,
            ..Shared::default()
        };
        let mut late: Vec<(&str, u32)> = Vec::new();
        for element in &graph.elements {
            let Some(class) = self.library.classes.get(element.class) else {
                continue;
            };
            for name in &class.header.merge_blocks {
                if !shared.merge_blocks.contains(name) {
                    shared.merge_blocks.push(name.clone());
                }
            }
            for param in class.header.params.iter().filter(|param| param.late) {
                let count = u32::from(param.ty.components);
                match late.iter().find(|(name, _)| *name == param.name) {
                    None => late.push((&param.name, count)),
                    Some((_, other)) if *other == count => {}
                    Some(_) => {
                        return Err(class.header.at(param.line).error(
                            Code::M09,
                            &param.name,
                            "stays a specialisation constant, but two classes of the effect give it different types",
                        ));
                    }
                }
            }
        }
        let all = || modules.iter().flatten().flatten();
        if !late.is_empty() {
            let mut taken: Vec<u32> = all()
                .flat_map(|module| module.explicit_specs.iter().copied())
                .collect();
            taken.sort_unstable();
            late.sort_unstable();
            let mut next = 0;
            for (name, count) in late {
                while (next..next + count).any(|id| taken.binary_search(&id).is_ok()) {
                    next += 1;
                }
                shared.late.insert(name.to_owned(), next);
                next += count;
            }
        }
        let mut automatic: Vec<&(u32, String)> =
            all().flat_map(|module| &module.automatic).collect();
        if !automatic.is_empty() {
            automatic.sort_unstable();
            automatic.dedup();
            let mut taken: Vec<(u32, u32)> = all()
                .flat_map(|module| module.explicit.iter().copied())
                .collect();
            taken.sort_unstable();
            let mut next = 0;
            let mut of_set = u32::MAX;
            for (set, name) in automatic {
                if *set != of_set {
                    (of_set, next) = (*set, 0);
                }
                while taken.binary_search(&(*set, next)).is_ok() {
                    next += 1;
                }
                shared.bindings.insert((*set, name.clone()), next);
                next += 1;
            }
        }
        let _ = place;
        Ok(shared)
    }

    pub(crate) fn merge(
        &self,
        prepared: &Prepared,
        index: usize,
        stage: Stage,
    ) -> Result<Merged, Error> {
        let modules: Vec<Option<&ClassModule>> = prepared
            .modules
            .get(index)
            .map(|of_stage| of_stage.iter().map(Option::as_deref).collect())
            .unwrap_or_default();
        let live = Resolver::new(
            &self.library,
            &prepared.graph,
            &modules,
            stage,
            &prepared.place,
        )
        .run()?;
        let merge = Merge {
            library: &self.library,
            graph: &prepared.graph,
            modules: &modules,
            stage,
            recipe: &prepared.place,
            shared: &prepared.shared,
            live,
            out: Output::new(),
            maps: modules
                .iter()
                .map(|module| vec![0; module.map_or(0, |module| module.bound as usize)])
                .collect(),
            variables: Vec::new(),
            resources: Vec::new(),
            io: Vec::new(),
            push_constant: None,
            payload: None,
            shared_variables: HashMap::new(),
            merged: HashMap::new(),
            structs: HashMap::new(),
            specs: HashMap::new(),
            local_size: None,
            files: HashMap::new(),
            function_ids: Vec::new(),
        };
        merge.run()
    }

    /// Inputs of each stage are outputs of the one before it.
    fn match_stages(
        &self,
        recipe: &Recipe,
        stages: &[ComposedStage],
        place: &Place,
    ) -> Result<(), Error> {
        let order = [Stage::Task, Stage::Vertex, Stage::Mesh, Stage::Fragment];
        let find = |wanted: &Stage| stages.iter().find(|composed| composed.stage == *wanted);
        let present: Vec<&ComposedStage> = order.iter().filter_map(find).collect();
        for pair in present.windows(2) {
            let [first, second] = pair else {
                continue;
            };
            if second.stage != Stage::Fragment {
                continue;
            }
            let names = [first, second]
                .map(|composed| format!("{}.{}", recipe.name, composed.stage.name()));
            let inputs = [
                StageInput::new(&names[0], &first.interface),
                StageInput::new(&names[1], &second.interface),
            ];
            crate::match_stages(&inputs[0], &inputs[1])
                .map_err(|error| place.error(Code::M12, recipe.name.as_str(), error.to_string()))?;
        }
        Ok(())
    }
}

fn library_hash(library: &Library, options: &ComposeOptions) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::with_seed(TOOL);
    for class in &library.classes {
        hasher.update(class.header.place.file.as_bytes());
        hasher.update(class.header.text.as_bytes());
        for (stage, module) in &class.modules {
            hasher.update(stage.name().as_bytes());
            hasher.update(module);
        }
    }
    hasher.update(format!("{options:?}{}", env!("CARGO_PKG_VERSION")).as_bytes());
    hasher.digest()
}
