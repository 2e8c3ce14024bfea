//! The operand table must say what Khronos' grammar says. The grammar comes from `rspirv`, which tests alone use.
//!
//! `IMPEL_BLESS=1` rewrites the table.

use std::fmt::Write as _;

use rspirv::dr::Operand;
use rspirv::grammar::{INSTRUCTION_TABLE, LogicalOperand, OperandKind, OperandQuantifier};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operands/table.txt");

fn letter(kind: OperandKind) -> char {
    use OperandKind as K;
    match kind {
        K::IdResultType => 'T',
        K::IdResult => 'R',
        K::IdRef => 'I',
        K::IdScope => 'S',
        K::IdMemorySemantics => 'M',
        K::LiteralInteger => 'L',
        K::LiteralFloat => 'F',
        K::LiteralString => 's',
        K::LiteralContextDependentNumber => 'C',
        K::LiteralExtInstInteger => 'X',
        K::LiteralSpecConstantOpInteger => 'O',
        K::PairLiteralIntegerIdRef => 'P',
        K::PairIdRefLiteralInteger => 'Q',
        K::PairIdRefIdRef => 'B',
        K::ImageOperands => 'i',
        K::LoopControl => 'l',
        K::MemoryAccess => 'm',
        K::TensorAddressingOperands => 'a',
        K::TensorOperands => 't',
        K::ExecutionMode => 'x',
        K::Decoration => 'D',
        K::StorageClass => 'c',
        _ => 'e',
    }
}

fn pattern(operands: &[LogicalOperand]) -> String {
    let mut text = String::new();
    for operand in operands {
        text.push(letter(operand.kind));
        match operand.quantifier {
            OperandQuantifier::One => {}
            OperandQuantifier::ZeroOrOne => text.push('?'),
            OperandQuantifier::ZeroOrMore => text.push('*'),
        }
    }
    text
}

fn table() -> String {
    let mut text = String::from(
        "# Operands of every SPIR-V instruction, after Khronos' machine-readable grammar. Written by tests/operand_table.rs.\n\
         # op NUMBER NAME OPERANDS; then the parameters of enumerants (D, x) and of mask bits (i, l, m, a, t).\n\
         # T result type, R result, I id, S scope id, M memory semantics id, L integer, F float, s string, C literal of the\n\
         # result type, X extended instruction, O opcode, P literal+id, Q id+literal, B id+id, c storage class,\n\
         # D decoration, x execution mode, i image operands, l loop control, m memory access, a tensor addressing,\n\
         # t tensor operands, e any other enumerant or mask; ? at most one, * any number.\n",
    );
    let mut rows: Vec<(u32, String)> = INSTRUCTION_TABLE
        .iter()
        .map(|row| {
            (
                row.opcode as u32,
                format!(
                    "op {} {} {}",
                    row.opcode as u32,
                    row.opname,
                    pattern(row.operands)
                ),
            )
        })
        .collect();
    rows.sort();
    rows.dedup_by_key(|row| row.0);
    for (_, row) in rows {
        writeln!(text, "{}", row.trim_end()).unwrap();
    }
    for value in 0..10_000 {
        if let Some(decoration) = rspirv::spirv::Decoration::from_u32(value) {
            let parameters = pattern(&Operand::Decoration(decoration).additional_operands());
            if !parameters.is_empty() {
                writeln!(text, "D {value} {decoration:?} {parameters}").unwrap();
            }
        }
    }
    for value in 0..10_000 {
        if let Some(mode) = rspirv::spirv::ExecutionMode::from_u32(value) {
            let parameters = pattern(&Operand::ExecutionMode(mode).additional_operands());
            if !parameters.is_empty() {
                writeln!(text, "x {value} {mode:?} {parameters}").unwrap();
            }
        }
    }
    macro_rules! mask {
        ($letter:literal, $kind:ident) => {
            for bit in 0..32 {
                if let Some(mask) = rspirv::spirv::$kind::from_bits(1 << bit) {
                    let parameters = pattern(&Operand::$kind(mask).additional_operands());
                    if !parameters.is_empty() {
                        writeln!(
                            text,
                            "{} {} {} {parameters}",
                            $letter,
                            1u32 << bit,
                            format!("{mask:?}").replace(' ', "")
                        )
                        .unwrap();
                    }
                }
            }
        };
    }
    mask!('i', ImageOperands);
    mask!('l', LoopControl);
    mask!('m', MemoryAccess);
    mask!('a', TensorAddressingOperands);
    mask!('t', TensorOperands);
    // The kinds written as `e` must have no parameters at all, or positions after them would be wrong.
    macro_rules! plain_mask {
        ($($kind:ident),*) => {$(
            for bit in 0..32 {
                if let Some(mask) = rspirv::spirv::$kind::from_bits(1 << bit) {
                    assert_eq!(pattern(&Operand::$kind(mask).additional_operands()), "", stringify!($kind));
                }
            }
        )*};
    }
    plain_mask!(
        FPFastMathMode,
        SelectionControl,
        FunctionControl,
        MemorySemantics,
        KernelProfilingInfo,
        RayFlags,
        FragmentShadingRate,
        RawAccessChainOperands,
        CooperativeMatrixOperands,
        CooperativeMatrixReduce,
        MatrixMultiplyAccumulateOperands
    );
    macro_rules! plain_value {
        ($($kind:ident),*) => {$(
            for value in 0..10_000 {
                if let Some(value) = rspirv::spirv::$kind::from_u32(value) {
                    assert_eq!(pattern(&Operand::$kind(value).additional_operands()), "", stringify!($kind));
                }
            }
        )*};
    }
    plain_value!(
        StorageClass,
        BuiltIn,
        Capability,
        Dim,
        ImageFormat,
        AccessQualifier,
        LinkageType,
        FunctionParameterAttribute,
        GroupOperation,
        TensorClampMode,
        InitializationModeQualifier,
        FPEncoding,
        ComponentType,
        CooperativeVectorMatrixLayout,
        PackedVectorFormat
    );
    text
}

#[test]
fn table_agrees_with_the_grammar() {
    let expected = table();
    if std::env::var_os("IMPEL_BLESS").is_some() {
        assert!(
            std::env::var_os("CI").is_none(),
            "IMPEL_BLESS is not for CI"
        );
        std::fs::write(PATH, &expected).unwrap();
    }
    let found = std::fs::read_to_string(PATH).unwrap_or_default();
    let difference = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(
        expected == found,
        "src/operands/table.txt is out of date: {difference:?}"
    );
}
