//! Compares one module with its golden, fact by fact.

use impel_spirv::{Binding, Dim, Interface, Member, Type, TypeId};
use serde_yaml_ng::Value;

use crate::deviations;

/// A fact on which we differ.
pub(crate) struct Difference {
    pub(crate) fact: String,
    pub(crate) golden: String,
    pub(crate) ours: String,
}

pub(crate) struct Compare<'a> {
    pub(crate) module: &'a str,
    pub(crate) interface: &'a Interface,
    pub(crate) facts: usize,
    pub(crate) differences: Vec<Difference>,
}

const ARRAY: i64 = 28;
const RUNTIME_ARRAY: i64 = 29;
const STRUCT: i64 = 30;
/// Type flag of pointers.
const POINTER: i64 = 0x4000_0000;
/// Block flags of the golden.
const UNUSED: i64 = 1;
/// Copy of a pointer that was printed before.
const COPY: i64 = 2;

pub(crate) fn int(value: &Value) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or(i64::MIN),
        Value::String(text) => text.trim_end_matches(',').parse().unwrap_or(i64::MIN),
        _ => i64::MIN,
    }
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // Names that look like numbers or booleans.
        Value::Bool(v) => v.to_string(),
        Value::Number(v) => v.to_string(),
        other => format!("{other:?}"),
    }
}

/// Flags: the reader of YAML gives hexadecimal numbers as numbers.
fn text_or_int(value: &Value) -> i64 {
    match value {
        Value::String(text) => i64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or(0),
        other => int(other),
    }
}

pub(crate) fn list(value: &Value) -> Vec<&Value> {
    value
        .as_sequence()
        .map(|items| items.iter().collect())
        .unwrap_or_default()
}

pub(crate) fn dims(value: &Value) -> Vec<i64> {
    list(&value["dims"]).into_iter().map(int).collect()
}

/// Kind of block: decides what the golden says about sizes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Uniform,
    Storage,
    Push,
}

impl<'a> Compare<'a> {
    pub(crate) fn new(module: &'a str, interface: &'a Interface) -> Self {
        Self {
            module,
            interface,
            facts: 0,
            differences: Vec::new(),
        }
    }

