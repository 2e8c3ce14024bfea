//! Facts of corpus modules that the goldens do not tell, and the outputs for people and tools.

mod common;

use std::path::Path;
use std::sync::Mutex;

use impel_spirv::{
    Access, Interface, MeshLimits, MissingBindings, NamedModule, Options, Stage, Topology,
    operands, reflect_many, reflect_with, to_json, to_table, words::Words,
};

const KEEP: Options = Options {
    missing_bindings: MissingBindings::Keep,
};

fn corpus(module: &str) -> Interface {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/spirv-reflect")
        .join(module);
    reflect_with(&std::fs::read(path).unwrap(), &KEEP).unwrap()
}

#[test]
fn local_sizes() {
    let size = |module: &str| {
        corpus(module).entry_points[0]
            .local_size
            .unwrap()
            .map(|axis| (axis.value, axis.spec_id))
    };
    assert_eq!(
        size("entry_exec_mode/comp_local_size.spv"),
        [(1, None), (1, None), (1, None)]
    );
    assert_eq!(
        size("execution_mode/local_size_id.spv"),
        [(16, None), (1, None), (1, None)]
    );
    assert_eq!(
        size("hlsl/localsize.spv"),
        [(16, None), (24, None), (4, None)]
    );
    // LocalSizeId wins over LocalSize, the WorkgroupSize built-in over both.
    assert_eq!(
        size("spec_constants/local_size_id_13.spv"),
        [(1, Some(8)), (1, Some(4)), (4, None)]
    );
    assert_eq!(
        size("spec_constants/test_32bit.spv"),
        [(4, Some(8)), (1, None), (1, None)]
    );
}

#[test]
fn mesh_limits_and_per_primitive_outputs() {
    let interface = corpus("mesh_shader_ext/mesh_shader_ext.mesh.hlsl.spv");
    let entry = &interface.entry_points[0];
    assert_eq!(
        entry.mesh,
        Some(MeshLimits {
            max_vertices: 64,
            max_primitives: 124,
            topology: Topology::Triangles
        })
    );
    let outputs: Vec<_> = entry
        .outputs
        .iter()
        .map(|output| {
            (
                output.location,
                output.built_in.map(|built_in| built_in.to_string()),
                output.per_primitive,
            )
        })
        .collect();
    assert_eq!(outputs[0], (Some(0), None, true));
    assert!(outputs.contains(&(None, Some("PrimitiveTriangleIndicesEXT".to_owned()), false)));

    let nv = common::reflect("nv.spvasm");
    let task = nv.entry_point("task", Some(Stage::Task)).unwrap();
    let mesh = nv.entry_point("mesh", Some(Stage::Mesh)).unwrap();
    assert_eq!((task.payload_size, mesh.payload_size), (Some(32), Some(32)));
    assert_eq!(
        mesh.mesh,
        Some(MeshLimits {
            max_vertices: 40,
            max_primitives: 20,
            topology: Topology::Triangles
        })
    );
    assert_eq!(
        (task.default_local_size(), mesh.default_local_size()),
        (Some([32, 1, 1]), Some([16, 1, 1]))
    );
    let color = mesh
        .outputs
        .iter()
        .find(|output| output.name == "color")
        .unwrap();
    assert_eq!(
        (color.location, color.locations, color.per_primitive),
        (Some(3), 1, true)
    );
}

/// Runtime arrays behind untyped pointers (SPV_KHR_untyped_pointers), which assemblers at hand do not know: by words.
#[test]
fn untyped_pointers() {
    let op = |opcode: u32, operands: &[u32]| -> Vec<u32> {
        std::iter::once((operands.len() as u32 + 1) << 16 | opcode)
            .chain(operands.iter().copied())
            .collect()
    };
    let body = [
        op(15, &[5, 1, 0]),
        op(71, &[20, 34, 0]),
        op(71, &[20, 33, 2]),
        op(71, &[10, 2]),
        op(72, &[10, 0, 35, 0]),
        op(72, &[10, 1, 35, 16]),
        op(71, &[9, 6, 4]),
        op(19, &[2]),
        op(33, &[3, 2]),
        op(21, &[4, 32, 0]),
        op(43, &[4, 5, 1]),
        op(43, &[4, 6, 3]),
        op(29, &[9, 4]),
        op(30, &[10, 4, 9]),
        op(4417, &[11, 12]),
        op(4418, &[11, 20, 12, 10]),
        op(54, &[2, 1, 0, 3]),
        op(248, &[30]),
        // An access chain with the block as base type: member 1, element 3.
        op(4419, &[11, 31, 10, 20, 5, 6]),
        op(62, &[31, 5]),
        op(253, &[]),
        op(56, &[]),
    ];
    let mut all = vec![0x0723_0203, 0x0001_0600, 0, 40, 0];
    all.extend(body.concat());
    let bytes: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    let interface = reflect_with(&bytes, &Options::default()).unwrap();
    let buffer = &interface.bindings[0];
    assert_eq!(
        (buffer.set, buffer.binding, buffer.access),
        (Some(0), Some(2), Access::Write)
    );
    assert_eq!(common::ranges(buffer.active.as_ref().unwrap()), [(28, 4)]);
}

