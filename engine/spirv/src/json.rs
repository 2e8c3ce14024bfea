//! The interface as JSON, for people and other tools. Keys are lower snake case; what a thing does not have is `null`.

use serde_json::{Map, Value, json};

use crate::interface::{
    Access, Binding, ByteRange, Count, Dim, EntryPoint, ImageTraits, Interface, InterfaceVariable,
    LocalSize, Member, Name, PushConstants, SpecConstant, SpecValue, Type, TypeId,
};
use crate::operands::opcode_name;

/// Version of the JSON schema.
pub const JSON_SCHEMA: u32 = 1;

/// The interface as a JSON object; `file` is what its key `file` says. Type ids are strings, the keys of `types`.
#[must_use]
pub fn to_json(interface: &Interface, file: &str) -> Value {
    json!({
        "schema": JSON_SCHEMA,
        "file": file,
        "spirv_version": interface.spirv_version.to_string(),
        "source_language": interface.source_language.to_string(),
        "generator": interface.generator.to_string(),
        "addressing_model": interface.addressing_model.to_string(),
        "memory_model": interface.memory_model.to_string(),
        "capabilities": interface.capabilities.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "extensions": interface.extensions.iter().map(Name::as_str).collect::<Vec<_>>(),
        "entry_points": list(&interface.entry_points, entry_point),
        "bindings": list(&interface.bindings, binding),
        "push_constants": list(&interface.push_constants, push_constants),
        "spec_constants": list(&interface.spec_constants, spec_constant),
        "types": interface.types.iter().map(|(id, ty)| (id.to_string(), type_json(ty))).collect::<Map<_, _>>(),
    })
}

fn list<T>(items: &[T], one: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(one).collect())
}

fn type_id(id: TypeId) -> Value {
    Value::String(id.to_string())
}

fn entry_point(entry: &EntryPoint) -> Value {
    let mut used: Vec<(Option<u32>, Option<u32>)> = entry
        .bindings
        .iter()
        .map(|binding| (binding.set, binding.binding))
        .collect();
    used.sort_unstable();
    used.dedup();
    json!({
        "name": entry.name.as_str(),
        "stage": entry.stage.name(),
        "local_size": entry.local_size.map(|axes| list(&axes, |axis: &LocalSize| json!({ "value": axis.value, "spec_id": axis.spec_id }))),
        "mesh": entry.mesh.map(|mesh| json!({
            "max_vertices": mesh.max_vertices,
            "max_primitives": mesh.max_primitives,
            "topology": mesh.topology.name(),
        })),
        "payload_size": entry.payload_size,
        "invocations": entry.invocations,
        "bindings": list(&used, |(set, binding)| json!([set, binding])),
        "push_constants": entry.push_constants.as_ref().map(push_constants),
        "inputs": list(&entry.inputs, variable),
        "outputs": list(&entry.outputs, variable),
        "built_ins": entry.built_ins.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "spec_ids": entry.spec_ids.as_slice(),
        "uses_physical_pointers": entry.uses_physical_pointers,
        "physical_access": entry.physical_access.name(),
    })
}

fn ranges(ranges: &[ByteRange]) -> Value {
    list(ranges, |range| json!([range.offset, range.size]))
}

fn push_constants(block: &PushConstants) -> Value {
    json!({
        "name": block.name.as_str(),
        "offset": block.offset,
        "size": block.size,
        "active": ranges(&block.active),
        "type": type_id(block.block),
    })
}

fn binding(binding: &Binding) -> Value {
    let by_stage: Map<String, Value> = binding
        .access_by_stage
        .iter()
        .map(|(stage, access): &(_, Access)| (stage.name().to_owned(), json!(access.name())))
        .collect();
    json!({
        "set": binding.set,
        "binding": binding.binding,
        "name": binding.name.as_str(),
        "spirv_id": binding.spirv_id,
        "type": binding.descriptor_type.name(),
        "count": match binding.count {
            Count::One => json!({ "one": true }),
            Count::Fixed(n) => json!({ "fixed": n }),
            Count::Runtime => json!({ "runtime": true }),
            Count::Spec { default, .. } => json!({ "spec": default }),
        },
        "dims": list(&binding.dims, |dim| json!(dim.default_length())),
        "access": binding.access.name(),
        "used": binding.used,
        "active": binding.active.as_ref().map(|active| ranges(active)),
        "image": binding.image.as_ref().map(image),
        "block": binding.block.map(type_id),
        "block_size": binding.block_size,
        "padded_size": binding.padded_size,
        "input_attachment_index": binding.input_attachment_index,
        "counter": binding.counter.map(|(set, binding)| json!([set, binding])),
        "semantic": binding.semantic,
        "user_type": binding.user_type,
        "aliases": binding.aliases.as_slice(),
        "sampled_with": binding.sampled_with.as_slice(),
        "access_by_stage": by_stage,
    })
}

