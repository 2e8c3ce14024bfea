//! The walk over the functions that an entry point reaches, until nothing new is found.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;

use spirv::{Op, StorageClass};

use super::places::{PlaceId, Places, Root};
use super::sampling;
use crate::error::Error;
use crate::module::{IdTable, Kind, Module};
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

/// A place that an entry point reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touched {
    /// What the place is part of.
    pub(crate) root: Root,
    pub(crate) place: PlaceId,
    /// [`READ`] and [`WRITE`].
    pub(crate) flags: u8,
}

/// What one entry point does.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// Global variables that its functions name, sorted.
    pub(crate) variables: Vec<u32>,
    /// Constants that its functions name, sorted.
    pub(crate) constants: Vec<u32>,
    /// Places that it reads or writes, each once, sorted.
    pub(crate) touched: Vec<Touched>,
    /// Images and samplers that it combines, by variable.
    pub(crate) sampled: BTreeSet<(u32, u32)>,
    /// Whether it makes, loads or uses pointers into physical storage.
    pub(crate) physical: bool,
    /// What it does through physical pointers: [`READ`] and [`WRITE`].
    pub(crate) physical_flags: u8,
}

impl Usage {
    /// Whether the functions name a global variable.
    pub(crate) fn names(&self, variable: u32) -> bool {
        self.variables.binary_search(&variable).is_ok()
    }

    /// Places of a variable that it reads or writes.
    pub(crate) fn touched_of(&self, variable: u32) -> &[Touched] {
        let root = Root::Variable(variable);
        let start = self.touched.partition_point(|found| found.root < root);
        let rest = self.touched.get(start..).unwrap_or_default();
        let length = rest.partition_point(|found| found.root == root);
        rest.get(..length).unwrap_or_default()
    }
}

/// Positions of the functions that one reaches through calls, callers before callees where calls are not recursive.
fn reachable(module: &Module, function: u32) -> Vec<usize> {
    let callees = |index: usize| -> Vec<usize> {
        let Some(function) = module.functions.get(index) else {
            return Vec::new();
        };
        let calls = module
            .steps(function)
            .filter(|instruction| instruction.op() == Some(Op::FunctionCall));
        calls
            .filter_map(|call| module.function_index(*call.operands.get(2)?))
            .collect()
    };
    let Some(index) = module.function_index(function) else {
        return Vec::new();
    };
    let mut order = Vec::new();
    let mut seen = BTreeSet::from([index]);
    let mut stack = vec![(index, callees(index))];
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

/// What a value was found to stand for.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Nothing,
    One(PlaceId),
    Many(Vec<PlaceId>),
}

impl Deref for Found {
    type Target = [PlaceId];

    fn deref(&self) -> &[PlaceId] {
        match self {
            Self::Nothing => &[],
            Self::One(place) => std::slice::from_ref(place),
            Self::Many(places) => places,
        }
    }
}

/// Places that a value may stand for: mostly none or one.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// Whether anything has asked for it: when it grows after that, the walk must go round again.
    asked: bool,
    places: Held,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Held {
    #[default]
    Nothing,
    One(PlaceId),
    /// Number of a [`PlaceSet`].
    Many(u32),
}

/// Several places that one value may stand for.
#[derive(Clone, Debug, Default)]
struct PlaceSet {
    places: Vec<PlaceId>,
    /// Whether the set had too many parts, so that it now holds their wholes, and only ever will.
    wholes: bool,
}

/// State of the walk. Serves one entry point after the other.
pub(crate) struct Walk<'m, 'p> {
    pub(super) module: &'m Module,
    pub(super) places: &'p mut Places,
    pub(super) budget: &'p mut Budget,
    /// Places that a pointer may point at, or a handle may come from.
    values: IdTable<Value>,
    /// Ids whose value is set.
    set: Vec<u32>,
    sets: Vec<PlaceSet>,
    /// Pointers and handles that a variable may hold.
    contents: HashMap<Root, Value>,
    /// Whether anything has asked what a variable holds.
    asked_contents: bool,
    /// Pointers and handles that a function may return.
    returns: HashMap<u32, Value>,
    /// By place: what is done with it.
    flags: Vec<u8>,
    touched: Vec<PlaceId>,
    grew: bool,
    /// Id of the function being walked.
    current: u32,
    /// Whether structs and arrays hold handles, as far as it was asked.
    handles: HashMap<u32, bool>,
}

