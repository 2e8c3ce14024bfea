//! Variables of the result: which of those of several classes are one, and which clash.

use spirv::{Decoration as Deco, Op, StorageClass};

use super::class_module::{ClassModule, Global, Owner, WHOLE, part, string};
use super::error::Code;
use super::home::home;
use super::merge::{Merge, Resource};
use super::output::instruction;
use crate::{Error, Stage};

/// An input or output of the result.
#[derive(Clone, Debug)]
pub(crate) struct Io {
    storage: u32,
    name: String,
    /// Everything that must agree for two to be one: decorations.
    traits: Vec<u32>,
    pointer: u32,
    /// Location, component mask; one for each location that it takes.
    slots: Vec<(u32, u32)>,
    index: u32,
    id: u32,
    element: usize,
}

impl Io {
    pub(crate) fn id(&self) -> u32 {
        self.id
    }
}

impl Merge<'_> {
    /// Brings a variable in, or finds the one that it is the same as.
    pub(crate) fn variable(&mut self, element: usize, index: u32) -> Result<u32, Error> {
        let Some((module, global)) = self
            .module(element)
            .and_then(|module| Some((module, module.globals.get(index as usize)?)))
        else {
            return Ok(0);
        };
        let known = self.mapped(element, global.id);
        if known != 0 {
            return Ok(known);
        }
        let id = match module.storage_class(global) {
            Some(StorageClass::Private | StorageClass::Workgroup) => {
                self.private(element, module, global)?
            }
            Some(StorageClass::Input | StorageClass::Output) => self.io(element, module, global)?,
            Some(StorageClass::PushConstant) => {
                self.push_constants(element, module, global, index)?
            }
            Some(StorageClass::TaskPayloadWorkgroupEXT) => self.payload(element, module, global)?,
            Some(
                StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant,
            ) => self.resource(element, module, global, index)?,
            _ => {
                let name = module.name(global.id);
                self.new_variable(element, module, global, &name, None)?
            }
        };
        self.map(element, global.id, id);
        Ok(id)
    }

    fn pointer(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        self.id(
            element,
            module.operands(global).first().copied().unwrap_or_default(),
        )
    }

    fn new_variable(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        name: &str,
        binding: Option<u32>,
    ) -> Result<u32, Error> {
        let pointer = self.pointer(element, module, global)?;
        let initialiser = match module.operands(global).get(3) {
            Some(value) => Some(self.id(element, *value)?),
            None => None,
        };
        let storage = module.operands(global).get(2).copied().unwrap_or_default();
        let id = self.out.id((element as u32, global.id));
        self.out.globals.push(instruction(
            Op::Variable as u32,
            3 + usize::from(initialiser.is_some()),
        ));
        self.out
            .globals
            .extend([pointer, id, storage].into_iter().chain(initialiser));
        if module.names.contains_key(&global.id) || !name.is_empty() {
            self.out.text_name(id, name);
        }
        for decoration in part(&module.decorations, &global.decorations) {
            let words = part(&module.words, &decoration.words);
            match (words.first(), binding) {
                (Some(kind), Some(binding)) if *kind == Deco::Binding as u32 => {
                    self.out.decorate(id, &[*kind, binding]);
                }
                (Some(kind), _) if *kind == Deco::LinkageAttributes as u32 => {}
                _ => {
                    self.out
                        .decorations
                        .push(instruction(decoration.op, words.len() + 1));
                    self.out.decorations.push(id);
                    self.out.decorations.extend_from_slice(words);
                }
            }
        }
        self.variables.push(id);
        Ok(id)
    }

    fn private(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        let name = module.name(global.id);
        let owner = home(self.library, self.graph, element, global.owner, &name);
        let Some(owner) = owner else {
            let qualified = self.qualified(element, &name);
            return self.new_variable(element, module, global, &qualified, None);
        };
        let pointer = self.pointer(element, module, global)?;
        if let Some(&(id, other)) = self.shared_variables.get(&(owner, name.clone())) {
            if other == pointer {
                return Ok(id);
            }
            return Err(self.place(element).error(
                Code::M14,
                name,
                format!(
                    "has another type here than in class {}",
                    self.place(owner).class
                ),
            ));
        }
        let qualified = if global.owner == Owner::Root {
            name.clone()
        } else {
            self.qualified(owner, &name)
        };
        let id = self.new_variable(element, module, global, &qualified, None)?;
        self.shared_variables.insert((owner, name), (id, pointer));
        Ok(id)
    }

    /// A name with the class and the path of slots that it belongs to.
    pub(crate) fn qualified(&self, element: usize, name: &str) -> String {
        let Some(own) = self.graph.elements.get(element) else {
            return name.to_owned();
        };
        let path = self
            .graph
            .nodes
            .get(own.node)
            .map_or("", |node| node.path.as_str());
        let class = self
            .library
            .classes
            .get(own.class)
            .map_or("", |class| class.header.name());
        format!("{path}{class}.{name}")
    }

    fn resource(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        index: u32,
    ) -> Result<u32, Error> {
        let name = resource_name(module, global);
        let (set, given) = set_and_binding(module, global);
        let automatic = global.automatic;
        let binding = if automatic {
            self.shared
                .bindings
                .get(&(set, name.clone()))
                .copied()
                .unwrap_or_default()
        } else {
            given
        };
        let pointer = self.pointer(element, module, global)?;
        for other in &self.resources {
            let place = || self.place(element);
            let there = || self.place(other.element);
            if other.name == name {
                if (other.set, other.binding) != (set, binding) {
                    return Err(place().error(
                        Code::M11,
                        name,
                        format!("is at set {set}, binding {binding} here, but class {} has it at set {}, binding {}", there().class, other.set, other.binding),
                    ));
                }
                if other.pointer != pointer {
                    let what = self.module(other.element).and_then(|other_module| {
                        let other_global = other_module.globals.get(other.variable as usize)?;
                        super::difference::difference(
                            module,
                            *module.operands(global).first()?,
                            other_module,
                            *other_module.operands(other_global).first()?,
                        )
                    });
                    return Err(place().error(
                        Code::M11,
                        name,
                        format!(
                            "has another type here than in class {}: {}",
                            there().class,
                            what.unwrap_or_default()
                        ),
                    ));
                }
                return Ok(other.id);
            }
            if (other.set, other.binding) == (set, binding) {
                // Two views of one resource are fine if one class declares both.
                let declared = |of: &ClassModule, name: &str| {
                    of.globals.iter().any(|global| {
                        global.op == Op::Variable as u32
                            && resource_name(of, global) == name
                            && !global.automatic
                            && set_and_binding(of, global) == (set, given)
                    })
                };
                let aliased = declared(module, &other.name)
                    || self
                        .module(other.element)
                        .is_some_and(|other_module| declared(other_module, &name));
                if !aliased {
                    return Err(place().error(
                        Code::M10,
                        name,
                        format!(
                            "is at set {set}, binding {binding}, where class {} has {}",
                            there().class,
                            other.name
                        ),
                    ));
                }
            }
        }
        let own_name = module.name(global.id);
        let id = self.new_variable(
            element,
            module,
            global,
            &own_name,
            automatic.then_some(binding),
        )?;
        self.resources.push(Resource {
            name,
            set,
            binding,
            pointer,
            id,
            element,
            variable: index,
        });
        Ok(id)
    }

    fn push_constants(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        _: u32,
    ) -> Result<u32, Error> {
        let pointer = self.pointer(element, module, global)?;
        let name = module
            .block(global)
            .map(|block| module.name(block.id))
            .unwrap_or_default();
        if let Some((other, from, id)) = self.push_constant {
            if other == pointer {
                return Ok(id);
            }
            let there = self.place(from);
            let what = self
                .module(from)
                .and_then(|there| {
                    let other = there
                        .globals
                        .iter()
                        .find(|other| self.mapped(from, other.id) == id)?;
                    super::difference::difference(
                        module,
                        *module.operands(global).first()?,
                        there,
                        *there.operands(other).first()?,
                    )
                })
                .unwrap_or_default();
            return Err(self.place(element).error(
                Code::M13,
                name,
                format!(
                    "the push-constant block differs from that of class {} ({}:{}): {what}",
                    there.class, there.file, there.line
                ),
            ));
        }
        let size = module.block(global).map_or(0, |block| block.size);
        if size > self.shared.max_push_constants {
            return Err(self.place(element).error(
                Code::M13,
                name,
                format!(
                    "the push-constant block ends at byte {size}, expected at most {}",
                    self.shared.max_push_constants
                ),
            ));
        }
        let own_name = module.name(global.id);
        let id = self.new_variable(element, module, global, &own_name, None)?;
        self.push_constant = Some((pointer, element, id));
        Ok(id)
    }

    fn payload(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        let name = module.name(global.id);
        let pointer = self.pointer(element, module, global)?;
        if let Some((other, other_pointer, id)) = &self.payload {
            if *other == name && *other_pointer == pointer {
                return Ok(*id);
            }
            let message = format!("is a second task payload beside {other}, expected one");
            return Err(self.place(element).error(Code::M12, name, message));
        }
        let id = self.new_variable(element, module, global, &name, None)?;
        self.payload = Some((name, pointer, id));
        Ok(id)
    }

    fn io(&mut self, element: usize, module: &ClassModule, global: &Global) -> Result<u32, Error> {
        let name = module.name(global.id);
        let pointer = self.pointer(element, module, global)?;
        let storage = module.operands(global).get(2).copied().unwrap_or_default();
        let mut traits = Vec::new();
        for decoration in part(&module.decorations, &global.decorations) {
            traits.push(u32::MAX);
            traits.extend_from_slice(part(&module.words, &decoration.words));
        }
        let literal = |kind| {
            module
                .decoration(global, WHOLE, kind)
                .and_then(|words| words.first())
                .copied()
        };
        let slots = self.locations(element, module, global, storage);
        let new = Io {
            storage,
            name,
            traits,
            pointer,
            slots,
            index: literal(Deco::Index).unwrap_or_default(),
            id: 0,
            element,
        };
        let built_in = literal(Deco::BuiltIn).is_some();
        for other in self.io.iter().filter(|other| other.storage == storage) {
            let same = other.traits == new.traits && other.pointer == new.pointer;
            if same && (built_in || other.name == new.name) {
                return Ok(other.id);
            }
            let overlap = other.index == new.index
                && new.slots.iter().any(|(location, mask)| {
                    other
                        .slots
                        .iter()
                        .any(|(at, taken)| at == location && mask & taken != 0)
                });
            let both_built_in = built_in && other.traits == new.traits;
            let named_alike = !new.name.is_empty() && other.name == new.name;
            if overlap || both_built_in || named_alike {
                let there = self.place(other.element);
                let way = if storage == StorageClass::Input as u32 {
                    "input"
                } else {
                    "output"
                };
                let problem = if named_alike || both_built_in {
                    "has another type, location, component or interpolation here than".to_owned()
                } else {
                    let location = new.slots.first().map_or(0, |slot| slot.0);
                    format!(
                        "is an {way} at location {location}, which {} takes",
                        other.name
                    )
                };
                return Err(self.place(element).error(
                    Code::M12,
                    new.name,
                    format!(
                        "{problem} in class {} ({}:{})",
                        there.class, there.file, there.line
                    ),
                ));
            }
        }
        let own_name = new.name.clone();
        let id = self.new_variable(element, module, global, &own_name, None)?;
        self.io.push(Io { id, ..new });
        Ok(id)
    }

    /// The locations that an input or output takes, each with its components as a mask.
    fn locations(
        &self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        storage: u32,
    ) -> Vec<(u32, u32)> {
        let literal = |kind| {
            module
                .decoration(global, WHOLE, kind)
                .and_then(|words| words.first())
                .copied()
        };
        let Some(mut ty) = module.pointee(global) else {
            return Vec::new();
        };
        // Mesh outputs are arrays over vertices or primitives.
        if self.stage == Stage::Mesh
            && storage == StorageClass::Output as u32
            && ty.op == Op::TypeArray as u32
        {
            match module
                .operands(ty)
                .get(1)
                .and_then(|inner| module.global(*inner))
            {
                Some(inner) => ty = inner,
                None => return Vec::new(),
            }
        }
        let length = |id: u32| self.length(element, module, id);
        let mut locations = Locations {
            found: Vec::new(),
            steps: MAX_STEPS,
            length: &length,
        };
        match literal(Deco::Location) {
            Some(location) => {
                let component = literal(Deco::Component).unwrap_or_default();
                locations.spread(module, ty, location, component);
            }
            None if ty.op == Op::TypeStruct as u32 => {
                for (member, id) in module.operands(ty).iter().skip(1).enumerate() {
                    let location = module
                        .decoration(ty, member as u32, Deco::Location)
                        .and_then(|words| words.first());
                    if let (Some(location), Some(inner)) = (location, module.global(*id)) {
                        locations.spread(module, inner, *location, 0);
                    }
                }
            }
            None => {}
        }
        locations.found
    }

    /// Length of an array, parameters as in the recipe where they are plain.
    fn length(&self, element: usize, module: &ClassModule, id: u32) -> u32 {
        let mapped = self.mapped(element, id);
        if let Some((_, bits)) = super::fold::scalar(&self.out, mapped) {
            return bits;
        }
        module
            .global(id)
            .and_then(|length| module.operands(length).get(2).copied())
            .unwrap_or(1)
    }
}

