//! What is found out about a class module once it is read: decorations of every id, hashes and sizes of types, numbers of
//! resources.

use spirv::{Decoration as Deco, Op};

use super::class_module::{Decoration, Def, WHOLE, part, string};
use super::error::Code;
use super::hash::Hasher;
use super::layout::size_of;
use super::library::Library;
use super::link::Linked;
use super::prepare::{Reader, get, get_def};
use super::variables::{resource_name, set_and_binding};
use crate::Error;

impl Reader<'_> {
    /// Collects the numbers of resources and specialisation constants.
    pub(crate) fn numbers(&mut self, library: &Library, class: usize, linked: &Linked) {
        let known: Vec<&str> = linked
            .visible
            .iter()
            .chain([&class])
            .filter_map(|class| library.classes.get(*class))
            .flat_map(|class| class.header.automatic.iter().map(String::as_str))
            .collect();
        for index in 0..self.module.globals.len() {
            let module = &self.module;
            let automatic = module.globals.get(index).is_some_and(|global| {
                global.op == Op::Variable as u32
                    && module.decoration(global, WHOLE, Deco::Binding).is_some()
                    && known.contains(&resource_name(module, global).as_str())
            });
            if let Some(global) = self.module.globals.get_mut(index) {
                global.automatic = automatic;
            }
        }
        let module = &self.module;
        let (mut automatic, mut explicit, mut specs) = (Vec::new(), Vec::new(), Vec::new());
        for global in &module.globals {
            if let Some(id) = module
                .decoration(global, WHOLE, Deco::SpecId)
                .and_then(|words| words.first())
                && !module.specs.iter().any(|(own, _)| own == id)
            {
                specs.push(*id);
            }
            if global.op != Op::Variable as u32
                || module.decoration(global, WHOLE, Deco::Binding).is_none()
            {
                continue;
            }
            let (set, binding) = set_and_binding(module, global);
            let name = resource_name(module, global);
            if global.automatic {
                automatic.push((set, name));
            } else if !name.starts_with("mixin_dummy_") {
                explicit.push((set, binding));
            }
        }
        (
            self.module.automatic,
            self.module.explicit,
            self.module.explicit_specs,
        ) = (automatic, explicit, specs);
    }

    /// Gives every id its decorations and names, groups resolved.
    pub(crate) fn decorate(&mut self) {
        let module = &mut self.module;
        for &(group, target, member) in &self.groups {
            let copies: Vec<_> = module
                .decorations
                .iter()
                .filter(|decoration| decoration.target == group)
                .map(|decoration| Decoration {
                    target,
                    member,
                    op: match (member, Op::from_u32(decoration.op)) {
                        (WHOLE, _) => decoration.op,
                        (_, Some(Op::DecorateString)) => Op::MemberDecorateString as u32,
                        _ => Op::MemberDecorate as u32,
                    },
                    words: decoration.words.clone(),
                })
                .collect();
            module.decorations.extend(copies);
        }
        let words = &module.words;
        module.decorations.sort_by(|a, b| {
            (a.target, a.member, part(words, &a.words)).cmp(&(
                b.target,
                b.member,
                part(words, &b.words),
            ))
        });
        module
            .member_names
            .sort_by_key(|(id, member, _)| (*id, *member));
        for global in &mut module.globals {
            let first = module
                .decorations
                .partition_point(|decoration| decoration.target < global.id);
            let last = module
                .decorations
                .partition_point(|decoration| decoration.target <= global.id);
            global.decorations = first as u32..last as u32;
            let first = module
                .member_names
                .partition_point(|(id, ..)| *id < global.id);
            let last = module
                .member_names
                .partition_point(|(id, ..)| *id <= global.id);
            global.member_names = first as u32..last as u32;
            global.name = module.names.get(&global.id).cloned().unwrap_or(0..0);
        }
    }

    pub(crate) fn hash_types(&mut self) {
        for index in 0..self.module.globals.len() {
            let module = &self.module;
            let Some(global) = module.globals.get(index) else {
                continue;
            };
            let (mut shape, mut layout) = (Hasher::new(), Hasher::new());
            shape.word(global.op);
            layout.word(global.op);
            let ids = part(&module.id_positions, &global.ids);
            for (offset, word) in module.operands(global).iter().enumerate() {
                let position = global.operands.start + offset as u32;
                if *word == global.id && !ids.contains(&position) {
                    continue;
                }
                if ids.contains(&position) {
                    let Some(other) = module.global(*word) else {
                        continue;
                    };
                    if other.forward || global.forward {
                        // Of what a pointer leads to that may contain the pointer, the name counts.
                        let pointee = if other.forward {
                            get(module.operands(other), 2)
                        } else {
                            *word
                        };
                        let name = module.names.get(&pointee).cloned().unwrap_or(0..0);
                        for word in part(&module.words, &name) {
                            shape.word(*word);
                            layout.word(*word);
                        }
                    } else {
                        shape.long(other.shape);
                        layout.long(other.layout);
                    }
                } else {
                    shape.word(*word);
                    layout.word(*word);
                }
            }
            if global.op == Op::TypeStruct as u32 {
                let names = [&global.name].into_iter().chain(
                    part(&module.member_names, &global.member_names)
                        .iter()
                        .map(|(.., span)| span),
                );
                for word in names.flat_map(|span| part(&module.words, span)) {
                    shape.word(*word);
                    layout.word(*word);
                }
            }
            for decoration in part(&module.decorations, &global.decorations) {
                layout.word(decoration.member);
                for word in part(&module.words, &decoration.words) {
                    layout.word(*word);
                }
            }
            let (shape, layout) = (shape.finish(), layout.finish());
            if let Some(global) = self.module.globals.get_mut(index) {
                (global.shape, global.layout) = (shape, layout);
            }
        }
    }

    /// Sizes of types, and which structs are reached by pointers that came before them.
    pub(crate) fn measure(&mut self) {
        for index in 0..self.module.globals.len() {
            let size = self
                .module
                .globals
                .get(index)
                .map_or(0, |global| size_of(&self.module, global));
            if let Some(global) = self.module.globals.get_mut(index) {
                global.size = size;
            }
        }
        let targets: Vec<u32> = self
            .module
            .globals
            .iter()
            .filter(|global| global.forward)
            .map(|global| get(self.module.operands(global), 2))
            .collect();
        for target in targets {
            if let Def::Global(index) = get_def(&self.module.defs, target)
                && let Some(global) = self.module.globals.get_mut(index as usize)
            {
                global.referenced = true;
            }
        }
    }

    /// An array sized by a specialisation constant keeps its stride, so nothing can follow it in a block.
    pub(crate) fn check_blocks(&self) -> Result<(), Error> {
        let module = &self.module;
        for block in module
            .globals
            .iter()
            .filter(|global| global.op == Op::TypeStruct as u32)
        {
            if module.decoration(block, WHOLE, Deco::Block).is_none() {
                continue;
            }
            let members = module.operands(block).get(1..).unwrap_or_default();
            for (index, member) in members
                .iter()
                .enumerate()
                .take(members.len().saturating_sub(1))
            {
                let sized = module.global(*member).is_some_and(|ty| {
                    ty.op == Op::TypeArray as u32
                        && module
                            .operands(ty)
                            .get(2)
                            .and_then(|length| module.global(*length))
                            .is_some_and(|length| {
                                matches!(
                                    Op::from_u32(length.op),
                                    Some(Op::SpecConstant | Op::SpecConstantOp)
                                )
                            })
                });
                if sized {
                    let name = part(&module.member_names, &block.member_names)
                        .iter()
                        .find(|(_, member, _)| *member as usize == index)
                        .map(|(.., span)| string(part(&module.words, span)))
                        .unwrap_or_default();
                    return Err(self.place.error(
                        Code::M26,
                        format!("{}.{name}", module.name(block.id)),
                        "an array sized by a parameter can only be the last member of a block",
                    ));
                }
            }
        }
        Ok(())
    }
}