impl<'m, 'p> Walk<'m, 'p> {
    pub(crate) fn new(module: &'m Module, places: &'p mut Places, budget: &'p mut Budget) -> Self {
        Self {
            module,
            places,
            budget,
            values: IdTable::new(module),
            set: Vec::new(),
            sets: Vec::new(),
            contents: HashMap::new(),
            asked_contents: false,
            returns: HashMap::new(),
            flags: Vec::new(),
            touched: Vec::new(),
            grew: false,
            current: 0,
            handles: HashMap::new(),
        }
    }
}

impl Walk<'_, '_> {
    /// Analyses the entry point whose function has this id.
    pub(crate) fn analyse(&mut self, function: u32) -> Result<Usage, Error> {
        self.reset();
        let module = self.module;
        let reachable = reachable(module, function);
        self.globals()?;
        let mut usage = self.names(&reachable)?;
        loop {
            self.grew = false;
            for function in reachable
                .iter()
                .filter_map(|index| module.functions.get(*index))
            {
                self.current = function.id;
                for instruction in module.steps(function) {
                    self.budget.step()?;
                    self.instruction(instruction)?;
                }
            }
            if !self.grew {
                break;
            }
        }
        if module.combines_samplers {
            usage.sampled = sampling::pairs(self, &reachable)?;
        }
        usage.touched.reserve_exact(self.touched.len());
        for place in &self.touched {
            let root = self.places.get(*place).root;
            let flags = self.flags.get(place.0 as usize).copied().unwrap_or(0);
            if let Root::Physical(_) = root {
                usage.physical_flags |= flags;
            }
            usage.touched.push(Touched {
                root,
                place: *place,
                flags,
            });
        }
        usage.touched.sort_unstable();
        Ok(usage)
    }

    /// Accounts for what of the result is kept.
    pub(crate) fn keep(&mut self, count: usize) -> Result<(), Error> {
        self.budget.keep(count)
    }

    fn reset(&mut self) {
        for id in self.set.drain(..) {
            self.values.set(self.module, id, Value::default());
        }
        self.sets.clear();
        self.contents.clear();
        self.asked_contents = false;
        self.returns.clear();
        for place in self.touched.drain(..) {
            if let Some(flags) = self.flags.get_mut(place.0 as usize) {
                *flags = 0;
            }
        }
    }

    /// Pointers that private variables are initialised with.
    fn globals(&mut self) -> Result<(), Error> {
        let module = self.module;
        for offset in &module.variables {
            self.budget.step()?;
            let Some(instruction) = module.words.at(*offset as usize) else {
                continue;
            };
            if let (Some(Op::Variable), Some(initializer)) =
                (instruction.op(), instruction.operands.get(3))
            {
                let initial = self.get(*initializer);
                let root = Root::Variable(instruction.operand(1)?);
                self.fill(root, &initial)?;
            }
        }
        Ok(())
    }

    /// Global variables and constants that reachable functions name.
    fn names(&mut self, reachable: &[usize]) -> Result<Usage, Error> {
        let module = self.module;
        let mut usage = Usage::default();
        for function in reachable
            .iter()
            .filter_map(|index| module.functions.get(*index))
        {
            for id in module.mentioned(function) {
                self.budget.step()?;
                match module.kind_of(*id) {
                    Kind::GlobalVariable => usage.variables.push(*id),
                    Kind::SpecConstant => usage.constants.push(*id),
                    Kind::PhysicalPointer => usage.physical = true,
                    Kind::Other => {}
                }
            }
        }
        // One function's are sorted already.
        if reachable.len() > 1 {
            for list in [&mut usage.variables, &mut usage.constants] {
                list.sort_unstable();
                list.dedup();
            }
        }
        Ok(usage)
    }

    fn set_value(&mut self, id: u32, value: Value) {
        self.values.set(self.module, id, value);
    }

    /// Places that a value stands for.
    pub(super) fn get(&mut self, id: u32) -> Found {
        let module = self.module;
        let value = self.values.get(module, id);
        if !value.asked {
            if value.places == Held::Nothing {
                self.set.push(id);
            }
            self.set_value(
                id,
                Value {
                    asked: true,
                    ..value
                },
            );
        }
        match value.places {
            Held::Nothing => self.beginning(id),
            held => self.found(held),
        }
    }

    fn found(&self, held: Held) -> Found {
        match held {
            Held::Nothing => Found::Nothing,
            Held::One(place) => Found::One(place),
            Held::Many(number) => self
                .sets
                .get(number as usize)
                .map_or(Found::Nothing, |set| Found::Many(set.places.clone())),
        }
    }

