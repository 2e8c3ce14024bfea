//! Every fact of the SPIRV-Cross goldens against ours. Ids differ (another compiler made our modules), so things are found by
//! name, and buffers by set and binding; the README beside the goldens tells its traps.

use std::path::{Path, PathBuf};

use impel_spirv::{
    Binding, Dim, Interface, InterfaceVariable, Member, MissingBindings, Options, Stage, Type,
    TypeId, reflect_with,
};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/spirv-cross")
}

struct Compare<'a> {
    interface: &'a Interface,
    golden: &'a Value,
    facts: usize,
    differences: Vec<String>,
}

#[test]
fn goldens_agree() {
    let index = std::fs::read_to_string(corpus().join("INDEX.tsv")).unwrap();
    let (mut facts, mut modules, mut differences) = (0, 0, Vec::new());
    for line in index.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let golden: Value =
            serde_json::from_str(&std::fs::read_to_string(corpus().join(columns[0])).unwrap())
                .unwrap();
        let bytes = std::fs::read(corpus().join(columns[3])).unwrap();
        let interface = reflect_with(
            &bytes,
            &Options {
                missing_bindings: MissingBindings::Keep,
            },
        )
        .unwrap_or_else(|error| panic!("{}: {error}", columns[3]));
        let mut compare = Compare {
            interface: &interface,
            golden: &golden,
            facts: 0,
            differences: Vec::new(),
        };
        compare.all();
        modules += 1;
        facts += compare.facts;
        differences.extend(
            compare
                .differences
                .into_iter()
                .map(|difference| format!("{}: {difference}", columns[0])),
        );
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert_eq!(modules, 15);
    assert!(facts > 400, "only {facts} facts were compared");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// Names that SPIRV-Cross makes up for things without one.
fn is_made_up(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|rest| {
        rest.trim_start_matches('m')
            .chars()
            .all(|c| c.is_ascii_digit())
    })
}

