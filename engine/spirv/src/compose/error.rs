//! The errors of composing, each with a stable code.

use std::fmt;

/// What is wrong, as a stable code. `M28` and the like are what tools and people search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// Unknown class.
    M01,
    /// Inheritance cycle.
    M02,
    /// An abstract function can be reached.
    M03,
    /// An override without a base.
    M04,
    /// Two definitions of which none overrides the other.
    M05,
    /// Signatures differ.
    M06,
    /// `base_` with nothing before it.
    M07,
    /// A slot that is not filled, with a wrong number of classes, or with a class of another kind.
    M08,
    /// A parameter that is missing, unknown, of a wrong type or out of range.
    M09,
    /// Two resources on one set and binding.
    M10,
    /// One resource name on two bindings, or with two types.
    M11,
    /// Inputs or outputs overlap or clash.
    M12,
    /// Push-constant blocks differ or are too large.
    M13,
    /// Structs of one name with different members.
    M14,
    /// Memory models or versions clash.
    M15,
    /// Execution modes clash.
    M16,
    /// No entry point, or more than one.
    M17,
    /// A function that stands for another one is still called.
    M18,
    /// Overrides call each other in a circle.
    M19,
    /// An operation that the stage does not have.
    M20,
    /// Names are missing: the module was stripped or optimised.
    M21,
    /// An instruction or operand that this build does not know, or a file that is no SPIR-V.
    M22,
    /// The Khronos validator refuses the result.
    M23,
    /// A merged block is read or written as a whole.
    M24,
    /// Too many ids.
    M25,
    /// An array sized by a parameter stands before other members of a block.
    M26,
    /// A class does not compile.
    M27,
    /// A mistake in a recipe.
    M28,
    /// A mistake in a class header.
    M29,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Why a composition failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixinError {
    /// What is wrong.
    pub code: Code,
    /// The class that it is about; empty if it is about none.
    pub class: String,
    /// The function, variable, parameter, slot, key or the like; empty if there is none.
    pub symbol: String,
    /// File of the class or recipe, as the caller named it.
    pub file: String,
    /// Line in that file, from 1; 0 for files without lines.
    pub line: u32,
    /// The problem, on one line.
    pub message: String,
    /// More to read, of several lines: the compiler's messages for [`Code::M27`], the listing for [`Code::M23`].
    pub attachment: String,
}

impl fmt::Display for MixinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        f.write_str(": ")?;
        match (self.class.is_empty(), self.symbol.is_empty()) {
            (false, false) => write!(f, "class {}, {}: ", self.class, self.symbol)?,
            (false, true) => write!(f, "class {}: ", self.class)?,
            (true, false) => write!(f, "{}: ", self.symbol)?,
            (true, true) => {}
        }
        f.write_str(&self.message.replace('\n', " "))
    }
}

impl std::error::Error for MixinError {}

impl From<MixinError> for crate::Error {
    fn from(error: MixinError) -> Self {
        Self::Mixin(Box::new(error))
    }
}

/// Where an error belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) class: String,
}

impl Place {
    /// An error here.
    pub(crate) fn error(
        &self,
        code: Code,
        symbol: impl Into<String>,
        message: impl Into<String>,
    ) -> crate::Error {
        MixinError {
            code,
            class: self.class.clone(),
            symbol: symbol.into(),
            file: self.file.clone(),
            line: self.line,
            message: message.into(),
            attachment: String::new(),
        }
        .into()
    }
}
