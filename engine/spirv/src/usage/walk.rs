//! The walk over the functions that an entry point reaches, until nothing new is found.

use std::collections::BTreeSet;
use std::ops::Deref;

use smallvec::SmallVec;
use spirv::Op;

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
    #[inline]
    pub(crate) fn work(&mut self, steps: usize) -> Result<(), Error> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.step_limit {
            return Err(self.exceeded("the analysis", self.step_limit, "steps"));
        }
        Ok(())
    }

    #[cold]
    fn exceeded(&self, what: &str, limit: usize, unit: &'static str) -> Error {
        Error::TooLarge {
            what: what.to_owned(),
            bytes: self.bytes,
            limit,
            unit,
        }
    }

    /// Accounts for something of the result that is kept.
    #[inline]
    pub(crate) fn keep(&mut self, count: usize) -> Result<(), Error> {
        self.entries = self.entries.saturating_add(count);
        if self.entries > self.entry_limit {
            return Err(self.exceeded("the description", self.entry_limit, "entries"));
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
    /// Makes it say nothing.
    fn clear(&mut self) {
        self.variables.clear();
        self.constants.clear();
        self.touched.clear();
        self.sampled.clear();
        self.physical = false;
        self.physical_flags = 0;
    }

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
fn reachable(module: &Module, function: u32) -> SmallVec<[usize; 4]> {
    let Some(index) = module.function_index(function) else {
        return SmallVec::new();
    };
    if module.has_calls {
        called_from(module, index)
    } else {
        SmallVec::from_slice(&[index])
    }
}

/// The function at this position and those that it reaches.
#[inline(never)]
fn called_from(module: &Module, index: usize) -> SmallVec<[usize; 4]> {
    let mut order = SmallVec::new();
    let callees = |index: usize| -> SmallVec<[usize; 4]> {
        let Some(function) = module.functions.get(index) else {
            return SmallVec::new();
        };
        let calls = module
            .steps(function)
            .filter(|instruction| instruction.is(Op::FunctionCall));
        calls
            .filter_map(|call| module.function_index(*call.operands.get(2)?))
            .collect()
    };
    let mut seen = vec![false; module.functions.len()];
    if let Some(first) = seen.get_mut(index) {
        *first = true;
    }
    let mut stack: SmallVec<[_; 4]> = SmallVec::new();
    stack.push((index, callees(index)));
    while let Some((index, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(callee) => {
                if let Some(seen @ false) = seen.get_mut(callee) {
                    *seen = true;
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
    tables: &'p mut WalkTables,
    /// Whether anything has asked what a variable holds.
    asked_contents: bool,
    /// Whether any variable holds anything.
    has_contents: bool,
    grew: bool,
    /// Id of the function being walked.
    current: u32,
}

/// What the walk writes down. Can be used again for other modules.
#[derive(Debug, Default)]
pub(crate) struct WalkTables {
    /// Places that a pointer may point at, or a handle may come from.
    values: IdTable<Value>,
    /// Ids whose value is set.
    set: Vec<u32>,
    sets: Vec<PlaceSet>,
    /// Pointers and handles that a variable may hold, or what pointers to a type point at.
    contents: IdTable<Held>,
    /// Pointers and handles that a function may return.
    returns: IdTable<Value>,
    /// By place: what is done with it.
    flags: Vec<u8>,
    touched: Vec<PlaceId>,
    /// Whether structs and arrays hold handles, as far as it was asked.
    handles: IdTable<Option<bool>>,
}

impl<'m, 'p> Walk<'m, 'p> {
    pub(crate) fn new(
        module: &'m Module,
        places: &'p mut Places,
        budget: &'p mut Budget,
        tables: &'p mut WalkTables,
    ) -> Self {
        tables.values.clear();
        tables.set.clear();
        tables.flags.clear();
        tables.touched.clear();
        tables.handles.clear();
        Self {
            module,
            places,
            budget,
            tables,
            asked_contents: false,
            has_contents: false,
            grew: false,
            current: 0,
        }
    }
}

impl Walk<'_, '_> {
    /// Analyses the entry point whose function has this id. `usage` is one that is no longer needed.
    pub(crate) fn analyse(&mut self, function: u32, mut usage: Usage) -> Result<Usage, Error> {
        self.reset();
        usage.clear();
        let module = self.module;
        let reachable = reachable(module, function);
        self.globals()?;
        self.names(&reachable, &mut usage)?;
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
        for place in &self.tables.touched {
            let root = self.places.get(*place).root;
            let flags = self
                .tables
                .flags
                .get(place.0 as usize)
                .copied()
                .unwrap_or(0);
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
        for id in self.tables.set.drain(..) {
            self.tables.values.set(self.module, id, Value::default());
        }
        self.tables.sets.clear();
        self.tables.contents.clear();
        self.asked_contents = false;
        self.has_contents = false;
        self.tables.returns.clear();
        for place in self.tables.touched.drain(..) {
            if let Some(flags) = self.tables.flags.get_mut(place.0 as usize) {
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
            if instruction.is(Op::Variable)
                && let Some(initializer) = instruction.operands.get(3)
            {
                let initial = self.get(*initializer);
                let root = Root::Variable(instruction.operand(1)?);
                self.fill(root, &initial)?;
            }
        }
        Ok(())
    }

    /// Global variables and constants that reachable functions name.
    fn names(&mut self, reachable: &[usize], usage: &mut Usage) -> Result<(), Error> {
        let module = self.module;
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
                    _ => {}
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
        Ok(())
    }

    fn set_value(&mut self, id: u32, value: Value) {
        self.tables.values.set(self.module, id, value);
    }

    /// Places that a value stands for.
    pub(super) fn get(&mut self, id: u32) -> Found {
        let module = self.module;
        // Nothing is ever passed on to a variable itself.
        if let Kind::GlobalVariable | Kind::LocalVariable = module.kind_of(id) {
            return Found::One(self.variable(id));
        }
        let value = self.tables.values.get(module, id);
        if !value.asked {
            if value.places == Held::Nothing {
                self.tables.set.push(id);
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
            Held::Nothing if module.has_physical_pointers => self.address(id),
            held => self.found(held),
        }
    }

    fn variable(&mut self, id: u32) -> PlaceId {
        let module = self.module;
        let ty = || {
            module
                .definition(id)
                .map_or(0, |definition| variable_type(module, definition))
        };
        self.places.root(module, Root::Variable(id), ty)
    }

    fn found(&self, held: Held) -> Found {
        match held {
            Held::Nothing => Found::Nothing,
            Held::One(place) => Found::One(place),
            Held::Many(number) => self
                .tables
                .sets
                .get(number as usize)
                .map_or(Found::Nothing, |set| Found::Many(set.places.clone())),
        }
    }

    /// Where a value points that nothing was passed on to: an address may come as data, from a buffer or from an integer.
    #[inline(never)]
    fn address(&mut self, id: u32) -> Found {
        let module = self.module;
        let ty = module.type_of(id);
        match ty.and_then(|ty| physical_pointee(module, ty)) {
            Some(pointee) => {
                let root = Root::Physical(pointee);
                Found::One(self.places.root(module, root, || pointee))
            }
            None => Found::Nothing,
        }
    }

    /// What is held once more places have joined; `None` if that changes nothing.
    fn join(&mut self, held: Held, more: &[PlaceId]) -> Result<Option<Held>, Error> {
        match (held, more) {
            (Held::Nothing, [place]) => Ok(Some(Held::One(*place))),
            (Held::One(known), [place]) if known == *place => Ok(None),
            _ => self.join_many(held, more),
        }
    }

    #[inline(never)]
    fn join_many(&mut self, held: Held, more: &[PlaceId]) -> Result<Option<Held>, Error> {
        let number = match held {
            Held::Many(number) => number as usize,
            _ => {
                self.tables.sets.push(PlaceSet {
                    places: self.found(held).to_vec(),
                    wholes: false,
                });
                self.tables.sets.len() - 1
            }
        };
        let Some(set) = self.tables.sets.get_mut(number) else {
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
        let value = self.tables.values.get(self.module, id);
        if let Some(held) = self.join(value.places, places)? {
            self.grew |= value.asked;
            if value.places == Held::Nothing && !value.asked {
                self.tables.set.push(id);
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
        let held = self.tables.contents.get(self.module, root.id());
        if let Some(held) = self.join(held, places)? {
            self.grew |= self.asked_contents;
            self.has_contents = true;
            self.tables.contents.set(self.module, root.id(), held);
        }
        Ok(())
    }

    pub(super) fn held(&mut self, root: Root) -> Found {
        self.asked_contents = true;
        if !self.has_contents {
            return Found::Nothing;
        }
        self.found(self.tables.contents.get(self.module, root.id()))
    }

    pub(super) fn add_return(&mut self, places: &[PlaceId]) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let value = self.tables.returns.get(self.module, self.current);
        if let Some(places) = self.join(value.places, places)? {
            self.grew |= value.asked;
            let value = Value { places, ..value };
            self.tables.returns.set(self.module, self.current, value);
        }
        Ok(())
    }

    pub(super) fn returned(&mut self, function: u32) -> Found {
        let places = self.tables.returns.get(self.module, function).places;
        let value = Value {
            asked: true,
            places,
        };
        self.tables.returns.set(self.module, function, value);
        self.found(places)
    }

    pub(super) fn touch(&mut self, places: &[PlaceId], flags: u8) {
        for place in places {
            let index = place.0 as usize;
            if index >= self.tables.flags.len() {
                self.tables
                    .flags
                    .resize(self.places.len().max(index + 1), 0);
            }
            if let Some(known) = self.tables.flags.get_mut(index) {
                if *known == 0 {
                    self.tables.touched.push(*place);
                }
                *known |= flags;
            }
        }
    }

    /// Whether a type is a handle or holds one.
    pub(super) fn holds_handle(&mut self, ty: u32) -> bool {
        let module = self.module;
        match module.opcode_of(ty) {
            Some(Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray) => {
                self.tables.handles.get(module, ty).unwrap_or_else(|| {
                    let holds = super::instruction::holds_handle(module, ty);
                    self.tables.handles.set(module, ty, Some(holds));
                    holds
                })
            }
            _ => super::instruction::holds_handle(module, ty),
        }
    }
}

pub(super) fn is_global(module: &Module, variable: u32) -> bool {
    module.kind_of(variable) != Kind::LocalVariable
}

/// Type of what a variable holds; 0 if it is not known.
pub(crate) fn variable_type(module: &Module, definition: Instruction<'_>) -> u32 {
    if definition.is(Op::UntypedVariableKHR) {
        return definition.operands.get(3).copied().unwrap_or(0);
    }
    let ty = definition.operands.first();
    ty.and_then(|ty| pointee(module, *ty)).unwrap_or(0)
}

/// What a pointer type points at.
pub(crate) fn pointee(module: &Module, ty: u32) -> Option<u32> {
    let definition = module.definition(ty)?;
    let pointee = definition.operands.get(2).copied();
    pointee.filter(|_| definition.is(Op::TypePointer))
}

/// What a pointer type into physical storage points at.
pub(super) fn physical_pointee(module: &Module, ty: u32) -> Option<u32> {
    (module.kind_of(ty) == Kind::PhysicalPointer).then(|| pointee(module, ty))?
}
