//! What became of every instruction of every class: `-> OpNop`, `-> Keep` or `-> Keep + offset`.

use std::fmt::Write as _;

use spirv::Op;

use super::class_module::{ClassModule, Def};
use super::composer::{Composer, Prepared};
use super::merge::Merged;
use super::recipe::Recipe;
use super::resolve::Body;
use crate::Error;
use crate::disassemble::{ListingStyle, Printer, disassemble};
use crate::operands::instruction_info;
use crate::words::{Instruction, Words};

impl Composer {
    /// A listing of how an effect comes about: each instruction of each class as it is copied, with what becomes of it, then
    /// the result. Ids of the first class stay, those of each following one are moved behind those of the classes before it;
    /// at last the module is compacted and its ids are numbered anew.
    ///
    /// # Errors
    /// As [`Composer::compose`].
    pub fn trace(&self, recipe: &Recipe) -> Result<String, Error> {
        let prepared = self.prepare(recipe)?;
        let mut text = String::new();
        for (index, stage) in recipe.stages.iter().enumerate() {
            let merged = self.merge(&prepared, index, *stage)?;
            let _ = writeln!(text, "; {}, {} stage", recipe.name, stage.name());
            self.trace_stage(&prepared, index, &merged, &mut text)?;
            let bytes: Vec<u8> = merged
                .words
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .collect();
            let _ = writeln!(text, "; result");
            text.push_str(&disassemble(&bytes, ListingStyle::Names)?);
        }
        Ok(text)
    }

    fn trace_stage(
        &self,
        prepared: &Prepared,
        index: usize,
        merged: &Merged,
        text: &mut String,
    ) -> Result<(), Error> {
        let modules = prepared
            .modules
            .get(index)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut offset = 0;
        let mut capabilities: Vec<u32> = Vec::new();
        for (element, module) in modules.iter().enumerate() {
            let Some(module) = module else {
                continue;
            };
            let name = prepared
                .graph
                .elements
                .get(element)
                .map_or_else(String::new, |own| {
                    let path = prepared
                        .graph
                        .nodes
                        .get(own.node)
                        .map_or("", |node| node.path.as_str());
                    let class = self
                        .library
                        .classes
                        .get(own.class)
                        .map_or("", |class| class.header.name());
                    format!("{path}{class}")
                });
            let _ = writeln!(text, "; class {name}, ids + {offset}");
            let bytes: Vec<u8> = module
                .words
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .collect();
            let words = Words::parse(&bytes)?;
            let mut printer = Printer::new(&words, false);
            printer.offset = offset;
            let fates = Fates::new(element, module, merged);
            let mut function = None;
            for instruction in words.iter() {
                let kept = fates.kept(instruction, &mut function, &mut capabilities);
                let fate = match (kept, offset) {
                    (false, _) => "OpNop".to_owned(),
                    (true, 0) => "Keep".to_owned(),
                    (true, offset) => format!("Keep + {offset}"),
                };
                let _ = writeln!(
                    text,
                    "{:<100} -> {fate}",
                    shortened(&printer.line(instruction))
                );
            }
            offset += module.bound;
        }
        Ok(())
    }
}

/// Source text and the like would fill the listing.
fn shortened(line: &str) -> String {
    const MOST: usize = 160;
    let line = line.replace('\n', "\\n");
    if line.chars().count() <= MOST {
        return line;
    }
    line.chars().take(MOST).chain("..".chars()).collect()
}

struct Fates<'a> {
    element: usize,
    module: &'a ClassModule,
    merged: &'a Merged,
    live: Vec<bool>,
}

impl<'a> Fates<'a> {
    fn new(element: usize, module: &'a ClassModule, merged: &'a Merged) -> Self {
        let mut live = vec![false; module.functions.len()];
        for body in &merged.live.functions {
            if let Body::Copy {
                element: of,
                function,
            } = body
                && *of == element
                && let Some(slot) = live.get_mut(*function as usize)
            {
                *slot = true;
            }
        }
        Self {
            element,
            module,
            merged,
            live,
        }
    }

    /// Whether the definition of an id is in the result.
    fn origin(&self, id: u32) -> bool {
        match self.module.defs.get(id as usize) {
            Some(Def::Function(index)) => {
                self.live.get(*index as usize).copied().unwrap_or_default()
            }
            Some(_) => {
                let new = self
                    .merged
                    .maps
                    .get(self.element)
                    .and_then(|map| map.get(id as usize))
                    .copied()
                    .unwrap_or_default();
                new != 0
                    && self.merged.out.origins.get(new as usize) == Some(&(self.element as u32, id))
            }
            None => false,
        }
    }

    fn kept(
        &self,
        instruction: Instruction<'_>,
        function: &mut Option<u32>,
        capabilities: &mut Vec<u32>,
    ) -> bool {
        let first = instruction.operands.first().copied().unwrap_or_default();
        let op = Op::from_u32(instruction.opcode);
        if op == Some(Op::Function) {
            *function = instruction.operands.get(1).copied();
        }
        if let Some(current) = *function {
            if op == Some(Op::FunctionEnd) {
                *function = None;
            }
            // Initialisers are copied out of the class's `main`, which itself goes.
            let debug = matches!(op, Some(Op::Line | Op::NoLine | Op::Nop));
            return !debug && self.origin(current);
        }
        match op {
            Some(Op::Capability) => {
                let new =
                    self.merged.out.capabilities.contains(&first) && !capabilities.contains(&first);
                capabilities.push(first);
                new
            }
            Some(
                Op::Name
                | Op::MemberName
                | Op::Decorate
                | Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorate
                | Op::MemberDecorateString,
            ) => self.origin(first),
            _ => instruction_info(instruction.opcode)
                .filter(|info| info.has_result)
                .and_then(|info| instruction.operands.get(usize::from(info.has_type)))
                .is_some_and(|id| self.origin(*id)),
        }
    }
}
