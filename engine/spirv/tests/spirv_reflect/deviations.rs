//! Facts on which a golden is wrong, with the right value and the reason.

/// One fact.
pub(crate) struct Deviation {
    /// Reason: a rule of the README beside the goldens, or a section of a specification.
    pub(crate) rule: &'static str,
    /// Module.
    pub(crate) module: &'static str,
    /// Fact, as the comparison names it.
    pub(crate) fact: &'static str,
    /// Right value.
    pub(crate) right: &'static str,
}

/// Facts that no general rule of `compare.rs` covers, checked by hand against the disassembly.
pub(crate) const FACTS: &[Deviation] = &[
    Deviation {
        rule: "R1",
        module: "glsl/buffer_handle_0.spv",
        fact: "binding 17 x: type size",
        right: "32",
    },
    Deviation {
        rule: "R1",
        module: "glsl/buffer_handle_0.spv",
        fact: "binding 17 x: size",
        right: "32",
    },
    Deviation {
        rule: "R1",
        module: "glsl/buffer_handle_0.spv",
        fact: "binding 17 x: padded size",
        right: "32",
    },
    Deviation {
        rule: "R1",
        module: "glsl/buffer_handle_2.spv",
        fact: "binding 21 x: type size",
        right: "88",
    },
    Deviation {
        rule: "R1",
        module: "glsl/buffer_handle_2.spv",
        fact: "binding 21 x: size",
        right: "88",
    },
    Deviation {
        rule: "R1",
        module: "glsl/buffer_handle_2.spv",
        fact: "binding 21 x: padded size",
        right: "88",
    },
    // The only member of the blocks is decorated NonWritable; the golden tells so only of blocks that are no arrays.
    Deviation {
        rule: "SPIR-V 3.20, NonWritable",
        module: "hlsl/array_of_structured_buffer.spv",
        fact: "binding 4 Input: decorated read-only",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame.proj: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame.view: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame.time: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame.numCubes: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame.dropHeight: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame._pad0: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.frame._pad1: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "descriptor_heap/slang/bindless.frag.spv",
        fact: "push constants.bindless.gridSize: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "glsl/buffer_handle_1.spv",
        fact: "binding 21 s5.m.k: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/buffer_handle_1.spv",
        fact: "binding 13 x.k.h: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/buffer_handle_1.spv",
        fact: "binding 13 x.k.i: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/buffer_handle_6.spv",
        fact: "push constants.g_GlobalsBDAPerStage_0._data: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/buffer_handle_6.spv",
        fact: "push constants.g_GlobalsBDAPerStage_0._data.g_vTest: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/runtime_array_of_array_of_struct.spv",
        fact: "binding 31 .input_values.a: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/runtime_array_of_array_of_struct.spv",
        fact: "binding 31 .input_values.b: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/runtime_array_of_array_of_struct.spv",
        fact: "binding 24 .output_values.a: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "glsl/runtime_array_of_array_of_struct.spv",
        fact: "binding 24 .output_values.b: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "hlsl/append_consume.spv",
        fact: "binding 7 BufferIn..rgba: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "hlsl/append_consume.spv",
        fact: "binding 14 BufferOut..rgba: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "hlsl/structuredbuffer.spv",
        fact: "binding 8 MyData..Position: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "push_constants/push_constant_basic_2.spv",
        fact: "push constants.bar.t: used",
        right: "false",
    },
    Deviation {
        rule: "R7",
        module: "variable_access/copy_array_1.spv",
        fact: "binding 18 foo..b: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "variable_access/copy_array_1.spv",
        fact: "binding 18 foo..b.data: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "variable_access/copy_memory.spv",
        fact: "binding 5 .: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "variable_access/copy_memory.spv",
        fact: "binding 4 .: used",
        right: "true",
    },
    Deviation {
        rule: "R7",
        module: "variable_access/phy_storage_buffer_used_0.spv",
        fact: "binding 13 x.first_node.payload: used",
        right: "true",
    },
    Deviation {
        rule: "R5",
        module: "spec_constants/local_size_id_13.spv",
        fact: "number of spec constants",
        right: "2",
    },
];

/// R6: array lengths that are operations come out as the opcode's number; evaluated with the defaults they are 1.
pub(crate) const OPERATION_LENGTHS: &[&str] = &[
    "spec_constants/convert.spv",
    "spec_constants/test_32bit.spv",
    "spec_constants/test_64bit.spv",
];

