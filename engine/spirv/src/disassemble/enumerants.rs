//! Names of enumerants and mask bits.

use spirv::Op;

fn named<T: std::fmt::Debug>(found: Option<T>, number: u32) -> String {
    found.map_or_else(|| number.to_string(), |found| format!("{found:?}"))
}

pub(super) fn decoration(number: u32) -> String {
    named(spirv::Decoration::from_u32(number), number)
}

pub(super) fn storage_class(number: u32) -> String {
    named(spirv::StorageClass::from_u32(number), number)
}

pub(super) fn execution_mode(number: u32) -> String {
    named(spirv::ExecutionMode::from_u32(number), number)
}

const FUNCTION: [&str; 4] = ["Inline", "DontInline", "Pure", "Const"];
const SELECTION: [&str; 2] = ["Flatten", "DontFlatten"];
const LOOP: [&str; 9] = [
    "Unroll",
    "DontUnroll",
    "DependencyInfinite",
    "DependencyLength",
    "MinIterations",
    "MaxIterations",
    "IterationMultiple",
    "PeelCount",
    "PartialCount",
];
const MEMORY: [&str; 6] = [
    "Volatile",
    "Aligned",
    "Nontemporal",
    "MakePointerAvailable",
    "MakePointerVisible",
    "NonPrivatePointer",
];
const IMAGE: [&str; 15] = [
    "Bias",
    "Lod",
    "Grad",
    "ConstOffset",
    "Offset",
    "ConstOffsets",
    "Sample",
    "MinLod",
    "MakeTexelAvailable",
    "MakeTexelVisible",
    "NonPrivateTexel",
    "VolatileTexel",
    "SignExtend",
    "ZeroExtend",
    "Nontemporal",
];

/// A mask by the names of its bits; by its number if a bit has none here.
fn mask(bits: &[&str], value: u32) -> String {
    if value == 0 {
        return "None".to_owned();
    }
    let names: Vec<&str> = bits
        .iter()
        .enumerate()
        .filter(|(bit, _)| value & 1 << bit != 0)
        .map(|(_, name)| *name)
        .collect();
    if names.len() == value.count_ones() as usize {
        names.join("|")
    } else {
        value.to_string()
    }
}

/// The enumerant at a position among an instruction's enumerants.
pub(super) fn other(opcode: u32, decoration: Option<u32>, position: usize, value: u32) -> String {
    if let Some(decoration) = decoration.and_then(spirv::Decoration::from_u32) {
        return match decoration {
            spirv::Decoration::BuiltIn => named(spirv::BuiltIn::from_u32(value), value),
            spirv::Decoration::LinkageAttributes => {
                named(spirv::LinkageType::from_u32(value), value)
            }
            spirv::Decoration::FuncParamAttr => {
                named(spirv::FunctionParameterAttribute::from_u32(value), value)
            }
            spirv::Decoration::FPRoundingMode => {
                named(spirv::FPRoundingMode::from_u32(value), value)
            }
            _ => value.to_string(),
        };
    }
    let Some(op) = Op::from_u32(opcode) else {
        return value.to_string();
    };
    match (op, position) {
        (Op::Source, _) => named(spirv::SourceLanguage::from_u32(value), value),
        (Op::MemoryModel, 0) => named(spirv::AddressingModel::from_u32(value), value),
        (Op::MemoryModel, _) => named(spirv::MemoryModel::from_u32(value), value),
        (Op::EntryPoint, _) => named(spirv::ExecutionModel::from_u32(value), value),
        (Op::Capability, _) => named(spirv::Capability::from_u32(value), value),
        (Op::TypeImage, 0) => match spirv::Dim::from_u32(value) {
            Some(spirv::Dim::Dim1D) => "1D".to_owned(),
            Some(spirv::Dim::Dim2D) => "2D".to_owned(),
            Some(spirv::Dim::Dim3D) => "3D".to_owned(),
            Some(spirv::Dim::DimCube) => "Cube".to_owned(),
            Some(spirv::Dim::DimRect) => "Rect".to_owned(),
            Some(spirv::Dim::DimBuffer) => "Buffer".to_owned(),
            Some(spirv::Dim::DimSubpassData) => "SubpassData".to_owned(),
            _ => value.to_string(),
        },
        (Op::TypeImage, 1) => named(spirv::ImageFormat::from_u32(value), value),
        (Op::TypeImage, _) => named(spirv::AccessQualifier::from_u32(value), value),
        (Op::Function, _) => mask(&FUNCTION, value),
        (Op::SelectionMerge, _) => mask(&SELECTION, value),
        (Op::LoopMerge, _) => mask(&LOOP, value),
        (Op::Load | Op::Store | Op::CopyMemory, _) => mask(&MEMORY, value),
        (op, 0) if format!("{op:?}").starts_with("Image") => mask(&IMAGE, value),
        (op, 0) if format!("{op:?}").starts_with("Group") => {
            named(spirv::GroupOperation::from_u32(value), value)
        }
        _ => value.to_string(),
    }
}
