//! `merge_block`: blocks of one name whose members are joined into one block.

use spirv::{Decoration as Deco, Op, StorageClass};

use super::class_module::{ClassModule, Global, WHOLE, part, string};
use super::error::Code;
use super::layout::{aligned, member_size, natural_offsets};
use super::merge::{Merge, Resource};
use super::output::instruction;
use super::variables::{resource_name, set_and_binding};
use crate::Error;

/// One class's block.
struct Contribution {
    element: usize,
    variable: u32,
}

/// A member of the joined block.
struct Member {
    name: String,
    ty: u32,
    offset: u32,
    decorations: Vec<Vec<u32>>,
    end: u32,
}

impl<'a> Merge<'a> {
    /// Joins the blocks in use, before anything else refers to them.
    pub(crate) fn merge_blocks(&mut self) -> Result<(), Error> {
        let mut names: Vec<&String> = self.shared.merge_blocks.iter().collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let mut found: Vec<Contribution> = Vec::new();
            for (element, list) in self.live.variables.iter().enumerate() {
                let Some(module) = self.module(element) else {
                    continue;
                };
                for &variable in list {
                    let is_it = module.globals.get(variable as usize).is_some_and(|global| {
                        matches!(
                            module.storage_class(global),
                            Some(
                                StorageClass::Uniform
                                    | StorageClass::StorageBuffer
                                    | StorageClass::PushConstant
                            )
                        ) && module
                            .block(global)
                            .is_some_and(|block| module.name(block.id) == *name)
                    });
                    if is_it {
                        found.push(Contribution { element, variable });
                    }
                }
            }
            if !found.is_empty() {
                self.join(name, &found)?;
            }
        }
        Ok(())
    }

    fn join(&mut self, name: &str, contributions: &[Contribution]) -> Result<(), Error> {
        let mut members: Vec<Member> = Vec::new();
        let mut seen: Vec<(u64, Vec<u32>)> = Vec::new();
        let mut maps: Vec<Vec<u32>> = Vec::new();
        let first = contributions.first().map_or(0, |first| first.element);
        let mut place: Option<(u32, u32, u32)> = None;
        for contribution in contributions {
            let Some((module, global)) = self.global_of(contribution) else {
                continue;
            };
            let storage = module.operands(global).get(2).copied().unwrap_or_default();
            let (set, given) = set_and_binding(module, global);
            let binding = if global.automatic { u32::MAX } else { given };
            let at = *place.get_or_insert((storage, set, binding));
            if at != (storage, set, binding) {
                return Err(self.place(contribution.element).error(
                    Code::M11,
                    name,
                    format!("is merged, but is at set {set}, binding {binding} here, and at set {}, binding {} in class {}", at.1, at.2, self.place(first).class),
                ));
            }
            let Some(block) = module.block(global) else {
                continue;
            };
            if module.pointee(global).map(|ty| ty.id) != Some(block.id) {
                return Err(self.place(contribution.element).error(
                    Code::M24,
                    name,
                    "is merged, but is an array of blocks here",
                ));
            }
            if let Some((_, map)) = seen.iter().find(|(layout, _)| *layout == block.layout) {
                maps.push(map.clone());
                continue;
            }
            let map = self.append(contribution.element, module, block, name, &mut members)?;
            seen.push((block.layout, map.clone()));
            maps.push(map);
        }
        self.emit_block(name, contributions, &maps, &members)
    }

    fn global_of(&self, contribution: &Contribution) -> Option<(&'a ClassModule, &'a Global)> {
        let module = self.module(contribution.element)?;
        Some((module, module.globals.get(contribution.variable as usize)?))
    }

    /// Adds the members of a block; gives where each went.
    fn append(
        &mut self,
        element: usize,
        module: &ClassModule,
        block: &Global,
        name: &str,
        members: &mut Vec<Member>,
    ) -> Result<Vec<u32>, Error> {
        let own: Vec<_> = module.operands(block).iter().skip(1).copied().collect();
        let literal = |member: usize, kind| {
            module
                .decoration(block, member as u32, kind)
                .and_then(|words| words.first())
                .copied()
        };
        let end = members
            .iter()
            .map(|member| member.end)
            .max()
            .unwrap_or_default();
        // Members are packed by the rules of their block. One that keeps to none of them is moved as a whole.
        let natural = natural_offsets(module, block);
        let follows_rules = (0..own.len()).all(|member| {
            literal(member, Deco::Offset) == natural.get(member).map(|natural| natural.0)
        });
        let base = aligned(end, 16);
        let mut at = end;
        let mut map = Vec::with_capacity(own.len());
        for (index, id) in own.iter().enumerate() {
            let ty = self.id(element, *id)?;
            let member_name = part(&module.member_names, &block.member_names)
                .iter()
                .find(|(_, member, _)| *member as usize == index)
                .map(|(.., span)| string(part(&module.words, span)))
                .unwrap_or_default();
            if let Some(there) = members
                .iter()
                .position(|member| !member_name.is_empty() && member.name == member_name)
            {
                if members.get(there).is_some_and(|member| member.ty != ty) {
                    return Err(self.place(element).error(
                        Code::M14,
                        format!("{name}.{member_name}"),
                        "is in two classes' parts of the merged block, with different types",
                    ));
                }
                map.push(there as u32);
                continue;
            }
            let size = member_size(module, block, index);
            let offset = if follows_rules {
                aligned(at, natural.get(index).map_or(16, |natural| natural.1))
            } else {
                base.saturating_add(literal(index, Deco::Offset).unwrap_or_default())
            };
            at = offset.saturating_add(size);
            let decorations = part(&module.decorations, &block.decorations)
                .iter()
                .filter(|decoration| {
                    decoration.member as usize == index && decoration.member != WHOLE
                })
                .map(|decoration| part(&module.words, &decoration.words).to_vec())
                .filter(|words| words.first() != Some(&(Deco::Offset as u32)))
                .collect();
            map.push(members.len() as u32);
            members.push(Member {
                name: member_name,
                ty,
                offset,
                decorations,
                end: at,
            });
        }
        Ok(map)
    }

    fn emit_block(
        &mut self,
        name: &str,
        contributions: &[Contribution],
        maps: &[Vec<u32>],
        members: &[Member],
    ) -> Result<(), Error> {
        let Some((first, (module, global))) = contributions.first().and_then(|first| {
            let module = self.modules.get(first.element).copied().flatten()?;
            Some((
                first,
                (module, module.globals.get(first.variable as usize)?),
            ))
        }) else {
            return Ok(());
        };
        let storage = module.operands(global).get(2).copied().unwrap_or_default();
        let (set, given) = set_and_binding(module, global);
        let binding = if global.automatic {
            self.shared
                .bindings
                .get(&(set, resource_name(module, global)))
                .copied()
                .unwrap_or_default()
        } else {
            given
        };
        let end = members
            .iter()
            .map(|member| member.end)
            .max()
            .unwrap_or_default();
        if storage == StorageClass::PushConstant as u32 && end > self.shared.max_push_constants {
            return Err(self.place(first.element).error(
                Code::M13,
                name,
                format!(
                    "the merged push-constant block ends at byte {end}, expected at most {}",
                    self.shared.max_push_constants
                ),
            ));
        }
        let block = self.out.id(super::output::OWN);
        self.out.place(block);
        self.out
            .globals
            .push(instruction(Op::TypeStruct as u32, members.len() + 1));
        self.out.globals.push(block);
        self.out
            .globals
            .extend(members.iter().map(|member| member.ty));
        self.out.text_name(block, name);
        self.out.decorate(block, &[Deco::Block as u32]);
        for (index, member) in members.iter().enumerate() {
            let mut words = Vec::new();
            super::class_module::push_string(&mut words, &member.name);
            self.out.member_name(block, index as u32, &words);
            self.out
                .decorate_member(block, index as u32, &[Deco::Offset as u32, member.offset]);
            for words in &member.decorations {
                self.out.decorate_member(block, index as u32, words);
            }
        }
        let pointer = self.out.simple(Op::TypePointer, &[0, storage, block]);
        let id = self.out.id((first.element as u32, global.id));
        self.out.globals.extend_from_slice(&[
            instruction(Op::Variable as u32, 3),
            pointer,
            id,
            storage,
        ]);
        self.out.text_name(id, &module.name(global.id));
        for decoration in part(&module.decorations, &global.decorations) {
            let words = part(&module.words, &decoration.words);
            match words.first() {
                Some(kind) if *kind == Deco::Binding as u32 => {
                    self.out.decorate(id, &[*kind, binding]);
                }
                _ => self.out.decorate(id, words),
            }
        }
        self.variables.push(id);
        if storage == StorageClass::PushConstant as u32 {
            self.push_constant = Some((pointer, first.element, id));
        } else {
            self.resources.push(Resource {
                name: resource_name(module, global),
                set,
                binding,
                pointer,
                id,
                element: first.element,
                variable: first.variable,
            });
        }
        for (contribution, map) in contributions.iter().zip(maps) {
            let local = self
                .global_of(contribution)
                .map_or(0, |(_, global)| global.id);
            self.map(contribution.element, local, id);
            self.merged
                .insert((contribution.element, local), map.clone());
        }
        Ok(())
    }
}