/// A struct-typed input or output: name, location, VkFormat and built-in of each entry (-1 or 0 for none).
pub(crate) struct Struct {
    /// Module.
    pub(crate) module: &'static str,
    /// SPIR-V id of the variable.
    pub(crate) variable: u32,
    /// What is right.
    pub(crate) entries: &'static [(&'static str, i64, i64, i64)],
}

/// R10 and R11, by hand from the disassembly.
pub(crate) const STRUCTS: &[Struct] = &[
    Struct {
        module: "glsl/frag_array_input.spv",
        variable: 13,
        entries: &[
            ("in_a.y1_", 0, 99, -1),
            ("in_a.y2_[0].x1_", 1, 99, -1),
            ("in_a.y2_[0].x2_", 2, 99, -1),
            ("in_a.y2_[1].x1_", 3, 99, -1),
            ("in_a.y2_[1].x2_", 4, 99, -1),
        ],
    },
    Struct {
        module: "glsl/frag_array_input.spv",
        variable: 15,
        entries: &[
            ("int_b[0].x1_", 5, 99, -1),
            ("int_b[0].x2_", 6, 99, -1),
            ("int_b[1].x1_", 7, 99, -1),
            ("int_b[1].x2_", 8, 99, -1),
        ],
    },
    Struct {
        module: "glsl/frag_array_input.spv",
        variable: 18,
        entries: &[
            ("in_c.c_[0].x1_", 10, 99, -1),
            ("in_c.c_[0].x2_", 11, 99, -1),
            ("in_c.c_[1].x1_", 12, 99, -1),
            ("in_c.c_[1].x2_", 13, 99, -1),
        ],
    },
    Struct {
        module: "glsl/frag_array_input.spv",
        variable: 21,
        entries: &[
            ("int_d[0][0].x1_", 14, 99, -1),
            ("int_d[0][0].x2_", 15, 99, -1),
            ("int_d[0][1].x1_", 16, 99, -1),
            ("int_d[0][1].x2_", 17, 99, -1),
            ("int_d[1][0].x1_", 18, 99, -1),
            ("int_d[1][0].x2_", 19, 99, -1),
            ("int_d[1][1].x1_", 20, 99, -1),
            ("int_d[1][1].x2_", 21, 99, -1),
        ],
    },
    Struct {
        module: "glsl/frag_array_input.spv",
        variable: 26,
        entries: &[
            ("in_e.e_[0].z_[0][0].x1_", 22, 99, -1),
            ("in_e.e_[0].z_[0][0].x2_", 23, 99, -1),
            ("in_e.e_[0].z_[0][1].x1_", 24, 99, -1),
            ("in_e.e_[0].z_[0][1].x2_", 25, 99, -1),
            ("in_e.e_[0].z_[1][0].x1_", 26, 99, -1),
            ("in_e.e_[0].z_[1][0].x2_", 27, 99, -1),
            ("in_e.e_[0].z_[1][1].x1_", 28, 99, -1),
            ("in_e.e_[0].z_[1][1].x2_", 29, 99, -1),
            ("in_e.e_[1].z_[0][0].x1_", 30, 99, -1),
            ("in_e.e_[1].z_[0][0].x2_", 31, 99, -1),
            ("in_e.e_[1].z_[0][1].x1_", 32, 99, -1),
            ("in_e.e_[1].z_[0][1].x2_", 33, 99, -1),
            ("in_e.e_[1].z_[1][0].x1_", 34, 99, -1),
            ("in_e.e_[1].z_[1][0].x2_", 35, 99, -1),
            ("in_e.e_[1].z_[1][1].x1_", 36, 99, -1),
            ("in_e.e_[1].z_[1][1].x2_", 37, 99, -1),
        ],
    },
    Struct {
        module: "issues/178/vertex_input_struct.spv",
        variable: 2,
        entries: &[("alice", 9, 100, -1), ("bob", 11, 109, -1)],
    },
    Struct {
        module: "interface/geom_input_builtin_array.spv",
        variable: 16,
        entries: &[
            ("gl_in.gl_Position", -1, 109, 0),
            ("gl_in.gl_CullDistance", -1, 100, 4),
        ],
    },
];
