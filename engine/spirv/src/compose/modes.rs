//! Execution modes of the result.

use spirv::{ExecutionMode as Mode, Op};

use super::class_module::part;
use super::error::Code;
use super::graph::NodeKind;
use super::merge::Merge;
use super::output::instruction;
use super::specs::SpecSource;
use crate::Error;

/// A mode that a class module has.
struct Found {
    element: usize,
    mode: u32,
    operands: Vec<u32>,
    ids: bool,
    declared: bool,
}

/// Modes of which a module has one of each row.
fn group(mode: u32) -> u32 {
    const GROUPS: [&[Mode]; 3] = [
        &[Mode::LocalSize, Mode::LocalSizeId],
        &[
            Mode::OutputPoints,
            Mode::OutputLinesEXT,
            Mode::OutputTrianglesEXT,
        ],
        &[Mode::DepthGreater, Mode::DepthLess, Mode::DepthUnchanged],
    ];
    GROUPS
        .iter()
        .find(|modes| modes.iter().any(|other| *other as u32 == mode))
        .and_then(|modes| modes.first())
        .map_or(mode, |first| *first as u32)
}

/// Modes that follow from what the code does, not from what is declared.
fn follows_from_code(mode: u32) -> bool {
    [Mode::DepthReplacing, Mode::StencilRefReplacingEXT]
        .iter()
        .any(|other| *other as u32 == mode)
}

impl Merge<'_> {
    fn find_modes(&self, used: &[bool]) -> Vec<Found> {
        let mut found = Vec::new();
        for (element, own) in self.graph.elements.iter().enumerate() {
            let (Some(module), Some(class)) =
                (self.module(element), self.library.classes.get(own.class))
            else {
                continue;
            };
            let imported = self
                .graph
                .nodes
                .get(own.node)
                .is_some_and(|node| node.kind == NodeKind::Import);
            let is_used = used.get(element).copied().unwrap_or_default();
            for (span, ids) in &module.modes {
                let words = part(&module.words, span);
                let Some((&mode, operands)) = words.split_first() else {
                    continue;
                };
                if (imported || follows_from_code(mode)) && !is_used {
                    continue;
                }
                // The stand-in for a size that the class does not declare.
                let stands_in = *ids
                    && operands.iter().any(|id| {
                        module
                            .global(*id)
                            .and_then(|global| module.spec_source(global))
                            .is_some_and(|source| matches!(source, SpecSource::LocalSize(_)))
                    });
                if stands_in {
                    found.push(Found {
                        element,
                        mode: Mode::LocalSize as u32,
                        operands: vec![1, 1, 1],
                        ids: false,
                        declared: false,
                    });
                    continue;
                }
                let header = &class.header;
                let size = group(mode) == Mode::LocalSize as u32;
                let mesh = [Mode::OutputVertices, Mode::OutputPrimitivesEXT]
                    .iter()
                    .any(|other| *other as u32 == mode)
                    || group(mode) == Mode::OutputPoints as u32;
                // The front end writes sizes of 1 where none is declared. What comes as SPIR-V says so itself.
                let declared = match (size, mesh) {
                    (true, _) if class.source => header.declares_local_size,
                    (true, _) => *ids || operands != [1, 1, 1],
                    (_, true) if class.source => header.declares_mesh_output,
                    (_, true) => operands != [1],
                    _ => true,
                };
                found.push(Found {
                    element,
                    mode,
                    operands: operands.to_vec(),
                    ids: *ids,
                    declared,
                });
            }
        }
        found
    }

    /// The literal local size of the effect, if it has one.
    pub(crate) fn find_local_size(&self) -> Result<Option<Vec<u32>>, Error> {
        let all = vec![true; self.modules.len()];
        let modes = self.find_modes(&all);
        let sizes = || {
            modes
                .iter()
                .filter(|found| group(found.mode) == Mode::LocalSize as u32)
        };
        let chosen = sizes()
            .rfind(|found| found.declared)
            .or_else(|| sizes().next_back());
        Ok(chosen
            .filter(|found| !found.ids)
            .map(|found| found.operands.clone()))
    }

    /// Mode instructions of the entry point.
    pub(crate) fn modes(&mut self, main: u32, used: &[bool]) -> Result<Vec<u32>, Error> {
        let mut found = self.find_modes(used);
        for mode in found.iter_mut().filter(|mode| mode.ids) {
            let mut operands = Vec::new();
            for id in &mode.operands {
                operands.push(self.id(mode.element, *id)?);
            }
            mode.operands = operands;
        }
        let mut groups: Vec<u32> = Vec::new();
        for mode in &found {
            if !groups.contains(&group(mode.mode)) {
                groups.push(group(mode.mode));
            }
        }
        let mut words = Vec::new();
        for wanted in groups {
            let of_group = || found.iter().filter(|mode| group(mode.mode) == wanted);
            let mut declared = of_group().filter(|mode| mode.declared);
            let last = of_group()
                .rfind(|mode| mode.declared)
                .or_else(|| of_group().next_back());
            let Some(last) = last else {
                continue;
            };
            if let Some(other) = declared.find(|mode| {
                last.declared && (mode.mode, &mode.operands) != (last.mode, &last.operands)
            }) {
                let name = |mode: u32| {
                    Mode::from_u32(mode)
                        .map_or_else(|| mode.to_string(), |mode| format!("{mode:?}"))
                };
                let there = self.place(other.element);
                return Err(self.place(last.element).error(
                    Code::M16,
                    name(last.mode),
                    format!(
                        "is {} {:?} here, but {} {:?} in class {} ({}:{})",
                        name(last.mode),
                        last.operands,
                        name(other.mode),
                        other.operands,
                        there.class,
                        there.file,
                        there.line
                    ),
                ));
            }
            let op = if last.ids {
                Op::ExecutionModeId
            } else {
                Op::ExecutionMode
            };
            words.push(instruction(op as u32, last.operands.len() + 2));
            words.push(main);
            words.push(last.mode);
            words.extend_from_slice(&last.operands);
        }
        Ok(words)
    }
}
