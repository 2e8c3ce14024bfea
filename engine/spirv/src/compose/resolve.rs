//! Which definition each call reaches, and what of the classes is used at all.

use std::collections::HashMap;

use spirv::{Op, StorageClass};

use super::class_module::{ClassModule, Owner};
use super::error::{Code, Place};
use super::graph::{Graph, NodeKind};
use super::home::home;
use super::library::Library;
use super::link::Role;
use super::stages;
use crate::{Error, Stage};

/// Stands for the root's chains among those of the mixes.
pub(crate) const ROOT: usize = usize::MAX;

/// A definition (or an abstract declaration) in a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) element: usize,
    pub(crate) member: usize,
    /// `None` for abstract ones.
    pub(crate) function: Option<u32>,
}

/// A function of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Copied from a class.
    Copy { element: usize, function: u32 },
    /// Calls each of a slot's functions, with the stub that it replaces.
    Each {
        element: usize,
        function: u32,
        targets: Vec<usize>,
    },
}

/// What is used.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) functions: Vec<Body>,
    /// Per element, per function of its module: the function of the result that a call reaches.
    pub(crate) calls: Vec<Vec<Option<usize>>>,
    /// Per element: variables in use, by their position among the globals, in order.
    pub(crate) variables: Vec<Vec<u32>>,
    /// Initialisers in use: element, position.
    pub(crate) initialisers: Vec<(usize, usize)>,
    pub(crate) main: usize,
}

