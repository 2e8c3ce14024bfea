//! Types and constants of classes, brought into the result: each once, parameters as plain constants.

use spirv::{BuiltIn, Decoration as Deco, Op};

use super::class_module::{ClassModule, Global, WHOLE, part, string};
use super::difference::difference;
use super::error::Code;
use super::fold;
use super::merge::Merge;
use super::output::instruction;
use super::specs::SpecSource;
use crate::Error;

/// Separates the parts of a struct's key.
const SEPARATOR: u32 = 0xffff_fff0;

impl Merge<'_> {
    /// Brings in what an element defines outside of functions.
    pub(crate) fn global(&mut self, element: usize, index: u32) -> Result<u32, Error> {
        let Some((module, global)) = self
            .module(element)
            .and_then(|module| Some((module, module.globals.get(index as usize)?)))
        else {
            return Ok(0);
        };
        let new = match Op::from_u32(global.op) {
            Some(Op::Variable) => return self.variable(element, index),
            Some(Op::TypePointer) if global.forward => {
                return self.forward_pointer(element, module, global);
            }
            Some(Op::TypeStruct) => {
                self.check_struct(element, index, module, global)?;
                self.plain(element, module, global)?
            }
            Some(Op::TypeArray) => self.array(element, module, global)?,
            Some(Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant) => {
                self.spec_constant(element, module, global)?
            }
            Some(Op::SpecConstantOp) => self.spec_operation(element, module, global)?,
            Some(Op::SpecConstantComposite | Op::ConstantComposite) => {
                self.composite(element, module, global)?
            }
            _ => self.plain(element, module, global)?,
        };
        self.map(element, global.id, new);
        Ok(new)
    }

    /// Brings in the ids that a definition uses.
    fn operands(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<(), Error> {
        for position in part(&module.id_positions, &global.ids) {
            let id = module
                .words
                .get(*position as usize)
                .copied()
                .unwrap_or_default();
            if self.mapped(element, id) == 0 {
                self.id(element, id)?;
            }
        }
        Ok(())
    }

    /// Operand words with ids of the result; 0 for the own id.
    fn translated(&self, element: usize, module: &ClassModule, global: &Global) -> Vec<u32> {
        let mut words = module.operands(global).to_vec();
        for position in part(&module.id_positions, &global.ids) {
            if let Some(word) = words.get_mut((position - global.operands.start) as usize) {
                *word = self.mapped(element, *word);
            }
        }
        if let Some(own) = words.get_mut(global.result_at as usize) {
            *own = 0;
        }
        words
    }

    /// A definition that is equal to another one if its operands and decorations are, and for structs the names.
    fn plain(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        self.operands(element, module, global)?;
        let words = self.translated(element, module, global);
        self.enter(element, module, global, global.op, &words)
    }

    fn enter(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        op: u32,
        words: &[u32],
    ) -> Result<u32, Error> {
        let begin = self.out.begin();
        self.out.key(instruction(op, words.len()));
        self.out.key_words(words);
        let named = op == Op::TypeStruct as u32;
        if named {
            self.out.key(SEPARATOR);
            self.out.key_words(part(&module.words, &global.name));
            for (_, member, span) in part(&module.member_names, &global.member_names) {
                self.out.key(*member);
                self.out.key_words(part(&module.words, span));
            }
        }
        for decoration in part(&module.decorations, &global.decorations) {
            self.out.key(SEPARATOR + 1);
            self.out.key(decoration.member);
            self.out.key_words(part(&module.words, &decoration.words));
        }
        if let Some(id) = self.out.find(begin) {
            return Ok(id);
        }
        let id = self.out.id((element as u32, global.id));
        self.define(id, op, words, global.result_at as usize);
        if op < Op::ConstantTrue as u32 {
            self.type_names(module, global, id);
        }
        for decoration in part(&module.decorations, &global.decorations) {
            let words = part(&module.words, &decoration.words);
            if decoration.member == WHOLE {
                self.out
                    .decorations
                    .push(instruction(decoration.op, words.len() + 1));
                self.out.decorations.push(id);
            } else {
                self.out
                    .decorations
                    .push(instruction(decoration.op, words.len() + 2));
                self.out.decorations.push(id);
                self.out.decorations.push(decoration.member);
            }
            self.out.decorations.extend_from_slice(words);
        }
        Ok(id)
    }

    fn define(&mut self, id: u32, op: u32, words: &[u32], own: usize) {
        let section = match Op::from_u32(op) {
            Some(Op::ExtInstImport) => &mut self.out.imports,
            Some(Op::String) => &mut self.out.strings,
            _ => {
                self.out.place(id);
                &mut self.out.globals
            }
        };
        section.push(instruction(op, words.len()));
        for (at, word) in words.iter().enumerate() {
            section.push(if at == own { id } else { *word });
        }
    }

    fn type_names(&mut self, module: &ClassModule, global: &Global, id: u32) {
        if !global.name.is_empty() {
            self.out.name(id, part(&module.words, &global.name));
        }
        for (_, member, span) in part(&module.member_names, &global.member_names) {
            self.out.member_name(id, *member, part(&module.words, span));
        }
    }

    /// Structs of one name have the same members, blocks left out: those are judged as resources.
    fn check_struct(
        &mut self,
        element: usize,
        index: u32,
        module: &ClassModule,
        global: &Global,
    ) -> Result<(), Error> {
        let built_in = module.decoration(global, 0, Deco::BuiltIn).is_some();
        if global.name.is_empty() || built_in {
            return Ok(());
        }
        let block = module.decoration(global, WHOLE, Deco::Block).is_some();
        if block && !global.referenced {
            return Ok(());
        }
        let name = string(part(&module.words, &global.name));
        let Some(&(shape, first, other)) = self.structs.get(&name) else {
            self.structs.insert(name, (global.shape, element, index));
            return Ok(());
        };
        if shape == global.shape {
            return Ok(());
        }
        let there = self.place(first);
        let what = self
            .module(first)
            .and_then(|other_module| {
                Some((other_module, other_module.globals.get(other as usize)?))
            })
            .and_then(|(other_module, other)| difference(module, global.id, other_module, other.id))
            .unwrap_or_default();
        Err(self.place(element).error(
            Code::M14,
            name,
            format!(
                "is another struct here than in class {} ({}:{}): {what}",
                there.class, there.file, there.line
            ),
        ))
    }

    /// A pointer to something that may contain it. Equal by the name and layout of what it points to.
    fn forward_pointer(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        let storage = module.operands(global).get(1).copied().unwrap_or_default();
        let target = module.operands(global).get(2).copied().unwrap_or_default();
        let layout = module.global(target).map_or(0, |global| global.layout);
        let begin = self.out.begin();
        self.out.key_words(&[
            instruction(Op::TypeForwardPointer as u32, 2),
            storage,
            layout as u32,
            (layout >> 32) as u32,
        ]);
        if let Some(id) = self.out.find(begin) {
            self.map(element, global.id, id);
            return Ok(id);
        }
        let id = self.out.id((element as u32, global.id));
        self.map(element, global.id, id);
        self.out.globals.extend_from_slice(&[
            instruction(Op::TypeForwardPointer as u32, 2),
            id,
            storage,
        ]);
        let pointee = self.id(element, target)?;
        self.define(id, Op::TypePointer as u32, &[0, storage, pointee], 0);
        for decoration in part(&module.decorations, &global.decorations) {
            let words = part(&module.words, &decoration.words);
            self.out.decorate(id, words);
        }
        Ok(id)
    }

    /// An array; lengths that come from parameters are plain by now.
    fn array(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        self.operands(element, module, global)?;
        let mut words = self.translated(element, module, global);
        let source = module.operands(global).get(2).copied().unwrap_or_default();
        let was_spec = module.global(source).is_some_and(|length| {
            matches!(
                Op::from_u32(length.op),
                Some(Op::SpecConstant | Op::SpecConstantOp)
            )
        });
        if was_spec
            && let Some(length) = words.get(2).copied()
            && let Some((ty, bits)) = fold::scalar(&self.out, length)
        {
            if fold::is_signed(&self.out, ty) && bits as i32 <= 0 || bits == 0 {
                let name = module.name(source);
                let name = if name.is_empty() {
                    "array size".to_owned()
                } else {
                    name
                };
                return Err(self.place(element).error(
                    Code::M09,
                    name,
                    format!("sizes an array and is {}, expected at least 1", bits as i32),
                ));
            }
            let uint = self.out.uint();
            let length = self.out.constant(uint, bits);
            if let Some(word) = words.get_mut(2) {
                *word = length;
            }
        }
        self.enter(element, module, global, global.op, &words)
    }

    fn spec_constant(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        let spec_id = module
            .decoration(global, WHOLE, Deco::SpecId)
            .and_then(|words| words.first())
            .copied();
        let source = module.spec_source(global);
        self.operands(element, module, global)?;
        let ty = self.mapped(
            element,
            module.operands(global).first().copied().unwrap_or_default(),
        );
        let boolean = Op::from_u32(global.op) != Some(Op::SpecConstant);
        let Some(source) = source else {
            return self.kept_constant(element, module, global, spec_id);
        };
        let (bits, late) = self.spec_value(element, source);
        if let Some((name, id)) = late {
            return self.late_constant(element, module, global, ty, bits, &name, id);
        }
        Ok(if boolean {
            self.out.bool_constant(ty, bits != 0)
        } else {
            self.out.constant(ty, bits)
        })
    }

    /// Value of a constant of ours in an element, and for late parameters name and SpecId.
    fn spec_value(&self, element: usize, source: SpecSource) -> (u32, Option<(String, u32)>) {
        let Some(own) = self.graph.elements.get(element) else {
            return (0, None);
        };
        match source {
            SpecSource::LocalSize(axis) => {
                let size = self
                    .local_size
                    .as_ref()
                    .and_then(|size| size.get(axis))
                    .copied();
                (size.unwrap_or(1), None)
            }
            SpecSource::Count(symbol) => {
                let slots = self
                    .graph
                    .nodes
                    .get(own.node)
                    .map(|node| node.slots.as_slice())
                    .unwrap_or_default();
                let count = slots
                    .iter()
                    .find(|slot| slot.symbol == symbol)
                    .map_or(0, |slot| slot.nodes.len());
                (count as u32, None)
            }
            SpecSource::Param {
                class,
                index,
                component,
            } => {
                let holder = self.element_of(element, class);
                let value = holder
                    .and_then(|holder| self.graph.elements.get(holder))
                    .and_then(|holder| holder.arguments.get(index))
                    .and_then(|value| value.bits.get(component))
                    .copied()
                    .unwrap_or_default();
                let param = self
                    .library
                    .classes
                    .get(class)
                    .and_then(|class| class.header.params.get(index));
                let late = param.filter(|param| param.late).map(|param| {
                    let first = self
                        .shared
                        .late
                        .get(&param.name)
                        .copied()
                        .unwrap_or_default();
                    let name = if param.ty.components == 1 {
                        param.name.clone()
                    } else {
                        format!("{}.{component}", param.name)
                    };
                    (name, first + component as u32)
                });
                (value, late)
            }
        }
    }

    /// The element of a class that another element means: itself, of its mix, of its imports, of its slots.
    pub(crate) fn element_of(&self, element: usize, class: usize) -> Option<usize> {
        let own = self.graph.elements.get(element)?;
        if own.class == class {
            return Some(element);
        }
        let node = self.graph.nodes.get(own.node)?;
        let of_class = |number: &&usize| {
            self.graph
                .elements
                .get(**number)
                .is_some_and(|element| element.class == class)
        };
        let imports = || {
            node.elements
                .iter()
                .filter_map(|number| self.graph.elements.get(*number))
                .flat_map(|element| element.imports.iter().copied())
        };
        let slots = || {
            node.slots
                .iter()
                .flat_map(|slot| slot.nodes.iter().copied())
        };
        node.elements
            .iter()
            .rev()
            .find(of_class)
            .copied()
            .or_else(|| {
                imports()
                    .chain(slots())
                    .filter_map(|node| self.graph.nodes.get(node))
                    .find_map(|node| node.elements.iter().rev().find(of_class).copied())
            })
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "all of them say what the constant is"
    )]
    fn late_constant(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        ty: u32,
        bits: u32,
        name: &str,
        spec_id: u32,
    ) -> Result<u32, Error> {
        if let Some((_, value, id)) = self.specs.get(&spec_id) {
            if *value == bits {
                return Ok(*id);
            }
            return Err(self.place(element).error(
                Code::M09,
                name,
                "stays a specialisation constant, but two classes of the effect give it different values",
            ));
        }
        let id = self.out.id((element as u32, global.id));
        if Op::from_u32(global.op) == Some(Op::SpecConstant) {
            self.define(id, Op::SpecConstant as u32, &[ty, 0, bits], 1);
        } else {
            let op = if bits != 0 {
                Op::SpecConstantTrue
            } else {
                Op::SpecConstantFalse
            };
            self.define(id, op as u32, &[ty, 0], 1);
        }
        self.out.text_name(id, name);
        self.out.decorate(id, &[Deco::SpecId as u32, spec_id]);
        self.specs.insert(spec_id, (name.to_owned(), bits, id));
        let _ = module;
        Ok(id)
    }

    /// A specialisation constant that the class declares by itself.
    fn kept_constant(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
        spec_id: Option<u32>,
    ) -> Result<u32, Error> {
        let words = self.translated(element, module, global);
        let Some(spec_id) = spec_id else {
            // Without a SpecId nobody can give it another value.
            let op = match Op::from_u32(global.op) {
                Some(Op::SpecConstantTrue) => Op::ConstantTrue,
                Some(Op::SpecConstantFalse) => Op::ConstantFalse,
                _ => Op::Constant,
            };
            return self.enter(element, module, global, op as u32, &words);
        };
        let name = module.name(global.id);
        let value = words.get(2).copied().unwrap_or(global.op);
        if let Some((other, default, id)) = self.specs.get(&spec_id) {
            if *other == name && *default == value {
                return Ok(*id);
            }
            return Err(self.place(element).error(
                Code::M09,
                name,
                format!("has constant_id {spec_id}, which {other} has, too"),
            ));
        }
        let id = self.out.id((element as u32, global.id));
        self.define(id, global.op, &words, 1);
        self.out.text_name(id, &name);
        self.out.decorate(id, &[Deco::SpecId as u32, spec_id]);
        self.specs.insert(spec_id, (name, value, id));
        Ok(id)
    }

    fn spec_operation(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        self.operands(element, module, global)?;
        let words = self.translated(element, module, global);
        let (Some(&ty), Some(&op)) = (words.first(), words.get(2)) else {
            return Ok(0);
        };
        if let Some(id) = fold::operation(&mut self.out, ty, op, words.get(3..).unwrap_or_default())
        {
            return Ok(id);
        }
        self.enter(element, module, global, global.op, &words)
    }

    fn composite(
        &mut self,
        element: usize,
        module: &ClassModule,
        global: &Global,
    ) -> Result<u32, Error> {
        let size = module
            .decoration(global, WHOLE, Deco::BuiltIn)
            .and_then(|words| words.first())
            .copied();
        if size == Some(BuiltIn::WorkgroupSize as u32)
            && let Some(size) = self.local_size.clone()
        {
            // The class's own idea of the size need not be that of the effect.
            let uint = self.out.uint();
            let vector = self.out.simple(Op::TypeVector, &[0, uint, 3]);
            let mut words = vec![vector, 0];
            for value in size {
                words.push(self.out.constant(uint, value));
            }
            return self.enter(
                element,
                module,
                global,
                Op::ConstantComposite as u32,
                &words,
            );
        }
        self.operands(element, module, global)?;
        let words = self.translated(element, module, global);
        let frozen = words
            .iter()
            .skip(2)
            .all(|id| fold::is_frozen(&self.out, *id));
        let op = if frozen {
            Op::ConstantComposite
        } else {
            Op::SpecConstantComposite
        };
        if frozen {
            return Ok(self.out.simple(op, &words));
        }
        self.enter(element, module, global, op as u32, &words)
    }
}