fn image(image: &ImageTraits) -> Value {
    json!({
        "dim": image.dim.name(),
        "depth": image.depth,
        "arrayed": image.arrayed,
        "multisampled": image.multisampled,
        "format": image.format.map(|format| format.to_string()),
        "sampled_type": image.sampled_type.map_or("void", |scalar| scalar.name()),
    })
}

fn spec_constant(constant: &SpecConstant) -> Value {
    json!({
        "id": constant.id,
        "name": constant.name.as_str(),
        "type": constant.ty.name(),
        "default": spec_value(constant.default),
        "sizes": constant.sizes.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn spec_value(value: SpecValue) -> Value {
    match value {
        SpecValue::Bool(v) => json!(v),
        SpecValue::I8(v) => json!(v),
        SpecValue::I16(v) => json!(v),
        SpecValue::I32(v) => json!(v),
        SpecValue::I64(v) => json!(v),
        SpecValue::F16(bits) => json!(crate::interface::half_to_f32(bits)),
        SpecValue::F32(v) => json!(v),
        SpecValue::F64(v) => json!(v),
        SpecValue::U8(_) | SpecValue::U16(_) | SpecValue::U32(_) | SpecValue::U64(_) => {
            json!(value.bits())
        }
    }
}

fn dim(dim: &Dim) -> Value {
    match dim {
        Dim::Fixed(n) => json!(n),
        Dim::Runtime => json!(0),
        Dim::Spec { default, .. } => json!({ "spec": default }),
    }
}

fn type_json(ty: &Type) -> Value {
    match ty {
        Type::Bool => json!({ "kind": "bool" }),
        Type::Int { width, signed } => json!({ "kind": "int", "width": width, "signed": signed }),
        Type::Float { width } => json!({ "kind": "float", "width": width, "signed": true }),
        Type::Vector { component, length } => {
            json!({ "kind": "vector", "component": type_id(*component), "length": length })
        }
        Type::Matrix {
            component,
            columns,
            rows,
        } => {
            json!({ "kind": "matrix", "component": type_id(*component), "columns": columns, "rows": rows })
        }
        Type::Array {
            element,
            dims,
            strides,
        } => json!({
            "kind": "array",
            "element": type_id(*element),
            "dims": list(dims, dim),
            "stride": strides.first().copied().flatten(),
            "strides": strides.as_slice(),
        }),
        Type::Pointer { pointee, alignment } => {
            json!({ "kind": "pointer", "pointee": type_id(*pointee), "size": 8, "alignment": alignment })
        }
        Type::Struct(found) => json!({
            "kind": "struct",
            "name": found.name.as_str(),
            "size": found.size,
            "members": list(&found.members, member),
        }),
        Type::Opaque(opcode) => json!({ "kind": "opaque", "name": opcode_name(*opcode) }),
    }
}

fn member(member: &Member) -> Value {
    json!({
        "name": member.name.as_str(),
        "type": type_id(member.ty),
        "offset": member.offset,
        "absolute_offset": member.absolute_offset,
        "size": member.size,
        "padded_size": member.padded_size,
        "array_stride": member.array_stride,
        "matrix_stride": member.matrix_stride,
        "row_major": member.row_major,
        "used": member.used,
    })
}

fn variable(variable: &InterfaceVariable) -> Value {
    json!({
        "name": variable.name.as_str(),
        "location": variable.location,
        "component": variable.component,
        "index": variable.index,
        "locations": variable.locations,
        "type": type_id(variable.ty),
        "format": variable.format.map(|format| format.name()),
        "built_in": variable.built_in.map(|built_in| built_in.to_string()),
        "per_primitive": variable.per_primitive,
        "interpolation": variable.interpolation.map(|interpolation| interpolation.to_string()),
    })
}
