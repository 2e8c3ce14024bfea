//! Initialisers of globals: the front end writes them at the head of `main`.

use std::collections::HashMap;

use spirv::Op;

use super::class_module::{ClassModule, Def, Initialiser, Span, Stretch, instructions, part};
use super::prepare::{facts, get, get_def};
use super::specs::MARKER;
use crate::operands::instruction_info;

/// Takes the initialisers out of `main`.
pub(crate) fn take_out(module: &mut ClassModule) {
    let Some(main) = module.entry.and_then(|id| match get_def(&module.defs, id) {
        Def::Function(index) => module.functions.get(index as usize).cloned(),
        _ => None,
    }) else {
        return;
    };
    let marker = module
        .functions
        .iter()
        .find(|function| function.name == format!("{MARKER}("))
        .map(|function| function.id);
    let (mut locals, mut body) = (Vec::new(), Vec::new());
    let mut label = None;
    let mut at = main.code.words.start;
    for (op, operands) in instructions(&module.code, &main.code.words) {
        let span = at..at + operands.len() as u32 + 1;
        at = span.end;
        match Op::from_u32(op) {
            Some(Op::Function | Op::FunctionParameter) => continue,
            Some(Op::Label) if label.is_none() => label = Some(get(operands, 0)),
            Some(Op::Variable) => locals.push(span),
            Some(Op::FunctionCall) if marker.is_none_or(|marker| get(operands, 2) == marker) => {
                break;
            }
            Some(Op::Return | Op::FunctionEnd) => break,
            _ => body.push(span),
        }
    }
    let Some(label) = label.filter(|_| !body.is_empty()) else {
        return;
    };
    for unit in units(module, &body) {
        let (stores, spans) = unit;
        let code = copy(module, &spans);
        let used: Vec<Span> = locals
            .iter()
            .filter(|span| {
                let id = get(&module.code, span.start + 2);
                part(&module.code_ids, &code.ids)
                    .iter()
                    .any(|at| get(&module.code, *at) == id)
            })
            .cloned()
            .collect();
        let locals = copy(module, &used);
        module.initialisers.push(Initialiser {
            stores,
            code,
            label,
            locals,
        });
    }
}

/// Copies stretches of code to the end, as one.
fn copy(module: &mut ClassModule, spans: &[Span]) -> Stretch {
    let (begin, ids) = (module.code.len() as u32, module.code_ids.len() as u32);
    for span in spans {
        let shift = module.code.len() as u32 - span.start;
        let first = module.code_ids.partition_point(|at| *at < span.start);
        let last = module.code_ids.partition_point(|at| *at < span.end);
        let positions: Vec<u32> = module
            .code_ids
            .get(first..last)
            .unwrap_or_default()
            .iter()
            .map(|at| at + shift)
            .collect();
        let words = part(&module.code, span).to_vec();
        module.code.extend(words);
        module.code_ids.extend(positions);
    }
    let mut code = Stretch {
        words: begin..module.code.len() as u32,
        ids: ids..module.code_ids.len() as u32,
        ..Stretch::default()
    };
    facts(module, &mut code);
    code
}

/// Splits initialisers so that those of variables that nobody uses can be left out: one unit per store where the code is
/// straight, all in one where it is not.
fn units(module: &ClassModule, body: &[Span]) -> Vec<(Vec<u32>, Vec<Span>)> {
    let read = |span: &Span| {
        let words = part(&module.code, span);
        let op = words.first().map_or(0, |word| word & 0xffff);
        (Op::from_u32(op), words.get(1..).unwrap_or_default())
    };
    // The variable that a pointer leads to.
    let mut bases: HashMap<u32, u32> = HashMap::new();
    for span in body {
        if let (Some(Op::AccessChain | Op::InBoundsAccessChain), operands) = read(span) {
            let base = get(operands, 2);
            bases.insert(get(operands, 1), bases.get(&base).copied().unwrap_or(base));
        }
    }
    let global = |id: u32| match get_def(&module.defs, bases.get(&id).copied().unwrap_or(id)) {
        Def::Global(index) => Some(index),
        _ => None,
    };
    let straight = body
        .iter()
        .all(|span| !matches!(read(span).0, Some(Op::Label | Op::FunctionCall)));
    let stores: Vec<(usize, u32)> = body
        .iter()
        .enumerate()
        .filter_map(|(at, span)| match read(span) {
            (Some(Op::Store), operands) => Some((at, global(get(operands, 0))?)),
            _ => None,
        })
        .collect();
    let local_store = body.iter().any(|span| match read(span) {
        (Some(Op::Store), operands) => global(get(operands, 0)).is_none(),
        _ => false,
    });
    if !straight || local_store {
        let mut all: Vec<u32> = stores.iter().map(|(_, global)| *global).collect();
        all.sort_unstable();
        all.dedup();
        return vec![(all, body.to_vec())];
    }
    stores
        .into_iter()
        .map(|(at, variable)| {
            let mut needed: Vec<u32> = Vec::new();
            let mut spans = Vec::new();
            for (index, span) in body.iter().enumerate().take(at + 1).rev() {
                let words = part(&module.code, span);
                let op = words.first().map_or(0, |word| word & 0xffff);
                let result = instruction_info(op)
                    .filter(|info| info.has_result)
                    .map(|info| get(words, 1 + u32::from(info.has_type)));
                if index != at && result.is_none_or(|id| !needed.contains(&id)) {
                    continue;
                }
                let first = module
                    .code_ids
                    .partition_point(|position| *position < span.start);
                let last = module
                    .code_ids
                    .partition_point(|position| *position < span.end);
                for position in module.code_ids.get(first..last).unwrap_or_default() {
                    needed.push(get(&module.code, *position));
                }
                spans.push(span.clone());
            }
            spans.reverse();
            (vec![variable], spans)
        })
        .collect()
}