pub(crate) struct Resolver<'a> {
    pub(crate) library: &'a Library,
    pub(crate) graph: &'a Graph,
    pub(crate) modules: &'a [Option<&'a ClassModule>],
    pub(crate) stage: Stage,
    pub(crate) recipe: &'a Place,
    pub(crate) chains: HashMap<(usize, u32), Vec<Entry>>,
    /// Symbols that are root for somebody.
    pub(crate) roots: Vec<u32>,
    /// Where each definition stands in its chain.
    pub(crate) live: Live,
    pub(crate) edges: Vec<Vec<usize>>,
    /// The function of the result that stands for a definition.
    copies: Vec<Vec<Option<usize>>>,
    pending: Vec<usize>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        library: &'a Library,
        graph: &'a Graph,
        modules: &'a [Option<&'a ClassModule>],
        stage: Stage,
        recipe: &'a Place,
    ) -> Self {
        let functions =
            |module: &Option<&ClassModule>| module.map_or(0, |module| module.functions.len());
        Self {
            library,
            graph,
            modules,
            stage,
            recipe,
            chains: HashMap::new(),
            roots: Vec::new(),
            live: Live {
                calls: modules
                    .iter()
                    .map(|module| vec![None; functions(module)])
                    .collect(),
                variables: vec![Vec::new(); modules.len()],
                ..Live::default()
            },
            edges: Vec::new(),
            copies: modules
                .iter()
                .map(|module| vec![None; functions(module)])
                .collect(),
            pending: Vec::new(),
        }
    }

    pub(crate) fn class(&self, element: usize) -> Option<&'a super::library::Class> {
        self.library
            .classes
            .get(self.graph.elements.get(element)?.class)
    }

    fn place(&self, element: usize, line: u32) -> Place {
        self.class(element)
            .map(|class| class.header.at(line))
            .unwrap_or_default()
    }

    pub(crate) fn run(mut self) -> Result<Live, Error> {
        self.build_chains()?;
        let symbol = self.library.find_symbol("mx_main()");
        let chain = symbol.and_then(|symbol| {
            self.chains
                .get(&(0, symbol))
                .or_else(|| self.chains.get(&(ROOT, symbol)))
        });
        let Some(entry) = chain.and_then(|chain| chain.last()).copied() else {
            let message = format!(
                "no class of the {} stage has an entry function void mx_main()",
                self.stage.name()
            );
            return Err(self.recipe.error(Code::M17, "mx_main()", message));
        };
        self.live.main = self.definition(entry, symbol.unwrap_or_default(), None)?;
        loop {
            while let Some(number) = self.pending.pop() {
                self.follow(number)?;
            }
            if !self.initialise()? {
                break;
            }
        }
        self.check_recursion()?;
        Ok(self.live)
    }

    /// The function of the result for a chain's entry.
    fn definition(
        &mut self,
        entry: Entry,
        symbol: u32,
        caller: Option<(usize, u32)>,
    ) -> Result<usize, Error> {
        if let Some(function) = entry.function {
            return Ok(self.copy(entry.element, function));
        }
        let key = self
            .library
            .symbols
            .get(symbol as usize)
            .map_or("", String::as_str);
        let line = self
            .class(entry.element)
            .and_then(|class| class.header.members.get(entry.member))
            .map_or(0, |member| member.line);
        let by = caller.map_or_else(String::new, |caller| {
            format!("; it is called by {}", self.describe(caller))
        });
        Err(self.place(entry.element, line).error(
            Code::M03,
            key,
            format!("is abstract, and no class of the mix overrides it{by}"),
        ))
    }

    pub(crate) fn describe(&self, (element, function): (usize, u32)) -> String {
        let name = self
            .modules
            .get(element)
            .copied()
            .flatten()
            .and_then(|module| module.functions.get(function as usize))
            .map_or("", |function| {
                function.name.split('(').next().unwrap_or_default()
            });
        format!(
            "{}::{name}",
            self.class(element).map_or("", |class| class.header.name())
        )
    }

    fn copy(&mut self, element: usize, function: u32) -> usize {
        let next = self.live.functions.len();
        let slot = self
            .copies
            .get_mut(element)
            .and_then(|copies| copies.get_mut(function as usize));
        if let Some(slot) = slot {
            if let Some(number) = slot {
                return *number;
            }
            *slot = Some(next);
        }
        self.live.functions.push(Body::Copy { element, function });
        self.edges.push(Vec::new());
        self.pending.push(next);
        next
    }

    /// Goes through what a function calls and uses.
    fn follow(&mut self, number: usize) -> Result<(), Error> {
        let Some(Body::Copy { element, function }) = self.live.functions.get(number).cloned()
        else {
            return Ok(());
        };
        let modules = self.modules;
        let Some(found) = modules
            .get(element)
            .copied()
            .flatten()
            .and_then(|module| module.functions.get(function as usize))
        else {
            return Ok(());
        };
        for &(op, _) in &found.code.restricted {
            if let Some(op) = Op::from_u32(op)
                && !stages::allowed(op, self.stage)
            {
                let symbol = found.name.split('(').next().unwrap_or_default();
                let message = format!(
                    "uses Op{op:?}, which the {} stage does not have",
                    self.stage.name()
                );
                return Err(self.member_place(element, found.role).error(
                    Code::M20,
                    symbol,
                    message,
                ));
            }
        }
        for &callee in &found.code.calls {
            let target = self.call(element, callee, (element, function))?;
            if let Some(edges) = self.edges.get_mut(number) {
                edges.push(target);
            }
        }
        for &variable in &found.code.variables {
            self.variable(element, variable);
        }
        Ok(())
    }

    pub(crate) fn member_place(&self, element: usize, role: Role) -> Place {
        let line = match (role, self.class(element)) {
            (Role::Own(index), Some(class)) => class
                .header
                .members
                .get(index)
                .map_or(0, |member| member.line),
            (_, Some(class)) => class.header.place.line,
            _ => 0,
        };
        self.place(element, line)
    }

    /// The function of the result that a call reaches.
    fn call(&mut self, element: usize, callee: u32, caller: (usize, u32)) -> Result<usize, Error> {
        if let Some(Some(known)) = self
            .live
            .calls
            .get(element)
            .and_then(|calls| calls.get(callee as usize))
        {
            return Ok(*known);
        }
        let target = self.target(element, callee, caller)?;
        if let Some(slot) = self
            .live
            .calls
            .get_mut(element)
            .and_then(|calls| calls.get_mut(callee as usize))
        {
            *slot = Some(target);
        }
        Ok(target)
    }

    fn target(
        &mut self,
        element: usize,
        callee: u32,
        caller: (usize, u32),
    ) -> Result<usize, Error> {
        let modules = self.modules;
        let Some(function) = modules
            .get(element)
            .copied()
            .flatten()
            .and_then(|module| module.functions.get(callee as usize))
        else {
            return Ok(0);
        };
        let node = self
            .graph
            .elements
            .get(element)
            .map_or(0, |element| element.node);
        let short = function.name.split('(').next().unwrap_or_default();
        match function.role {
            Role::Private if function.unresolved => {
                Err(self.member_place(element, function.role).error(
                    Code::M18,
                    short,
                    format!(
                        "stands for a function that the header does not name, and {} calls it",
                        self.describe(caller)
                    ),
                ))
            }
            Role::Private => Ok(self.copy(element, callee)),
            Role::Own(member) => {
                let symbol = self
                    .class(element)
                    .and_then(|class| class.symbols.get(member))
                    .copied()
                    .unwrap_or_default();
                self.latest(element, node, symbol, caller)
            }
            Role::Inherited(symbol) => self.latest(element, node, symbol, caller),
            Role::Root(symbol) => self.latest(element, ROOT, symbol, caller),
            Role::Base(member) => self.base(element, node, member, caller),
            Role::Import(importer, index, symbol) => {
                let imported = self.graph.nodes.get(node).and_then(|node| {
                    let of_class = |number: &&usize| {
                        self.graph
                            .elements
                            .get(**number)
                            .is_some_and(|element| element.class == importer)
                    };
                    let number = if self
                        .graph
                        .elements
                        .get(element)
                        .is_some_and(|element| element.class == importer)
                    {
                        element
                    } else {
                        *node.elements.iter().rev().find(of_class)?
                    };
                    self.graph.elements.get(number)?.imports.get(index).copied()
                });
                match imported {
                    Some(imported) => self.latest(element, imported, symbol, caller),
                    None => Err(self.unresolved(element, short, caller)),
                }
            }
            Role::Slot(slot, symbol) => {
                let targets = self.slot(element, node, slot, symbol, short, caller)?;
                targets
                    .first()
                    .copied()
                    .ok_or_else(|| self.unresolved(element, short, caller))
            }
            Role::Each(slot, symbol) => {
                let targets = self.slot(element, node, slot, symbol, short, caller)?;
                let number = self.live.functions.len();
                self.edges.push(targets.clone());
                self.live.functions.push(Body::Each {
                    element,
                    function: callee,
                    targets,
                });
                Ok(number)
            }
        }
    }

    fn unresolved(&self, element: usize, symbol: &str, caller: (usize, u32)) -> Error {
        let place = self.member_place(element, Role::Private);
        place.error(
            Code::M18,
            symbol,
            format!(
                "stands for a function that is not there, and {} calls it",
                self.describe(caller)
            ),
        )
    }

    /// The most derived definition.
    fn latest(
        &mut self,
        element: usize,
        node: usize,
        symbol: u32,
        caller: (usize, u32),
    ) -> Result<usize, Error> {
        let own = self
            .graph
            .elements
            .get(element)
            .map_or(0, |element| element.node);
        let entry = [node, ROOT, own]
            .into_iter()
            .find_map(|node| self.chains.get(&(node, symbol)))
            .and_then(|chain| chain.last())
            .copied();
        match entry {
            Some(entry) => self.definition(entry, symbol, Some(caller)),
            None => {
                let key = self
                    .library
                    .symbols
                    .get(symbol as usize)
                    .map_or("", String::as_str);
                Err(self.unresolved(element, key, caller))
            }
        }
    }

    fn base(
        &mut self,
        element: usize,
        node: usize,
        member: usize,
        caller: (usize, u32),
    ) -> Result<usize, Error> {
        let symbol = self
            .class(element)
            .and_then(|class| class.symbols.get(member))
            .copied()
            .unwrap_or_default();
        let in_chain = |chain: &Vec<Entry>| {
            chain
                .iter()
                .position(|entry| entry.element == element && entry.member == member)
        };
        let previous = [node, ROOT].into_iter().find_map(|node| {
            let chain = self.chains.get(&(node, symbol))?;
            let at = in_chain(chain)?;
            Some(
                at.checked_sub(1)
                    .and_then(|before| chain.get(before))
                    .copied(),
            )
        });
        match previous.flatten() {
            Some(Entry {
                function: Some(function),
                element,
                ..
            }) => Ok(self.copy(element, function)),
            before => {
                let class = self.class(element);
                let declared = class.and_then(|class| class.header.members.get(member));
                let key = declared.map_or("", |member| member.key.as_str());
                let why = match before {
                    Some(other) => format!(
                        "the definition before it is abstract (class {})",
                        self.class(other.element)
                            .map_or("", |class| class.header.name())
                    ),
                    None => "nothing comes before it in the mix".to_owned(),
                };
                let message = format!(
                    "calls base_{}, but {why}",
                    declared.map_or("", |member| member.prototype.name.as_str())
                );
                let _ = caller;
                Err(self
                    .place(element, declared.map_or(0, |member| member.line))
                    .error(Code::M07, key, message))
            }
        }
    }

    fn slot(
        &mut self,
        element: usize,
        node: usize,
        slot: u32,
        symbol: u32,
        short: &str,
        caller: (usize, u32),
    ) -> Result<Vec<usize>, Error> {
        let filled = self
            .graph
            .nodes
            .get(node)
            .and_then(|node| node.slots.iter().find(|filled| filled.symbol == slot));
        let Some(filled) = filled else {
            let name = self
                .library
                .symbols
                .get(slot as usize)
                .map_or("", String::as_str);
            let kind = self.graph.nodes.get(node).map(|node| node.kind);
            let why = if kind == Some(NodeKind::Import) {
                ": an imported class's slots cannot be filled"
            } else {
                ""
            };
            return Err(self.member_place(element, Role::Private).error(
                Code::M08,
                name,
                format!(
                    "the slot is not filled{why}, but {} calls {short}",
                    self.describe(caller)
                ),
            ));
        };
        let mut targets = Vec::with_capacity(filled.nodes.len());
        for &inner in &filled.nodes {
            let found = self
                .chains
                .get(&(inner, symbol))
                .or_else(|| self.chains.get(&(ROOT, symbol)));
            let Some(entry) = found.and_then(|chain| chain.last()).copied() else {
                return Err(self.unresolved(element, short, caller));
            };
            targets.push(self.definition(entry, symbol, Some(caller))?);
        }
        Ok(targets)
    }

    /// Notes that a variable is used; one that belongs to another class is used there, too.
    fn variable(&mut self, element: usize, variable: u32) {
        let Some(list) = self.live.variables.get_mut(element) else {
            return;
        };
        if let Err(at) = list.binary_search(&variable) {
            list.insert(at, variable);
        } else {
            return;
        }
        let Some(module) = self.modules.get(element).copied().flatten() else {
            return;
        };
        let Some(global) = module.globals.get(variable as usize) else {
            return;
        };
        let storage = module.storage_class(global);
        if !matches!(
            storage,
            Some(StorageClass::Private | StorageClass::Workgroup)
        ) {
            return;
        }
        if let Some(home) = home(
            self.library,
            self.graph,
            element,
            global.owner,
            &module.name(global.id),
        ) && home != element
            && let Some(there) = self.modules.get(home).copied().flatten()
        {
            let name = module.name(global.id);
            let found = there.globals.iter().position(|other| {
                other.op == Op::Variable as u32
                    && other.owner != Owner::Own
                    && there.name(other.id) == name
            });
            if let Some(found) = found {
                self.variable(home, found as u32);
            }
        }
    }

    /// Takes up initialisers of variables in use. Whether there were any.
    fn initialise(&mut self) -> Result<bool, Error> {
        let mut found = false;
        for element in 0..self.modules.len() {
            let Some(module) = self.modules.get(element).copied().flatten() else {
                continue;
            };
            for (index, initialiser) in module.initialisers.iter().enumerate() {
                let used = initialiser.stores.iter().any(|variable| {
                    let live = self
                        .live
                        .variables
                        .get(element)
                        .is_some_and(|list| list.binary_search(variable).is_ok());
                    live && module
                        .globals
                        .get(*variable as usize)
                        .is_some_and(|global| {
                            let home = home(
                                self.library,
                                self.graph,
                                element,
                                global.owner,
                                &module.name(global.id),
                            );
                            home.is_none_or(|home| home == element)
                        })
                });
                if !used || self.live.initialisers.contains(&(element, index)) {
                    continue;
                }
                found = true;
                self.live.initialisers.push((element, index));
                for &callee in &initialiser.code.calls {
                    self.call(element, callee, (element, 0))?;
                }
                for &variable in &initialiser.code.variables {
                    self.variable(element, variable);
                }
            }
        }
        self.live.initialisers.sort_unstable();
        Ok(found)
    }
}