    #[allow(
        clippy::needless_pass_by_value,
        reason = "values are made where they are compared"
    )]
    pub(crate) fn fact<T: PartialEq + std::fmt::Debug>(
        &mut self,
        fact: impl Into<String>,
        golden: T,
        ours: T,
    ) {
        self.facts += 1;
        if golden != ours {
            self.differences.push(Difference {
                fact: fact.into(),
                golden: format!("{golden:?}"),
                ours: format!("{ours:?}"),
            });
        }
    }

    pub(crate) fn all(&mut self, golden: &Value) {
        self.header(&golden["module"]);
        self.bindings(golden);
        let entry = &self.interface.entry_points[0];
        self.variables(
            "input",
            &list(&golden["module"]["input_variables"]),
            &entry.inputs,
        );
        self.variables(
            "output",
            &list(&golden["module"]["output_variables"]),
            &entry.outputs,
        );
        self.push_constants(&list(&golden["module"]["push_constants"]));
        self.spec_constants(&list(&golden["module"]["specialization_constants"]));
    }

    fn header(&mut self, golden: &Value) {
        let interface = self.interface;
        let entry = &interface.entry_points[0];
        self.fact(
            "generator",
            int(&golden["generator"]),
            i64::from(interface.generator.tool),
        );
        self.fact(
            "entry point",
            text(&golden["entry_point_name"]),
            entry.name.to_string(),
        );
        self.fact(
            "entry point id",
            int(&golden["entry_point_id"]),
            i64::from(entry.spirv_id),
        );
        self.fact(
            "source language",
            int(&golden["source_language"]),
            i64::from(interface.source_language.language),
        );
        self.fact(
            "source language version",
            int(&golden["source_language_version"]),
            i64::from(interface.source_language.version),
        );
        self.fact(
            "stage",
            int(&golden["shader_stage"]),
            i64::from(entry.stage.bit()),
        );
        let mut sets: Vec<i64> = interface
            .bindings
            .iter()
            .filter(|binding| self.counts(binding))
            .filter_map(|binding| binding.set.map(i64::from))
            .collect();
        sets.dedup();
        let golden_sets: Vec<i64> = list(&golden["descriptor_sets"])
            .into_iter()
            .map(|set| int(&set["set"]))
            .collect();
        self.fact("sets", golden_sets, sets);
    }

    fn counts(&self, _binding: &Binding) -> bool {
        true
    }

    fn bindings(&mut self, golden: &Value) {
        let interface = self.interface;
        let listed = list(&golden["module"]["descriptor_bindings"]);
        self.fact("number of bindings", listed.len(), interface.bindings.len());
        for found in &listed {
            let id = int(&found["spirv_id"]);
            let Some(ours) = interface
                .bindings
                .iter()
                .find(|binding| i64::from(binding.spirv_id) == id)
            else {
                self.fact(format!("binding {id}"), "present", "missing");
                continue;
            };
            let name = format!("binding {id} {}", ours.name);
            self.fact(
                format!("{name}: name"),
                text(&found["name"]),
                ours.name.to_string(),
            );
            self.fact(
                format!("{name}: set"),
                int(&found["set"]),
                ours.set.map_or(-1, i64::from),
            );
            self.fact(
                format!("{name}: binding"),
                int(&found["binding"]),
                ours.binding.map_or(-1, i64::from),
            );
            self.fact(
                format!("{name}: type"),
                int(&found["descriptor_type"]),
                i64::from(ours.descriptor_type.vulkan()),
            );
            self.fact(
                format!("{name}: input attachment"),
                int(&found["input_attachment_index"]),
                i64::from(ours.input_attachment_index.unwrap_or(0)),
            );
            self.fact(
                format!("{name}: dims"),
                dims(&found["array"]),
                our_dims(&ours.dims),
            );
            self.fact(
                format!("{name}: used"),
                int(&found["accessed"]) != 0,
                ours.used,
            );
            let counter = &found["uav_counter_binding"];
            let golden_counter =
                (!counter.is_null()).then(|| (int(&counter["set"]), int(&counter["binding"])));
            self.fact(
                format!("{name}: counter"),
                golden_counter,
                ours.counter
                    .map(|(set, binding)| (i64::from(set), i64::from(binding))),
            );
            let flags = int(&found["decoration_flags"]);
            self.fact(
                format!("{name}: decorated read-only"),
                flags & 0x80 != 0,
                ours.non_writable,
            );
            self.fact(
                format!("{name}: decorated write-only"),
                flags & 0x200 != 0,
                ours.non_readable,
            );
            self.image(&name, &found["image"], ours);
            if let Some(block) = ours.block {
                let kind = if ours.descriptor_type.vulkan() == 6 {
                    Kind::Uniform
                } else {
                    Kind::Storage
                };
                self.block(
                    &name,
                    kind,
                    &found["block"],
                    block,
                    ours.block_size.unwrap(),
                    ours.padded_size.unwrap(),
                );
            }
        }
    }

    fn image(&mut self, name: &str, golden: &Value, ours: &Binding) {
        let Some(image) = &ours.image else { return };
        let dim = ["1d", "2d", "3d", "cube", "rect", "buffer", "subpass"]
            .iter()
            .position(|dim| *dim == image.dim.name())
            .map(|dim| dim as i64);
        self.fact(format!("{name}: image dim"), Some(int(&golden["dim"])), dim);
        self.fact(
            format!("{name}: image depth"),
            int(&golden["depth"]) == 1,
            image.depth,
        );
        self.fact(
            format!("{name}: image arrayed"),
            int(&golden["arrayed"]) == 1,
            image.arrayed,
        );
        self.fact(
            format!("{name}: image multisampled"),
            int(&golden["ms"]) == 1,
            image.multisampled,
        );
        self.fact(
            format!("{name}: image format"),
            int(&golden["image_format"]),
            image.format.map_or(0, |format| i64::from(format.0)),
        );
    }

    /// Declared size of a struct from the golden's members (R1, R3): the end of the last one by offset.
    fn declared(&self, members: &[&Value]) -> i64 {
        let printed = members.iter().filter(|member| member.is_mapping());
        printed
            .map(|member| int(&member["offset"]) + self.right_size(member))
            .max()
            .unwrap_or(0)
    }

    /// Right size of a member, from what is right in the golden.
    fn right_size(&self, golden: &Value) -> i64 {
        let description = &golden["type_description"];
        let dims = dims(&description["traits"]["array"]);
        if int(&description["op"]) == RUNTIME_ARRAY {
            return 0; // R1, R2
        }
        if deviations::OPERATION_LENGTHS.contains(&self.module) && int(&description["op"]) == ARRAY
        {
            return 4; // R6
        }
        if int(&golden["size"]) == 0 && int(&description["op"]) == ARRAY {
            return dims.iter().product::<i64>() * int(&description["traits"]["array"]["stride"]); // R8
        }
        let members = list(&golden["members"]);
        let flags = text_or_int(&description["type_flags"]);
        if int(&description["op"]) == STRUCT && flags & POINTER == 0 && !members.is_empty() {
            return self.declared(&members); // R3
        }
        int(&golden["size"])
    }

    pub(crate) fn block(
        &mut self,
        name: &str,
        kind: Kind,
        golden: &Value,
        block: TypeId,
        size: u64,
        padded: u64,
    ) {
        let found = self.interface.types.get_struct(block).unwrap();
        let members = list(&golden["members"]);
        let mut declared = self.declared(&members);
        self.fact(format!("{name}: type size"), declared, found.size as i64);
        if kind == Kind::Push {
            declared -= members
                .iter()
                .filter(|member| member.is_mapping())
                .map(|member| int(&member["offset"]))
                .min()
                .unwrap_or(0); // R4
        }
        self.fact(format!("{name}: size"), declared, size as i64);
        let right = if kind == Kind::Uniform {
            int(&golden["padded_size"])
        } else {
            declared
        };
        self.fact(format!("{name}: padded size"), right, padded as i64);
        self.members(name, &members, &found.members, Some(0), 0);
    }

    /// `base` is the absolute offset of the struct where the golden's is not to be trusted (R13).
    fn members(
        &mut self,
        path: &str,
        golden: &[&Value],
        ours: &[Member],
        base: Option<i64>,
        depth: usize,
    ) {
        if golden
            .iter()
            .any(|member| matches!(member, Value::String(_) | Value::Sequence(_)))
            || depth > 12
        {
            return;
        }
        self.fact(format!("{path}: members"), golden.len(), ours.len());
        for (golden, ours) in golden.iter().zip(ours) {
            let name = format!("{path}.{}", ours.name);
            let absolute = base.map_or(int(&golden["absolute_offset"]), |base| {
                base + int(&golden["offset"])
            });
            self.member(&name, golden, ours, absolute);
            let (inner, behind_pointer) = self.inner(ours.ty);
            let members = list(&golden["members"]);
            let copy = int(&golden["flags"]) & COPY != 0;
            if let Some(found) = self
                .interface
                .types
                .get_struct(inner)
                .filter(|_| !(behind_pointer && (copy || members.is_empty())))
            {
                self.members(
                    &name,
                    &members,
                    &found.members,
                    Some(if behind_pointer { 0 } else { absolute }),
                    depth + 1,
                );
            }
        }
    }

    /// The struct that a member is, holds in an array, or points at.
    fn inner(&self, ty: TypeId) -> (TypeId, bool) {
        let (mut at, mut pointer) = (ty, false);
        for _ in 0..8 {
            match self.interface.types.get(at) {
                Some(Type::Array { element, .. }) => at = *element,
                Some(Type::Pointer { pointee, .. }) => {
                    at = *pointee;
                    pointer = true;
                }
                _ => break,
            }
        }
        (at, pointer)
    }

    fn member(&mut self, name: &str, golden: &Value, ours: &Member, absolute: i64) {
        let description = &golden["type_description"];
        self.fact(
            format!("{name}: name"),
            text(&golden["name"]),
            ours.name.to_string(),
        );
        self.fact(
            format!("{name}: offset"),
            int(&golden["offset"]),
            i64::from(ours.offset.unwrap_or(0)),
        );
        self.fact(
            format!("{name}: absolute offset"),
            absolute,
            ours.absolute_offset.unwrap_or(0) as i64,
        );
        let size = self.right_size(golden);
        self.fact(format!("{name}: size"), size, ours.size as i64);
        // R3: where the golden rounds a nested struct's size up to 16, that is its padded size.
        let printed = (int(&golden["size"]), int(&golden["padded_size"]));
        let rounded = size > 0 && printed.0 == (size + 15) / 16 * 16;
        let padded = if size == printed.0 || rounded || printed.1 > printed.0 {
            printed.1
        } else {
            size
        };
        self.fact(
            format!("{name}: padded size"),
            padded,
            ours.padded_size as i64,
        );
        let decorations = int(&golden["decorations"]);
        if ours.row_major.is_some() {
            self.fact(
                format!("{name}: row major"),
                decorations & 4 != 0,
                ours.row_major == Some(true),
            );
        }
        self.fact(
            format!("{name}: read-only"),
            decorations & 0x80 != 0,
            ours.non_writable,
        );
        self.fact(
            format!("{name}: write-only"),
            decorations & 0x200 != 0,
            ours.non_readable,
        );
        self.fact(
            format!("{name}: used"),
            int(&golden["flags"]) & UNUSED == 0,
            ours.used,
        );
        let (dims, stride) = match self.interface.types.get(ours.ty) {
            Some(Type::Array { dims, strides, .. }) => {
                (our_dims(dims), i64::from(strides[0].unwrap_or(0)))
            }
            _ => (Vec::new(), 0),
        };
        let op = int(&description["op"]);
        if op == RUNTIME_ARRAY || (op == ARRAY && int(&golden["size"]) == 0) {
            // R2, R8: the type has the dimensions; for an array of arrays its stride is that of the inner array.
            let right = self::dims(&description["traits"]["array"]);
            let inner = right.iter().skip(1).product::<i64>()
                * int(&description["traits"]["array"]["stride"]);
            self.fact(format!("{name}: dims"), right, dims);
            self.fact(format!("{name}: array stride"), inner, stride);
        } else if deviations::OPERATION_LENGTHS.contains(&self.module) && op == ARRAY {
            self.fact(format!("{name}: dims"), vec![1], dims);
            self.fact(
                format!("{name}: array stride"),
                int(&golden["array"]["stride"]),
                stride,
            );
        } else {
            let right = self::dims(&golden["array"]);
            let inner = right.iter().skip(1).product::<i64>() * int(&golden["array"]["stride"]);
            self.fact(format!("{name}: dims"), right, dims);
            self.fact(format!("{name}: array stride"), inner, stride);
        }
        self.numeric(name, &golden["numeric"], ours.ty, ours.matrix_stride);
    }

    pub(crate) fn numeric(
        &mut self,
        name: &str,
        golden: &Value,
        ty: TypeId,
        matrix_stride: Option<u32>,
    ) {
        let types = &self.interface.types;
        let mut at = ty;
        if let Some(Type::Array { element, .. }) = types.get(at) {
            at = *element;
        }
        let (mut vector, mut columns, mut rows) = (0, 0, 0);
        match types.get(at) {
            Some(Type::Vector { component, length }) => {
                vector = i64::from(*length);
                at = *component;
            }
            Some(Type::Matrix {
                component,
                columns: c,
                rows: r,
            }) => {
                (columns, rows) = (i64::from(*c), i64::from(*r));
                vector = rows;
                at = *component;
            }
            _ => {}
        }
        let (width, signed) = match types.get(at) {
            Some(Type::Int { width, signed }) => (i64::from(*width), i64::from(*signed)),
            Some(Type::Float { width }) => (i64::from(*width), 0),
            _ => (0, 0),
        };
        if matches!(
            types.get(at),
            Some(Type::Bool | Type::Struct(_) | Type::Pointer { .. } | Type::Opaque(_))
        ) {
            return;
        }
        self.fact(
            format!("{name}: width"),
            int(&golden["scalar"]["width"]),
            width,
        );
        self.fact(
            format!("{name}: signed"),
            int(&golden["scalar"]["signedness"]),
            signed,
        );
        self.fact(
            format!("{name}: vector"),
            int(&golden["vector"]["component_count"]),
            vector,
        );
        self.fact(
            format!("{name}: columns"),
            int(&golden["matrix"]["column_count"]),
            columns,
        );
        self.fact(
            format!("{name}: rows"),
            int(&golden["matrix"]["row_count"]),
            rows,
        );
        if columns > 0 {
            self.fact(
                format!("{name}: matrix stride"),
                int(&golden["matrix"]["stride"]),
                i64::from(matrix_stride.unwrap_or(0)),
            );
        }
    }
}

pub(crate) fn our_dims(dims: &[Dim]) -> Vec<i64> {
    dims.iter()
        .map(|dim| i64::from(dim.default_length()))
        .collect()
}
