//! What GLSL calls a type.

use super::names::shown;
use crate::{Dim, Type, TypeId, TypeTable};

/// GLSL's name of a type.
pub(super) fn glsl_type(types: &TypeTable, id: TypeId) -> String {
    let prefix = |component: &TypeId| match types.get(*component) {
        Some(Type::Float { width: 32 }) => "",
        Some(Type::Float { width: 64 }) => "d",
        Some(Type::Float { .. }) => "f16",
        Some(Type::Int {
            width: 32,
            signed: true,
        }) => "i",
        Some(Type::Int {
            width: 32,
            signed: false,
        }) => "u",
        Some(Type::Int {
            width: 8,
            signed: true,
        }) => "i8",
        Some(Type::Int {
            width: 8,
            signed: false,
        }) => "u8",
        Some(Type::Int {
            width: 16,
            signed: true,
        }) => "i16",
        Some(Type::Int {
            width: 16,
            signed: false,
        }) => "u16",
        Some(Type::Int { signed: true, .. }) => "i64",
        Some(Type::Int { signed: false, .. }) => "u64",
        _ => "b",
    };
    match types.get(id) {
        Some(Type::Bool) => "bool".into(),
        Some(Type::Int { width: 32, signed }) => if *signed { "int" } else { "uint" }.into(),
        Some(Type::Int { width, signed }) => {
            format!("{}int{width}_t", if *signed { "" } else { "u" })
        }
        Some(Type::Float { width: 32 }) => "float".into(),
        Some(Type::Float { width: 64 }) => "double".into(),
        Some(Type::Float { width }) => format!("float{width}_t"),
        Some(Type::Vector { component, length }) => format!("{}vec{length}", prefix(component)),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) if columns == rows => format!("{}mat{columns}", prefix(component)),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) => format!("{}mat{columns}x{rows}", prefix(component)),
        Some(Type::Array { element, dims, .. }) => {
            let mut name = glsl_type(types, *element);
            for dim in dims {
                match dim {
                    Dim::Runtime => name.push_str("[]"),
                    dim => name.push_str(&format!("[{}]", dim.default_length())),
                }
            }
            name
        }
        Some(Type::Struct(found)) if !found.name.is_empty() => shown(&found.name),
        Some(Type::Struct(_)) => "struct".into(),
        Some(Type::Pointer { pointee, .. }) => match types.get(*pointee) {
            Some(Type::Struct(found)) if !found.name.is_empty() => shown(&found.name),
            _ => "buffer reference".into(),
        },
        _ => "unknown type".into(),
    }
}
