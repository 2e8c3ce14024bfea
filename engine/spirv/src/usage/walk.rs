//! The walk over the functions that an entry point reaches, until nothing new is found.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use spirv::{Op, StorageClass};

use super::places::{PlaceId, Places, Root};
use super::sampling;
use crate::error::Error;
use crate::module::{Function, Module};
use crate::operands::for_each_operand;
use crate::words::Instruction;

/// Most places that one value is told apart into; beyond, parts are taken for their wholes.
const MAX_SET: usize = 64;

/// Read flag of a touched place.
pub(crate) const READ: u8 = 1;
/// Write flag of a touched place.
pub(crate) const WRITE: u8 = 2;

/// Bounds on work and memory, shared by all entry points of a module.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) bytes: usize,
    pub(crate) steps: usize,
    pub(crate) step_limit: usize,
    pub(crate) entries: usize,
    pub(crate) entry_limit: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            bytes,
            steps: 0,
            step_limit: 20_000_000 + bytes.saturating_mul(16),
            entries: 0,
            entry_limit: 40_000 + bytes / 8,
        }
    }

    pub(crate) fn step(&mut self) -> Result<(), Error> {
        self.work(1)
    }

    /// Accounts for work that takes time.
    pub(crate) fn work(&mut self, steps: usize) -> Result<(), Error> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.step_limit {
            return Err(Error::TooLarge {
                what: "the analysis".to_owned(),
                bytes: self.bytes,
                limit: self.step_limit,
                unit: "steps",
            });
        }
        Ok(())
    }

    /// Accounts for something of the result that is kept.
    pub(crate) fn keep(&mut self, count: usize) -> Result<(), Error> {
        self.entries = self.entries.saturating_add(count);
        if self.entries > self.entry_limit {
            return Err(Error::TooLarge {
                what: "the description".to_owned(),
                bytes: self.bytes,
                limit: self.entry_limit,
                unit: "entries",
            });
        }
        Ok(())
    }
}

/// What one entry point does.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// Global variables that its functions name.
    pub(crate) variables: BTreeSet<u32>,
    /// Constants that its functions name.
    pub(crate) constants: BTreeSet<u32>,
    /// Places that it reads or writes, with [`READ`] and [`WRITE`].
    pub(crate) touched: BTreeMap<PlaceId, u8>,
    /// Images and samplers that it combines, by variable.
    pub(crate) sampled: BTreeSet<(u32, u32)>,
    /// Whether it makes, loads or uses pointers into physical storage.
    pub(crate) physical: bool,
}

/// Analyses the entry point whose function has this id.
pub(crate) fn analyse(
    module: &Module,
    places: &mut Places,
    function: u32,
    budget: &mut Budget,
) -> Result<Usage, Error> {
    let reachable = reachable(module, function);
    let mut walk = Walk {
        module,
        places,
        values: HashMap::new(),
        contents: HashMap::new(),
        returns: HashMap::new(),
        usage: Usage::default(),
        grew: true,
        current: 0,
        budget,
        handles: HashMap::new(),
    };
    walk.globals()?;
    walk.names(&reachable)?;
    while std::mem::replace(&mut walk.grew, false) {
        for index in &reachable {
            if let Some(function) = module.functions.get(*index) {
                walk.function(function)?;
            }
        }
    }
    let pairs = sampling::pairs(&mut walk, &reachable)?;
    let mut usage = walk.usage;
    usage.sampled = pairs;
    Ok(usage)
}