    /// Where the paths of a value begin that nothing was passed on to.
    fn beginning(&mut self, id: u32) -> Found {
        let module = self.module;
        let Some(definition) = module.definition(id) else {
            return Found::Nothing;
        };
        match definition.op() {
            Some(Op::Variable | Op::UntypedVariableKHR) => {
                let ty = variable_type(module, definition);
                Found::One(self.places.root(module, Root::Variable(id), ty))
            }
            // An address that came as data: from a buffer, from an integer.
            _ if module.has_physical_pointers => {
                match module
                    .type_of(id)
                    .and_then(|ty| physical_pointee(module, ty))
                {
                    Some(pointee) => {
                        Found::One(self.places.root(module, Root::Physical(pointee), pointee))
                    }
                    None => Found::Nothing,
                }
            }
            _ => Found::Nothing,
        }
    }

    /// What is held once more places have joined; `None` if that changes nothing.
    fn join(&mut self, held: Held, more: &[PlaceId]) -> Result<Option<Held>, Error> {
        match (held, more) {
            (Held::Nothing, [place]) => return Ok(Some(Held::One(*place))),
            (Held::One(known), [place]) if known == *place => return Ok(None),
            _ => {}
        }
        let number = match held {
            Held::Many(number) => number as usize,
            _ => {
                self.sets.push(PlaceSet {
                    places: self.found(held).to_vec(),
                    wholes: false,
                });
                self.sets.len() - 1
            }
        };
        let Some(set) = self.sets.get_mut(number) else {
            return Ok(None);
        };
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
        if set.places.len() == before {
            return Ok(None);
        }
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
        Ok(Some(Held::Many(number as u32)))
    }

    /// Adds places to a value.
    pub(super) fn flow(&mut self, id: u32, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let value = self.values.get(self.module, id);
        if let Some(held) = self.join(value.places, places)? {
            self.grew |= value.asked;
            if value.places == Held::Nothing && !value.asked {
                self.set.push(id);
            }
            self.set_value(
                id,
                Value {
                    places: held,
                    ..value
                },
            );
        }
        Ok(())
    }

    /// Adds pointers and handles to what a variable holds.
    pub(super) fn fill(&mut self, root: Root, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let value = self.contents.get(&root).copied().unwrap_or_default();
        if let Some(held) = self.join(value.places, places)? {
            self.grew |= self.asked_contents;
            self.contents.insert(
                root,
                Value {
                    places: held,
                    ..value
                },
            );
        }
        Ok(())
    }

    pub(super) fn held(&mut self, root: Root) -> Found {
        self.asked_contents = true;
        if self.contents.is_empty() {
            return Found::Nothing;
        }
        let value = self.contents.get(&root).copied().unwrap_or_default();
        self.found(value.places)
    }

    pub(super) fn add_return(&mut self, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let value = self.returns.get(&self.current).copied().unwrap_or_default();
        if let Some(held) = self.join(value.places, places)? {
            self.grew |= value.asked;
            self.returns.insert(
                self.current,
                Value {
                    places: held,
                    ..value
                },
            );
        }
        Ok(())
    }

    pub(super) fn returned(&mut self, function: u32) -> Found {
        let value = self.returns.entry(function).or_default();
        value.asked = true;
        let places = value.places;
        self.found(places)
    }

    pub(super) fn touch(&mut self, places: &[PlaceId], flags: u8) {
        for place in places {
            let index = place.0 as usize;
            if index >= self.flags.len() {
                self.flags.resize(self.places.len().max(index + 1), 0);
            }
            if let Some(known) = self.flags.get_mut(index) {
                if *known == 0 {
                    self.touched.push(*place);
                }
                *known |= flags;
            }
        }
    }

    /// Whether a type is a handle or holds one.
    pub(super) fn holds_handle(&mut self, ty: u32) -> bool {
        let module = self.module;
        match module.opcode_of(ty) {
            Some(Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray) => *self
                .handles
                .entry(ty)
                .or_insert_with(|| super::instruction::holds_handle(module, ty)),
            _ => super::instruction::holds_handle(module, ty),
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
    match definition.op() {
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
    (definition.op() == Some(Op::TypePointer)).then(|| definition.operands.get(2).copied())?
}

/// What a pointer type into physical storage points at.
pub(super) fn physical_pointee(module: &Module, ty: u32) -> Option<u32> {
    (module.kind_of(ty) == Kind::PhysicalPointer).then(|| pointee(module, ty))?
}
