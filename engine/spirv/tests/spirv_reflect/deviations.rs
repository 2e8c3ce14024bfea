//! Facts on which a golden is wrong, with the right value and the reason.

/// One fact.
pub struct Deviation {
    /// Reason: a rule of the README beside the goldens.
    pub rule: &'static str,
    /// Module.
    pub module: &'static str,
    /// Fact, as the comparison names it.
    pub fact: &'static str,
    /// Right value.
    pub right: &'static str,
}

/// Facts that no general rule of `compare.rs` covers, checked by hand against the disassembly.
pub const FACTS: &[Deviation] = &[];

/// R6: array lengths that are operations come out as the opcode's number; evaluated with the defaults they are 1.
pub const OPERATION_LENGTHS: &[&str] = &[
    "spec_constants/convert.spv",
    "spec_constants/test_32bit.spv",
    "spec_constants/test_64bit.spv",
];

/// A struct-typed input or output: name, location, VkFormat and built-in of each entry (-1 or 0 for none).
pub struct Struct {
    /// Module.
    pub module: &'static str,
    /// SPIR-V id of the variable.
    pub variable: u32,
    /// What is right.
    pub entries: &'static [(&'static str, i64, i64, i64)],
}

/// R10 and R11, by hand from the disassembly.
pub const STRUCTS: &[Struct] = &[];
