//! The error of this crate.

use crate::interface::{DescriptorType, Stage};

/// What can go wrong in reading, reflecting, merging and baking. Messages name the file where the caller gave one, and the
/// word offset in the module (counted from its first word, the magic number).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "fields are explained by the message they appear in"
)]
pub enum Error {
    /// Another error, with the file that it is about.
    #[error("{file}: {source}")]
    InFile { file: String, source: Box<Error> },

    /// A file could not be read or written.
    #[error("{file}: {reason}")]
    File { file: String, reason: String },

    /// The bytes do not begin with SPIR-V's magic number in either byte order.
    #[error(
        "not SPIR-V: the file begins with {found:#010x}, expected the magic number 0x07230203 in either byte order"
    )]
    BadMagic { found: u32 },

    /// Fewer than the five words of a header, or not a whole number of words.
    #[error("truncated SPIR-V: {bytes} bytes, expected a multiple of 4 and at least 20")]
    BadLength { bytes: usize },

    /// The header's version is none that exists.
    #[error("SPIR-V version word is {found:#010x}, expected 1.0 to 1.6")]
    BadVersion { found: u32 },

    /// An instruction with word count 0.
    #[error("word {word}: instruction {opcode} has word count 0, expected at least 1")]
    ZeroWordCount { word: usize, opcode: u32 },

    /// An instruction that reaches beyond the end of the module.
    #[error("word {word}: Op{name} has {expected} words, but the module ends after {given}")]
    Truncated {
        word: usize,
        name: String,
        expected: usize,
        given: usize,
    },

    /// An instruction whose operands do not fit its grammar.
    #[error("word {word}: malformed Op{name}: {reason}")]
    Malformed {
        word: usize,
        name: String,
        reason: String,
    },

    /// An id that is 0 or not below the header's bound.
    #[error("word {word}: id {id} is out of range, expected 1 to {} (the header's bound is {bound})", bound.saturating_sub(1))]
    IdOutOfBounds { word: usize, id: u32, bound: u32 },

    /// An id that two instructions define.
    #[error("word {word}: id {id} is defined twice, first at word {first}")]
    IdDefinedTwice { word: usize, id: u32, first: usize },

    /// An id that nothing defines, or something of the wrong kind.
    #[error("word {word}: id {id} is not {expected}")]
    WrongId {
        word: usize,
        id: u32,
        expected: &'static str,
    },

    /// A type that contains itself other than through a pointer, or is used before it is defined.
    #[error("word {word}: type {id} contains itself, or uses a type before its definition")]
    CyclicType { word: usize, id: u32 },

    /// Something nested deeper than SPIR-V permits (255), which would exhaust the stack.
    #[error("word {word}: {what} {id} is nested more than {limit} deep")]
    TooDeep {
        word: usize,
        what: &'static str,
        id: u32,
        limit: usize,
    },

    /// Something whose description would take much more memory or time than a module of this size can ask for.
    #[error("{what} of this module of {bytes} bytes would need more than {limit} {unit}")]
    TooLarge {
        what: String,
        bytes: usize,
        limit: usize,
        unit: &'static str,
    },

    /// A resource without a set or binding.
    #[error("variable {id} \"{name}\" ({descriptor_type}) has no {missing} decoration")]
    MissingBinding {
        id: u32,
        name: String,
        descriptor_type: DescriptorType,
        missing: &'static str,
    },

    /// No such entry point.
    #[error("{file}: no entry point \"{name}\"{}, the module has: {}", stage.map(|s| format!(" of stage {s}")).unwrap_or_default(), if available.is_empty() { "none" } else { available })]
    NoEntryPoint {
        file: String,
        name: String,
        stage: Option<Stage>,
        available: String,
    },

    /// Two stages disagree about a binding.
    #[error(
        "set {set}, binding {binding}: {first_file} declares \"{first_name}\" as {}, but {second_file} declares \"{second_name}\" as {}",
        describe(*first_type, *first_count),
        describe(*second_type, *second_count)
    )]
    BindingMismatch {
        set: u32,
        binding: u32,
        first_file: String,
        first_name: String,
        first_type: DescriptorType,
        first_count: u32,
        second_file: String,
        second_name: String,
        second_type: DescriptorType,
        second_count: u32,
    },

    /// Two stages of one kind in a pipeline.
    #[error("{first_file} and {second_file} are both {stage} stages, expected at most one")]
    DuplicateStage {
        stage: Stage,
        first_file: String,
        second_file: String,
    },

    /// A used resource lies in a set that the caller does not permit.
    #[error("{file}: \"{name}\" is in set {set}, expected a set below {limit}")]
    SetOutOfRange {
        file: String,
        name: String,
        set: u32,
        limit: u32,
    },

    /// A runtime array where descriptors are pushed.
    #[error(
        "{file}: \"{name}\" (set {set}, binding {binding}) is a runtime array, which cannot be pushed; give it a size or move it to set 1"
    )]
    RuntimeArrayPushed {
        file: String,
        name: String,
        set: u32,
        binding: u32,
    },

    /// More descriptors than can be pushed.
    #[error(
        "set {set} pushes {given} descriptors, but the device's maxPushDescriptors is {limit}: {bindings}"
    )]
    TooManyPushDescriptors {
        set: u32,
        given: u64,
        limit: u32,
        bindings: String,
    },

    /// More push-constant bytes than the device takes.
    #[error(
        "push constants end at byte {given}, but the device's maxPushConstantsSize is {limit}: {blocks}"
    )]
    PushConstantsTooLarge {
        given: u64,
        limit: u32,
        blocks: String,
    },

    /// A descriptor count that cannot be computed from the given values.
    #[error(
        "{file}: the descriptor count of \"{name}\" (set {set}, binding {binding}) is {given}, expected 1 to 4294967295"
    )]
    BadCount {
        file: String,
        name: String,
        set: u32,
        binding: u32,
        given: String,
    },

    /// A value for a SpecId that the module has with another type.
    #[error("{file}: spec constant {id} \"{name}\" is {expected}, but the given value is {given}")]
    SpecType {
        file: String,
        id: u32,
        name: String,
        expected: &'static str,
        given: &'static str,
    },

    /// An input that the stage before it does not provide in this form.
    #[error(
        "{input_file}: input \"{input}\" at location {location}, component {component} {problem} in {output_file}"
    )]
    StageMismatch {
        input_file: String,
        input: String,
        location: u32,
        component: u32,
        output_file: String,
        problem: String,
    },

    /// A feature that the shader needs and the device has not enabled.
    #[error("{file} needs {feature}, which the device does not have enabled")]
    MissingFeature { file: String, feature: String },

    /// A composition that failed.
    #[error("{0}")]
    Mixin(Box<crate::compose::MixinError>),

    /// A `.refl` file that cannot be used.
    #[error("{file}: {reason}")]
    Baked { file: String, reason: String },
}

impl Error {
    /// The same error, naming the file.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        match self {
            Self::InFile { .. } => self,
            other => Self::InFile {
                file: file.to_owned(),
                source: Box::new(other),
            },
        }
    }
}

fn describe(descriptor_type: DescriptorType, count: u32) -> String {
    match count {
        0 => format!("{descriptor_type}[]"),
        1 => descriptor_type.to_string(),
        n => format!("{descriptor_type}[{n}]"),
    }
}
