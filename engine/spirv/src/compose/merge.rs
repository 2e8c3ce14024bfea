//! Puts one stage together: what is used of each class is copied, equal types and constants become one, calls are redirected.

use std::collections::HashMap;

use spirv::{AddressingModel, Op};

use super::class_module::{ClassModule, Def, Stretch, part};
use super::error::{Code, Place};
use super::graph::Graph;
use super::library::Library;
use super::output::{Output, instruction};
use super::resolve::{Body, Live};
use super::variables::Io;
use crate::{Error, Stage};

/// What holds for all stages of an effect.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Automatic bindings by set and name.
    pub(crate) bindings: HashMap<(u32, String), u32>,
    /// SpecIds of late parameters, by name; vectors take one per component.
    pub(crate) late: HashMap<String, u32>,
    /// Names of blocks whose members are joined.
    pub(crate) merge_blocks: Vec<String>,
    pub(crate) max_push_constants: u32,
    /// Highest version that is allowed.
    pub(crate) version: Option<u32>,
    /// Whether to keep lines.
    pub(crate) lines: bool,
}

/// A resource of the result.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) set: u32,
    pub(crate) binding: u32,
    pub(crate) pointer: u32,
    pub(crate) id: u32,
    pub(crate) element: usize,
    pub(crate) variable: u32,
}

/// What one stage becomes.
pub(crate) struct Merge<'a> {
    pub(crate) library: &'a Library,
    pub(crate) graph: &'a Graph,
    pub(crate) modules: &'a [Option<&'a ClassModule>],
    pub(crate) stage: Stage,
    pub(crate) recipe: &'a Place,
    pub(crate) shared: &'a Shared,
    pub(crate) live: Live,
    pub(crate) out: Output,
    /// Id in the result of each id of each element; 0 for none yet.
    pub(crate) maps: Vec<Vec<u32>>,
    pub(crate) variables: Vec<u32>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) io: Vec<Io>,
    pub(crate) push_constant: Option<(u32, usize, u32)>,
    pub(crate) payload: Option<(String, u32, u32)>,
    /// Private and shared variables by element and name.
    pub(crate) shared_variables: HashMap<(usize, String), (u32, u32)>,
    /// Members of a merged block by element and variable: position in the merged block.
    pub(crate) merged: HashMap<(usize, u32), Vec<u32>>,
    /// Structs by name: shape, element, position among the globals.
    pub(crate) structs: HashMap<String, (u64, usize, u32)>,
    /// Specialisation constants that stay: name, default and id by SpecId.
    pub(crate) specs: HashMap<u32, (String, u32, u32)>,
    pub(crate) local_size: Option<Vec<u32>>,
    /// Strings of debug lines by their words.
    pub(crate) files: HashMap<(usize, u32), u32>,
    /// Ids of the result's functions.
    pub(crate) function_ids: Vec<u32>,
}

