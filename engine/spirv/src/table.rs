//! The interface as text for people.

use std::fmt::Write as _;

use crate::interface::{
    Access, Binding, ByteRange, Count, EntryPoint, Interface, InterfaceVariable, Type, TypeId,
    TypeTable,
};

/// Most members that a block is printed with.
const MAX_MEMBERS: usize = 64;

/// A readable summary of a module: what each entry point uses, and the layout of every block.
#[must_use]
pub fn to_table(interface: &Interface, file: &str) -> String {
    let mut text = format!(
        "{file}: SPIR-V {}, {}, {}, {} addressing, {} memory model\n",
        interface.spirv_version,
        interface.source_language,
        interface.generator,
        interface.addressing_model,
        interface.memory_model
    );
    let capabilities: Vec<String> = interface
        .capabilities
        .iter()
        .map(ToString::to_string)
        .collect();
    line(
        &mut text,
        0,
        &format!("capabilities: {}", capabilities.join(", ")),
    );
    if !interface.extensions.is_empty() {
        line(
            &mut text,
            0,
            &format!("extensions: {}", interface.extensions.join(", ")),
        );
    }
    for entry in &interface.entry_points {
        entry_point(&mut text, interface, entry);
    }
    if !interface.bindings.is_empty() {
        line(&mut text, 0, "\nbindings:");
    }
    for found in &interface.bindings {
        binding(&mut text, &interface.types, found);
    }
    for block in &interface.push_constants {
        line(
            &mut text,
            0,
            &format!(
                "\npush constants {:?}: bytes {}..{}",
                block.name,
                block.offset,
                u64::from(block.offset) + u64::from(block.size)
            ),
        );
        members(&mut text, &interface.types, block.block);
    }
    if !interface.spec_constants.is_empty() {
        line(&mut text, 0, "\nspecialisation constants:");
    }
    for constant in &interface.spec_constants {
        let sizes: Vec<String> = constant.sizes.iter().map(ToString::to_string).collect();
        let sizes = if sizes.is_empty() {
            String::new()
        } else {
            format!("  sizes: {}", sizes.join(", "))
        };
        line(
            &mut text,
            1,
            &format!(
                "{:>3}  {:<4} {} = {}{sizes}",
                constant.id, constant.ty, constant.name, constant.default
            ),
        );
    }
    text
}

fn line(text: &mut String, depth: usize, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:width$}{content}", "", width = depth * 2);
}

fn entry_point(text: &mut String, interface: &Interface, entry: &EntryPoint) {
    line(text, 0, &format!("\n{} {:?}", entry.stage, entry.name));
    if let Some(axes) = entry.local_size {
        let axes = axes.map(|axis| {
            axis.spec_id.map_or_else(
                || axis.value.to_string(),
                |id| format!("{} (spec {id})", axis.value),
            )
        });
        line(text, 1, &format!("local size {}", axes.join(" x ")));
    }
    if let Some(mesh) = entry.mesh {
        line(
            text,
            1,
            &format!(
                "at most {} vertices, {} {}",
                mesh.max_vertices,
                mesh.max_primitives,
                mesh.topology.name()
            ),
        );
    }
    if let Some(size) = entry.payload_size {
        line(text, 1, &format!("payload {size} bytes"));
    }
    if let Some(invocations) = entry.invocations {
        line(text, 1, &format!("{invocations} invocations"));
    }
    for used in &entry.bindings {
        let name = interface
            .bindings
            .get(used.index)
            .map_or("", |binding| &binding.name);
        line(
            text,
            1,
            &format!(
                "uses {} {name:?} {}{}",
                place(used.set, used.binding),
                used.access,
                ranges(&used.active)
            ),
        );
    }
    if let Some(block) = &entry.push_constants {
        line(
            text,
            1,
            &format!(
                "uses push constants {}..{}{}",
                block.offset,
                u64::from(block.offset) + u64::from(block.size),
                ranges(&block.active)
            ),
        );
    }
    if entry.physical_access != Access::None {
        line(
            text,
            1,
            &format!("physical pointers: {}", entry.physical_access),
        );
    }
    for (what, list) in [("in ", &entry.inputs), ("out", &entry.outputs)] {
        for found in list {
            line(
                text,
                1,
                &format!("{what} {}", variable(&interface.types, found)),
            );
        }
    }
}

fn place(set: Option<u32>, binding: Option<u32>) -> String {
    let number =
        |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    format!("{}.{}", number(set), number(binding))
}