/// The operand table fits every instruction of every module at hand, to the last word.
#[test]
fn operands_of_all_modules() {
    let (mut instructions, mut ids) = (0, 0);
    for (file, bytes) in common::all_modules() {
        let words = Words::parse(&bytes).unwrap();
        let width_of = |id: u32| {
            let ty = words.iter().find(|instruction| {
                matches!(instruction.opcode, 21 | 22) && instruction.operands.first() == Some(&id)
            })?;
            Some(ty.operands[1].div_ceil(32) as usize)
        };
        let type_of = |id: u32| {
            let definition = words.iter().find(|i| {
                operands::instruction_info(i.opcode).is_some_and(|info| info.has_type)
                    && i.operands.get(1) == Some(&id)
            })?;
            definition.operands.first().copied()
        };
        for instruction in words.iter() {
            let literal_words = |id: u32, is_type: bool| {
                if is_type {
                    width_of(id)
                } else {
                    width_of(type_of(id)?)
                }
            };
            let mut end = 0;
            let outcome = operands::for_each_operand(
                instruction.opcode,
                instruction.operands,
                &literal_words,
                &mut |operand| {
                    assert_eq!(operand.start, end, "{file}: word {}", instruction.offset);
                    end = operand.start + operand.len;
                    ids += usize::from(operand.kind.is_id());
                },
            );
            assert_eq!(
                outcome,
                Ok(()),
                "{file}: word {}: Op{}",
                instruction.offset,
                operands::opcode_name(instruction.opcode)
            );
            assert_eq!(
                end,
                instruction.operands.len(),
                "{file}: word {}",
                instruction.offset
            );
            instructions += 1;
        }
    }
    assert!(
        instructions > 10_000 && ids > 20_000,
        "{instructions} instructions, {ids} ids"
    );
}

#[test]
fn many_modules_in_parallel() {
    let modules = common::all_modules();
    let mut named: Vec<NamedModule<'_>> = modules
        .iter()
        .map(|(file, spirv)| NamedModule { file, spirv })
        .collect();
    named.push(NamedModule {
        file: "broken.spv",
        spirv: b"broken",
    });
    let seen = Mutex::new(Vec::new());
    let results = reflect_many(&named, &KEEP, |progress| {
        assert_eq!(progress.total, named.len());
        seen.lock()
            .unwrap()
            .push((progress.done, progress.file.to_owned(), progress.succeeded));
    });
    let mut seen = seen.into_inner().unwrap();
    seen.sort();
    assert_eq!(
        seen.iter().map(|(done, ..)| *done).collect::<Vec<_>>(),
        (1..=named.len()).collect::<Vec<_>>()
    );
    assert_eq!(
        seen.iter()
            .filter(|(_, _, succeeded)| !succeeded)
            .map(|(_, file, _)| file.as_str())
            .collect::<Vec<_>>(),
        ["broken.spv"]
    );
    for (module, result) in named.iter().zip(&results) {
        match result {
            Ok(interface) => assert_eq!(Ok(interface.clone()), reflect_with(module.spirv, &KEEP)),
            Err(error) => assert!(error.to_string().starts_with("broken.spv: ")),
        }
    }
}

/// Every key of the schema is there, in every object.
#[test]
fn json_has_the_schema() {
    let keys = |value: &serde_json::Value, wanted: &str| {
        for key in wanted.split(' ') {
            assert!(value.get(key).is_some(), "{key} is missing in {value}");
        }
    };
    for (file, bytes) in common::all_modules() {
        let Ok(interface) = reflect_with(&bytes, &KEEP) else {
            continue;
        };
        let json = to_json(&interface, &file);
        keys(
            &json,
            "schema file spirv_version source_language generator addressing_model memory_model capabilities extensions entry_points bindings push_constants spec_constants types",
        );
        for entry in json["entry_points"].as_array().unwrap() {
            keys(
                entry,
                "name stage local_size mesh payload_size invocations bindings push_constants inputs outputs",
            );
            for variable in entry["inputs"]
                .as_array()
                .unwrap()
                .iter()
                .chain(entry["outputs"].as_array().unwrap())
            {
                keys(
                    variable,
                    "name location component index locations type format built_in per_primitive interpolation",
                );
                assert!(
                    json["types"]
                        .get(variable["type"].as_str().unwrap())
                        .is_some()
                );
            }
        }
        for binding in json["bindings"].as_array().unwrap() {
            keys(
                binding,
                "set binding name spirv_id type count dims access used active image block block_size padded_size input_attachment_index counter semantic user_type",
            );
            keys(binding, "aliases sampled_with access_by_stage");
            if let Some(block) = binding["block"].as_str() {
                assert_eq!(json["types"][block]["kind"], "struct");
            }
        }
        for constant in json["spec_constants"].as_array().unwrap() {
            keys(constant, "id name type default sizes");
        }
        for ty in json["types"]
            .as_object()
            .unwrap()
            .values()
            .filter(|ty| ty["kind"] == "struct")
        {
            for member in ty["members"].as_array().unwrap() {
                keys(
                    member,
                    "name type offset absolute_offset size padded_size array_stride matrix_stride row_major used",
                );
                assert!(
                    json["types"]
                        .get(member["type"].as_str().unwrap())
                        .is_some()
                );
            }
        }
        assert!(to_table(&interface, &file).starts_with(&file));
    }
}

#[test]
fn table_for_people() {
    let table = to_table(&common::reflect("active.comp"), "active.comp");
    for line in [
        "compute \"main\"",
        "  local size 1 x 1 x 1",
        "  uses 0.0 \"\" read_write  bytes 12..16 24..28 32..36 40..44 48..64 104..108",
        "  0.0 storage_buffer \"\"  compute read_write",
        "          48     16  color: f32x4",
        "          64      4  rest.left: u32",
    ] {
        assert!(
            table.lines().any(|have| have == line),
            "\"{line}\" is missing in:\n{table}"
        );
    }
}
