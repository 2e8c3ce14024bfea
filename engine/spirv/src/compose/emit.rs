//! Writes functions, the wrapper that is the entry point, and at last the whole module.

use spirv::{Op, StorageClass};

use super::class_module::{ClassModule, Stretch, instructions, part, push_string};
use super::error::Code;
use super::link::Role;
use super::merge::Merge;
use super::output::{OWN, instruction};
use super::prototype::{Direction, Prototype};
use super::resolve::Body;
use crate::words::MAGIC;
use crate::{Error, Stage};

/// The generator's number, of those that nobody registered.
const GENERATOR: u32 = 0;

impl Merge<'_> {
    pub(crate) fn function(&mut self, number: usize) -> Result<(), Error> {
        let id = self.function_ids.get(number).copied().unwrap_or_default();
        match self.live.functions.get(number).cloned() {
            Some(Body::Copy { element, function }) => self.copied(id, element, function),
            Some(Body::Each {
                element,
                function,
                targets,
            }) => self.each(id, element, function, &targets),
            None => Ok(()),
        }
    }

    fn copied(&mut self, id: u32, element: usize, number: u32) -> Result<(), Error> {
        let Some((module, function)) = self
            .module(element)
            .and_then(|module| Some((module, module.functions.get(number as usize)?)))
        else {
            return Ok(());
        };
        self.check_calls(element, module, &function.code)?;
        let start = self.out.functions.len();
        self.code(element, &function.code)?;
        // Calls of the function reach the most derived one; this is the definition itself.
        if let Some(own) = self.out.functions.get_mut(start + 2) {
            *own = id;
        }
        let name = self.qualified(element, &function.name);
        self.out.text_name(id, &name);
        self.function_decorations(element, module, function.id, id);
        Ok(())
    }

    fn function_decorations(&mut self, _element: usize, module: &ClassModule, local: u32, id: u32) {
        let first = module
            .decorations
            .partition_point(|decoration| decoration.target < local);
        for decoration in module.decorations.get(first..).unwrap_or_default() {
            if decoration.target != local {
                break;
            }
            let words = part(&module.words, &decoration.words);
            if words.first() != Some(&(spirv::Decoration::LinkageAttributes as u32)) {
                self.out
                    .decorations
                    .push(instruction(decoration.op, words.len() + 1));
                self.out.decorations.push(id);
                self.out.decorations.extend_from_slice(words);
            }
        }
    }

    /// A call and the function that it reaches must be of one type, layouts of what pointers lead to included.
    fn check_calls(
        &mut self,
        element: usize,
        module: &ClassModule,
        code: &Stretch,
    ) -> Result<(), Error> {
        for &callee in &code.calls {
            let Some(stub) = module.functions.get(callee as usize) else {
                continue;
            };
            let target = self
                .live
                .calls
                .get(element)
                .and_then(|calls| calls.get(callee as usize))
                .copied()
                .flatten();
            let body = target
                .and_then(|target| self.live.functions.get(target))
                .cloned();
            let targets = match body {
                Some(Body::Copy { element, function }) => vec![(element, function)],
                Some(Body::Each { targets, .. }) => targets
                    .iter()
                    .filter_map(|target| match self.live.functions.get(*target) {
                        Some(Body::Copy { element, function }) => Some((*element, *function)),
                        _ => None,
                    })
                    .collect(),
                None => Vec::new(),
            };
            for (other_element, other_function) in targets {
                if other_element == element && other_function == callee {
                    continue;
                }
                let Some((other_module, other)) = self.module(other_element).and_then(|module| {
                    Some((module, module.functions.get(other_function as usize)?))
                }) else {
                    continue;
                };
                let here = self.id(element, stub.ty)?;
                let there = self.id(other_element, other.ty)?;
                if here == there {
                    continue;
                }
                let what = super::difference::difference(module, stub.ty, other_module, other.ty)
                    .unwrap_or_default();
                let place = self.place(element);
                let there = self.place(other_element);
                return Err(place.error(
                    Code::M06,
                    stub.name.split('(').next().unwrap_or_default(),
                    format!(
                        "is called as {} here, but class {} ({}:{}) defines {}: {what}",
                        stub.name, there.class, there.file, there.line, other.name
                    ),
                ));
            }
        }
        Ok(())
    }

    /// A function that calls each function of a slot in turn with its own arguments.
    fn each(
        &mut self,
        id: u32,
        element: usize,
        number: u32,
        targets: &[usize],
    ) -> Result<(), Error> {
        let Some(stub) = self
            .module(element)
            .and_then(|module| module.functions.get(number as usize))
        else {
            return Ok(());
        };
        let Some(prototype) = self.prototype(stub.role) else {
            return Ok(());
        };
        let ty = self.id(element, stub.ty)?;
        let Some(types) = self
            .out
            .definition(ty)
            .map(|(_, words)| words.get(1..).unwrap_or_default().to_vec())
        else {
            return Ok(());
        };
        let returns = types.first().copied().unwrap_or_default();
        let mut body: Vec<u32> = vec![instruction(Op::Function as u32, 4), returns, id, 0, ty];
        let mut parameters = Vec::new();
        for parameter in types.iter().skip(1) {
            let new = self.out.id(OWN);
            body.extend_from_slice(&[
                instruction(Op::FunctionParameter as u32, 2),
                *parameter,
                new,
            ]);
            parameters.push((*parameter, new));
        }
        let label = self.out.id(OWN);
        body.extend_from_slice(&[instruction(Op::Label as u32, 1), label]);
        // What goes in is the callee's to change, so each one but a lone callee gets a copy of its own.
        let mut copies: Vec<Option<(u32, u32, u32)>> = Vec::new();
        for ((pointer, parameter), declared) in parameters.iter().zip(&prototype.parameters) {
            let function_pointer = self.out.definition(*pointer).and_then(|(op, words)| {
                (op == Op::TypePointer as u32
                    && words.get(1) == Some(&(StorageClass::Function as u32)))
                .then(|| words.get(2).copied())?
            });
            copies.push(match function_pointer {
                Some(pointee) if declared.direction == Direction::In && targets.len() > 1 => {
                    let copy = self.out.id(OWN);
                    body.extend_from_slice(&[
                        instruction(Op::Variable as u32, 3),
                        *pointer,
                        copy,
                        StorageClass::Function as u32,
                    ]);
                    Some((copy, pointee, *parameter))
                }
                _ => None,
            });
        }
        for target in targets {
            for (copy, pointee, parameter) in copies.iter().flatten() {
                let value = self.out.id(OWN);
                body.extend_from_slice(&[
                    instruction(Op::Load as u32, 3),
                    *pointee,
                    value,
                    *parameter,
                ]);
                body.extend_from_slice(&[instruction(Op::Store as u32, 2), *copy, value]);
            }
            let result = self.out.id(OWN);
            let callee = self.function_ids.get(*target).copied().unwrap_or_default();
            body.extend_from_slice(&[
                instruction(Op::FunctionCall as u32, 3 + parameters.len()),
                returns,
                result,
                callee,
            ]);
            for ((_, parameter), copy) in parameters.iter().zip(&copies) {
                body.push(copy.map_or(*parameter, |(copy, ..)| copy));
            }
        }
        body.extend_from_slice(&[
            instruction(Op::Return as u32, 0),
            instruction(Op::FunctionEnd as u32, 0),
        ]);
        self.out.functions.extend_from_slice(&body);
        let name = self.qualified(element, &stub.name);
        self.out.text_name(id, &name);
        Ok(())
    }

    fn prototype(&self, role: Role) -> Option<Prototype> {
        let Role::Each(_, symbol) = role else {
            return None;
        };
        self.library.classes.iter().find_map(|class| {
            let at = class.symbols.iter().position(|other| *other == symbol)?;
            class
                .header
                .members
                .get(at)
                .map(|member| member.prototype.clone())
        })
    }

    /// The entry point: gives variables their first values, then runs the most derived `mx_main`.
    pub(crate) fn wrapper(&mut self, void: u32) -> Result<u32, Error> {
        let ty = self.out.simple(Op::TypeFunction, &[0, void]);
        let main = self.out.id(OWN);
        let label = self.out.id(OWN);
        self.out.functions.extend_from_slice(&[
            instruction(Op::Function as u32, 4),
            void,
            main,
            0,
            ty,
            instruction(Op::Label as u32, 1),
            label,
        ]);
        let list = self.live.initialisers.clone();
        for &(element, index) in &list {
            if let Some(initialiser) = self
                .module(element)
                .and_then(|module| module.initialisers.get(index))
            {
                self.code(element, &initialiser.locals)?;
            }
        }
        let mut current = label;
        for &(element, index) in &list {
            let Some((module, initialiser)) = self
                .module(element)
                .and_then(|module| Some((module, module.initialisers.get(index)?)))
            else {
                continue;
            };
            self.check_calls(element, module, &initialiser.code)?;
            // Units of one class may share instructions, and each makes its own.
            for id in results(module, &initialiser.code) {
                self.map(element, id, 0);
            }
            self.map(element, initialiser.label, current);
            self.code(element, &initialiser.code)?;
            let last = instructions(&module.code, &initialiser.code.words)
                .filter(|(op, _)| *op == Op::Label as u32)
                .filter_map(|(_, operands)| operands.first().copied())
                .last();
            if let Some(last) = last {
                current = self.mapped(element, last);
            }
        }
        let call = self.out.id(OWN);
        let callee = self
            .function_ids
            .get(self.live.main)
            .copied()
            .unwrap_or_default();
        self.out.functions.extend_from_slice(&[
            instruction(Op::FunctionCall as u32, 3),
            void,
            call,
            callee,
            instruction(Op::Return as u32, 0),
            instruction(Op::FunctionEnd as u32, 0),
        ]);
        self.out.text_name(main, "main");
        Ok(main)
    }

    /// Copies code instruction by instruction: with lines, and with accesses to merged blocks moved.
    pub(crate) fn careful_code(
        &mut self,
        element: usize,
        module: &ClassModule,
        stretch: &Stretch,
    ) -> Result<(), Error> {
        let lines = if self.shared.lines {
            part(&module.lines, &stretch.lines)
        } else {
            &[]
        };
        let mut lines = lines.iter().peekable();
        let mut ids = part(&module.code_ids, &stretch.ids).iter().peekable();
        let mut at = stretch.words.start;
        let mut first = true;
        for (op, operands) in instructions(&module.code, &stretch.words) {
            let end = at + operands.len() as u32 + 1;
            while let Some(line) = lines.next_if(|line| line.at <= at) {
                if !first {
                    let file = self.file(element, module, line.file);
                    self.out.functions.extend_from_slice(&[
                        instruction(Op::Line as u32, 3),
                        file,
                        line.line,
                        line.column,
                    ]);
                }
            }
            let base = self.out.functions.len();
            self.out.functions.push(instruction(op, operands.len()));
            self.out.functions.extend_from_slice(operands);
            let mut merged = None;
            while let Some(position) = ids.next_if(|position| **position < end) {
                let id = module
                    .code
                    .get(*position as usize)
                    .copied()
                    .unwrap_or_default();
                if let Some(map) = self.merged.get(&(element, id)) {
                    merged = Some((position - at, map.clone()));
                }
                let known = self.mapped(element, id);
                let new = match known {
                    0 if op == Op::Function as u32 && position - at == 2 => 0,
                    0 => self.id(element, id)?,
                    known => known,
                };
                if let Some(word) = self.out.functions.get_mut(base + (position - at) as usize) {
                    *word = new;
                }
            }
            if let Some((position, map)) = merged {
                self.shift(element, module, op, operands, position, &map, base)?;
            }
            at = end;
            first = false;
        }
        self.local_names(element, module, stretch);
        Ok(())
    }

    /// Moves an access to a merged block to where its member went.
    #[allow(
        clippy::too_many_arguments,
        reason = "one instruction, in its class and in the result"
    )]
    fn shift(
        &mut self,
        element: usize,
        module: &ClassModule,
        op: u32,
        operands: &[u32],
        position: u32,
        map: &[u32],
        base: usize,
    ) -> Result<(), Error> {
        let index = match Op::from_u32(op) {
            Some(Op::AccessChain | Op::InBoundsAccessChain) if position == 3 => {
                operands.get(3).copied()
            }
            Some(Op::ArrayLength) => {
                let member = operands.get(3).copied().unwrap_or_default();
                let new = map.get(member as usize).copied().unwrap_or(member);
                if let Some(word) = self.out.functions.get_mut(base + 4) {
                    *word = new;
                }
                return Ok(());
            }
            _ => None,
        };
        let constant = index
            .and_then(|id| module.global(id))
            .filter(|global| global.op == Op::Constant as u32);
        let Some(constant) = constant else {
            let name = operands
                .get(position as usize - 1)
                .and_then(|id| module.global(*id))
                .and_then(|variable| module.block(variable))
                .map(|block| module.name(block.id))
                .unwrap_or_default();
            let what = Op::from_u32(op).map_or_else(String::new, |op| format!("Op{op:?}"));
            return Err(self.place(element).error(
                Code::M24,
                name,
                format!("is a merged block, but is used as a whole by {what}"),
            ));
        };
        let words = module.operands(constant);
        let ty = self.id(element, words.first().copied().unwrap_or_default())?;
        let member = words.get(2).copied().unwrap_or_default();
        let new = map.get(member as usize).copied().unwrap_or(member);
        let id = self.out.constant(ty, new);
        if let Some(word) = self.out.functions.get_mut(base + 4) {
            *word = id;
        }
        Ok(())
    }

    fn file(&mut self, element: usize, module: &ClassModule, local: u32) -> u32 {
        if let Some(id) = self.files.get(&(element, local)) {
            return *id;
        }
        let text = module
            .global(local)
            .map(|global| {
                super::class_module::string(module.operands(global).get(1..).unwrap_or_default())
            })
            .unwrap_or_default();
        let id = self.out.id(OWN);
        let mut words = Vec::new();
        push_string(&mut words, &text);
        self.out
            .strings
            .push(instruction(Op::String as u32, words.len() + 1));
        self.out.strings.push(id);
        self.out.strings.extend_from_slice(&words);
        self.files.insert((element, local), id);
        id
    }

    /// The module in the order that the specification lays down.
    pub(crate) fn assemble(
        &mut self,
        version: u32,
        addressing: u32,
        memory: u32,
        main: u32,
        modes: &[u32],
    ) -> Result<Vec<u32>, Error> {
        let bound = self.out.origins.len() as u32;
        if bound > super::class_module::MAX_BOUND {
            return Err(self.recipe.error(
                Code::M25,
                format!("{} stage", self.stage.name()),
                format!(
                    "the result has {bound} ids, expected at most {}",
                    super::class_module::MAX_BOUND
                ),
            ));
        }
        let out = &self.out;
        let mut words = Vec::with_capacity(
            out.functions.len() + out.globals.len() + out.names.len() + out.decorations.len() + 256,
        );
        words.extend_from_slice(&[MAGIC, version, GENERATOR, bound, 0]);
        for capability in &out.capabilities {
            words.extend_from_slice(&[instruction(Op::Capability as u32, 1), *capability]);
        }
        for extension in &out.extensions {
            words.push(instruction(Op::Extension as u32, extension.len()));
            words.extend_from_slice(extension);
        }
        words.extend_from_slice(&out.imports);
        words.extend_from_slice(&[instruction(Op::MemoryModel as u32, 2), addressing, memory]);
        let mut entry = vec![execution_model(self.stage), main];
        push_string(&mut entry, "main");
        // Before SPIR-V 1.4 the interface is inputs and outputs; from then on, every variable.
        if version >= 0x0001_0400 {
            entry.extend_from_slice(&self.variables);
        } else {
            let io: Vec<u32> = self.io.iter().map(super::variables::Io::id).collect();
            entry.extend(self.variables.iter().filter(|id| io.contains(id)));
        }
        words.push(instruction(Op::EntryPoint as u32, entry.len()));
        words.extend_from_slice(&entry);
        words.extend_from_slice(modes);
        for section in [
            &out.strings,
            &out.names,
            &out.decorations,
            &out.globals,
            &out.functions,
        ] {
            words.extend_from_slice(section);
        }
        Ok(words)
    }
}

/// Ids that code defines.
fn results(module: &ClassModule, code: &Stretch) -> Vec<u32> {
    instructions(&module.code, &code.words)
        .filter_map(|(op, operands)| {
            let info = crate::operands::instruction_info(op).filter(|info| info.has_result)?;
            operands.get(usize::from(info.has_type)).copied()
        })
        .collect()
}

fn execution_model(stage: Stage) -> u32 {
    match stage {
        Stage::Vertex => 0,
        Stage::Fragment => 4,
        Stage::Task => 5364,
        Stage::Mesh => 5365,
        _ => 5,
    }
}
