//! Says in words where two types differ.

use spirv::Op;

use super::class_module::{ClassModule, Global, WHOLE, part, string};

/// The first difference between two types of two modules; `None` if there is none.
pub(crate) fn difference(a: &ClassModule, a_id: u32, b: &ClassModule, b_id: u32) -> Option<String> {
    let (left, right) = (a.global(a_id)?, b.global(b_id)?);
    let both = || Some(format!("{} here, {} there", text(a, left), text(b, right)));
    if left.op != right.op {
        return both();
    }
    match Op::from_u32(left.op)? {
        Op::TypeStruct => {
            let (first, second) = (members(a, left), members(b, right));
            for (index, (x, y)) in first.iter().zip(&second).enumerate() {
                if x.0 != y.0 {
                    return Some(format!(
                        "member {index} is \"{}\" here, \"{}\" there",
                        x.0, y.0
                    ));
                }
                if let Some(inner) = difference(a, x.1, b, y.1) {
                    return Some(format!("member \"{}\": {inner}", x.0));
                }
                if x.2 != y.2 {
                    return Some(format!("member \"{}\" is laid out differently", x.0));
                }
            }
            if first.len() != second.len() {
                let (more, place) = if first.len() > second.len() {
                    (&first, "here")
                } else {
                    (&second, "there")
                };
                let extra = more
                    .get(first.len().min(second.len()))
                    .map_or("", |member| member.0.as_str());
                return Some(format!(
                    "{} members here, {} there; \"{extra}\" is only {place}",
                    first.len(),
                    second.len()
                ));
            }
            (a.name(a_id) != b.name(b_id))
                .then(|| format!("struct {} here, {} there", a.name(a_id), b.name(b_id)))
        }
        Op::TypePointer => {
            let (x, y) = (a.operands(left), b.operands(right));
            if x.get(1) != y.get(1) || left.forward || right.forward {
                let names = |module: &ClassModule, words: &[u32]| {
                    module.name(words.get(2).copied().unwrap_or_default())
                };
                return (left.layout != right.layout).then(|| {
                    format!(
                        "a reference to {} here, to {} there",
                        names(a, x),
                        names(b, y)
                    )
                });
            }
            difference(a, *x.get(2)?, b, *y.get(2)?)
        }
        Op::TypeFunction => {
            let (x, y) = (a.operands(left), b.operands(right));
            if x.len() != y.len() {
                return Some(format!(
                    "{} parameters here, {} there",
                    x.len().saturating_sub(2),
                    y.len().saturating_sub(2)
                ));
            }
            for (index, (x, y)) in x.iter().zip(y).enumerate().skip(1) {
                if let Some(inner) = difference(a, *x, b, *y) {
                    let what = if index == 1 {
                        "the return type".to_owned()
                    } else {
                        format!("parameter {}", index - 2)
                    };
                    return Some(format!("{what}: {inner}"));
                }
            }
            None
        }
        Op::TypeArray | Op::TypeRuntimeArray | Op::TypeVector | Op::TypeMatrix => {
            let (x, y) = (a.operands(left), b.operands(right));
            difference(a, *x.get(1)?, b, *y.get(1)?)
                .or_else(|| (left.layout != right.layout).then(both).flatten())
        }
        _ => (left.layout != right.layout).then(both).flatten(),
    }
}

type Member = (String, u32, Vec<Vec<u32>>);

fn members(module: &ClassModule, ty: &Global) -> Vec<Member> {
    let names = part(&module.member_names, &ty.member_names);
    let decorations = part(&module.decorations, &ty.decorations);
    module
        .operands(ty)
        .iter()
        .skip(1)
        .enumerate()
        .map(|(index, id)| {
            let name = names
                .iter()
                .find(|(_, member, _)| *member as usize == index)
                .map(|(.., span)| string(part(&module.words, span)));
            let own = decorations
                .iter()
                .filter(|decoration| {
                    decoration.member != WHOLE && decoration.member as usize == index
                })
                .map(|decoration| part(&module.words, &decoration.words).to_vec())
                .collect();
            (name.unwrap_or_else(|| index.to_string()), *id, own)
        })
        .collect()
}

/// A type as GLSL would call it.
pub(crate) fn text(module: &ClassModule, ty: &Global) -> String {
    let words = module.operands(ty);
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let inner = |at: usize| {
        module
            .global(word(at))
            .map_or_else(|| "?".to_owned(), |ty| text(module, ty))
    };
    match Op::from_u32(ty.op) {
        Some(Op::TypeVoid) => "void".to_owned(),
        Some(Op::TypeBool) => "bool".to_owned(),
        Some(Op::TypeInt) if word(1) == 32 => if word(2) == 1 { "int" } else { "uint" }.to_owned(),
        Some(Op::TypeInt) => format!("{}{}", if word(2) == 1 { "int" } else { "uint" }, word(1)),
        Some(Op::TypeFloat) if word(1) == 32 => "float".to_owned(),
        Some(Op::TypeFloat) => format!("float{}", word(1)),
        Some(Op::TypeVector) => {
            let scalar = inner(1);
            let prefix = match scalar.as_str() {
                "float" => "",
                "int" => "i",
                "uint" => "u",
                "bool" => "b",
                other => return format!("{other}x{}", word(2)),
            };
            format!("{prefix}vec{}", word(2))
        }
        Some(Op::TypeMatrix) => format!("mat of {} {}", word(2), inner(1)),
        Some(Op::TypeArray) => {
            let length = module
                .global(word(2))
                .and_then(|length| module.operands(length).get(2).copied());
            format!("{}[{}]", inner(1), length.unwrap_or_default())
        }
        Some(Op::TypeRuntimeArray) => format!("{}[]", inner(1)),
        Some(Op::TypeStruct) => module.name(ty.id),
        Some(Op::TypePointer) => format!("pointer to {}", inner(2)),
        Some(op) => format!("Op{op:?}"),
        None => "?".to_owned(),
    }
}
