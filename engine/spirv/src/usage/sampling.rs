//! Which images are sampled with which samplers, told apart by call: a helper that is called with (A, s) and (B, t) does
//! not combine A with t.

use std::collections::{BTreeSet, HashMap};

use spirv::Op;

use super::places::Root;
use super::walk::{Walk, is_global};
use crate::error::Error;

/// Where a handle comes from, as far as one function knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Origin {
    /// A global variable.
    Variable(u32),
    /// A parameter of the function.
    Parameter(u32),
}

/// Most pairs of one function; beyond, pairs are no longer told apart by call.
const MAX_PAIRS: usize = 4096;

/// Pairs of variables (image, sampler) that the functions combine. `reachable` has callers before callees.
#[inline(never)]
pub(super) fn pairs(
    walk: &mut Walk<'_, '_>,
    reachable: &[usize],
) -> Result<BTreeSet<(u32, u32)>, Error> {
    let module = walk.module;
    let mut by_function: HashMap<u32, BTreeSet<(Origin, Origin)>> = HashMap::new();
    let mut result = BTreeSet::new();
    for function in reachable
        .iter()
        .rev()
        .filter_map(|index| module.functions.get(*index))
    {
        let parameters: HashMap<u32, u32> = function.parameters.iter().copied().zip(0..).collect();
        let mut own: BTreeSet<(Origin, Origin)> = BTreeSet::new();
        for instruction in module.steps(function) {
            walk.budget.step()?;
            match instruction.op() {
                Some(Op::SampledImage) => {
                    for image in origins(walk, instruction.operand(2)?, &parameters) {
                        for sampler in origins(walk, instruction.operand(3)?, &parameters) {
                            own.insert((image, sampler));
                            walk.budget.step()?;
                        }
                    }
                }
                Some(Op::FunctionCall) => {
                    let Some(callee) = by_function.get(&instruction.operand(2)?) else {
                        continue;
                    };
                    let arguments = instruction.rest(3);
                    for (image, sampler) in callee.iter().copied().collect::<Vec<_>>() {
                        for image in resolve(walk, image, arguments, &parameters) {
                            for sampler in resolve(walk, sampler, arguments, &parameters) {
                                own.insert((image, sampler));
                                walk.budget.step()?;
                            }
                        }
                    }
                }
                _ => {}
            }
            if own.len() > MAX_PAIRS {
                return Err(Error::TooLarge {
                    what: format!("pairs of images and samplers in function {}", function.id),
                    bytes: walk.budget.bytes,
                    limit: MAX_PAIRS,
                    unit: "pairs",
                });
            }
        }
        for pair in &own {
            if let (Origin::Variable(image), Origin::Variable(sampler)) = pair {
                result.insert((*image, *sampler));
            }
        }
        by_function.insert(function.id, own);
    }
    Ok(result)
}

fn resolve(
    walk: &mut Walk<'_, '_>,
    origin: Origin,
    arguments: &[u32],
    parameters: &HashMap<u32, u32>,
) -> Vec<Origin> {
    match origin {
        Origin::Variable(_) => vec![origin],
        Origin::Parameter(position) => arguments
            .get(position as usize)
            .map(|argument| origins(walk, *argument, parameters))
            .unwrap_or_default(),
    }
}

/// Origins of a handle: its definitions followed back to a variable or a parameter. Where that is not possible (selections,
/// local variables), the places that the walk found.
fn origins(walk: &mut Walk<'_, '_>, id: u32, parameters: &HashMap<u32, u32>) -> Vec<Origin> {
    let module = walk.module;
    let mut at = id;
    // Definitions lead backwards in valid code; the bound is for code that is not.
    for _ in 0..1024 {
        if let Some(position) = parameters.get(&at) {
            return vec![Origin::Parameter(*position)];
        }
        let Some(definition) = module.definition(at) else {
            break;
        };
        match definition.op() {
            Some(Op::Variable | Op::UntypedVariableKHR) if is_global(module, at) => {
                return vec![Origin::Variable(at)];
            }
            Some(
                Op::Load
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::CopyObject
                | Op::Image
                | Op::SampledImage,
            ) => match definition.operands.get(2) {
                Some(source) => at = *source,
                None => break,
            },
            _ => break,
        }
    }
    let places = walk.get(id);
    let mut found: Vec<Origin> = places
        .iter()
        .filter_map(|place| match walk.places.get(*place).root {
            Root::Variable(variable) if is_global(module, variable) => {
                Some(Origin::Variable(variable))
            }
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