/// Functions that one reaches through calls, callers before callees where calls are not recursive.
fn reachable(module: &Module, function: u32) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let callees = |index: usize| -> Vec<usize> {
        let Some(function) = module.functions.get(index) else {
            return Vec::new();
        };
        let calls = module
            .body(function)
            .filter(|instruction| Op::from_u32(instruction.opcode) == Some(Op::FunctionCall));
        calls
            .filter_map(|call| module.function_index.get(call.operands.get(2)?).copied())
            .collect()
    };
    if let Some(index) = module.function_index.get(&function) {
        seen.insert(*index);
        stack.push((*index, callees(*index)));
    }
    while let Some((index, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(callee) => {
                if seen.insert(callee) {
                    stack.push((callee, callees(callee)));
                }
            }
            None => {
                order.push(*index);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Places that a value may stand for.
#[derive(Clone, Debug, Default)]
struct PlaceSet {
    places: Vec<PlaceId>,
    /// Whether the set had too many parts, so that it now holds their wholes, and only ever will.
    wholes: bool,
}

/// State of the walk.
pub(super) struct Walk<'m, 'p> {
    pub(super) module: &'m Module,
    pub(super) places: &'p mut Places,
    /// Places that a pointer may point at, or a handle may come from.
    values: HashMap<u32, PlaceSet>,
    /// Pointers and handles that a variable may hold.
    contents: HashMap<Root, PlaceSet>,
    /// Pointers and handles that a function may return.
    returns: HashMap<u32, PlaceSet>,
    pub(super) usage: Usage,
    grew: bool,
    /// Id of the function being walked.
    pub(super) current: u32,
    pub(super) budget: &'p mut Budget,
    /// Whether types hold handles, as far as it was asked.
    pub(super) handles: HashMap<u32, bool>,
}

impl Walk<'_, '_> {
    /// Pointers that private variables are initialised with.
    fn globals(&mut self) -> Result<(), Error> {
        let module = self.module;
        for offset in &module.globals {
            let Some(instruction) = module.words.at(*offset) else {
                continue;
            };
            if let (Some(Op::Variable), Some(initializer)) = (
                Op::from_u32(instruction.opcode),
                instruction.operands.get(3),
            ) {
                let initial = self.get(*initializer);
                let root = Root::Variable(instruction.operand(1)?);
                self.fill(root, &initial)?;
            }
        }
        Ok(())
    }

    /// Global variables and constants that reachable functions name.
    fn names(&mut self, reachable: &[usize]) -> Result<(), Error> {
        let module = self.module;
        for function in reachable
            .iter()
            .filter_map(|index| module.functions.get(*index))
        {
            for instruction in module.body(function) {
                self.budget.step()?;
                let usage = &mut self.usage;
                // Literal widths matter only for switches, whose literals stand behind the selector.
                let literal_words = |id: u32, _: bool| {
                    module
                        .type_of(id)
                        .and_then(|ty| module.definition(ty))
                        .and_then(|ty| Some(ty.operands.get(1)?.div_ceil(32) as usize))
                };
                // The module was checked against the grammar when it was read.
                let _ = for_each_operand(
                    instruction.opcode,
                    instruction.operands,
                    &literal_words,
                    &mut |operand| {
                        let Some(id) = instruction
                            .operands
                            .get(operand.start)
                            .filter(|_| operand.kind.is_id())
                        else {
                            return;
                        };
                        match module.opcode_of(*id) {
                            Some(Op::Variable | Op::UntypedVariableKHR)
                                if is_global(module, *id) =>
                            {
                                usage.variables.insert(*id);
                            }
                            Some(
                                Op::SpecConstant
                                | Op::SpecConstantTrue
                                | Op::SpecConstantFalse
                                | Op::SpecConstantOp
                                | Op::SpecConstantComposite,
                            ) => {
                                usage.constants.insert(*id);
                            }
                            Some(Op::TypePointer | Op::TypeUntypedPointerKHR) => {
                                usage.physical |= is_physical_pointer(module, *id);
                            }
                            _ => {}
                        }
                    },
                );
            }
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Result<(), Error> {
        self.current = function.id;
        for instruction in self.module.body(function) {
            self.budget.step()?;
            self.instruction(instruction)?;
        }
        Ok(())
    }

    /// Places that a value stands for.
    pub(super) fn get(&mut self, id: u32) -> Vec<PlaceId> {
        if let Some(found) = self.values.get(&id) {
            return found.places.clone();
        }
        let module = self.module;
        let Some(definition) = module.definition(id) else {
            return Vec::new();
        };
        match Op::from_u32(definition.opcode) {
            Some(Op::Variable | Op::UntypedVariableKHR) => {
                let ty = variable_type(module, definition);
                vec![self.places.root(Root::Variable(id), ty)]
            }
            // An address that came as data: from a buffer, from an integer.
            _ => match definition
                .operands
                .first()
                .and_then(|ty| physical_pointee(module, *ty))
            {
                Some(pointee) if module.type_of(id).is_some() => {
                    vec![self.places.root(Root::Physical(pointee), pointee)]
                }
                _ => Vec::new(),
            },
        }
    }

    fn join(&mut self, set: &mut PlaceSet, more: &[PlaceId]) -> Result<(), Error> {
        let before = set.places.len();
        for place in more {
            let place = if set.wholes {
                self.places.whole(*place)
            } else {
                *place
            };
            if !set.places.contains(&place) {
                set.places.push(place);
            }
        }
        if set.places.len() > before {
            self.grew = true;
            self.budget.work(set.places.len())?;
            if set.places.len() > MAX_SET && !set.wholes {
                set.wholes = true;
                let mut wholes: Vec<PlaceId> = set
                    .places
                    .iter()
                    .map(|place| self.places.whole(*place))
                    .collect();
                wholes.sort_unstable();
                wholes.dedup();
                set.places = wholes;
            }
        }
        Ok(())
    }

    /// Adds places to a value.
    pub(super) fn flow(&mut self, id: u32, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let mut set = self.values.remove(&id).unwrap_or_default();
        let outcome = self.join(&mut set, places);
        self.values.insert(id, set);
        outcome
    }

    /// Adds pointers and handles to what a variable holds.
    pub(super) fn fill(&mut self, root: Root, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let mut set = self.contents.remove(&root).unwrap_or_default();
        let outcome = self.join(&mut set, places);
        self.contents.insert(root, set);
        outcome
    }

    pub(super) fn held(&self, root: Root) -> Vec<PlaceId> {
        self.contents
            .get(&root)
            .map(|set| set.places.clone())
            .unwrap_or_default()
    }

    pub(super) fn add_return(&mut self, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let mut set = self.returns.remove(&self.current).unwrap_or_default();
        let outcome = self.join(&mut set, places);
        self.returns.insert(self.current, set);
        outcome
    }

    pub(super) fn returned(&self, function: u32) -> Vec<PlaceId> {
        self.returns
            .get(&function)
            .map(|set| set.places.clone())
            .unwrap_or_default()
    }

    pub(super) fn touch(&mut self, places: &[PlaceId], flags: u8) {
        for place in places {
            *self.usage.touched.entry(*place).or_default() |= flags;
        }
    }
}

pub(super) fn is_global(module: &Module, variable: u32) -> bool {
    module.definition(variable).and_then(storage_class) != Some(StorageClass::Function as u32)
}

/// Storage class of a variable's definition.
pub(crate) fn storage_class(definition: Instruction<'_>) -> Option<u32> {
    definition.operands.get(2).copied()
}

/// Type of what a variable holds; 0 if it is not known.
pub(crate) fn variable_type(module: &Module, definition: Instruction<'_>) -> u32 {
    match Op::from_u32(definition.opcode) {
        Some(Op::UntypedVariableKHR) => definition.operands.get(3).copied().unwrap_or(0),
        _ => definition
            .operands
            .first()
            .and_then(|ty| pointee(module, *ty))
            .unwrap_or(0),
    }
}

/// What a pointer type points at.
pub(crate) fn pointee(module: &Module, ty: u32) -> Option<u32> {
    let definition = module.definition(ty)?;
    (Op::from_u32(definition.opcode) == Some(Op::TypePointer))
        .then(|| definition.operands.get(2).copied())?
}

fn is_physical_pointer(module: &Module, ty: u32) -> bool {
    let Some(definition) = module.definition(ty) else {
        return false;
    };
    matches!(
        Op::from_u32(definition.opcode),
        Some(Op::TypePointer | Op::TypeUntypedPointerKHR)
    ) && definition.operands.get(1) == Some(&(StorageClass::PhysicalStorageBuffer as u32))
}

/// What a pointer type into physical storage points at.
pub(super) fn physical_pointee(module: &Module, ty: u32) -> Option<u32> {
    is_physical_pointer(module, ty).then(|| pointee(module, ty))?
}
