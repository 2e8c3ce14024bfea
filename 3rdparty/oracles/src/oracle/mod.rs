//! The reflectors that are compared, ours among them.

mod impel;
mod naga;
mod spirq;
mod spirv_cross;
mod spirv_reflect;

use crate::facts::Facts;
use std::fmt;

/// A reflector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// `impel-spirv`, the one on trial.
    Impel,
    /// SPIRV-Cross, through `spirv-cross2`.
    SpirvCross,
    /// `spirq`.
    Spirq,
    /// SPIRV-Reflect of 2019, as `spirv-reflect` wraps it.
    SpirvReflect,
    /// `naga`'s SPIR-V front end.
    Naga,
}

impl Oracle {
    /// All but ours.
    pub const OTHERS: [Oracle; 4] = [
        Oracle::SpirvCross,
        Oracle::Spirq,
        Oracle::SpirvReflect,
        Oracle::Naga,
    ];

    /// Name, in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Oracle::Impel => "impel-spirv",
            Oracle::SpirvCross => "spirv-cross2",
            Oracle::Spirq => "spirq",
            Oracle::SpirvReflect => "spirv-reflect",
            Oracle::Naga => "naga",
        }
    }

    /// The reflector of this name.
    pub fn from_name(name: &str) -> Option<Oracle> {
        [Oracle::Impel]
            .into_iter()
            .chain(Oracle::OTHERS)
            .find(|oracle| oracle.name() == name)
    }

    /// What it says of a module. May end the process.
    ///
    /// # Errors
    /// Its own message, if it refuses the module.
    pub fn facts(self, module: &[u8]) -> Result<Facts, String> {
        match self {
            Oracle::Impel => impel::facts(module),
            Oracle::SpirvCross => spirv_cross::facts(module),
            Oracle::Spirq => spirq::facts(module),
            Oracle::SpirvReflect => spirv_reflect::facts(module),
            Oracle::Naga => naga::facts(module),
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn words(module: &[u8]) -> Vec<u32> {
    module
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Name of a SPIR-V execution model, the same for every reflector.
fn stage(execution_model: u32) -> impel_spirv::Stage {
    impel_spirv::Stage::from_execution_model(execution_model)
}