impl Compare<'_> {
    #[allow(
        clippy::needless_pass_by_value,
        reason = "values are made where they are compared"
    )]
    fn fact<T: PartialEq + std::fmt::Debug>(&mut self, fact: &str, golden: T, ours: T) {
        self.facts += 1;
        if golden != ours {
            self.differences
                .push(format!("{fact}: golden {golden:?}, ours {ours:?}"));
        }
    }

    fn all(&mut self) {
        let golden = self.golden;
        for key in golden.as_object().unwrap().keys() {
            let known = [
                "entryPoints",
                "types",
                "inputs",
                "outputs",
                "textures",
                "separate_images",
                "separate_samplers",
                "images",
                "ubos",
                "ssbos",
                "push_constants",
                "subpass_inputs",
                "acceleration_structures",
                "specialization_constants",
            ];
            assert!(known.contains(&key.as_str()), "nobody compares {key}");
        }
        self.entry_points(list(&golden["entryPoints"]));
        for (section, kinds) in [
            (
                "textures",
                &["combined_image_sampler", "uniform_texel_buffer"][..],
            ),
            (
                "separate_images",
                &["sampled_image", "uniform_texel_buffer"][..],
            ),
            ("separate_samplers", &["sampler"][..]),
            ("images", &["storage_image", "storage_texel_buffer"][..]),
            ("subpass_inputs", &["input_attachment"][..]),
            ("acceleration_structures", &["acceleration_structure"][..]),
        ] {
            for found in list(&golden[section]) {
                self.opaque(found, kinds);
            }
        }
        for (section, kind) in [("ubos", "uniform_buffer"), ("ssbos", "storage_buffer")] {
            for found in list(&golden[section]) {
                self.buffer(found, kind);
            }
        }
        let count: usize = [
            "textures",
            "separate_images",
            "separate_samplers",
            "images",
            "subpass_inputs",
            "acceleration_structures",
            "ubos",
            "ssbos",
        ]
        .iter()
        .map(|section| list(&golden[section]).len())
        .sum();
        self.fact("number of bindings", count, self.interface.bindings.len());
        for found in list(&golden["push_constants"]) {
            let block = self.interface.push_constants[0].block;
            self.members("push constants", text(&found["type"]), block);
        }
        self.fact(
            "number of push constants",
            list(&golden["push_constants"]).len(),
            self.interface.push_constants.len(),
        );
        let entry = &self.interface.entry_points[0];
        self.variables("input", list(&golden["inputs"]), &entry.inputs);
        self.variables("output", list(&golden["outputs"]), &entry.outputs);
        self.spec_constants(list(&golden["specialization_constants"]));
    }

    fn entry_points(&mut self, golden: &[Value]) {
        self.fact(
            "number of entry points",
            golden.len(),
            self.interface.entry_points.len(),
        );
        for found in golden {
            let stage = match text(&found["mode"]) {
                "vert" => Stage::Vertex,
                "frag" => Stage::Fragment,
                "comp" => Stage::Compute,
                other => panic!("mode {other}"),
            };
            let entry = self
                .interface
                .entry_point(text(&found["name"]), Some(stage));
            self.fact(
                &format!("entry point {}", found["name"]),
                true,
                entry.is_some(),
            );
            let by_id = list(&found["workgroup_size_is_spec_constant_id"]);
            for (axis, (size, by_id)) in
                list(&found["workgroup_size"]).iter().zip(by_id).enumerate()
            {
                let ours = entry.unwrap().local_size.unwrap()[axis];
                let number = size.as_u64().unwrap() as u32;
                if by_id.as_bool().unwrap() {
                    self.fact(&format!("local size {axis}"), Some(number), ours.spec_id);
                } else {
                    self.fact(
                        &format!("local size {axis}"),
                        (number, None),
                        (ours.value, ours.spec_id),
                    );
                }
            }
        }
    }

    /// Fact by fact what every binding has. Dimensions of the golden are innermost first.
    fn common(&mut self, name: &str, golden: &Value, ours: &Binding) {
        self.fact(
            &format!("{name}: set"),
            golden["set"].as_u64(),
            ours.set.map(u64::from),
        );
        self.fact(
            &format!("{name}: binding"),
            golden["binding"].as_u64(),
            ours.binding.map(u64::from),
        );
        let dims: Vec<u64> = list(&golden["array"])
            .iter()
            .rev()
            .filter_map(Value::as_u64)
            .collect();
        let ours_dims: Vec<u64> = ours
            .dims
            .iter()
            .map(|dim| u64::from(dim.default_length()))
            .collect();
        self.fact(&format!("{name}: dims"), dims, ours_dims);
    }

    fn opaque(&mut self, golden: &Value, kinds: &[&str]) {
        let name = text(&golden["name"]);
        let Some(ours) = self
            .interface
            .bindings
            .iter()
            .find(|binding| binding.name == name)
        else {
            self.fact(name, "present", "missing");
            return;
        };
        self.common(name, golden, ours);
        self.fact(
            &format!("{name}: kind {}", ours.descriptor_type),
            true,
            kinds.contains(&ours.descriptor_type.name()),
        );
        if let Some(index) = golden["input_attachment_index"].as_u64() {
            self.fact(
                &format!("{name}: input attachment"),
                Some(index as u32),
                ours.input_attachment_index,
            );
        }
        if let Some(format) = golden["format"].as_str() {
            let ours_format = ours
                .image
                .as_ref()
                .unwrap()
                .format
                .map(|format| format.to_string().to_lowercase());
            self.fact(
                &format!("{name}: format"),
                Some(format.to_owned()),
                ours_format,
            );
        }
        self.fact(
            &format!("{name}: readonly"),
            golden["readonly"].as_bool().unwrap_or(false),
            ours.non_writable,
        );
        self.fact(
            &format!("{name}: writeonly"),
            golden["writeonly"].as_bool().unwrap_or(false),
            ours.non_readable,
        );
        let Some(image) = &ours.image else { return };
        // texture2DArray, samplerBuffer, subpassInput, image3D
        let ty = text(&golden["type"])
            .trim_start_matches(['u', 'i'])
            .trim_start_matches("mage");
        let ty = ["texture", "sampler", "image", "subpass"]
            .iter()
            .find_map(|prefix| ty.strip_prefix(prefix))
            .unwrap_or(ty);
        let dim = match ty.trim_end_matches("Array").trim_end_matches("MS") {
            "1D" => "1d",
            "2D" => "2d",
            "3D" => "3d",
            "Cube" => "cube",
            "Buffer" => "buffer",
            "Input" => "subpass",
            other => panic!("type {other}"),
        };
        self.fact(&format!("{name}: dim"), dim, image.dim.name());
        self.fact(
            &format!("{name}: arrayed"),
            ty.ends_with("Array"),
            image.arrayed,
        );
    }

    fn buffer(&mut self, golden: &Value, kind: &str) {
        let name = text(&golden["name"]);
        let (set, number) = (
            golden["set"].as_u64().unwrap() as u32,
            golden["binding"].as_u64().unwrap() as u32,
        );
        let Some(ours) = self
            .interface
            .bindings_at(set, number)
            .find(|binding| binding.descriptor_type.name() == kind)
        else {
            self.fact(name, "present", "missing");
            return;
        };
        self.common(name, golden, ours);
        self.fact(
            &format!("{name}: block size"),
            golden["block_size"].as_u64(),
            ours.block_size,
        );
        for (key, flag) in [
            ("readonly", ours.non_writable),
            ("writeonly", ours.non_readable),
        ] {
            self.fact(
                &format!("{name}: {key}"),
                golden[key].as_bool().unwrap_or(false),
                flag,
            );
        }
        self.members(name, text(&golden["type"]), ours.block.unwrap());
    }

    fn members(&mut self, path: &str, golden_type: &str, ours: TypeId) {
        let golden = self.golden["types"][golden_type].clone();
        let interface = self.interface;
        let Some(found) = interface.types.get_struct(ours) else {
            self.fact(&format!("{path}: struct"), "present", "missing");
            return;
        };
        let members = list(&golden["members"]);
        self.fact(
            &format!("{path}: members"),
            members.len(),
            found.members.len(),
        );
        for (golden, ours) in members.iter().zip(&found.members) {
            self.member(path, golden, ours);
        }
    }

    fn member(&mut self, path: &str, golden: &Value, ours: &Member) {
        let name = format!("{path}.{}", ours.name);
        if !is_made_up(text(&golden["name"])) {
            self.fact(
                &format!("{name}: name"),
                text(&golden["name"]),
                ours.name.as_str(),
            );
        }
        self.fact(
            &format!("{name}: offset"),
            golden["offset"].as_u64(),
            ours.offset.map(u64::from),
        );
        if let Some(stride) = golden["matrix_stride"].as_u64() {
            self.fact(
                &format!("{name}: matrix stride"),
                Some(stride),
                ours.matrix_stride.map(u64::from),
            );
            self.fact(
                &format!("{name}: row major"),
                golden["row_major"].as_bool().unwrap_or(false),
                ours.row_major == Some(true),
            );
        }
        let types = &self.interface.types;
        let (element, dims) = match types.get(ours.ty) {
            Some(Type::Array { element, dims, .. }) => (*element, dims.as_slice()),
            _ => (ours.ty, &[][..]),
        };
        let literal = list(&golden["array_size_is_literal"]).iter().rev();
        let golden_dims = list(&golden["array"]).iter().rev().zip(literal);
        self.fact(
            &format!("{name}: number of dims"),
            golden_dims.len(),
            dims.len(),
        );
        for ((length, literal), ours) in golden_dims.zip(dims) {
            // A length that is no literal is an id of the other compiler's; only that it depends on a constant is a fact.
            if literal.as_bool().unwrap() {
                self.fact(
                    &format!("{name}: dim"),
                    length.as_u64(),
                    Some(u64::from(ours.default_length())),
                );
            } else {
                self.fact(
                    &format!("{name}: dim by spec constant"),
                    true,
                    matches!(ours, Dim::Spec { .. }),
                );
            }
        }
        if !dims.is_empty() {
            self.fact(
                &format!("{name}: array stride"),
                golden["array_stride"].as_u64(),
                ours.array_stride.map(u64::from),
            );
        }
        let golden_type = text(&golden["type"]).to_owned();
        if golden_type.starts_with('_') {
            let named = self.golden["types"][&golden_type].clone();
            if named["physical_pointer"].as_bool() == Some(true) {
                let Some(Type::Pointer { pointee, .. }) = types.get(element) else {
                    self.fact(&format!("{name}: pointer"), "present", "missing");
                    return;
                };
                self.members(&name, text(&named["type"]), *pointee);
            } else {
                self.members(&name, &golden_type, element);
            }
        } else {
            let ours = glsl_type(types, element);
            self.fact(&format!("{name}: type"), golden_type, ours);
        }
    }

    fn variables(&mut self, what: &str, golden: &[Value], ours: &[InterfaceVariable]) {
        for found in golden {
            let name = text(&found["name"]);
            let Some(variable) = ours.iter().find(|variable| variable.name == name) else {
                self.fact(&format!("{what} {name}"), "present", "missing");
                continue;
            };
            self.fact(
                &format!("{what} {name}: location"),
                found["location"].as_u64(),
                variable.location.map(u64::from),
            );
            let ty = glsl_type(&self.interface.types, variable.ty);
            self.fact(
                &format!("{what} {name}: type"),
                text(&found["type"]).to_owned(),
                ty,
            );
        }
        if self.interface.entry_points.len() == 1 {
            let count = ours
                .iter()
                .filter(|variable| variable.built_in.is_none())
                .count();
            self.fact(&format!("number of {what}s"), golden.len(), count);
        }
    }

    fn spec_constants(&mut self, golden: &[Value]) {
        self.fact(
            "number of spec constants",
            golden.len(),
            self.interface.spec_constants.len(),
        );
        for found in golden {
            let id = found["id"].as_u64().unwrap() as u32;
            let Some(ours) = self
                .interface
                .spec_constants
                .iter()
                .find(|constant| constant.id == id)
            else {
                self.fact(&format!("spec constant {id}"), "present", "missing");
                continue;
            };
            self.fact(
                &format!("spec constant {id}: name"),
                text(&found["name"]),
                ours.name.as_str(),
            );
            let ty = match ours.ty.name() {
                "i32" => "int",
                "u32" => "uint",
                "f32" => "float",
                other => other,
            };
            self.fact(
                &format!("spec constant {id}: type"),
                text(&found["type"]),
                ty,
            );
            self.fact(
                &format!("spec constant {id}: default"),
                found["default_value"].to_string(),
                ours.default.to_string(),
            );
        }
    }
}

/// GLSL's name of a scalar, vector or matrix type.
fn glsl_type(types: &impel_spirv::TypeTable, ty: TypeId) -> String {
    let scalar = |ty: TypeId| match types.get(ty) {
        Some(Type::Float { width: 32 }) => ("float", ""),
        Some(Type::Float { width: 64 }) => ("double", "d"),
        Some(Type::Int {
            width: 32,
            signed: true,
        }) => ("int", "i"),
        Some(Type::Int {
            width: 32,
            signed: false,
        }) => ("uint", "u"),
        Some(Type::Bool) => ("bool", "b"),
        other => panic!("{other:?}"),
    };
    match types.get(ty) {
        Some(Type::Vector { component, length }) => format!("{}vec{length}", scalar(*component).1),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) if columns == rows => format!("{}mat{columns}", scalar(*component).1),
        Some(Type::Matrix {
            component,
            columns,
            rows,
        }) => format!("{}mat{columns}x{rows}", scalar(*component).1),
        _ => scalar(ty).0.to_owned(),
    }
}
