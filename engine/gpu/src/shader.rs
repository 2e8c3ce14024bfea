//! Shaders: SPIR-V with what it says of itself.

use crate::{Error, Result};
use impel_spirv::compose::ComposedStage;
use impel_spirv::words::MAGIC;
use impel_spirv::{Interface, SpecValue, StageInput};

/// A shader as it is stored: SPIR-V and, baked beside it, its reflection.
#[derive(Clone, Copy, Debug)]
pub struct ShaderCode {
    /// Name of the source file, for errors.
    pub name: &'static str,
    /// The module, as bytes of 32-bit words.
    pub spirv: &'static [u8],
    /// The baked [`Interface`]; empty if there is none, which costs a reflection at run time.
    pub refl: &'static [u8],
}

/// One module, reflected.
#[derive(Clone, Debug)]
pub struct Shader {
    pub(crate) name: String,
    pub(crate) words: Vec<u32>,
    pub(crate) interface: Interface,
    pub(crate) entry_point: String,
}

impl Shader {
    /// Reads a module, of either byte order. Its first entry point is used.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bytes that are no SPIR-V or a module without an entry point.
    pub fn new(name: &str, spirv: &[u8]) -> Result<Shader> {
        let interface = impel_spirv::reflect(spirv).map_err(|error| Error::Invalid {
            thing: format!("shader {name}"),
            problem: error.to_string(),
        })?;
        Shader::with_interface(name, spirv, interface)
    }

    /// Takes a stage of a composed effect, which is reflected already.
    ///
    /// # Errors
    /// As [`Shader::new`].
    pub fn composed(effect: &str, stage: &ComposedStage) -> Result<Shader> {
        let name = format!("{effect}.{}", stage.stage.name());
        Shader::with_interface(&name, &stage.bytes(), stage.interface.clone())
    }

    /// Takes a stored shader, with its baked reflection where that is there and up to date.
    ///
    /// # Errors
    /// As [`Shader::new`].
    pub fn from_code(code: &ShaderCode) -> Result<Shader> {
        if code.refl.is_empty() {
            return Shader::new(code.name, code.spirv);
        }
        let hash = impel_spirv::spirv_hash(code.spirv);
        match impel_spirv::unbake(code.refl, Some(hash), code.name) {
            Ok(interface) => Shader::with_interface(code.name, code.spirv, interface),
            Err(error) => {
                log::warn!(
                    "baked reflection of {}: {error}; reflecting the module instead",
                    code.name
                );
                Shader::new(code.name, code.spirv)
            }
        }
    }

    fn with_interface(name: &str, spirv: &[u8], interface: Interface) -> Result<Shader> {
        let entry = interface.entry_points.first().ok_or_else(|| {
            Error::invalid(format!("shader {name}"), "the module has no entry point")
        })?;
        let entry_point = entry.name.to_string();
        // Vulkan takes words in the machine's order, files may have either.
        let big_endian = spirv.starts_with(&MAGIC.to_be_bytes());
        let words = spirv
            .chunks_exact(4)
            .map(|word| {
                let word = [word[0], word[1], word[2], word[3]];
                if big_endian {
                    u32::from_be_bytes(word)
                } else {
                    u32::from_le_bytes(word)
                }
            })
            .collect();
        Ok(Shader {
            name: name.to_owned(),
            words,
            interface,
            entry_point,
        })
    }

    /// The shader as a stage to be merged and matched with others.
    pub(crate) fn stage_input<'a>(&'a self, constants: &'a [(u32, SpecValue)]) -> StageInput<'a> {
        StageInput {
            entry_point: &self.entry_point,
            spec_values: constants,
            ..StageInput::new(&self.name, &self.interface)
        }
    }

    /// Whether both are the same module, word by word.
    pub fn is_same_code(&self, other: &Shader) -> bool {
        self.words == other.words
    }

    /// Name of the source file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the module says of itself.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_byte_order_becomes_the_machines() {
        let little = include_bytes!("../tests/shaders/baked/fill.comp.spv");
        let big: Vec<u8> = little
            .chunks_exact(4)
            .flat_map(|word| word.iter().rev().copied())
            .collect();
        let [little, big] = [little.as_slice(), &big].map(|spirv| Shader::new("fill.comp", spirv));
        let (little, big) = (little.unwrap(), big.unwrap());
        assert_eq!(little.words.first(), Some(&MAGIC));
        assert_eq!(little.words, big.words);
        assert_eq!(little.interface, big.interface);
    }
}