/// What a resource is called: its variable's name, or that of its block where it has none.
pub(crate) fn resource_name(module: &ClassModule, global: &Global) -> String {
    let own = string(part(&module.words, &global.name));
    if !own.is_empty() {
        return own;
    }
    module
        .block(global)
        .map(|block| string(part(&module.words, &block.name)))
        .unwrap_or_default()
}

pub(crate) fn set_and_binding(module: &ClassModule, global: &Global) -> (u32, u32) {
    let literal = |kind| {
        module
            .decoration(global, WHOLE, kind)
            .and_then(|words| words.first())
            .copied()
            .unwrap_or_default()
    };
    (literal(Deco::DescriptorSet), literal(Deco::Binding))
}

/// Locations with the components taken there.
struct Locations<'a> {
    found: Vec<(u32, u32)>,
    /// Steps that are left: types of hostile modules can be large out of all proportion.
    steps: u32,
    length: &'a dyn Fn(u32) -> u32,
}

/// Most steps. No device has as many locations.
const MAX_STEPS: u32 = 4096;

impl Locations<'_> {
    /// Adds the locations of a type; gives the number of them.
    fn spread(&mut self, module: &ClassModule, ty: &Global, location: u32, component: u32) -> u32 {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 {
            return 0;
        }
        let words = module.operands(ty);
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let inner = module.global(word(1));
        let width = |ty: &Global| {
            module
                .operands(ty)
                .get(1)
                .copied()
                .unwrap_or(32)
                .div_ceil(32)
                .min(2)
        };
        match Op::from_u32(ty.op) {
            Some(Op::TypeInt | Op::TypeFloat) => self.fill(width(ty), location, component),
            Some(Op::TypeVector) => {
                self.fill(inner.map_or(1, width) * word(2).min(4), location, component)
            }
            Some(Op::TypeMatrix | Op::TypeArray) => {
                let matrix = Op::from_u32(ty.op) == Some(Op::TypeMatrix);
                let count = if matrix {
                    word(2)
                } else {
                    (self.length)(word(2))
                };
                let mut taken = 0_u32;
                for _ in 0..count.min(MAX_STEPS) {
                    let Some(part) = inner else {
                        break;
                    };
                    let more = self.spread(module, part, location.saturating_add(taken), component);
                    taken = taken.saturating_add(more);
                }
                taken
            }
            Some(Op::TypeStruct) => {
                let mut taken = 0_u32;
                for part in words.iter().skip(1).filter_map(|id| module.global(*id)) {
                    let more = self.spread(module, part, location.saturating_add(taken), 0);
                    taken = taken.saturating_add(more);
                }
                taken
            }
            _ => 0,
        }
    }

    fn fill(&mut self, components: u32, location: u32, component: u32) -> u32 {
        let mut rest = components;
        let mut taken = 0;
        while rest > 0 {
            let first = if taken == 0 { component.min(3) } else { 0 };
            let here = rest.min(4 - first);
            self.found
                .push((location.saturating_add(taken), ((1 << here) - 1) << first));
            rest -= here;
            taken += 1;
        }
        taken
    }
}