fn ranges(ranges: &[ByteRange]) -> String {
    const MOST: usize = 8;
    if ranges.is_empty() {
        return String::new();
    }
    let list: Vec<String> = ranges
        .iter()
        .take(MOST)
        .map(|range| format!("{}..{}", range.offset, range.end()))
        .collect();
    format!(
        "  bytes {}{}",
        list.join(" "),
        if ranges.len() > MOST { " .." } else { "" }
    )
}

fn variable(types: &TypeTable, found: &InterfaceVariable) -> String {
    let at = match (found.location, found.built_in) {
        (_, Some(built_in)) => built_in.to_string(),
        (Some(location), None) => format!(
            "{location}{}",
            found
                .component
                .map_or_else(String::new, |component| format!(".{component}"))
        ),
        (None, None) => "?".to_owned(),
    };
    let mut text = format!("{at:<3} {:?} {}", found.name, type_name(types, found.ty));
    if let Some(format) = found.format.filter(|_| found.built_in.is_none()) {
        text += &format!(" {format}");
    }
    for (set, what) in [
        (found.per_primitive, "per-primitive"),
        (found.patch, "patch"),
        (found.per_vertex, "per-vertex"),
    ] {
        if set {
            text += " ";
            text += what;
        }
    }
    if let Some(interpolation) = found.interpolation {
        text += &format!(" {interpolation}");
    }
    text
}

fn binding(text: &mut String, types: &TypeTable, found: &Binding) {
    let count = match found.count {
        Count::One => String::new(),
        Count::Fixed(n) => format!("[{n}]"),
        Count::Runtime => "[]".to_owned(),
        Count::Spec { default, .. } => format!("[{default} by spec]"),
    };
    let stages: Vec<String> = found
        .access_by_stage
        .iter()
        .map(|(stage, access)| format!("{stage} {access}"))
        .collect();
    let mut content = format!(
        "{} {}{count} {:?}",
        place(found.set, found.binding),
        found.descriptor_type,
        found.name
    );
    if let Some(image) = &found.image {
        let format = image
            .format
            .map_or_else(String::new, |format| format!(" {format}"));
        let flags = [
            (image.depth, " depth"),
            (image.arrayed, " array"),
            (image.multisampled, " multisampled"),
        ];
        let flags: String = flags
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, text)| *text)
            .collect();
        content += &format!(
            "  {}{flags}{format} {}",
            image.dim.name(),
            image.sampled_type.map_or("void", |scalar| scalar.name())
        );
    }
    content += &if stages.is_empty() {
        "  unused".to_owned()
    } else {
        format!("  {}", stages.join(", "))
    };
    if !found.aliases.is_empty() {
        content += "  aliased";
    }
    line(text, 1, &content);
    if let Some(block) = found.block {
        members(text, types, block);
    }
}

fn members(text: &mut String, types: &TypeTable, block: TypeId) {
    for leaf in types.flatten(block, MAX_MEMBERS) {
        line(
            text,
            3,
            &format!(
                "{:>6} {:>6}  {}: {}",
                leaf.offset,
                leaf.size,
                leaf.path,
                type_name(types, leaf.ty)
            ),
        );
    }
}

fn type_name(types: &TypeTable, id: TypeId) -> String {
    let scalar = |id: TypeId| match types.get(id) {
        Some(Type::Bool) => "bool".to_owned(),
        Some(Type::Int { width, signed }) => format!("{}{width}", if *signed { "i" } else { "u" }),
        Some(Type::Float { width }) => format!("f{width}"),
        _ => "?".to_owned(),
    };
    match types.get(id) {
        Some(Type::Vector { component, length }) => format!("{}x{length}", scalar(*component)),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) => format!("{} {columns}x{rows} matrix", scalar(*component)),
        Some(Type::Array { element, dims, .. }) => {
            let dims: String = dims
                .iter()
                .map(|dim| {
                    if dim.default_length() == 0 {
                        "[]".to_owned()
                    } else {
                        format!("[{}]", dim.default_length())
                    }
                })
                .collect();
            // The element of an array is never an array.
            let element = if matches!(types.get(*element), Some(Type::Array { .. })) {
                "?".to_owned()
            } else {
                type_name(types, *element)
            };
            format!("{element}{dims}")
        }
        Some(Type::Struct(found)) => format!("struct {}", found.name),
        Some(Type::Pointer { pointee, .. }) => format!(
            "pointer to {}",
            types.get_struct(*pointee).map_or("?", |found| &found.name)
        ),
        Some(Type::Opaque(_)) | None => "?".to_owned(),
        Some(_) => scalar(id),
    }
}