impl<'a> Merge<'a> {
    pub(crate) fn module(&self, element: usize) -> Option<&'a ClassModule> {
        self.modules.get(element).copied().flatten()
    }

    pub(crate) fn place(&self, element: usize) -> Place {
        self.graph
            .elements
            .get(element)
            .and_then(|element| self.library.classes.get(element.class))
            .map(|class| class.header.place.clone())
            .unwrap_or_default()
    }

    pub(crate) fn mapped(&self, element: usize, id: u32) -> u32 {
        self.maps
            .get(element)
            .and_then(|map| map.get(id as usize))
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn map(&mut self, element: usize, id: u32, to: u32) {
        if let Some(slot) = self
            .maps
            .get_mut(element)
            .and_then(|map| map.get_mut(id as usize))
        {
            *slot = to;
        }
    }

    /// Composes the stage; the result is a whole module.
    pub(crate) fn run(mut self) -> Result<Merged, Error> {
        let used: Vec<bool> = (0..self.modules.len())
            .map(|element| self.is_used(element))
            .collect();
        let (version, addressing, memory) = self.models(&used)?;
        self.local_size = self.find_local_size()?;
        let void = self.out.simple(Op::TypeVoid, &[0]);
        self.merge_blocks()?;
        for element in 0..self.modules.len() {
            let list = self
                .live
                .variables
                .get(element)
                .cloned()
                .unwrap_or_default();
            for variable in list {
                self.variable(element, variable)?;
            }
        }
        for _ in 0..self.live.functions.len() {
            self.function_ids.push(0);
        }
        self.number_functions();
        let mut order: Vec<usize> = (0..self.live.functions.len()).collect();
        order.sort_by_key(|number| match self.live.functions.get(*number) {
            Some(Body::Copy { element, function }) => (*element, *function, 0),
            Some(Body::Each {
                element, function, ..
            }) => (*element, *function, 1),
            None => (usize::MAX, 0, 0),
        });
        for number in order {
            self.function(number)?;
        }
        let main = self.wrapper(void)?;
        let modes = self.modes(main, &used)?;
        let words = self.assemble(version, addressing, memory, main, &modes)?;
        Ok(Merged {
            words,
            out: self.out,
            maps: self.maps,
            live: self.live,
        })
    }

    /// Whether any code of an element is in the result.
    fn is_used(&self, element: usize) -> bool {
        self.live.initialisers.iter().any(|(of, _)| *of == element)
            || self.live.functions.iter().any(|body| match body {
                Body::Copy { element: of, .. } => *of == element,
                Body::Each { .. } => false,
            })
    }

    /// Version, addressing model and memory model of the result.
    fn models(&mut self, used: &[bool]) -> Result<(u32, u32, u32), Error> {
        let (mut version, mut addressing, mut memory) =
            (0x0001_0000, AddressingModel::Logical as u32, None);
        for (element, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            let Some(module) = self.module(element) else {
                continue;
            };
            version = version.max(module.version);
            if let Some(limit) = self.shared.version.filter(|limit| module.version > *limit) {
                let text = |word: u32| format!("{}.{}", word >> 16, word >> 8 & 0xff);
                return Err(self.place(element).error(
                    Code::M15,
                    format!("{} module", self.stage.name()),
                    format!(
                        "is SPIR-V {}, expected at most {}",
                        text(module.version),
                        text(limit)
                    ),
                ));
            }
            if module.addressing != addressing {
                let logical = AddressingModel::Logical as u32;
                let physical = AddressingModel::PhysicalStorageBuffer64 as u32;
                if [module.addressing, addressing]
                    .iter()
                    .all(|model| [logical, physical].contains(model))
                {
                    addressing = physical;
                } else {
                    return Err(self.place(element).error(
                        Code::M15,
                        format!("{} module", self.stage.name()),
                        format!("has addressing model {}, expected Logical (0) or PhysicalStorageBuffer64 (5348)", module.addressing),
                    ));
                }
            }
            let (first, model) = *memory.get_or_insert((element, module.memory));
            if model != module.memory {
                let other = self.place(first);
                return Err(self.place(element).error(
                    Code::M15,
                    format!("{} module", self.stage.name()),
                    format!(
                        "has memory model {}, but class {} has {model}",
                        module.memory, other.class
                    ),
                ));
            }
            for capability in &module.capabilities {
                // Functions that stand for others are gone, and with them what they were linked by.
                if *capability != spirv::Capability::Linkage as u32
                    && !self.out.capabilities.contains(capability)
                {
                    self.out.capabilities.push(*capability);
                }
            }
            for extension in &module.extensions {
                let words = part(&module.words, extension);
                if !self.out.extensions.iter().any(|other| other == words) {
                    self.out.extensions.push(words.to_vec());
                }
            }
        }
        Ok((version, addressing, memory.map_or(1, |(_, model)| model)))
    }

    fn number_functions(&mut self) {
        for number in 0..self.live.functions.len() {
            let origin = match self.live.functions.get(number) {
                Some(Body::Copy { element, function }) => {
                    let id = self
                        .module(*element)
                        .and_then(|module| module.functions.get(*function as usize))
                        .map_or(0, |function| function.id);
                    (*element as u32, id)
                }
                _ => super::output::OWN,
            };
            let id = self.out.id(origin);
            if let Some(slot) = self.function_ids.get_mut(number) {
                *slot = id;
            }
        }
        for element in 0..self.modules.len() {
            let Some(module) = self.module(element) else {
                continue;
            };
            let calls = self.live.calls.get(element).cloned().unwrap_or_default();
            for (function, target) in calls.iter().enumerate() {
                if let (Some(target), Some(function)) = (target, module.functions.get(function)) {
                    let id = self.function_ids.get(*target).copied().unwrap_or_default();
                    self.map(element, function.id, id);
                }
            }
        }
    }

    /// Id in the result of an id of an element; brings it over if it is new.
    pub(crate) fn id(&mut self, element: usize, id: u32) -> Result<u32, Error> {
        let known = self.mapped(element, id);
        if known != 0 {
            return Ok(known);
        }
        let def = self
            .module(element)
            .and_then(|module| module.defs.get(id as usize))
            .copied();
        match def {
            Some(Def::Global(index)) => self.global(element, index),
            Some(Def::Local) => {
                let new = self.out.id((element as u32, id));
                self.map(element, id, new);
                Ok(new)
            }
            _ => Err(self.place(element).error(
                Code::M22,
                format!("{} module", self.stage.name()),
                format!("uses id {id}, which nothing in the class defines"),
            )),
        }
    }

    /// Copies code to the end of the functions.
    pub(crate) fn code(&mut self, element: usize, stretch: &Stretch) -> Result<(), Error> {
        let Some(module) = self.module(element) else {
            return Ok(());
        };
        let careful = self.shared.lines && !part(&module.lines, &stretch.lines).is_empty()
            || stretch.variables.iter().any(|variable| {
                module
                    .globals
                    .get(*variable as usize)
                    .is_some_and(|global| self.merged.contains_key(&(element, global.id)))
            });
        if careful {
            return self.careful_code(element, module, stretch);
        }
        let base = self.out.functions.len();
        self.out
            .functions
            .extend_from_slice(part(&module.code, &stretch.words));
        for position in part(&module.code_ids, &stretch.ids) {
            let at = base + (position - stretch.words.start) as usize;
            let id = self.out.functions.get(at).copied().unwrap_or_default();
            let mut new = self.mapped(element, id);
            if new == 0 {
                // The definition of a function that nothing in its own class calls; the caller of this sets it.
                if matches!(module.defs.get(id as usize), Some(Def::Function(_))) {
                    continue;
                }
                new = self.id(element, id)?;
            }
            if let Some(word) = self.out.functions.get_mut(at) {
                *word = new;
            }
        }
        self.local_names(element, module, stretch);
        Ok(())
    }

    pub(crate) fn local_names(&mut self, element: usize, module: &ClassModule, stretch: &Stretch) {
        for &id in &stretch.named {
            let new = self.mapped(element, id);
            if let Some(name) = module.names.get(&id) {
                self.out.name(new, part(&module.words, name));
            }
            self.decorations(element, module, id, new);
        }
    }

    /// Decorations of an id without parameters that are ids.
    fn decorations(&mut self, _element: usize, module: &ClassModule, id: u32, new: u32) {
        let first = module
            .decorations
            .partition_point(|decoration| decoration.target < id);
        for decoration in module.decorations.get(first..).unwrap_or_default() {
            if decoration.target != id {
                break;
            }
            let words = part(&module.words, &decoration.words);
            self.out
                .decorations
                .push(instruction(decoration.op, words.len() + 1));
            self.out.decorations.push(new);
            self.out.decorations.extend_from_slice(words);
        }
    }
}

/// A composed stage.
pub(crate) struct Merged {
    pub(crate) words: Vec<u32>,
    pub(crate) out: Output,
    pub(crate) maps: Vec<Vec<u32>>,
    pub(crate) live: Live,
}
