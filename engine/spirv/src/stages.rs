//! Whether the outputs of a stage fit the inputs of the next.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::interface::{Interface, InterfaceVariable, Interpolation, ScalarType, Type, TypeId};
use crate::merge::StageInput;

/// One component of one location.
#[derive(Clone, Debug, PartialEq)]
struct Word {
    scalar: Option<ScalarType>,
    interpolation: Interpolation,
    per_primitive: bool,
    patch: bool,
    name: String,
}

/// Most locations that are compared; no device has more.
const MAX_LOCATIONS: u32 = 4096;

/// Checks that every input of `next` has an output of `previous` at the same location and component, of the same type,
/// with the same interpolation and per-primitive flag. Outputs that nobody takes are let pass, and so are longer vectors
/// than the input takes. Stricter than Vulkan in one thing: interpolation must be written on both sides.
///
/// # Errors
///
/// [`Error::StageMismatch`] for the first input, by location, that does not fit; it names both files.
pub fn match_stages(previous: &StageInput<'_>, next: &StageInput<'_>) -> Result<(), Error> {
    let outputs = words(previous.interface, &previous.resolve()?.outputs);
    let inputs = words(next.interface, &next.resolve()?.inputs);
    for ((location, component, index), input) in &inputs {
        let problem = match outputs.get(&(*location, *component, *index)) {
            None => "has no output".to_owned(),
            Some(output) => match difference(input, output) {
                Some(problem) => problem,
                None => continue,
            },
        };
        return Err(Error::StageMismatch {
            input_file: next.file.to_owned(),
            input: input.name.clone(),
            location: *location,
            component: *component,
            output_file: previous.file.to_owned(),
            problem,
        });
    }
    Ok(())
}

fn difference(input: &Word, output: &Word) -> Option<String> {
    let scalar = |word: &Word| word.scalar.map_or("no number", ScalarType::name);
    let name = &output.name;
    if input.scalar != output.scalar {
        return Some(format!(
            "is {}, but \"{name}\" is {}",
            scalar(input),
            scalar(output)
        ));
    }
    if input.interpolation != output.interpolation {
        return Some(format!(
            "is {}, but \"{name}\" is {}",
            input.interpolation, output.interpolation
        ));
    }
    let flag = |set: bool, what: &str| {
        if set {
            what.to_owned()
        } else {
            format!("not {what}")
        }
    };
    if input.per_primitive != output.per_primitive {
        return Some(format!(
            "is {}, but \"{name}\" is {}",
            flag(input.per_primitive, "per-primitive"),
            flag(output.per_primitive, "per-primitive")
        ));
    }
    if input.patch != output.patch {
        return Some(format!(
            "is {}, but \"{name}\" is {}",
            flag(input.patch, "per-patch"),
            flag(output.patch, "per-patch")
        ));
    }
    None
}

/// Every component that the variables take, by location, component and index.
fn words(
    interface: &Interface,
    variables: &[InterfaceVariable],
) -> BTreeMap<(u32, u32, u32), Word> {
    let mut words = BTreeMap::new();
    for variable in variables {
        let Some(location) = variable.location else {
            continue;
        };
        let Some((scalar, rows)) = column(interface, variable.element_type) else {
            continue;
        };
        let width = if scalar.is_some_and(|scalar| scalar.width() == 64) {
            2
        } else {
            1
        };
        let per_column = rows * width;
        let column_locations = per_column.div_ceil(4).max(1);
        for at in 0..variable.locations.min(MAX_LOCATIONS) {
            let first = variable.component.unwrap_or(0);
            // A 64-bit vector of three or four goes on in the next location.
            let here = if at % column_locations + 1 < column_locations {
                4
            } else {
                per_column - (column_locations - 1) * 4
            };
            for component in first..first.saturating_add(here).min(4) {
                let word = Word {
                    scalar,
                    interpolation: variable.interpolation.unwrap_or_default(),
                    per_primitive: variable.per_primitive,
                    patch: variable.patch,
                    name: variable.name.to_string(),
                };
                words.insert(
                    (
                        location.saturating_add(at),
                        component,
                        variable.index.unwrap_or(0),
                    ),
                    word,
                );
            }
        }
    }
    words
}

/// Scalar type and number of rows of one column of a type, arrays stripped.
fn column(interface: &Interface, ty: TypeId) -> Option<(Option<ScalarType>, u32)> {
    let types = &interface.types;
    let inner = match types.get(ty)? {
        Type::Array { element, .. } => *element,
        _ => ty,
    };
    Some(match types.get(inner)? {
        Type::Vector { component, length } => (scalar(interface, *component), (*length).min(4)),
        Type::Matrix {
            component, rows, ..
        } => (scalar(interface, *component), (*rows).min(4)),
        _ => (scalar(interface, inner), 1),
    })
}

fn scalar(interface: &Interface, ty: TypeId) -> Option<ScalarType> {
    match interface.types.get(ty)? {
        Type::Bool => Some(ScalarType::Bool),
        Type::Int { width, signed } => ScalarType::int(*width, *signed),
        Type::Float { width } => ScalarType::float(*width),
        _ => None,
    }
}
