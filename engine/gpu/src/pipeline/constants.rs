//! Specialisation constants by name.

use crate::shader::Shader;
use crate::{Error, Result};
use ash::vk;
use impel_spirv::SpecValue;

/// SpecIds and values, for one stage.
pub(crate) type Values = Vec<(u32, SpecValue)>;

/// Resolves constants named for a pipeline to the SpecIds of its shaders, and checks their types. One list for each shader:
/// stages may give one name different SpecIds, and one SpecId different names.
pub(crate) fn resolve(
    pipeline: &str,
    shaders: &[&Shader],
    named: &[(&str, SpecValue)],
) -> Result<Vec<Values>> {
    let fail = |problem: String| Error::invalid(format!("pipeline {pipeline:?}"), problem);
    let mut values = vec![Values::new(); shaders.len()];
    for (index, &(name, value)) in named.iter().enumerate() {
        if named[..index].iter().any(|(before, _)| *before == name) {
            return Err(fail(format!(
                "specialisation constant {name:?} is given twice"
            )));
        }
        let mut known = false;
        for (shader, values) in shaders.iter().zip(&mut values) {
            let constants = &shader.interface.spec_constants;
            for constant in constants.iter().filter(|constant| constant.name == name) {
                let expected = constant.default.scalar_type();
                if value.scalar_type() != expected {
                    return Err(fail(format!(
                        "specialisation constant {name:?} of {} is a {expected}; given {value:?}",
                        shader.name
                    )));
                }
                values.push((constant.id, value));
                known = true;
            }
        }
        if !known {
            let names: Vec<_> = shaders
                .iter()
                .flat_map(|shader| &shader.interface.spec_constants)
                .map(|constant| constant.name.as_str())
                .collect();
            return Err(fail(format!(
                "no shader has a specialisation constant {name:?}; there are {names:?}"
            )));
        }
    }
    Ok(values)
}

/// Specialisation data of one stage.
#[derive(Default)]
pub(crate) struct Specialization {
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

impl Specialization {
    pub(crate) fn of(values: &[(u32, SpecValue)]) -> Specialization {
        let mut this = Specialization::default();
        for &(id, value) in values {
            let bytes = value.to_bytes();
            this.entries.push(vk::SpecializationMapEntry {
                constant_id: id,
                offset: this.data.len() as u32,
                size: bytes.len(),
            });
            this.data.extend_from_slice(&bytes);
        }
        this
    }

    pub(crate) fn info(&self) -> vk::SpecializationInfo<'_> {
        vk::SpecializationInfo::default()
            .map_entries(&self.entries)
            .data(&self.data)
    }
}
